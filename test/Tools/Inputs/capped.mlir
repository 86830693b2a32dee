module @capped {
  func.func public @main(%q: tensor<1x64x2x16xf32>, %k: tensor<1x64x2x16xf32>, %v: tensor<1x64x2x16xf32>) -> tensor<1x64x2x16xf32> {
    %0 = stablehlo.dot_general %q, %k, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>) -> tensor<1x2x64x64xf32>
    %cap = stablehlo.constant dense<2.000000e+01> : tensor<1x2x64x64xf32>
    %1 = stablehlo.divide %0, %cap : tensor<1x2x64x64xf32>
    %2 = stablehlo.tanh %1 : tensor<1x2x64x64xf32>
    %3 = stablehlo.multiply %2, %cap : tensor<1x2x64x64xf32>
    %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %least) applies stablehlo.maximum across dimensions = [3] : (tensor<1x2x64x64xf32>, tensor<f32>) -> tensor<1x2x64xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2] : (tensor<1x2x64xf32>) -> tensor<1x2x64x64xf32>
    %6 = stablehlo.subtract %3, %5 : tensor<1x2x64x64xf32>
    %7 = stablehlo.exponential %6 : tensor<1x2x64x64xf32>
    %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%7 init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<1x2x64x64xf32>, tensor<f32>) -> tensor<1x2x64xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x2x64xf32>) -> tensor<1x2x64x64xf32>
    %10 = stablehlo.divide %7, %9 : tensor<1x2x64x64xf32>
    %11 = stablehlo.dot_general %v, %10, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<1x64x2x16xf32>, tensor<1x2x64x64xf32>) -> tensor<1x2x16x64xf32>
    %12 = stablehlo.transpose %11, dims = [0, 3, 1, 2] : (tensor<1x2x16x64xf32>) -> tensor<1x64x2x16xf32>
    return %12 : tensor<1x64x2x16xf32>
  }
}
