// RUN: sp-kernel-check %s | FileCheck %s
// RUN: sp-kernel-check --cpu=x86-64-v3 %s | FileCheck %s
// RUN: sp-kernel-check --grid %s | FileCheck %s
// CHECK-NOT: WRONG

// What transformers are made of.

func.func @rms_norm(%arg0: tensor<1x65x96xf32>, %arg1: tensor<96xf32>) -> (tensor<1x65x96xf32>) {
  %cst = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
  %cst_0 = stablehlo.constant dense<9.600000e+01> : tensor<f32>
  %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = stablehlo.multiply %arg0, %arg0 : tensor<1x65x96xf32>
  %1 = stablehlo.reduce(%0 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<1x65x96xf32>, tensor<f32>) -> tensor<1x65xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x65xf32>) -> tensor<1x65x1xf32>
  %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x65x1xf32>
  %4 = stablehlo.divide %2, %3 : tensor<1x65x1xf32>
  %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x65x1xf32>
  %6 = stablehlo.add %4, %5 : tensor<1x65x1xf32>
  %7 = stablehlo.rsqrt %6 : tensor<1x65x1xf32>
  %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<1x65x1xf32>) -> tensor<1x65x96xf32>
  %9 = stablehlo.multiply %arg0, %8 : tensor<1x65x96xf32>
  %10 = stablehlo.broadcast_in_dim %arg1, dims = [2] : (tensor<96xf32>) -> tensor<1x1x96xf32>
  %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2] : (tensor<1x1x96xf32>) -> tensor<1x65x96xf32>
  %12 = stablehlo.multiply %9, %11 : tensor<1x65x96xf32>
  return %12 : tensor<1x65x96xf32>
}

func.func @rms_norm_bf16(%arg0: tensor<2x33x64xbf16>, %arg1: tensor<64xf32>) -> (tensor<2x33x64xbf16>) {
  %cst = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
  %cst_0 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
  %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = stablehlo.convert %arg0 : (tensor<2x33x64xbf16>) -> tensor<2x33x64xf32>
  %1 = stablehlo.multiply %0, %0 : tensor<2x33x64xf32>
  %2 = stablehlo.reduce(%1 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<2x33x64xf32>, tensor<f32>) -> tensor<2x33xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<2x33xf32>) -> tensor<2x33x1xf32>
  %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x33x1xf32>
  %5 = stablehlo.divide %3, %4 : tensor<2x33x1xf32>
  %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x33x1xf32>
  %7 = stablehlo.add %5, %6 : tensor<2x33x1xf32>
  %8 = stablehlo.rsqrt %7 : tensor<2x33x1xf32>
  %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<2x33x1xf32>) -> tensor<2x33x64xf32>
  %10 = stablehlo.multiply %0, %9 : tensor<2x33x64xf32>
  %11 = stablehlo.broadcast_in_dim %arg1, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
  %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<2x33x64xf32>
  %13 = stablehlo.multiply %10, %12 : tensor<2x33x64xf32>
  %14 = stablehlo.convert %13 : (tensor<2x33x64xf32>) -> tensor<2x33x64xbf16>
  return %14 : tensor<2x33x64xbf16>
}

func.func @residual_norm(%arg0: tensor<1x65x96xf32>, %arg1: tensor<1x65x96xf32>, %arg2: tensor<96xf32>) -> (tensor<1x65x96xf32>, tensor<1x65x96xf32>) {
  %cst = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
  %cst_0 = stablehlo.constant dense<9.600000e+01> : tensor<f32>
  %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = stablehlo.add %arg0, %arg1 : tensor<1x65x96xf32>
  %1 = stablehlo.multiply %0, %0 : tensor<1x65x96xf32>
  %2 = stablehlo.reduce(%1 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<1x65x96xf32>, tensor<f32>) -> tensor<1x65xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<1x65xf32>) -> tensor<1x65x1xf32>
  %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x65x1xf32>
  %5 = stablehlo.divide %3, %4 : tensor<1x65x1xf32>
  %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x65x1xf32>
  %7 = stablehlo.add %5, %6 : tensor<1x65x1xf32>
  %8 = stablehlo.rsqrt %7 : tensor<1x65x1xf32>
  %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x65x1xf32>) -> tensor<1x65x96xf32>
  %10 = stablehlo.multiply %0, %9 : tensor<1x65x96xf32>
  %11 = stablehlo.broadcast_in_dim %arg2, dims = [2] : (tensor<96xf32>) -> tensor<1x1x96xf32>
  %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2] : (tensor<1x1x96xf32>) -> tensor<1x65x96xf32>
  %13 = stablehlo.multiply %10, %12 : tensor<1x65x96xf32>
  return %0, %13 : tensor<1x65x96xf32>, tensor<1x65x96xf32>
}

