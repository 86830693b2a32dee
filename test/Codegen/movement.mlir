// RUN: sp-kernel-check %s | FileCheck %s
// RUN: sp-kernel-check --cpu=x86-64-v3 %s | FileCheck %s
// RUN: sp-kernel-check --grid %s | FileCheck %s
// CHECK-NOT: WRONG

// Movement of data, which is arithmetic on indices.

func.func @slices(%arg0: tensor<6x10x4xf32>) -> (tensor<2x4x3xf32>, tensor<6x10x4xf32>) {
  %0 = stablehlo.slice %arg0 [1:5:2, 0:10:3, 1:4] : (tensor<6x10x4xf32>) -> tensor<2x4x3xf32>
  %1 = stablehlo.reverse %arg0, dims = [0, 2] : tensor<6x10x4xf32>
  return %0, %1 : tensor<2x4x3xf32>, tensor<6x10x4xf32>
}

func.func @transposes(%arg0: tensor<6x10x4xf32>) -> (tensor<4x6x10xf32>, tensor<60x4xf32>, tensor<24x10xf32>) {
  %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
  %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
  %0 = stablehlo.transpose %arg0, dims = [2, 0, 1] : (tensor<6x10x4xf32>) -> tensor<4x6x10xf32>
  %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x6x10xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<4x6x10xf32>
  %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x10x4xf32>
  %4 = stablehlo.add %arg0, %3 : tensor<6x10x4xf32>
  %5 = stablehlo.reshape %4 : (tensor<6x10x4xf32>) -> tensor<4x60xf32>
  %6 = stablehlo.transpose %5, dims = [1, 0] : (tensor<4x60xf32>) -> tensor<60x4xf32>
  %7 = stablehlo.transpose %arg0, dims = [1, 0, 2] : (tensor<6x10x4xf32>) -> tensor<10x6x4xf32>
  %8 = stablehlo.reshape %7 : (tensor<10x6x4xf32>) -> tensor<24x10xf32>
  %9 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24x10xf32>
  %10 = stablehlo.add %8, %9 : tensor<24x10xf32>
  %11 = stablehlo.reverse %10, dims = [1] : tensor<24x10xf32>
  return %2, %6, %11 : tensor<4x6x10xf32>, tensor<60x4xf32>, tensor<24x10xf32>
}

func.func @concatenates(%arg0: tensor<6x10x4xf32>) -> (tensor<6x18x4xf32>, tensor<6x10x4xf32>) {
  %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
  %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
  %0 = stablehlo.slice %arg0 [0:6, 0:3, 0:4] : (tensor<6x10x4xf32>) -> tensor<6x3x4xf32>
  %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<6x3x4xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<6x3x4xf32>
  %3 = stablehlo.slice %arg0 [0:6, 5:10, 0:4] : (tensor<6x10x4xf32>) -> tensor<6x5x4xf32>
  %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x5x4xf32>
  %5 = stablehlo.subtract %3, %4 : tensor<6x5x4xf32>
  %6 = stablehlo.concatenate %arg0, %2, %5, dim = 1 : (tensor<6x10x4xf32>, tensor<6x3x4xf32>, tensor<6x5x4xf32>) -> tensor<6x18x4xf32>
  %7 = stablehlo.slice %arg0 [0:6, 0:0, 0:4] : (tensor<6x10x4xf32>) -> tensor<6x0x4xf32>
  %8 = stablehlo.concatenate %arg0, %7, dim = 1 : (tensor<6x10x4xf32>, tensor<6x0x4xf32>) -> tensor<6x10x4xf32>
  return %6, %8 : tensor<6x18x4xf32>, tensor<6x10x4xf32>
}

