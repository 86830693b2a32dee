// Biases by distance, with a slope for each head.
module @sloped {
  func.func public @main(%arg0: tensor<1x96x2x16xbf16>, %arg1: tensor<1x96x2x16xbf16>, %arg2: tensor<1x96x2x16xbf16>) -> (tensor<1x96x2x16xbf16>) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x96x2x16xbf16>, tensor<1x96x2x16xbf16>) -> tensor<1x2x96x96xf32>
    %cst = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x2x96x96xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<1x2x96x96xf32>
    %3 = stablehlo.iota dim = 0 : tensor<96xi64>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<96xi64>) -> tensor<96x1xi64>
    %5 = stablehlo.iota dim = 0 : tensor<96xi64>
    %6 = stablehlo.broadcast_in_dim %5, dims = [1] : (tensor<96xi64>) -> tensor<1x96xi64>
    %7 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<96x1xi64>) -> tensor<96x96xi64>
    %8 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<1x96xi64>) -> tensor<96x96xi64>
    %9 = stablehlo.subtract %7, %8 : tensor<96x96xi64>
    %10 = stablehlo.abs %9 : tensor<96x96xi64>
    %11 = stablehlo.iota dim = 0 : tensor<2xi64>
    %c = stablehlo.constant dense<1> : tensor<i64>
    %12 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<2xi64>
    %13 = stablehlo.add %12, %11 : tensor<2xi64>
    %14 = stablehlo.convert %13 : (tensor<2xi64>) -> tensor<2xf32>
    %15 = stablehlo.negate %14 : tensor<2xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %17 = stablehlo.power %16, %15 : tensor<2xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0] : (tensor<2xf32>) -> tensor<2x1x1xf32>
    %19 = stablehlo.convert %10 : (tensor<96x96xi64>) -> tensor<96x96xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [1, 2] : (tensor<96x96xf32>) -> tensor<1x96x96xf32>
    %21 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2] : (tensor<2x1x1xf32>) -> tensor<2x96x96xf32>
    %22 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2] : (tensor<1x96x96xf32>) -> tensor<2x96x96xf32>
    %23 = stablehlo.multiply %21, %22 : tensor<2x96x96xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [1, 2, 3] : (tensor<2x96x96xf32>) -> tensor<1x2x96x96xf32>
    %25 = stablehlo.subtract %2, %24 : tensor<1x2x96x96xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %26 = stablehlo.reduce(%25 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<1x2x96x96xf32>, tensor<f32>) -> tensor<1x2x96xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<1x2x96xf32>
    %28 = stablehlo.maximum %27, %26 : tensor<1x2x96xf32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0, 1, 2] : (tensor<1x2x96xf32>) -> tensor<1x2x96x1xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2, 3] : (tensor<1x2x96x1xf32>) -> tensor<1x2x96x96xf32>
    %31 = stablehlo.subtract %25, %30 : tensor<1x2x96x96xf32>
    %32 = stablehlo.exponential %31 : tensor<1x2x96x96xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.reduce(%32 init: %cst_3) applies stablehlo.add across dimensions = [3] : (tensor<1x2x96x96xf32>, tensor<f32>) -> tensor<1x2x96xf32>
    %34 = stablehlo.broadcast_in_dim %33, dims = [0, 1, 2] : (tensor<1x2x96xf32>) -> tensor<1x2x96x1xf32>
    %35 = stablehlo.broadcast_in_dim %34, dims = [0, 1, 2, 3] : (tensor<1x2x96x1xf32>) -> tensor<1x2x96x96xf32>
    %36 = stablehlo.divide %32, %35 : tensor<1x2x96x96xf32>
    %37 = stablehlo.convert %36 : (tensor<1x2x96x96xf32>) -> tensor<1x2x96x96xbf16>
    %38 = stablehlo.dot_general %arg2, %37, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x96x2x16xbf16>, tensor<1x2x96x96xbf16>) -> tensor<1x2x16x96xbf16>
    %39 = stablehlo.transpose %38, dims = [0, 3, 1, 2] : (tensor<1x2x16x96xbf16>) -> tensor<1x96x2x16xbf16>
    return %39 : tensor<1x96x2x16xbf16>
  }
}