func.func @layer_norm(%arg0: tensor<2x65x96xf32>, %arg1: tensor<96xf32>, %arg2: tensor<96xf32>) -> (tensor<2x65x96xf32>) {
  %cst = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
  %cst_0 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
  %c = stablehlo.constant dense<0> : tensor<i64>
  %cst_1 = stablehlo.constant dense<9.600000e+01> : tensor<f32>
  %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = stablehlo.reduce(%arg0 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<2x65x96xf32>, tensor<f32>) -> tensor<2x65xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<2x65xf32>) -> tensor<2x65x1xf32>
  %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x65x1xf32>
  %3 = stablehlo.divide %1, %2 : tensor<2x65x1xf32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<2x65x1xf32>) -> tensor<2x65x96xf32>
  %5 = stablehlo.subtract %arg0, %4 : tensor<2x65x96xf32>
  %6 = chlo.square %5 : tensor<2x65x96xf32> -> tensor<2x65x96xf32>
  %7 = stablehlo.convert %c : (tensor<i64>) -> tensor<f32>
  %8 = stablehlo.subtract %cst_1, %7 : tensor<f32>
  %9 = stablehlo.reduce(%6 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<2x65x96xf32>, tensor<f32>) -> tensor<2x65xf32>
  %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<2x65xf32>) -> tensor<2x65x1xf32>
  %11 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<2x65x1xf32>
  %12 = stablehlo.divide %10, %11 : tensor<2x65x1xf32>
  %13 = stablehlo.compare GT, %8, %cst_2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %14 = stablehlo.convert %cst : (tensor<f64>) -> tensor<f32>
  %15 = stablehlo.broadcast_in_dim %14, dims = [] : (tensor<f32>) -> tensor<2x65x1xf32>
  %16 = stablehlo.select %13, %12, %15 : tensor<i1>, tensor<2x65x1xf32>
  %17 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x65x1xf32>
  %18 = stablehlo.add %16, %17 : tensor<2x65x1xf32>
  %19 = stablehlo.sqrt %18 : tensor<2x65x1xf32>
  %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2] : (tensor<2x65x1xf32>) -> tensor<2x65x96xf32>
  %21 = stablehlo.divide %5, %20 : tensor<2x65x96xf32>
  %22 = stablehlo.broadcast_in_dim %arg1, dims = [2] : (tensor<96xf32>) -> tensor<1x1x96xf32>
  %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2] : (tensor<1x1x96xf32>) -> tensor<2x65x96xf32>
  %24 = stablehlo.multiply %21, %23 : tensor<2x65x96xf32>
  %25 = stablehlo.broadcast_in_dim %arg2, dims = [2] : (tensor<96xf32>) -> tensor<1x1x96xf32>
  %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2] : (tensor<1x1x96xf32>) -> tensor<2x65x96xf32>
  %27 = stablehlo.add %24, %26 : tensor<2x65x96xf32>
  return %27 : tensor<2x65x96xf32>
}

