// RUN: sp-kernel-check %s | FileCheck %s
// RUN: sp-kernel-check --cpu=x86-64-v3 %s | FileCheck %s
// RUN: sp-kernel-check --grid %s | FileCheck %s
// CHECK-NOT: WRONG

// Conversions, booleans, complex numbers and choices.

func.func @logical(%arg0: tensor<35xi1>, %arg1: tensor<35xi1>) -> (tensor<35xi1>, tensor<35xi1>, tensor<35xi1>, tensor<35xi1>, tensor<35xi1>, tensor<35xi1>, tensor<35xi1>, tensor<35xi1>, tensor<35xf32>) {
  %0 = stablehlo.and %arg0, %arg1 : tensor<35xi1>
  %1 = stablehlo.or %arg0, %arg1 : tensor<35xi1>
  %2 = stablehlo.xor %arg0, %arg1 : tensor<35xi1>
  %3 = stablehlo.compare EQ, %arg0, %arg1, UNSIGNED : (tensor<35xi1>, tensor<35xi1>) -> tensor<35xi1>
  %4 = stablehlo.compare LT, %arg0, %arg1, UNSIGNED : (tensor<35xi1>, tensor<35xi1>) -> tensor<35xi1>
  %5 = stablehlo.maximum %arg0, %arg1 : tensor<35xi1>
  %6 = stablehlo.minimum %arg0, %arg1 : tensor<35xi1>
  %7 = stablehlo.not %arg0 : tensor<35xi1>
  %8 = stablehlo.convert %arg0 : (tensor<35xi1>) -> tensor<35xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<35xi1>, tensor<35xi1>, tensor<35xi1>, tensor<35xi1>, tensor<35xi1>, tensor<35xi1>, tensor<35xi1>, tensor<35xi1>, tensor<35xf32>
}

func.func @convert_f32(%arg0: tensor<67xf32>) -> (tensor<67xf16>, tensor<67xbf16>, tensor<67xf32>, tensor<67xf64>, tensor<67xi1>, tensor<67xi8>, tensor<67xui8>, tensor<67xi32>, tensor<67xi64>, tensor<67xf32>, tensor<67xf32>) {
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %cst_0 = stablehlo.constant dense<1.000000e+02> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<67xf32>
  %1 = stablehlo.multiply %arg0, %0 : tensor<67xf32>
  %2 = stablehlo.convert %1 : (tensor<67xf32>) -> tensor<67xf16>
  %3 = stablehlo.convert %1 : (tensor<67xf32>) -> tensor<67xbf16>
  %4 = stablehlo.convert %1 : (tensor<67xf32>) -> tensor<67xf64>
  %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<67xf32>
  %6 = stablehlo.compare NE, %1, %5, FLOAT : (tensor<67xf32>, tensor<67xf32>) -> tensor<67xi1>
  %7 = stablehlo.convert %6 : tensor<67xi1>
  %8 = stablehlo.convert %1 : (tensor<67xf32>) -> tensor<67xi8>
  %9 = stablehlo.convert %1 : (tensor<67xf32>) -> tensor<67xui8>
  %10 = stablehlo.convert %1 : (tensor<67xf32>) -> tensor<67xi32>
  %11 = stablehlo.convert %1 : (tensor<67xf32>) -> tensor<67xi64>
  %12 = stablehlo.reduce_precision %arg0, format = e5m10 : tensor<67xf32>
  %13 = stablehlo.reduce_precision %arg0, format = e8m7 : tensor<67xf32>
  return %2, %3, %1, %4, %7, %8, %9, %10, %11, %12, %13 : tensor<67xf16>, tensor<67xbf16>, tensor<67xf32>, tensor<67xf64>, tensor<67xi1>, tensor<67xi8>, tensor<67xui8>, tensor<67xi32>, tensor<67xi64>, tensor<67xf32>, tensor<67xf32>
}

func.func @convert_f64(%arg0: tensor<67xf64>) -> (tensor<67xf16>, tensor<67xbf16>, tensor<67xf32>, tensor<67xf64>, tensor<67xi1>, tensor<67xi8>, tensor<67xui8>, tensor<67xi32>, tensor<67xi64>, tensor<67xf64>, tensor<67xf64>) {
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
  %cst_0 = stablehlo.constant dense<1.000000e+02> : tensor<f64>
  %0 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<67xf64>
  %1 = stablehlo.multiply %arg0, %0 : tensor<67xf64>
  %2 = stablehlo.convert %1 : (tensor<67xf64>) -> tensor<67xf16>
  %3 = stablehlo.convert %1 : (tensor<67xf64>) -> tensor<67xbf16>
  %4 = stablehlo.convert %1 : (tensor<67xf64>) -> tensor<67xf32>
  %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<67xf64>
  %6 = stablehlo.compare NE, %1, %5, FLOAT : (tensor<67xf64>, tensor<67xf64>) -> tensor<67xi1>
  %7 = stablehlo.convert %6 : tensor<67xi1>
  %8 = stablehlo.convert %1 : (tensor<67xf64>) -> tensor<67xi8>
  %9 = stablehlo.convert %1 : (tensor<67xf64>) -> tensor<67xui8>
  %10 = stablehlo.convert %1 : (tensor<67xf64>) -> tensor<67xi32>
  %11 = stablehlo.convert %1 : (tensor<67xf64>) -> tensor<67xi64>
  %12 = stablehlo.reduce_precision %arg0, format = e5m10 : tensor<67xf64>
  %13 = stablehlo.reduce_precision %arg0, format = e8m7 : tensor<67xf64>
  return %2, %3, %4, %1, %7, %8, %9, %10, %11, %12, %13 : tensor<67xf16>, tensor<67xbf16>, tensor<67xf32>, tensor<67xf64>, tensor<67xi1>, tensor<67xi8>, tensor<67xui8>, tensor<67xi32>, tensor<67xi64>, tensor<67xf64>, tensor<67xf64>
}

