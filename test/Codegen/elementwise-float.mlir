// RUN: sp-kernel-check %s | FileCheck %s
// RUN: sp-kernel-check --cpu=x86-64-v3 %s | FileCheck %s
// RUN: sp-kernel-check --grid %s | FileCheck %s
// CHECK-NOT: WRONG

// Elementary functions, also of infinities, NaN and zeros of both signs.

func.func @unary_f32_special(%arg0: tensor<131xf32>) -> (tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xi1>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>) {
  %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
  %0 = stablehlo.abs %arg0 : tensor<131xf32>
  %1 = stablehlo.negate %arg0 : tensor<131xf32>
  %2 = stablehlo.ceil %arg0 : tensor<131xf32>
  %3 = stablehlo.floor %arg0 : tensor<131xf32>
  %4 = stablehlo.round_nearest_afz %arg0 : tensor<131xf32>
  %5 = stablehlo.round_nearest_even %arg0 : tensor<131xf32>
  %6 = stablehlo.sqrt %arg0 : tensor<131xf32>
  %7 = stablehlo.rsqrt %arg0 : tensor<131xf32>
  %8 = stablehlo.cbrt %arg0 : tensor<131xf32>
  %9 = stablehlo.exponential %arg0 : tensor<131xf32>
  %10 = stablehlo.exponential_minus_one %arg0 : tensor<131xf32>
  %11 = stablehlo.log %arg0 : tensor<131xf32>
  %12 = stablehlo.log_plus_one %arg0 : tensor<131xf32>
  %13 = stablehlo.exponential %1 : tensor<131xf32>
  %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<131xf32>
  %15 = stablehlo.add %14, %13 : tensor<131xf32>
  %16 = stablehlo.divide %14, %15 : tensor<131xf32>
  %17 = stablehlo.tanh %arg0 : tensor<131xf32>
  %21 = stablehlo.sign %arg0 : tensor<131xf32>
  %22 = stablehlo.is_finite %arg0 : (tensor<131xf32>) -> tensor<131xi1>
  %23 = chlo.erf %arg0 : tensor<131xf32> -> tensor<131xf32>
  %24 = chlo.erfc %arg0 : tensor<131xf32> -> tensor<131xf32>
  %25 = chlo.erf_inv %arg0 : tensor<131xf32> -> tensor<131xf32>
  %26 = chlo.atan %arg0 : tensor<131xf32> -> tensor<131xf32>
  %27 = chlo.sinh %arg0 : tensor<131xf32> -> tensor<131xf32>
  %28 = chlo.square %arg0 : tensor<131xf32> -> tensor<131xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %16, %17, %21, %22, %23, %24, %25, %26, %27, %28 : tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xi1>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>
}

func.func @trigonometric_f32(%arg0: tensor<131xf32>) -> (tensor<131xf32>, tensor<131xf32>, tensor<131xf32>) {
  %0 = stablehlo.sine %arg0 : tensor<131xf32>
  %1 = stablehlo.cosine %arg0 : tensor<131xf32>
  %2 = stablehlo.tan %arg0 : tensor<131xf32>
  return %0, %1, %2 : tensor<131xf32>, tensor<131xf32>, tensor<131xf32>
}

func.func @binary_f32_special(%arg0: tensor<67xf32>, %arg1: tensor<67xf32>) -> (tensor<67xf32>, tensor<67xf32>, tensor<67xf32>, tensor<67xf32>, tensor<67xf32>, tensor<67xf32>, tensor<67xf32>, tensor<67xf32>, tensor<67xf32>, tensor<67xi1>, tensor<67xi1>, tensor<67xi1>, tensor<67xi1>, tensor<67xi1>, tensor<67xi1>) {
  %0 = stablehlo.add %arg0, %arg1 : tensor<67xf32>
  %1 = stablehlo.subtract %arg0, %arg1 : tensor<67xf32>
  %2 = stablehlo.multiply %arg0, %arg1 : tensor<67xf32>
  %3 = stablehlo.divide %arg0, %arg1 : tensor<67xf32>
  %4 = stablehlo.maximum %arg0, %arg1 : tensor<67xf32>
  %5 = stablehlo.minimum %arg0, %arg1 : tensor<67xf32>
  %6 = stablehlo.remainder %arg0, %arg1 : tensor<67xf32>
  %7 = stablehlo.atan2 %arg0, %arg1 : tensor<67xf32>
  %8 = stablehlo.abs %arg0 : tensor<67xf32>
  %9 = stablehlo.power %8, %arg1 : tensor<67xf32>
  %10 = stablehlo.compare EQ, %arg0, %arg1, FLOAT : (tensor<67xf32>, tensor<67xf32>) -> tensor<67xi1>
  %11 = stablehlo.compare NE, %arg0, %arg1, FLOAT : (tensor<67xf32>, tensor<67xf32>) -> tensor<67xi1>
  %12 = stablehlo.compare LT, %arg0, %arg1, FLOAT : (tensor<67xf32>, tensor<67xf32>) -> tensor<67xi1>
  %13 = stablehlo.compare GE, %arg0, %arg1, FLOAT : (tensor<67xf32>, tensor<67xf32>) -> tensor<67xi1>
  %14 = stablehlo.compare GT, %arg0, %arg1, FLOAT : (tensor<67xf32>, tensor<67xf32>) -> tensor<67xi1>
  %15 = stablehlo.compare LE, %arg0, %arg1, FLOAT : (tensor<67xf32>, tensor<67xf32>) -> tensor<67xi1>
  return %0, %1, %2, %3, %4, %5, %6, %7, %9, %10, %11, %12, %13, %14, %15 : tensor<67xf32>, tensor<67xf32>, tensor<67xf32>, tensor<67xf32>, tensor<67xf32>, tensor<67xf32>, tensor<67xf32>, tensor<67xf32>, tensor<67xf32>, tensor<67xi1>, tensor<67xi1>, tensor<67xi1>, tensor<67xi1>, tensor<67xi1>, tensor<67xi1>
}

