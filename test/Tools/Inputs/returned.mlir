func.func @main(%a: tensor<4x2xf32>, %b: tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>) {
  %c = stablehlo.exponential %a : tensor<4x2xf32>
  return %b, %c : tensor<4x2xf32>, tensor<4x2xf32>
}