func.func @convert_bf16(%arg0: tensor<67xbf16>) -> (tensor<67xf16>, tensor<67xbf16>, tensor<67xf32>, tensor<67xf64>, tensor<67xi1>, tensor<67xi8>, tensor<67xui8>, tensor<67xi32>, tensor<67xi64>, tensor<67xbf16>, tensor<67xbf16>) {
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
  %cst_0 = stablehlo.constant dense<1.000000e+02> : tensor<bf16>
  %0 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<bf16>) -> tensor<67xbf16>
  %1 = stablehlo.multiply %arg0, %0 : tensor<67xbf16>
  %2 = stablehlo.convert %1 : (tensor<67xbf16>) -> tensor<67xf16>
  %3 = stablehlo.convert %1 : (tensor<67xbf16>) -> tensor<67xf32>
  %4 = stablehlo.convert %1 : (tensor<67xbf16>) -> tensor<67xf64>
  %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<67xbf16>
  %6 = stablehlo.compare NE, %1, %5, FLOAT : (tensor<67xbf16>, tensor<67xbf16>) -> tensor<67xi1>
  %7 = stablehlo.convert %6 : tensor<67xi1>
  %8 = stablehlo.convert %1 : (tensor<67xbf16>) -> tensor<67xi8>
  %9 = stablehlo.convert %1 : (tensor<67xbf16>) -> tensor<67xui8>
  %10 = stablehlo.convert %1 : (tensor<67xbf16>) -> tensor<67xi32>
  %11 = stablehlo.convert %1 : (tensor<67xbf16>) -> tensor<67xi64>
  %12 = stablehlo.reduce_precision %arg0, format = e5m10 : tensor<67xbf16>
  %13 = stablehlo.reduce_precision %arg0, format = e8m7 : tensor<67xbf16>
  return %2, %1, %3, %4, %7, %8, %9, %10, %11, %12, %13 : tensor<67xf16>, tensor<67xbf16>, tensor<67xf32>, tensor<67xf64>, tensor<67xi1>, tensor<67xi8>, tensor<67xui8>, tensor<67xi32>, tensor<67xi64>, tensor<67xbf16>, tensor<67xbf16>
}

func.func @complex_c64(%arg0: tensor<35xcomplex<f32>>, %arg1: tensor<35xcomplex<f32>>) -> (tensor<35xcomplex<f32>>, tensor<35xcomplex<f32>>, tensor<35xcomplex<f32>>, tensor<35xcomplex<f32>>, tensor<35xi1>, tensor<35xi1>, tensor<35xf32>, tensor<35xf32>, tensor<35xf32>, tensor<35xcomplex<f32>>, tensor<35xcomplex<f32>>, tensor<35xcomplex<f32>>, tensor<35xcomplex<f32>>) {
  %0 = stablehlo.add %arg0, %arg1 : tensor<35xcomplex<f32>>
  %1 = stablehlo.subtract %arg0, %arg1 : tensor<35xcomplex<f32>>
  %2 = stablehlo.multiply %arg0, %arg1 : tensor<35xcomplex<f32>>
  %3 = stablehlo.divide %arg0, %arg1 : tensor<35xcomplex<f32>>
  %4 = stablehlo.compare EQ, %arg0, %arg1, FLOAT : (tensor<35xcomplex<f32>>, tensor<35xcomplex<f32>>) -> tensor<35xi1>
  %5 = stablehlo.compare NE, %arg0, %arg1, FLOAT : (tensor<35xcomplex<f32>>, tensor<35xcomplex<f32>>) -> tensor<35xi1>
  %6 = stablehlo.real %arg0 : (tensor<35xcomplex<f32>>) -> tensor<35xf32>
  %7 = stablehlo.imag %arg0 : (tensor<35xcomplex<f32>>) -> tensor<35xf32>
  %8 = stablehlo.abs %arg0 : (tensor<35xcomplex<f32>>) -> tensor<35xf32>
  %9 = stablehlo.exponential %arg0 : tensor<35xcomplex<f32>>
  %10 = stablehlo.log %arg0 : tensor<35xcomplex<f32>>
  %11 = stablehlo.negate %arg1 : tensor<35xcomplex<f32>>
  %12 = stablehlo.sqrt %arg1 : tensor<35xcomplex<f32>>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12 : tensor<35xcomplex<f32>>, tensor<35xcomplex<f32>>, tensor<35xcomplex<f32>>, tensor<35xcomplex<f32>>, tensor<35xi1>, tensor<35xi1>, tensor<35xf32>, tensor<35xf32>, tensor<35xf32>, tensor<35xcomplex<f32>>, tensor<35xcomplex<f32>>, tensor<35xcomplex<f32>>, tensor<35xcomplex<f32>>
}