func.func @powers_f32_special(%arg0: tensor<67xf32>) -> (tensor<67xf32>, tensor<67xf32>, tensor<67xf32>, tensor<67xf32>, tensor<67xf32>) {
  %cst = stablehlo.constant dense<-1.000000e+00> : tensor<f32>
  %cst_0 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
  %cst_1 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
  %cst_2 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
  %0 = stablehlo.multiply %arg0, %arg0 : tensor<67xf32>
  %1 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<67xf32>
  %2 = stablehlo.power %arg0, %1 : tensor<67xf32>
  %3 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<67xf32>
  %4 = stablehlo.power %arg0, %3 : tensor<67xf32>
  %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<67xf32>
  %6 = stablehlo.power %arg0, %5 : tensor<67xf32>
  %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<67xf32>
  %8 = stablehlo.power %arg0, %7 : tensor<67xf32>
  return %0, %2, %4, %6, %8 : tensor<67xf32>, tensor<67xf32>, tensor<67xf32>, tensor<67xf32>, tensor<67xf32>
}

func.func @unary_f64_special(%arg0: tensor<131xf64>) -> (tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xi1>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>) {
  %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
  %0 = stablehlo.abs %arg0 : tensor<131xf64>
  %1 = stablehlo.negate %arg0 : tensor<131xf64>
  %2 = stablehlo.ceil %arg0 : tensor<131xf64>
  %3 = stablehlo.floor %arg0 : tensor<131xf64>
  %4 = stablehlo.round_nearest_afz %arg0 : tensor<131xf64>
  %5 = stablehlo.round_nearest_even %arg0 : tensor<131xf64>
  %6 = stablehlo.sqrt %arg0 : tensor<131xf64>
  %7 = stablehlo.rsqrt %arg0 : tensor<131xf64>
  %8 = stablehlo.cbrt %arg0 : tensor<131xf64>
  %9 = stablehlo.exponential %arg0 : tensor<131xf64>
  %10 = stablehlo.exponential_minus_one %arg0 : tensor<131xf64>
  %11 = stablehlo.log %arg0 : tensor<131xf64>
  %12 = stablehlo.log_plus_one %arg0 : tensor<131xf64>
  %13 = stablehlo.exponential %1 : tensor<131xf64>
  %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<131xf64>
  %15 = stablehlo.add %14, %13 : tensor<131xf64>
  %16 = stablehlo.divide %14, %15 : tensor<131xf64>
  %17 = stablehlo.tanh %arg0 : tensor<131xf64>
  %21 = stablehlo.sign %arg0 : tensor<131xf64>
  %22 = stablehlo.is_finite %arg0 : (tensor<131xf64>) -> tensor<131xi1>
  %23 = chlo.erf %arg0 : tensor<131xf64> -> tensor<131xf64>
  %24 = chlo.erfc %arg0 : tensor<131xf64> -> tensor<131xf64>
  %25 = chlo.erf_inv %arg0 : tensor<131xf64> -> tensor<131xf64>
  %26 = chlo.atan %arg0 : tensor<131xf64> -> tensor<131xf64>
  %27 = chlo.sinh %arg0 : tensor<131xf64> -> tensor<131xf64>
  %28 = chlo.square %arg0 : tensor<131xf64> -> tensor<131xf64>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %16, %17, %21, %22, %23, %24, %25, %26, %27, %28 : tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xi1>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>
}

