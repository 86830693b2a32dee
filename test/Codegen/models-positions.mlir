// RUN: sp-kernel-check %s | FileCheck %s
// RUN: sp-kernel-check --cpu=x86-64-v3 %s | FileCheck %s
// RUN: sp-kernel-check --grid %s | FileCheck %s
// CHECK-NOT: WRONG

// Rotary positions, real and complex.

func.func @rope(%arg0: tensor<1x50x4x64xf32>) -> (tensor<1x50x4x64xf32>) {
  %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
  %cst_0 = stablehlo.constant dense<1.000000e+04> : tensor<f32>
  %cst_1 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
  %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %cst_3 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
  %0 = stablehlo.iota dim = 0 : tensor<32xf32>
  %1 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<32xf32>
  %2 = stablehlo.multiply %1, %0 : tensor<32xf32>
  %3 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<32xf32>
  %4 = stablehlo.add %3, %2 : tensor<32xf32>
  %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<32xf32>
  %6 = stablehlo.divide %4, %5 : tensor<32xf32>
  %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<32xf32>
  %8 = stablehlo.power %7, %6 : tensor<32xf32>
  %9 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32xf32>
  %10 = stablehlo.divide %9, %8 : tensor<32xf32>
  %11 = stablehlo.iota dim = 0 : tensor<50xf32>
  %12 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<50xf32>) -> tensor<50x1xf32>
  %13 = stablehlo.broadcast_in_dim %10, dims = [1] : (tensor<32xf32>) -> tensor<1x32xf32>
  %14 = stablehlo.broadcast_in_dim %12, dims = [0, 1] : (tensor<50x1xf32>) -> tensor<50x32xf32>
  %15 = stablehlo.broadcast_in_dim %13, dims = [0, 1] : (tensor<1x32xf32>) -> tensor<50x32xf32>
  %16 = stablehlo.multiply %14, %15 : tensor<50x32xf32>
  %17 = stablehlo.cosine %16 : tensor<50x32xf32>
  %18 = stablehlo.broadcast_in_dim %17, dims = [1, 3] : (tensor<50x32xf32>) -> tensor<1x50x1x32xf32>
  %19 = stablehlo.sine %16 : tensor<50x32xf32>
  %20 = stablehlo.broadcast_in_dim %19, dims = [1, 3] : (tensor<50x32xf32>) -> tensor<1x50x1x32xf32>
  %21 = stablehlo.slice %arg0 [0:1, 0:50, 0:4, 0:32] : (tensor<1x50x4x64xf32>) -> tensor<1x50x4x32xf32>
  %22 = stablehlo.slice %arg0 [0:1, 0:50, 0:4, 32:64] : (tensor<1x50x4x64xf32>) -> tensor<1x50x4x32xf32>
  %23 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2, 3] : (tensor<1x50x1x32xf32>) -> tensor<1x50x4x32xf32>
  %24 = stablehlo.multiply %21, %23 : tensor<1x50x4x32xf32>
  %25 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2, 3] : (tensor<1x50x1x32xf32>) -> tensor<1x50x4x32xf32>
  %26 = stablehlo.multiply %22, %25 : tensor<1x50x4x32xf32>
  %27 = stablehlo.subtract %24, %26 : tensor<1x50x4x32xf32>
  %28 = stablehlo.multiply %22, %23 : tensor<1x50x4x32xf32>
  %29 = stablehlo.multiply %21, %25 : tensor<1x50x4x32xf32>
  %30 = stablehlo.add %28, %29 : tensor<1x50x4x32xf32>
  %31 = stablehlo.concatenate %27, %30, dim = 3 : (tensor<1x50x4x32xf32>, tensor<1x50x4x32xf32>) -> tensor<1x50x4x64xf32>
  return %31 : tensor<1x50x4x64xf32>
}

func.func @rope_complex(%arg0: tensor<1x50x4x16xf32>) -> (tensor<1x50x4x16xf32>) {
  %0 = stablehlo.iota dim = 0 : tensor<50xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<50xf32>) -> tensor<50x1xf32>
  %2 = stablehlo.iota dim = 0 : tensor<8xf32>
  %3 = stablehlo.negate %2 : tensor<8xf32>
  %4 = stablehlo.exponential %3 : tensor<8xf32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
  %6 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<50x1xf32>) -> tensor<50x8xf32>
  %7 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<50x8xf32>
  %8 = stablehlo.multiply %6, %7 : tensor<50x8xf32>
  %9 = stablehlo.slice %arg0 [0:1, 0:50, 0:4, 0:16:2] : (tensor<1x50x4x16xf32>) -> tensor<1x50x4x8xf32>
  %10 = stablehlo.slice %arg0 [0:1, 0:50, 0:4, 1:16:2] : (tensor<1x50x4x16xf32>) -> tensor<1x50x4x8xf32>
  %11 = stablehlo.complex %9, %10 : tensor<1x50x4x8xcomplex<f32>>
  %12 = stablehlo.cosine %8 : tensor<50x8xf32>
  %13 = stablehlo.sine %8 : tensor<50x8xf32>
  %14 = stablehlo.complex %12, %13 : tensor<50x8xcomplex<f32>>
  %15 = stablehlo.broadcast_in_dim %14, dims = [1, 3] : (tensor<50x8xcomplex<f32>>) -> tensor<1x50x1x8xcomplex<f32>>
  %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2, 3] : (tensor<1x50x1x8xcomplex<f32>>) -> tensor<1x50x4x8xcomplex<f32>>
  %17 = stablehlo.multiply %11, %16 : tensor<1x50x4x8xcomplex<f32>>
  %18 = stablehlo.real %17 : (tensor<1x50x4x8xcomplex<f32>>) -> tensor<1x50x4x8xf32>
  %19 = stablehlo.imag %17 : (tensor<1x50x4x8xcomplex<f32>>) -> tensor<1x50x4x8xf32>
  %20 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2, 3] : (tensor<1x50x4x8xf32>) -> tensor<1x50x4x8x1xf32>
  %21 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2, 3] : (tensor<1x50x4x8xf32>) -> tensor<1x50x4x8x1xf32>
  %22 = stablehlo.concatenate %20, %21, dim = 4 : (tensor<1x50x4x8x1xf32>, tensor<1x50x4x8x1xf32>) -> tensor<1x50x4x8x2xf32>
  %23 = stablehlo.reshape %22 : (tensor<1x50x4x8x2xf32>) -> tensor<1x50x4x16xf32>
  return %23 : tensor<1x50x4x16xf32>
}