func.func @rotation_chain(%arg0: tensor<6x10x4xf32>) -> (tensor<6x10x4xf32>) {
  %cst = stablehlo.constant dense<1.010000e+00> : tensor<f32>
  %0 = stablehlo.slice %arg0 [0:6, 5:10, 0:4] : (tensor<6x10x4xf32>) -> tensor<6x5x4xf32>
  %1 = stablehlo.slice %arg0 [0:6, 0:5, 0:4] : (tensor<6x10x4xf32>) -> tensor<6x5x4xf32>
  %2 = stablehlo.concatenate %0, %1, dim = 1 : (tensor<6x5x4xf32>, tensor<6x5x4xf32>) -> tensor<6x10x4xf32>
  %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x10x4xf32>
  %4 = stablehlo.multiply %2, %3 : tensor<6x10x4xf32>
  %5 = stablehlo.add %4, %arg0 : tensor<6x10x4xf32>
  %6 = stablehlo.slice %5 [0:6, 5:10, 0:4] : (tensor<6x10x4xf32>) -> tensor<6x5x4xf32>
  %7 = stablehlo.slice %5 [0:6, 0:5, 0:4] : (tensor<6x10x4xf32>) -> tensor<6x5x4xf32>
  %8 = stablehlo.concatenate %6, %7, dim = 1 : (tensor<6x5x4xf32>, tensor<6x5x4xf32>) -> tensor<6x10x4xf32>
  %9 = stablehlo.multiply %8, %3 : tensor<6x10x4xf32>
  %10 = stablehlo.add %9, %5 : tensor<6x10x4xf32>
  %11 = stablehlo.slice %10 [0:6, 5:10, 0:4] : (tensor<6x10x4xf32>) -> tensor<6x5x4xf32>
  %12 = stablehlo.slice %10 [0:6, 0:5, 0:4] : (tensor<6x10x4xf32>) -> tensor<6x5x4xf32>
  %13 = stablehlo.concatenate %11, %12, dim = 1 : (tensor<6x5x4xf32>, tensor<6x5x4xf32>) -> tensor<6x10x4xf32>
  %14 = stablehlo.multiply %13, %3 : tensor<6x10x4xf32>
  %15 = stablehlo.add %14, %10 : tensor<6x10x4xf32>
  %16 = stablehlo.slice %15 [0:6, 5:10, 0:4] : (tensor<6x10x4xf32>) -> tensor<6x5x4xf32>
  %17 = stablehlo.slice %15 [0:6, 0:5, 0:4] : (tensor<6x10x4xf32>) -> tensor<6x5x4xf32>
  %18 = stablehlo.concatenate %16, %17, dim = 1 : (tensor<6x5x4xf32>, tensor<6x5x4xf32>) -> tensor<6x10x4xf32>
  %19 = stablehlo.multiply %18, %3 : tensor<6x10x4xf32>
  %20 = stablehlo.add %19, %15 : tensor<6x10x4xf32>
  %21 = stablehlo.slice %20 [0:6, 5:10, 0:4] : (tensor<6x10x4xf32>) -> tensor<6x5x4xf32>
  %22 = stablehlo.slice %20 [0:6, 0:5, 0:4] : (tensor<6x10x4xf32>) -> tensor<6x5x4xf32>
  %23 = stablehlo.concatenate %21, %22, dim = 1 : (tensor<6x5x4xf32>, tensor<6x5x4xf32>) -> tensor<6x10x4xf32>
  %24 = stablehlo.multiply %23, %3 : tensor<6x10x4xf32>
  %25 = stablehlo.add %24, %20 : tensor<6x10x4xf32>
  %26 = stablehlo.slice %25 [0:6, 5:10, 0:4] : (tensor<6x10x4xf32>) -> tensor<6x5x4xf32>
  %27 = stablehlo.slice %25 [0:6, 0:5, 0:4] : (tensor<6x10x4xf32>) -> tensor<6x5x4xf32>
  %28 = stablehlo.concatenate %26, %27, dim = 1 : (tensor<6x5x4xf32>, tensor<6x5x4xf32>) -> tensor<6x10x4xf32>
  %29 = stablehlo.multiply %28, %3 : tensor<6x10x4xf32>
  %30 = stablehlo.add %29, %25 : tensor<6x10x4xf32>
  %31 = stablehlo.slice %30 [0:6, 5:10, 0:4] : (tensor<6x10x4xf32>) -> tensor<6x5x4xf32>
  %32 = stablehlo.slice %30 [0:6, 0:5, 0:4] : (tensor<6x10x4xf32>) -> tensor<6x5x4xf32>
  %33 = stablehlo.concatenate %31, %32, dim = 1 : (tensor<6x5x4xf32>, tensor<6x5x4xf32>) -> tensor<6x10x4xf32>
  %34 = stablehlo.multiply %33, %3 : tensor<6x10x4xf32>
  %35 = stablehlo.add %34, %30 : tensor<6x10x4xf32>
  %36 = stablehlo.slice %35 [0:6, 5:10, 0:4] : (tensor<6x10x4xf32>) -> tensor<6x5x4xf32>
  %37 = stablehlo.slice %35 [0:6, 0:5, 0:4] : (tensor<6x10x4xf32>) -> tensor<6x5x4xf32>
  %38 = stablehlo.concatenate %36, %37, dim = 1 : (tensor<6x5x4xf32>, tensor<6x5x4xf32>) -> tensor<6x10x4xf32>
  %39 = stablehlo.multiply %38, %3 : tensor<6x10x4xf32>
  %40 = stablehlo.add %39, %35 : tensor<6x10x4xf32>
  return %40 : tensor<6x10x4xf32>
}

