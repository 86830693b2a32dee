// As the printer of jaxlib 0.10.2 writes it: read and written without a change,
// and the same after a detour through the generic form.
//
// RUN: grep -v "^//\|^$" %s > %t.expected
// RUN: sp-opt %s | grep . > %t.pretty
// RUN: diff %t.expected %t.pretty
// RUN: sp-opt %s --mlir-print-op-generic | sp-opt | grep . > %t.generic
// RUN: diff %t.expected %t.generic


module {
  func.func @elementary(%arg0: tensor<2x3xf32>) {
    %0 = stablehlo.abs %arg0 : tensor<2x3xf32>
    %1 = stablehlo.cbrt %arg0 : tensor<2x3xf32>
    %2 = stablehlo.ceil %arg0 : tensor<2x3xf32>
    %3 = stablehlo.cosine %arg0 : tensor<2x3xf32>
    %4 = stablehlo.exponential %arg0 : tensor<2x3xf32>
    %5 = stablehlo.exponential_minus_one %arg0 : tensor<2x3xf32>
    %6 = stablehlo.floor %arg0 : tensor<2x3xf32>
    %7 = stablehlo.log %arg0 : tensor<2x3xf32>
    %8 = stablehlo.log_plus_one %arg0 : tensor<2x3xf32>
    %9 = stablehlo.logistic %arg0 : tensor<2x3xf32>
    %10 = stablehlo.negate %arg0 : tensor<2x3xf32>
    %11 = stablehlo.round_nearest_afz %arg0 : tensor<2x3xf32>
    %12 = stablehlo.round_nearest_even %arg0 : tensor<2x3xf32>
    %13 = stablehlo.rsqrt %arg0 : tensor<2x3xf32>
    %14 = stablehlo.sign %arg0 : tensor<2x3xf32>
    %15 = stablehlo.sine %arg0 : tensor<2x3xf32>
    %16 = stablehlo.sqrt %arg0 : tensor<2x3xf32>
    %17 = stablehlo.tan %arg0 : tensor<2x3xf32>
    %18 = stablehlo.tanh %arg0 : tensor<2x3xf32>
    %19 = stablehlo.exponential %arg0 {result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e+00, rtol = 2.000000e+00, ulps = 3, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<2x3xf32>
    %20 = stablehlo.tanh %arg0 {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<2x3xf32>
    %21 = stablehlo.is_finite %arg0 : (tensor<2x3xf32>) -> tensor<2x3xi1>
    %22 = stablehlo.reduce_precision %arg0, format = e8m7 : tensor<2x3xf32>
    return
  }
  func.func @bits(%arg0: tensor<4xi32>, %arg1: tensor<4xui8>, %arg2: tensor<i1>) {
    %0 = stablehlo.not %arg0 : tensor<4xi32>
    %1 = stablehlo.count_leading_zeros %arg0 : tensor<4xi32>
    %2 = stablehlo.popcnt %arg0 : tensor<4xi32>
    %3 = stablehlo.and %arg0, %arg0 : tensor<4xi32>
    %4 = stablehlo.or %arg0, %arg0 : tensor<4xi32>
    %5 = stablehlo.xor %arg0, %arg0 : tensor<4xi32>
    %6 = stablehlo.shift_left %arg0, %arg0 : tensor<4xi32>
    %7 = stablehlo.shift_right_arithmetic %arg0, %arg0 : tensor<4xi32>
    %8 = stablehlo.shift_right_logical %arg0, %arg0 : tensor<4xi32>
    %9 = stablehlo.bitcast_convert %arg0 : (tensor<4xi32>) -> tensor<4xf32>
    %10 = stablehlo.bitcast_convert %arg0 : (tensor<4xi32>) -> tensor<4x4xui8>
    %11 = stablehlo.not %arg2 : tensor<i1>
    return
  }
  func.func @arithmetic(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<2x3xf32>
    %1 = stablehlo.atan2 %arg0, %arg1 : tensor<2x3xf32>
    %2 = stablehlo.divide %arg0, %arg1 : tensor<2x3xf32>
    %3 = stablehlo.maximum %arg0, %arg1 : tensor<2x3xf32>
    %4 = stablehlo.minimum %arg0, %arg1 : tensor<2x3xf32>
    %5 = stablehlo.multiply %arg0, %arg1 : tensor<2x3xf32>
    %6 = stablehlo.power %arg0, %arg1 : tensor<2x3xf32>
    %7 = stablehlo.remainder %arg0, %arg1 : tensor<2x3xf32>
    %8 = stablehlo.subtract %arg0, %arg1 : tensor<2x3xf32>
    return
  }
  func.func @complex_numbers(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.complex %arg0, %arg0 : tensor<2xcomplex<f32>>
    %1 = stablehlo.real %0 : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
    %2 = stablehlo.imag %0 : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
    %3 = stablehlo.abs %0 : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
    %4 = stablehlo.multiply %0, %0 : tensor<2xcomplex<f32>>
    %5 = stablehlo.exponential %4 : tensor<2xcomplex<f32>>
    return %3 : tensor<2xf32>
  }
  func.func @choices(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xi32>, %arg2: tensor<2x3xui32>, %arg3: tensor<2x3xi1>, %arg4: tensor<f32>, %arg5: tensor<i1>) {
    %0 = stablehlo.compare EQ, %arg0, %arg0, FLOAT : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    %1 = stablehlo.compare LT, %arg0, %arg0, TOTALORDER : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    %2 = stablehlo.compare GE, %arg1, %arg1, SIGNED : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
    %3 = stablehlo.compare NE, %arg2, %arg2, UNSIGNED : (tensor<2x3xui32>, tensor<2x3xui32>) -> tensor<2x3xi1>
    %4 = stablehlo.compare GT, %arg0, %arg0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    %5 = stablehlo.select %arg3, %arg0, %arg0 : tensor<2x3xi1>, tensor<2x3xf32>
    %6 = stablehlo.select %arg5, %arg0, %arg0 {mhlo.note = "scalar"} : tensor<i1>, tensor<2x3xf32>
    %7 = stablehlo.clamp %arg4, %arg0, %arg4 : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    %8 = stablehlo.clamp %arg0, %arg0, %arg0 : tensor<2x3xf32>
    return
  }
  func.func @conversions(%arg0: tensor<8xbf16>) -> tensor<8xf32> {
    %0 = stablehlo.convert %arg0 : (tensor<8xbf16>) -> tensor<8xf32>
    %1 = stablehlo.convert %0 : tensor<8xf32>
    %2 = stablehlo.convert %0 : (tensor<8xf32>) -> tensor<8xi1>
    %3 = stablehlo.convert %2 : (tensor<8xi1>) -> tensor<8xui64>
    return %1 : tensor<8xf32>
  }
}
