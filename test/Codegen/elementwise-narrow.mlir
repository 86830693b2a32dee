// RUN: sp-kernel-check %s | FileCheck %s
// RUN: sp-kernel-check --cpu=x86-64-v3 %s | FileCheck %s
// RUN: sp-kernel-check --grid %s | FileCheck %s
// CHECK-NOT: WRONG

// Elementary functions of bf16 and f16.

func.func @unary_bf16_special(%arg0: tensor<131xbf16>) -> (tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xi1>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>) {
  %cst = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
  %0 = stablehlo.abs %arg0 : tensor<131xbf16>
  %1 = stablehlo.negate %arg0 : tensor<131xbf16>
  %2 = stablehlo.ceil %arg0 : tensor<131xbf16>
  %3 = stablehlo.floor %arg0 : tensor<131xbf16>
  %4 = stablehlo.round_nearest_afz %arg0 : tensor<131xbf16>
  %5 = stablehlo.round_nearest_even %arg0 : tensor<131xbf16>
  %6 = stablehlo.sqrt %arg0 : tensor<131xbf16>
  %7 = stablehlo.rsqrt %arg0 : tensor<131xbf16>
  %8 = stablehlo.cbrt %arg0 : tensor<131xbf16>
  %9 = stablehlo.exponential %arg0 : tensor<131xbf16>
  %10 = stablehlo.exponential_minus_one %arg0 : tensor<131xbf16>
  %11 = stablehlo.log %arg0 : tensor<131xbf16>
  %12 = stablehlo.log_plus_one %arg0 : tensor<131xbf16>
  %13 = stablehlo.exponential %1 : tensor<131xbf16>
  %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<131xbf16>
  %15 = stablehlo.add %14, %13 : tensor<131xbf16>
  %16 = stablehlo.divide %14, %15 : tensor<131xbf16>
  %17 = stablehlo.tanh %arg0 : tensor<131xbf16>
  %21 = stablehlo.sign %arg0 : tensor<131xbf16>
  %22 = stablehlo.is_finite %arg0 : (tensor<131xbf16>) -> tensor<131xi1>
  %23 = chlo.erf %arg0 : tensor<131xbf16> -> tensor<131xbf16>
  %24 = chlo.erfc %arg0 : tensor<131xbf16> -> tensor<131xbf16>
  %25 = chlo.erf_inv %arg0 : tensor<131xbf16> -> tensor<131xbf16>
  %26 = chlo.atan %arg0 : tensor<131xbf16> -> tensor<131xbf16>
  %27 = chlo.sinh %arg0 : tensor<131xbf16> -> tensor<131xbf16>
  %28 = chlo.square %arg0 : tensor<131xbf16> -> tensor<131xbf16>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %16, %17, %21, %22, %23, %24, %25, %26, %27, %28 : tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xi1>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>
}

func.func @trigonometric_bf16(%arg0: tensor<131xbf16>) -> (tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>) {
  %0 = stablehlo.sine %arg0 : tensor<131xbf16>
  %1 = stablehlo.cosine %arg0 : tensor<131xbf16>
  %2 = stablehlo.tan %arg0 : tensor<131xbf16>
  return %0, %1, %2 : tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>
}

