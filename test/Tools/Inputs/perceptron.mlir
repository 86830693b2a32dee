// relu(x up + first) down + second.
module @perceptron {
  func.func public @main(%x: tensor<2x12x8xf32>, %up: tensor<8x16xf32>, %first: tensor<16xf32>, %down: tensor<16x8xf32>, %second: tensor<8xf32>) -> tensor<2x12x8xf32> {
    %0 = stablehlo.dot_general %x, %up, contracting_dims = [2] x [0] : (tensor<2x12x8xf32>, tensor<8x16xf32>) -> tensor<2x12x16xf32>
    %1 = stablehlo.reshape %first : (tensor<16xf32>) -> tensor<1x1x16xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2] : (tensor<1x1x16xf32>) -> tensor<2x12x16xf32>
    %3 = stablehlo.add %0, %2 : tensor<2x12x16xf32>
    %cst = stablehlo.constant dense<0.0> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x12x16xf32>
    %5 = stablehlo.maximum %3, %4 : tensor<2x12x16xf32>
    %6 = stablehlo.dot_general %5, %down, contracting_dims = [2] x [0] : (tensor<2x12x16xf32>, tensor<16x8xf32>) -> tensor<2x12x8xf32>
    %7 = stablehlo.broadcast_in_dim %second, dims = [2] : (tensor<8xf32>) -> tensor<2x12x8xf32>
    %8 = stablehlo.add %6, %7 : tensor<2x12x8xf32>
    return %8 : tensor<2x12x8xf32>
  }
}