func.func @dynamic_slice(%arg0: tensor<6x10x4xf32>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> (tensor<3x4x4xf32>) {
  %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
  %c = stablehlo.constant dense<4> : tensor<i32>
  %c_0 = stablehlo.constant dense<10> : tensor<i32>
  %c_1 = stablehlo.constant dense<6> : tensor<i32>
  %c_2 = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.compare LT, %arg1, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %1 = stablehlo.add %arg1, %c_1 : tensor<i32>
  %2 = stablehlo.select %0, %1, %arg1 : tensor<i1>, tensor<i32>
  %3 = stablehlo.compare LT, %arg2, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %4 = stablehlo.add %arg2, %c_0 : tensor<i32>
  %5 = stablehlo.select %3, %4, %arg2 : tensor<i1>, tensor<i32>
  %6 = stablehlo.add %arg1, %c : tensor<i32>
  %7 = stablehlo.select %0, %6, %arg1 : tensor<i1>, tensor<i32>
  %8 = stablehlo.dynamic_slice %arg0, %2, %5, %7, sizes = [3, 4, 4] : (tensor<6x10x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x4x4xf32>
  %9 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x4x4xf32>
  %10 = stablehlo.multiply %8, %9 : tensor<3x4x4xf32>
  return %10 : tensor<3x4x4xf32>
}

func.func @dynamic_update(%arg0: tensor<6x10x4xf32>, %arg1: tensor<3x4x4xf32>, %arg2: tensor<i32>, %arg3: tensor<i32>) -> (tensor<6x10x4xf32>) {
  %c = stablehlo.constant dense<4> : tensor<i32>
  %c_0 = stablehlo.constant dense<10> : tensor<i32>
  %c_1 = stablehlo.constant dense<6> : tensor<i32>
  %c_2 = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.compare LT, %arg2, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %1 = stablehlo.add %arg2, %c_1 : tensor<i32>
  %2 = stablehlo.select %0, %1, %arg2 : tensor<i1>, tensor<i32>
  %3 = stablehlo.compare LT, %arg3, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %4 = stablehlo.add %arg3, %c_0 : tensor<i32>
  %5 = stablehlo.select %3, %4, %arg3 : tensor<i1>, tensor<i32>
  %6 = stablehlo.add %arg2, %c : tensor<i32>
  %7 = stablehlo.select %0, %6, %arg2 : tensor<i1>, tensor<i32>
  %8 = stablehlo.dynamic_update_slice %arg0, %arg1, %2, %5, %7 : (tensor<6x10x4xf32>, tensor<3x4x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<6x10x4xf32>
  return %8 : tensor<6x10x4xf32>
}

func.func @take_along(%arg0: tensor<6x10x4xf32>, %arg1: tensor<6x3x4xi32>) -> (tensor<6x3x4xf32>) {
  %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
  %c = stablehlo.constant dense<true> : tensor<i1>
  %c_0 = stablehlo.constant dense<9> : tensor<1xi32>
  %c_1 = stablehlo.constant dense<10> : tensor<i32>
  %c_2 = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<6x3x4xi32>
  %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<6x3x4xi32>, tensor<6x3x4xi32>) -> tensor<6x3x4xi1>
  %2 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<6x3x4xi32>
  %3 = stablehlo.add %arg1, %2 : tensor<6x3x4xi32>
  %4 = stablehlo.select %1, %3, %arg1 : tensor<6x3x4xi1>, tensor<6x3x4xi32>
  %5 = stablehlo.reshape %4 : (tensor<6x3x4xi32>) -> tensor<6x3x4x1xi32>
  %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<6x3x4x1xi32>
  %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<6x3x4x1xi32>, tensor<6x3x4x1xi32>) -> tensor<6x3x4x1xi1>
  %8 = stablehlo.broadcast_in_dim %c_0, dims = [3] : (tensor<1xi32>) -> tensor<1x1x1x1xi32>
  %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<1x1x1x1xi32>) -> tensor<6x3x4x1xi32>
  %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<6x3x4x1xi32>, tensor<6x3x4x1xi32>) -> tensor<6x3x4x1xi1>
  %11 = stablehlo.and %7, %10 : tensor<6x3x4x1xi1>
  %12 = stablehlo.reduce(%11 init: %c) applies stablehlo.and across dimensions = [3] : (tensor<6x3x4x1xi1>, tensor<i1>) -> tensor<6x3x4xi1>
  %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0, 2], start_indices_batching_dims = [0, 2], start_index_map = [1], index_vector_dim = 3>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<6x10x4xf32>, tensor<6x3x4x1xi32>) -> tensor<6x3x4xf32>
  %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x3x4xf32>
  %15 = stablehlo.select %12, %13, %14 : tensor<6x3x4xi1>, tensor<6x3x4xf32>
  return %15 : tensor<6x3x4xf32>
}

