func.func @main(%x: tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32> {
  return %x : tensor<1x2x4x8xf32>
^bb1:
  %c = stablehlo.constant dense<2.0> : tensor<1x2x4x8xf32>
  %q = stablehlo.multiply %q, %c : tensor<1x2x4x8xf32>
  %s = stablehlo.dot_general %q, %x, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x4xf32>
  %e = stablehlo.exponential %s : tensor<1x2x4x4xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [3] : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4xf32>
  %b = stablehlo.broadcast_in_dim %r, dims = [0,1,2] : (tensor<1x2x4xf32>) -> tensor<1x2x4x4xf32>
  %w = stablehlo.divide %e, %b : tensor<1x2x4x4xf32>
  %o = stablehlo.dot_general %w, %x, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<1x2x4x4xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
  return %o : tensor<1x2x4x8xf32>
}
