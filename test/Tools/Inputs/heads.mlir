module @jit_attention_of_eight_heads {
  func.func public @main(%q: tensor<1x1024x8x32xf32>, %k: tensor<1x1024x8x32xf32>, %v: tensor<1x1024x8x32xf32>) -> tensor<1x1024x8x32xf32> {
    %scores = stablehlo.dot_general %q, %k, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<1x1024x8x32xf32>, tensor<1x1024x8x32xf32>) -> tensor<1x8x1024x1024xf32>
    %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %most = stablehlo.reduce(%scores init: %least) applies stablehlo.maximum across dimensions = [3] : (tensor<1x8x1024x1024xf32>, tensor<f32>) -> tensor<1x8x1024xf32>
    %each = stablehlo.broadcast_in_dim %most, dims = [0, 1, 2] : (tensor<1x8x1024xf32>) -> tensor<1x8x1024x1024xf32>
    %below = stablehlo.subtract %scores, %each : tensor<1x8x1024x1024xf32>
    %powers = stablehlo.exponential %below : tensor<1x8x1024x1024xf32>
    %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %sum = stablehlo.reduce(%powers init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<1x8x1024x1024xf32>, tensor<f32>) -> tensor<1x8x1024xf32>
    %total = stablehlo.broadcast_in_dim %sum, dims = [0, 1, 2] : (tensor<1x8x1024xf32>) -> tensor<1x8x1024x1024xf32>
    %weights = stablehlo.divide %powers, %total : tensor<1x8x1024x1024xf32>
    %out = stablehlo.dot_general %weights, %v, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1] : (tensor<1x8x1024x1024xf32>, tensor<1x1024x8x32xf32>) -> tensor<1x8x1024x32xf32>
    %rows = stablehlo.transpose %out, dims = [0, 2, 1, 3] : (tensor<1x8x1024x32xf32>) -> tensor<1x1024x8x32xf32>
    return %rows : tensor<1x1024x8x32xf32>
  }
}