func.func @take_fill(%arg0: tensor<6x10x4xf32>, %arg1: tensor<9xi64>) -> (tensor<9x10x4xf32>) {
  %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
  %c = stablehlo.constant dense<true> : tensor<i1>
  %c_0 = stablehlo.constant dense<0> : tensor<i32>
  %c_1 = stablehlo.constant dense<5> : tensor<1xi32>
  %c_2 = stablehlo.constant dense<6> : tensor<i64>
  %c_3 = stablehlo.constant dense<0> : tensor<i64>
  %0 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i64>) -> tensor<9xi64>
  %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<9xi64>, tensor<9xi64>) -> tensor<9xi1>
  %2 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i64>) -> tensor<9xi64>
  %3 = stablehlo.add %arg1, %2 : tensor<9xi64>
  %4 = stablehlo.select %1, %3, %arg1 : tensor<9xi1>, tensor<9xi64>
  %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<9xi64>) -> tensor<9x1xi64>
  %6 = stablehlo.convert %5 : (tensor<9x1xi64>) -> tensor<9x1xi32>
  %7 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<9x1xi32>
  %8 = stablehlo.compare GE, %6, %7, SIGNED : (tensor<9x1xi32>, tensor<9x1xi32>) -> tensor<9x1xi1>
  %9 = stablehlo.broadcast_in_dim %c_1, dims = [1] : (tensor<1xi32>) -> tensor<1x1xi32>
  %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<1x1xi32>) -> tensor<9x1xi32>
  %11 = stablehlo.compare LE, %6, %10, SIGNED : (tensor<9x1xi32>, tensor<9x1xi32>) -> tensor<9x1xi1>
  %12 = stablehlo.and %8, %11 : tensor<9x1xi1>
  %13 = stablehlo.reduce(%12 init: %c) applies stablehlo.and across dimensions = [1] : (tensor<9x1xi1>, tensor<i1>) -> tensor<9xi1>
  %14 = "stablehlo.gather"(%arg0, %6) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 10, 4>}> : (tensor<6x10x4xf32>, tensor<9x1xi32>) -> tensor<9x10x4xf32>
  %15 = stablehlo.broadcast_in_dim %13, dims = [0] : (tensor<9xi1>) -> tensor<9x10x4xi1>
  %16 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<9x10x4xf32>
  %17 = stablehlo.select %15, %14, %16 : tensor<9x10x4xi1>, tensor<9x10x4xf32>
  return %17 : tensor<9x10x4xf32>
}

func.func @take_clip(%arg0: tensor<6x10x4xf32>, %arg1: tensor<9xi32>) -> (tensor<6x9x4xf32>) {
  %0 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<9xi32>) -> tensor<9x1xi32>
  %1 = "stablehlo.gather"(%arg0, %0) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 2], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 6, 1, 4>}> : (tensor<6x10x4xf32>, tensor<9x1xi32>) -> tensor<6x9x4xf32>
  return %1 : tensor<6x9x4xf32>
}