func.func @binary_bf16_special(%arg0: tensor<67xbf16>, %arg1: tensor<67xbf16>) -> (tensor<67xbf16>, tensor<67xbf16>, tensor<67xbf16>, tensor<67xbf16>, tensor<67xbf16>, tensor<67xbf16>, tensor<67xbf16>, tensor<67xbf16>, tensor<67xbf16>, tensor<67xi1>, tensor<67xi1>, tensor<67xi1>, tensor<67xi1>, tensor<67xi1>, tensor<67xi1>) {
  %0 = stablehlo.add %arg0, %arg1 : tensor<67xbf16>
  %1 = stablehlo.subtract %arg0, %arg1 : tensor<67xbf16>
  %2 = stablehlo.multiply %arg0, %arg1 : tensor<67xbf16>
  %3 = stablehlo.divide %arg0, %arg1 : tensor<67xbf16>
  %4 = stablehlo.maximum %arg0, %arg1 : tensor<67xbf16>
  %5 = stablehlo.minimum %arg0, %arg1 : tensor<67xbf16>
  %6 = stablehlo.remainder %arg0, %arg1 : tensor<67xbf16>
  %7 = stablehlo.atan2 %arg0, %arg1 : tensor<67xbf16>
  %8 = stablehlo.abs %arg0 : tensor<67xbf16>
  %9 = stablehlo.power %8, %arg1 : tensor<67xbf16>
  %10 = stablehlo.compare EQ, %arg0, %arg1, FLOAT : (tensor<67xbf16>, tensor<67xbf16>) -> tensor<67xi1>
  %11 = stablehlo.compare NE, %arg0, %arg1, FLOAT : (tensor<67xbf16>, tensor<67xbf16>) -> tensor<67xi1>
  %12 = stablehlo.compare LT, %arg0, %arg1, FLOAT : (tensor<67xbf16>, tensor<67xbf16>) -> tensor<67xi1>
  %13 = stablehlo.compare GE, %arg0, %arg1, FLOAT : (tensor<67xbf16>, tensor<67xbf16>) -> tensor<67xi1>
  %14 = stablehlo.compare GT, %arg0, %arg1, FLOAT : (tensor<67xbf16>, tensor<67xbf16>) -> tensor<67xi1>
  %15 = stablehlo.compare LE, %arg0, %arg1, FLOAT : (tensor<67xbf16>, tensor<67xbf16>) -> tensor<67xi1>
  return %0, %1, %2, %3, %4, %5, %6, %7, %9, %10, %11, %12, %13, %14, %15 : tensor<67xbf16>, tensor<67xbf16>, tensor<67xbf16>, tensor<67xbf16>, tensor<67xbf16>, tensor<67xbf16>, tensor<67xbf16>, tensor<67xbf16>, tensor<67xbf16>, tensor<67xi1>, tensor<67xi1>, tensor<67xi1>, tensor<67xi1>, tensor<67xi1>, tensor<67xi1>
}

func.func @powers_bf16_special(%arg0: tensor<67xbf16>) -> (tensor<67xbf16>, tensor<67xbf16>, tensor<67xbf16>, tensor<67xbf16>, tensor<67xbf16>) {
  %cst = stablehlo.constant dense<-1.000000e+00> : tensor<bf16>
  %cst_0 = stablehlo.constant dense<-5.000000e-01> : tensor<bf16>
  %cst_1 = stablehlo.constant dense<5.000000e-01> : tensor<bf16>
  %cst_2 = stablehlo.constant dense<3.000000e+00> : tensor<bf16>
  %0 = stablehlo.multiply %arg0, %arg0 : tensor<67xbf16>
  %1 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<bf16>) -> tensor<67xbf16>
  %2 = stablehlo.power %arg0, %1 : tensor<67xbf16>
  %3 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<bf16>) -> tensor<67xbf16>
  %4 = stablehlo.power %arg0, %3 : tensor<67xbf16>
  %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<bf16>) -> tensor<67xbf16>
  %6 = stablehlo.power %arg0, %5 : tensor<67xbf16>
  %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<67xbf16>
  %8 = stablehlo.power %arg0, %7 : tensor<67xbf16>
  return %0, %2, %4, %6, %8 : tensor<67xbf16>, tensor<67xbf16>, tensor<67xbf16>, tensor<67xbf16>, tensor<67xbf16>
}