func.func @layer_norm_f64(%arg0: tensor<2x7x33xf64>, %arg1: tensor<33xf64>, %arg2: tensor<33xf64>) -> (tensor<2x7x33xf64>) {
  %cst = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
  %cst_0 = stablehlo.constant dense<1.000000e-05> : tensor<f64>
  %c = stablehlo.constant dense<0> : tensor<i64>
  %cst_1 = stablehlo.constant dense<3.300000e+01> : tensor<f64>
  %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
  %0 = stablehlo.reduce(%arg0 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<2x7x33xf64>, tensor<f64>) -> tensor<2x7xf64>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<2x7xf64>) -> tensor<2x7x1xf64>
  %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<2x7x1xf64>
  %3 = stablehlo.divide %1, %2 : tensor<2x7x1xf64>
  %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<2x7x1xf64>) -> tensor<2x7x33xf64>
  %5 = stablehlo.subtract %arg0, %4 : tensor<2x7x33xf64>
  %6 = chlo.square %5 : tensor<2x7x33xf64> -> tensor<2x7x33xf64>
  %7 = stablehlo.convert %c : (tensor<i64>) -> tensor<f64>
  %8 = stablehlo.subtract %cst_1, %7 : tensor<f64>
  %9 = stablehlo.reduce(%6 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<2x7x33xf64>, tensor<f64>) -> tensor<2x7xf64>
  %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<2x7xf64>) -> tensor<2x7x1xf64>
  %11 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f64>) -> tensor<2x7x1xf64>
  %12 = stablehlo.divide %10, %11 : tensor<2x7x1xf64>
  %13 = stablehlo.compare GT, %8, %cst_2, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
  %14 = stablehlo.convert %cst : tensor<f64>
  %15 = stablehlo.broadcast_in_dim %14, dims = [] : (tensor<f64>) -> tensor<2x7x1xf64>
  %16 = stablehlo.select %13, %12, %15 : tensor<i1>, tensor<2x7x1xf64>
  %17 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<2x7x1xf64>
  %18 = stablehlo.add %16, %17 : tensor<2x7x1xf64>
  %19 = stablehlo.sqrt %18 : tensor<2x7x1xf64>
  %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2] : (tensor<2x7x1xf64>) -> tensor<2x7x33xf64>
  %21 = stablehlo.divide %5, %20 : tensor<2x7x33xf64>
  %22 = stablehlo.broadcast_in_dim %arg1, dims = [2] : (tensor<33xf64>) -> tensor<1x1x33xf64>
  %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2] : (tensor<1x1x33xf64>) -> tensor<2x7x33xf64>
  %24 = stablehlo.multiply %21, %23 : tensor<2x7x33xf64>
  %25 = stablehlo.broadcast_in_dim %arg2, dims = [2] : (tensor<33xf64>) -> tensor<1x1x33xf64>
  %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2] : (tensor<1x1x33xf64>) -> tensor<2x7x33xf64>
  %27 = stablehlo.add %24, %26 : tensor<2x7x33xf64>
  return %27 : tensor<2x7x33xf64>
}

func.func @softmax(%arg0: tensor<5x3x77xf32>) -> (tensor<5x3x77xf32>) {
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%arg0 init: %cst_0) applies stablehlo.maximum across dimensions = [2] : (tensor<5x3x77xf32>, tensor<f32>) -> tensor<5x3xf32>
  %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<5x3xf32>
  %2 = stablehlo.maximum %1, %0 : tensor<5x3xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<5x3xf32>) -> tensor<5x3x1xf32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<5x3x1xf32>) -> tensor<5x3x77xf32>
  %5 = stablehlo.subtract %arg0, %4 : tensor<5x3x77xf32>
  %6 = stablehlo.exponential %5 : tensor<5x3x77xf32>
  %7 = stablehlo.reduce(%6 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<5x3x77xf32>, tensor<f32>) -> tensor<5x3xf32>
  %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<5x3xf32>) -> tensor<5x3x1xf32>
  %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<5x3x1xf32>) -> tensor<5x3x77xf32>
  %10 = stablehlo.divide %6, %9 : tensor<5x3x77xf32>
  return %10 : tensor<5x3x77xf32>
}

