func.func @main(%q: tensor<1x2x68719476736x8xf32>, %k: tensor<1x2x4x8xf32>, %v: tensor<1x2x4x8xf32>) -> tensor<1x2x68719476736x8xf32> {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<1x2x68719476736x8xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x68719476736x4xf32>
  %t = stablehlo.constant dense<[true, true, true, false]> : tensor<4xi1>
  %m = stablehlo.broadcast_in_dim %t, dims = [1] : (tensor<4xi1>) -> tensor<68719476736x4xi1>
  %ninf = stablehlo.constant dense<0xFF800000> : tensor<68719476736x4xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [2, 3] : (tensor<68719476736x4xi1>) -> tensor<1x2x68719476736x4xi1>
  %nb = stablehlo.broadcast_in_dim %ninf, dims = [2, 3] : (tensor<68719476736x4xf32>) -> tensor<1x2x68719476736x4xf32>
  %ms = stablehlo.select %mb, %s, %nb : tensor<1x2x68719476736x4xi1>, tensor<1x2x68719476736x4xf32>
  %e = stablehlo.exponential %ms : tensor<1x2x68719476736x4xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [3] : (tensor<1x2x68719476736x4xf32>, tensor<f32>) -> tensor<1x2x68719476736xf32>
  %b = stablehlo.broadcast_in_dim %r, dims = [0,1,2] : (tensor<1x2x68719476736xf32>) -> tensor<1x2x68719476736x4xf32>
  %w = stablehlo.divide %e, %b : tensor<1x2x68719476736x4xf32>
  %o = stablehlo.dot_general %w, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<1x2x68719476736x4xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x68719476736x8xf32>
  return %o : tensor<1x2x68719476736x8xf32>
}