func.func @gather_diagonal(%arg0: tensor<6x10x4xf32>, %arg1: tensor<5xi32>) -> (tensor<5x4xf32>) {
  %c = stablehlo.constant dense<10> : tensor<i32>
  %c_0 = stablehlo.constant dense<6> : tensor<i32>
  %c_1 = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<5xi32>
  %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi1>
  %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<5xi32>
  %3 = stablehlo.add %arg1, %2 : tensor<5xi32>
  %4 = stablehlo.select %1, %3, %arg1 : tensor<5xi1>, tensor<5xi32>
  %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<5xi32>
  %6 = stablehlo.add %arg1, %5 : tensor<5xi32>
  %7 = stablehlo.select %1, %6, %arg1 : tensor<5xi1>, tensor<5xi32>
  %8 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<5xi32>) -> tensor<5x1xi32>
  %9 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<5xi32>) -> tensor<5x1xi32>
  %10 = stablehlo.concatenate %8, %9, dim = 1 : (tensor<5x1xi32>, tensor<5x1xi32>) -> tensor<5x2xi32>
  %11 = "stablehlo.gather"(%arg0, %10) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 4>}> : (tensor<6x10x4xf32>, tensor<5x2xi32>) -> tensor<5x4xf32>
  return %11 : tensor<5x4xf32>
}

func.func @embedding(%arg0: tensor<12x64xf32>, %arg1: tensor<2x50xi32>) -> (tensor<2x50x64xf32>) {
  %c = stablehlo.constant dense<12> : tensor<i32>
  %c_0 = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<2x50xi32>
  %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<2x50xi32>, tensor<2x50xi32>) -> tensor<2x50xi1>
  %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2x50xi32>
  %3 = stablehlo.add %arg1, %2 : tensor<2x50xi32>
  %4 = stablehlo.select %1, %3, %arg1 : tensor<2x50xi1>, tensor<2x50xi32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<2x50xi32>) -> tensor<2x50x1xi32>
  %6 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 64>}> : (tensor<12x64xf32>, tensor<2x50x1xi32>) -> tensor<2x50x64xf32>
  return %6 : tensor<2x50x64xf32>
}

func.func @pads(%arg0: tensor<6x10x4xf32>) -> (tensor<10x11x11xf32>, tensor<8x12x6xf32>) {
  %c = stablehlo.constant dense<0> : tensor<i64>
  %cst = stablehlo.constant dense<9.000000e+00> : tensor<f32>
  %0 = stablehlo.pad %arg0, %cst, low = [2, -1, 0], high = [-3, 2, 1], interior = [1, 0, 2] : (tensor<6x10x4xf32>, tensor<f32>) -> tensor<10x11x11xf32>
  %1 = stablehlo.convert %c : (tensor<i64>) -> tensor<f32>
  %2 = stablehlo.pad %arg0, %1, low = [1, 1, 1], high = [1, 1, 1], interior = [0, 0, 0] : (tensor<6x10x4xf32>, tensor<f32>) -> tensor<8x12x6xf32>
  return %0, %2 : tensor<10x11x11xf32>, tensor<8x12x6xf32>
}

func.func @iotas(%arg0: tensor<6x10x4xf32>) -> (tensor<6x10x4xf32>, tensor<7xi64>, tensor<6x10x4xi1>) {
  %0 = stablehlo.iota dim = 1 : tensor<6x10x4xf32>
  %1 = stablehlo.add %arg0, %0 : tensor<6x10x4xf32>
  %2 = stablehlo.iota dim = 0 : tensor<7xi64>
  %3 = stablehlo.iota dim = 0 : tensor<240xi64>
  %4 = stablehlo.reshape %3 : (tensor<240xi64>) -> tensor<6x10x4xi64>
  %5 = stablehlo.convert %4 : (tensor<6x10x4xi64>) -> tensor<6x10x4xf32>
  %6 = stablehlo.compare GT, %5, %arg0, FLOAT : (tensor<6x10x4xf32>, tensor<6x10x4xf32>) -> tensor<6x10x4xi1>
  return %1, %2, %6 : tensor<6x10x4xf32>, tensor<7xi64>, tensor<6x10x4xi1>
}

