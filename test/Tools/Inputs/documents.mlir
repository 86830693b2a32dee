// Documents of positions that begin again; no pair of two is seen.
func.func @main(%q: tensor<1x8x1x4xf32>, %k: tensor<1x8x1x4xf32>, %v: tensor<1x8x1x4xf32>, %at: tensor<1x8xi32>) -> tensor<1x8x1x4xf32> {
  %row = stablehlo.iota dim = 1 : tensor<1x8xi32>
  %start = stablehlo.subtract %row, %at : tensor<1x8xi32>
  %of_query = stablehlo.broadcast_in_dim %start, dims = [0, 2] : (tensor<1x8xi32>) -> tensor<1x1x8x8xi32>
  %of_key = stablehlo.broadcast_in_dim %start, dims = [0, 3] : (tensor<1x8xi32>) -> tensor<1x1x8x8xi32>
  %same = stablehlo.compare EQ, %of_query, %of_key, SIGNED : (tensor<1x1x8x8xi32>, tensor<1x1x8x8xi32>) -> tensor<1x1x8x8xi1>
  %scores = stablehlo.dot_general %q, %k, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<1x8x1x4xf32>, tensor<1x8x1x4xf32>) -> tensor<1x1x8x8xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<1x1x8x8xf32>
  %shown = stablehlo.select %same, %scores, %low : tensor<1x1x8x8xi1>, tensor<1x1x8x8xf32>
  %powers = stablehlo.exponential %shown : tensor<1x1x8x8xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sums = stablehlo.reduce(%powers init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<1x1x8x8xf32>, tensor<f32>) -> tensor<1x1x8xf32>
  %whole = stablehlo.broadcast_in_dim %sums, dims = [0, 1, 2] : (tensor<1x1x8xf32>) -> tensor<1x1x8x8xf32>
  %weights = stablehlo.divide %powers, %whole : tensor<1x1x8x8xf32>
  %values = stablehlo.dot_general %v, %weights, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<1x8x1x4xf32>, tensor<1x1x8x8xf32>) -> tensor<1x1x4x8xf32>
  %result = stablehlo.transpose %values, dims = [0, 3, 1, 2] : (tensor<1x1x4x8xf32>) -> tensor<1x8x1x4xf32>
  return %result : tensor<1x8x1x4xf32>
}