func.func @unary_f16_special(%arg0: tensor<131xf16>) -> (tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xi1>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>) {
  %cst = stablehlo.constant dense<1.000000e+00> : tensor<f16>
  %0 = stablehlo.abs %arg0 : tensor<131xf16>
  %1 = stablehlo.negate %arg0 : tensor<131xf16>
  %2 = stablehlo.ceil %arg0 : tensor<131xf16>
  %3 = stablehlo.floor %arg0 : tensor<131xf16>
  %4 = stablehlo.round_nearest_afz %arg0 : tensor<131xf16>
  %5 = stablehlo.round_nearest_even %arg0 : tensor<131xf16>
  %6 = stablehlo.sqrt %arg0 : tensor<131xf16>
  %7 = stablehlo.rsqrt %arg0 : tensor<131xf16>
  %8 = stablehlo.cbrt %arg0 : tensor<131xf16>
  %9 = stablehlo.exponential %arg0 : tensor<131xf16>
  %10 = stablehlo.exponential_minus_one %arg0 : tensor<131xf16>
  %11 = stablehlo.log %arg0 : tensor<131xf16>
  %12 = stablehlo.log_plus_one %arg0 : tensor<131xf16>
  %13 = stablehlo.exponential %1 : tensor<131xf16>
  %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f16>) -> tensor<131xf16>
  %15 = stablehlo.add %14, %13 : tensor<131xf16>
  %16 = stablehlo.divide %14, %15 : tensor<131xf16>
  %17 = stablehlo.tanh %arg0 : tensor<131xf16>
  %21 = stablehlo.sign %arg0 : tensor<131xf16>
  %22 = stablehlo.is_finite %arg0 : (tensor<131xf16>) -> tensor<131xi1>
  %23 = chlo.erf %arg0 : tensor<131xf16> -> tensor<131xf16>
  %24 = chlo.erfc %arg0 : tensor<131xf16> -> tensor<131xf16>
  %25 = chlo.erf_inv %arg0 : tensor<131xf16> -> tensor<131xf16>
  %26 = chlo.atan %arg0 : tensor<131xf16> -> tensor<131xf16>
  %27 = chlo.sinh %arg0 : tensor<131xf16> -> tensor<131xf16>
  %28 = chlo.square %arg0 : tensor<131xf16> -> tensor<131xf16>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %16, %17, %21, %22, %23, %24, %25, %26, %27, %28 : tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xi1>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>
}

func.func @trigonometric_f16(%arg0: tensor<131xf16>) -> (tensor<131xf16>, tensor<131xf16>, tensor<131xf16>) {
  %0 = stablehlo.sine %arg0 : tensor<131xf16>
  %1 = stablehlo.cosine %arg0 : tensor<131xf16>
  %2 = stablehlo.tan %arg0 : tensor<131xf16>
  return %0, %1, %2 : tensor<131xf16>, tensor<131xf16>, tensor<131xf16>
}

