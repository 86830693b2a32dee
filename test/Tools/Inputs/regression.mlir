// A step of gradient descent on the squared error of x w against y.
func.func @main(%w: tensor<4xf32> {tf.aliasing_output = 1 : i32}, %x: tensor<7x4xf32>, %y: tensor<7xf32>) -> (tensor<f32>, tensor<4xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %count = stablehlo.constant dense<7.0> : tensor<f32>
  %rate = stablehlo.constant dense<0.05> : tensor<4xf32>
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<7x4xf32>, tensor<4xf32>) -> tensor<7xf32>
  %d = stablehlo.subtract %p, %y : tensor<7xf32>
  %squares = stablehlo.multiply %d, %d : tensor<7xf32>
  %sum = stablehlo.reduce(%squares init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<7xf32>, tensor<f32>) -> tensor<f32>
  %loss = stablehlo.divide %sum, %count : tensor<f32>
  %g = stablehlo.dot_general %d, %x, contracting_dims = [0] x [0] : (tensor<7xf32>, tensor<7x4xf32>) -> tensor<4xf32>
  %down = stablehlo.multiply %rate, %g : tensor<4xf32>
  %new = stablehlo.subtract %w, %down : tensor<4xf32>
  return %loss, %new : tensor<f32>, tensor<4xf32>
}