func.func @masked_softmax(%arg0: tensor<4x33x33xf32>) -> (tensor<4x33x33xf32>) {
  %c = stablehlo.constant dense<0> : tensor<i64>
  %c_0 = stablehlo.constant dense<false> : tensor<i1>
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %cst_2 = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
  %c_3 = stablehlo.constant dense<true> : tensor<i1>
  %0 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i1>) -> tensor<33x33xi1>
  %1 = stablehlo.iota dim = 0 : tensor<33x33xi64>
  %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<33x33xi64>
  %3 = stablehlo.add %1, %2 : tensor<33x33xi64>
  %4 = stablehlo.iota dim = 1 : tensor<33x33xi64>
  %5 = stablehlo.compare GE, %3, %4, SIGNED : (tensor<33x33xi64>, tensor<33x33xi64>) -> tensor<33x33xi1>
  %6 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<33x33xi1>
  %7 = stablehlo.select %5, %0, %6 : tensor<33x33xi1>, tensor<33x33xi1>
  %8 = stablehlo.convert %cst_2 : (tensor<f64>) -> tensor<f32>
  %9 = stablehlo.broadcast_in_dim %7, dims = [1, 2] : (tensor<33x33xi1>) -> tensor<4x33x33xi1>
  %10 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<4x33x33xf32>
  %11 = stablehlo.select %9, %arg0, %10 : tensor<4x33x33xi1>, tensor<4x33x33xf32>
  %12 = stablehlo.reduce(%11 init: %cst_1) applies stablehlo.maximum across dimensions = [2] : (tensor<4x33x33xf32>, tensor<f32>) -> tensor<4x33xf32>
  %13 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x33xf32>
  %14 = stablehlo.maximum %13, %12 : tensor<4x33xf32>
  %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1] : (tensor<4x33xf32>) -> tensor<4x33x1xf32>
  %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2] : (tensor<4x33x1xf32>) -> tensor<4x33x33xf32>
  %17 = stablehlo.subtract %11, %16 : tensor<4x33x33xf32>
  %18 = stablehlo.exponential %17 : tensor<4x33x33xf32>
  %19 = stablehlo.reduce(%18 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<4x33x33xf32>, tensor<f32>) -> tensor<4x33xf32>
  %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1] : (tensor<4x33xf32>) -> tensor<4x33x1xf32>
  %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2] : (tensor<4x33x1xf32>) -> tensor<4x33x33xf32>
  %22 = stablehlo.divide %18, %21 : tensor<4x33x33xf32>
  return %22 : tensor<4x33x33xf32>
}

func.func @swiglu(%arg0: tensor<1x100x30xf32>, %arg1: tensor<1x100x30xf32>) -> (tensor<1x100x30xf32>) {
  %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
  %0 = stablehlo.negate %arg0 : tensor<1x100x30xf32>
  %1 = stablehlo.exponential %0 : tensor<1x100x30xf32>
  %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x100x30xf32>
  %3 = stablehlo.add %2, %1 : tensor<1x100x30xf32>
  %4 = stablehlo.divide %2, %3 : tensor<1x100x30xf32>
  %5 = stablehlo.multiply %arg0, %4 : tensor<1x100x30xf32>
  %6 = stablehlo.multiply %5, %arg1 : tensor<1x100x30xf32>
  return %6 : tensor<1x100x30xf32>
}

func.func @gelu(%arg0: tensor<1x100x30xf32>) -> (tensor<1x100x30xf32>) {
  %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
  %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
  %cst_1 = stablehlo.constant dense<0.797884583> : tensor<f32>
  %cst_2 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
  %0 = stablehlo.multiply %arg0, %arg0 : tensor<1x100x30xf32>
  %1 = stablehlo.multiply %0, %arg0 : tensor<1x100x30xf32>
  %2 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<1x100x30xf32>
  %3 = stablehlo.multiply %2, %1 : tensor<1x100x30xf32>
  %4 = stablehlo.add %arg0, %3 : tensor<1x100x30xf32>
  %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1x100x30xf32>
  %6 = stablehlo.multiply %5, %4 : tensor<1x100x30xf32>
  %7 = stablehlo.tanh %6 : tensor<1x100x30xf32>
  %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x100x30xf32>
  %9 = stablehlo.add %8, %7 : tensor<1x100x30xf32>
  %10 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x100x30xf32>
  %11 = stablehlo.multiply %10, %9 : tensor<1x100x30xf32>
  %12 = stablehlo.multiply %arg0, %11 : tensor<1x100x30xf32>
  return %12 : tensor<1x100x30xf32>
}

