// State that safetensors do not hold.
func.func @main(%w: tensor<4xcomplex<f64>> {tf.aliasing_output = 0 : i32}) -> tensor<4xcomplex<f64>> {
  %new = stablehlo.add %w, %w : tensor<4xcomplex<f64>>
  return %new : tensor<4xcomplex<f64>>
}