func.func @complex_c128(%arg0: tensor<35xcomplex<f64>>, %arg1: tensor<35xcomplex<f64>>) -> (tensor<35xcomplex<f64>>, tensor<35xcomplex<f64>>, tensor<35xcomplex<f64>>, tensor<35xcomplex<f64>>, tensor<35xi1>, tensor<35xi1>, tensor<35xf64>, tensor<35xf64>, tensor<35xf64>, tensor<35xcomplex<f64>>, tensor<35xcomplex<f64>>, tensor<35xcomplex<f64>>, tensor<35xcomplex<f64>>) {
  %0 = stablehlo.add %arg0, %arg1 : tensor<35xcomplex<f64>>
  %1 = stablehlo.subtract %arg0, %arg1 : tensor<35xcomplex<f64>>
  %2 = stablehlo.multiply %arg0, %arg1 : tensor<35xcomplex<f64>>
  %3 = stablehlo.divide %arg0, %arg1 : tensor<35xcomplex<f64>>
  %4 = stablehlo.compare EQ, %arg0, %arg1, FLOAT : (tensor<35xcomplex<f64>>, tensor<35xcomplex<f64>>) -> tensor<35xi1>
  %5 = stablehlo.compare NE, %arg0, %arg1, FLOAT : (tensor<35xcomplex<f64>>, tensor<35xcomplex<f64>>) -> tensor<35xi1>
  %6 = stablehlo.real %arg0 : (tensor<35xcomplex<f64>>) -> tensor<35xf64>
  %7 = stablehlo.imag %arg0 : (tensor<35xcomplex<f64>>) -> tensor<35xf64>
  %8 = stablehlo.abs %arg0 : (tensor<35xcomplex<f64>>) -> tensor<35xf64>
  %9 = stablehlo.exponential %arg0 : tensor<35xcomplex<f64>>
  %10 = stablehlo.log %arg0 : tensor<35xcomplex<f64>>
  %11 = stablehlo.negate %arg1 : tensor<35xcomplex<f64>>
  %12 = stablehlo.sqrt %arg1 : tensor<35xcomplex<f64>>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12 : tensor<35xcomplex<f64>>, tensor<35xcomplex<f64>>, tensor<35xcomplex<f64>>, tensor<35xcomplex<f64>>, tensor<35xi1>, tensor<35xi1>, tensor<35xf64>, tensor<35xf64>, tensor<35xf64>, tensor<35xcomplex<f64>>, tensor<35xcomplex<f64>>, tensor<35xcomplex<f64>>, tensor<35xcomplex<f64>>
}

func.func @select_clamp(%arg0: tensor<5x7xi1>, %arg1: tensor<5x7xf32>, %arg2: tensor<5x7xf32>) -> (tensor<5x7xf32>, tensor<5x7xf32>, tensor<5x7xf32>) {
  %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
  %cst_0 = stablehlo.constant dense<-1.000000e+00> : tensor<f32>
  %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<5x7xi1>, tensor<5x7xf32>
  %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<5x7xf32>
  %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<5x7xf32>
  %3 = stablehlo.clamp %1, %arg1, %2 : tensor<5x7xf32>
  %4 = stablehlo.add %arg2, %2 : tensor<5x7xf32>
  %5 = stablehlo.clamp %arg2, %arg1, %4 : tensor<5x7xf32>
  return %0, %3, %5 : tensor<5x7xf32>, tensor<5x7xf32>, tensor<5x7xf32>
}

func.func @total_order(%arg0: tensor<33xf32>, %arg1: tensor<33xf32>) -> (tensor<33xf32>, tensor<33xf32>) {
  %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
  %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0:2 = "stablehlo.sort"(%arg0, %arg1) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>, %arg4: tensor<f32>, %arg5: tensor<f32>):
    %1 = stablehlo.compare EQ, %arg2, %cst_0, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = stablehlo.select %1, %cst_0, %arg2 : tensor<i1>, tensor<f32>
    %3 = stablehlo.compare NE, %arg2, %arg2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %4 = stablehlo.select %3, %cst, %2 : tensor<i1>, tensor<f32>
    %5 = stablehlo.compare EQ, %arg3, %cst_0, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %6 = stablehlo.select %5, %cst_0, %arg3 : tensor<i1>, tensor<f32>
    %7 = stablehlo.compare NE, %arg3, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %8 = stablehlo.select %7, %cst, %6 : tensor<i1>, tensor<f32>
    %9 = stablehlo.compare LT, %4, %8, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %9 : tensor<i1>
  }) : (tensor<33xf32>, tensor<33xf32>) -> (tensor<33xf32>, tensor<33xf32>)
  return %0#0, %0#1 : tensor<33xf32>, tensor<33xf32>
}