func.func @trigonometric_f64(%arg0: tensor<131xf64>) -> (tensor<131xf64>, tensor<131xf64>, tensor<131xf64>) {
  %0 = stablehlo.sine %arg0 : tensor<131xf64>
  %1 = stablehlo.cosine %arg0 : tensor<131xf64>
  %2 = stablehlo.tan %arg0 : tensor<131xf64>
  return %0, %1, %2 : tensor<131xf64>, tensor<131xf64>, tensor<131xf64>
}

func.func @binary_f64_special(%arg0: tensor<67xf64>, %arg1: tensor<67xf64>) -> (tensor<67xf64>, tensor<67xf64>, tensor<67xf64>, tensor<67xf64>, tensor<67xf64>, tensor<67xf64>, tensor<67xf64>, tensor<67xf64>, tensor<67xf64>, tensor<67xi1>, tensor<67xi1>, tensor<67xi1>, tensor<67xi1>, tensor<67xi1>, tensor<67xi1>) {
  %0 = stablehlo.add %arg0, %arg1 : tensor<67xf64>
  %1 = stablehlo.subtract %arg0, %arg1 : tensor<67xf64>
  %2 = stablehlo.multiply %arg0, %arg1 : tensor<67xf64>
  %3 = stablehlo.divide %arg0, %arg1 : tensor<67xf64>
  %4 = stablehlo.maximum %arg0, %arg1 : tensor<67xf64>
  %5 = stablehlo.minimum %arg0, %arg1 : tensor<67xf64>
  %6 = stablehlo.remainder %arg0, %arg1 : tensor<67xf64>
  %7 = stablehlo.atan2 %arg0, %arg1 : tensor<67xf64>
  %8 = stablehlo.abs %arg0 : tensor<67xf64>
  %9 = stablehlo.power %8, %arg1 : tensor<67xf64>
  %10 = stablehlo.compare EQ, %arg0, %arg1, FLOAT : (tensor<67xf64>, tensor<67xf64>) -> tensor<67xi1>
  %11 = stablehlo.compare NE, %arg0, %arg1, FLOAT : (tensor<67xf64>, tensor<67xf64>) -> tensor<67xi1>
  %12 = stablehlo.compare LT, %arg0, %arg1, FLOAT : (tensor<67xf64>, tensor<67xf64>) -> tensor<67xi1>
  %13 = stablehlo.compare GE, %arg0, %arg1, FLOAT : (tensor<67xf64>, tensor<67xf64>) -> tensor<67xi1>
  %14 = stablehlo.compare GT, %arg0, %arg1, FLOAT : (tensor<67xf64>, tensor<67xf64>) -> tensor<67xi1>
  %15 = stablehlo.compare LE, %arg0, %arg1, FLOAT : (tensor<67xf64>, tensor<67xf64>) -> tensor<67xi1>
  return %0, %1, %2, %3, %4, %5, %6, %7, %9, %10, %11, %12, %13, %14, %15 : tensor<67xf64>, tensor<67xf64>, tensor<67xf64>, tensor<67xf64>, tensor<67xf64>, tensor<67xf64>, tensor<67xf64>, tensor<67xf64>, tensor<67xf64>, tensor<67xi1>, tensor<67xi1>, tensor<67xi1>, tensor<67xi1>, tensor<67xi1>, tensor<67xi1>
}

func.func @powers_f64_special(%arg0: tensor<67xf64>) -> (tensor<67xf64>, tensor<67xf64>, tensor<67xf64>, tensor<67xf64>, tensor<67xf64>) {
  %cst = stablehlo.constant dense<-1.000000e+00> : tensor<f64>
  %cst_0 = stablehlo.constant dense<-5.000000e-01> : tensor<f64>
  %cst_1 = stablehlo.constant dense<5.000000e-01> : tensor<f64>
  %cst_2 = stablehlo.constant dense<3.000000e+00> : tensor<f64>
  %0 = stablehlo.multiply %arg0, %arg0 : tensor<67xf64>
  %1 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f64>) -> tensor<67xf64>
  %2 = stablehlo.power %arg0, %1 : tensor<67xf64>
  %3 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<67xf64>
  %4 = stablehlo.power %arg0, %3 : tensor<67xf64>
  %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<67xf64>
  %6 = stablehlo.power %arg0, %5 : tensor<67xf64>
  %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<67xf64>
  %8 = stablehlo.power %arg0, %7 : tensor<67xf64>
  return %0, %2, %4, %6, %8 : tensor<67xf64>, tensor<67xf64>, tensor<67xf64>, tensor<67xf64>, tensor<67xf64>
}