func.func @bitcasts(%arg0: tensor<6x10x4xf32>, %arg1: tensor<5xbf16>) -> (tensor<6x10x4xi32>, tensor<6x10x4x4xui8>, tensor<6x10x4x2xi16>, tensor<5xui16>) {
  %0 = stablehlo.bitcast_convert %arg0 : (tensor<6x10x4xf32>) -> tensor<6x10x4xi32>
  %1 = stablehlo.bitcast_convert %arg0 : (tensor<6x10x4xf32>) -> tensor<6x10x4x4xui8>
  %2 = stablehlo.bitcast_convert %arg0 : (tensor<6x10x4xf32>) -> tensor<6x10x4x2xi16>
  %3 = stablehlo.bitcast_convert %arg1 : (tensor<5xbf16>) -> tensor<5xui16>
  return %0, %1, %2, %3 : tensor<6x10x4xi32>, tensor<6x10x4x4xui8>, tensor<6x10x4x2xi16>, tensor<5xui16>
}

func.func @bitcast_up(%arg0: tensor<5x4xui8>) -> (tensor<5xi32>) {
  %0 = stablehlo.bitcast_convert %arg0 : (tensor<5x4xui8>) -> tensor<5xi32>
  return %0 : tensor<5xi32>
}

func.func @tables(%arg0: tensor<6x10x4xf32>) -> (tensor<6x10x4xf32>, tensor<6x10x4xbf16>, tensor<6x10x4xi1>) {
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %cst_0 = stablehlo.constant dense<[1.500000e+00, -2.000000e+00, 3.000000e+00, 2.500000e-01]> : tensor<4xf32>
  %cst_1 = stablehlo.constant dense<[0.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00]> : tensor<4xbf16>
  %c = stablehlo.constant dense<[true, false, true, true]> : tensor<4xi1>
  %0 = stablehlo.broadcast_in_dim %cst_0, dims = [2] : (tensor<4xf32>) -> tensor<1x1x4xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2] : (tensor<1x1x4xf32>) -> tensor<6x10x4xf32>
  %2 = stablehlo.multiply %arg0, %1 : tensor<6x10x4xf32>
  %3 = stablehlo.convert %arg0 : (tensor<6x10x4xf32>) -> tensor<6x10x4xbf16>
  %4 = stablehlo.broadcast_in_dim %cst_1, dims = [2] : (tensor<4xbf16>) -> tensor<1x1x4xbf16>
  %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2] : (tensor<1x1x4xbf16>) -> tensor<6x10x4xbf16>
  %6 = stablehlo.multiply %3, %5 : tensor<6x10x4xbf16>
  %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x10x4xf32>
  %8 = stablehlo.compare GT, %arg0, %7, FLOAT : (tensor<6x10x4xf32>, tensor<6x10x4xf32>) -> tensor<6x10x4xi1>
  %9 = stablehlo.broadcast_in_dim %c, dims = [2] : (tensor<4xi1>) -> tensor<1x1x4xi1>
  %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<1x1x4xi1>) -> tensor<6x10x4xi1>
  %11 = stablehlo.and %10, %8 : tensor<6x10x4xi1>
  return %2, %6, %11 : tensor<6x10x4xf32>, tensor<6x10x4xbf16>, tensor<6x10x4xi1>
}

func.func @arguments_returned(%arg0: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) {
  %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
  %1 = stablehlo.multiply %arg0, %0 : tensor<3x4xf32>
  return %arg0, %1, %1 : tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>
}

func.func @scalars(%arg0: tensor<f32>, %arg1: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
  %0 = stablehlo.multiply %arg0, %arg1 : tensor<f32>
  %1 = stablehlo.add %0, %cst : tensor<f32>
  return %1, %arg0 : tensor<f32>, tensor<f32>
}

func.func @empty(%arg0: tensor<0x4xf32>) -> (tensor<0x4xf32>, tensor<4xf32>) {
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<0x4xf32>
  %1 = stablehlo.add %arg0, %0 : tensor<0x4xf32>
  %2 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<0x4xf32>, tensor<f32>) -> tensor<4xf32>
  return %1, %2 : tensor<0x4xf32>, tensor<4xf32>
}