func.func @binary_f16_special(%arg0: tensor<67xf16>, %arg1: tensor<67xf16>) -> (tensor<67xf16>, tensor<67xf16>, tensor<67xf16>, tensor<67xf16>, tensor<67xf16>, tensor<67xf16>, tensor<67xf16>, tensor<67xf16>, tensor<67xf16>, tensor<67xi1>, tensor<67xi1>, tensor<67xi1>, tensor<67xi1>, tensor<67xi1>, tensor<67xi1>) {
  %0 = stablehlo.add %arg0, %arg1 : tensor<67xf16>
  %1 = stablehlo.subtract %arg0, %arg1 : tensor<67xf16>
  %2 = stablehlo.multiply %arg0, %arg1 : tensor<67xf16>
  %3 = stablehlo.divide %arg0, %arg1 : tensor<67xf16>
  %4 = stablehlo.maximum %arg0, %arg1 : tensor<67xf16>
  %5 = stablehlo.minimum %arg0, %arg1 : tensor<67xf16>
  %6 = stablehlo.remainder %arg0, %arg1 : tensor<67xf16>
  %7 = stablehlo.atan2 %arg0, %arg1 : tensor<67xf16>
  %8 = stablehlo.abs %arg0 : tensor<67xf16>
  %9 = stablehlo.power %8, %arg1 : tensor<67xf16>
  %10 = stablehlo.compare EQ, %arg0, %arg1, FLOAT : (tensor<67xf16>, tensor<67xf16>) -> tensor<67xi1>
  %11 = stablehlo.compare NE, %arg0, %arg1, FLOAT : (tensor<67xf16>, tensor<67xf16>) -> tensor<67xi1>
  %12 = stablehlo.compare LT, %arg0, %arg1, FLOAT : (tensor<67xf16>, tensor<67xf16>) -> tensor<67xi1>
  %13 = stablehlo.compare GE, %arg0, %arg1, FLOAT : (tensor<67xf16>, tensor<67xf16>) -> tensor<67xi1>
  %14 = stablehlo.compare GT, %arg0, %arg1, FLOAT : (tensor<67xf16>, tensor<67xf16>) -> tensor<67xi1>
  %15 = stablehlo.compare LE, %arg0, %arg1, FLOAT : (tensor<67xf16>, tensor<67xf16>) -> tensor<67xi1>
  return %0, %1, %2, %3, %4, %5, %6, %7, %9, %10, %11, %12, %13, %14, %15 : tensor<67xf16>, tensor<67xf16>, tensor<67xf16>, tensor<67xf16>, tensor<67xf16>, tensor<67xf16>, tensor<67xf16>, tensor<67xf16>, tensor<67xf16>, tensor<67xi1>, tensor<67xi1>, tensor<67xi1>, tensor<67xi1>, tensor<67xi1>, tensor<67xi1>
}

func.func @powers_f16_special(%arg0: tensor<67xf16>) -> (tensor<67xf16>, tensor<67xf16>, tensor<67xf16>, tensor<67xf16>, tensor<67xf16>) {
  %cst = stablehlo.constant dense<-1.000000e+00> : tensor<f16>
  %cst_0 = stablehlo.constant dense<-5.000000e-01> : tensor<f16>
  %cst_1 = stablehlo.constant dense<5.000000e-01> : tensor<f16>
  %cst_2 = stablehlo.constant dense<3.000000e+00> : tensor<f16>
  %0 = stablehlo.multiply %arg0, %arg0 : tensor<67xf16>
  %1 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f16>) -> tensor<67xf16>
  %2 = stablehlo.power %arg0, %1 : tensor<67xf16>
  %3 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f16>) -> tensor<67xf16>
  %4 = stablehlo.power %arg0, %3 : tensor<67xf16>
  %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f16>) -> tensor<67xf16>
  %6 = stablehlo.power %arg0, %5 : tensor<67xf16>
  %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f16>) -> tensor<67xf16>
  %8 = stablehlo.power %arg0, %7 : tensor<67xf16>
  return %0, %2, %4, %6, %8 : tensor<67xf16>, tensor<67xf16>, tensor<67xf16>, tensor<67xf16>, tensor<67xf16>
}

// What is compared is rounded: a number is equal to what it is rounded to.
func.func @compared_as_rounded(%arg0: tensor<131xbf16>, %arg1: tensor<131xf16>) -> (tensor<131xi1>, tensor<131xi1>) {
  %c = stablehlo.constant dense<1.300000e+00> : tensor<131xbf16>
  %d = stablehlo.constant dense<1.300000e+00> : tensor<131xf16>
  %0 = stablehlo.multiply %arg0, %c : tensor<131xbf16>
  %1 = stablehlo.reduce_precision %0, format = e8m7 : tensor<131xbf16>
  %2 = stablehlo.compare EQ, %0, %1 : (tensor<131xbf16>, tensor<131xbf16>) -> tensor<131xi1>
  %3 = stablehlo.multiply %arg1, %d : tensor<131xf16>
  %4 = stablehlo.reduce_precision %3, format = e5m10 : tensor<131xf16>
  %5 = stablehlo.compare EQ, %3, %4 : (tensor<131xf16>, tensor<131xf16>) -> tensor<131xi1>
  return %2, %5 : tensor<131xi1>, tensor<131xi1>
}