func.func @gelu_exact(%arg0: tensor<1x100x30xf32>) -> (tensor<1x100x30xf32>) {
  %cst = stablehlo.constant dense<0.707106769> : tensor<f32>
  %cst_0 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x100x30xf32>
  %1 = stablehlo.multiply %0, %arg0 : tensor<1x100x30xf32>
  %2 = stablehlo.negate %arg0 : tensor<1x100x30xf32>
  %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x100x30xf32>
  %4 = stablehlo.multiply %2, %3 : tensor<1x100x30xf32>
  %5 = chlo.erfc %4 : tensor<1x100x30xf32> -> tensor<1x100x30xf32>
  %6 = stablehlo.multiply %1, %5 : tensor<1x100x30xf32>
  return %6 : tensor<1x100x30xf32>
}

// Results of two and of 32 rows: what failed while rows are cut one way is not used.
func.func @results_of_other_rows(%arg0: tensor<2x1x32xf32>, %arg1: tensor<50x32xf32>, %arg2: tensor<i32>) -> (tensor<2x32xf32>, tensor<32x50xf32>) {
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<2x1x32xf32>, tensor<f32>) -> tensor<2x1xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x1x1xf32>
  %cst_0 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
  %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x1x1xf32>
  %3 = stablehlo.divide %1, %2 : tensor<2x1x1xf32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<2x1x1xf32>) -> tensor<2x1x32xf32>
  %5 = stablehlo.subtract %arg0, %4 : tensor<2x1x32xf32>
  %6 = chlo.square %5 : tensor<2x1x32xf32> -> tensor<2x1x32xf32>
  %7 = stablehlo.reduce(%6 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<2x1x32xf32>, tensor<f32>) -> tensor<2x1xf32>
  %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x1x1xf32>
  %c = stablehlo.constant dense<0> : tensor<i64>
  %9 = stablehlo.convert %c : (tensor<i64>) -> tensor<f32>
  %10 = stablehlo.subtract %cst_0, %9 : tensor<f32>
  %11 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<f32>) -> tensor<2x1x1xf32>
  %12 = stablehlo.divide %8, %11 : tensor<2x1x1xf32>
  %13 = stablehlo.compare GT, %10, %cst, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %cst_1 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
  %14 = stablehlo.convert %cst_1 : (tensor<f64>) -> tensor<f32>
  %15 = stablehlo.broadcast_in_dim %14, dims = [] : (tensor<f32>) -> tensor<2x1x1xf32>
  %16 = stablehlo.select %13, %12, %15 : tensor<i1>, tensor<2x1x1xf32>
  %cst_2 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
  %17 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x1x1xf32>
  %18 = stablehlo.add %16, %17 : tensor<2x1x1xf32>
  %19 = stablehlo.sqrt %18 : tensor<2x1x1xf32>
  %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2] : (tensor<2x1x1xf32>) -> tensor<2x1x32xf32>
  %21 = stablehlo.divide %5, %20 : tensor<2x1x32xf32>
  %22 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<50x32xf32>) -> tensor<32x50xf32>
  %23 = stablehlo.iota dim = 0 : tensor<32xi32>
  %c_3 = stablehlo.constant dense<32> : tensor<32xi32>
  %24 = stablehlo.divide %23, %c_3 : tensor<32xi32>
  %25 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<i32>) -> tensor<32xi32>
  %26 = stablehlo.compare LT, %24, %25 : (tensor<32xi32>, tensor<32xi32>) -> tensor<32xi1>
  %27 = stablehlo.broadcast_in_dim %26, dims = [1] : (tensor<32xi1>) -> tensor<2x32xi1>
  %28 = stablehlo.reshape %21 : (tensor<2x1x32xf32>) -> tensor<2x32xf32>
  %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<2x32xf32>
  %29 = stablehlo.select %27, %28, %cst_4 : tensor<2x32xi1>, tensor<2x32xf32>
  %30 = stablehlo.broadcast_in_dim %26, dims = [0] : (tensor<32xi1>) -> tensor<32x50xi1>
  %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<32x50xf32>
  %31 = stablehlo.select %30, %22, %cst_5 : tensor<32x50xi1>, tensor<32x50xf32>
  return %29, %31 : tensor<2x32xf32>, tensor<32x50xf32>
}
