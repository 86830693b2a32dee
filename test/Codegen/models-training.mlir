// RUN: sp-kernel-check %s | FileCheck %s
// RUN: sp-kernel-check --cpu=x86-64-v3 %s | FileCheck %s
// RUN: sp-kernel-check --grid %s | FileCheck %s
// CHECK-NOT: WRONG

// Losses, gradients and updates.

func.func @cross_entropy(%arg0: tensor<2x20x12xf32>, %arg1: tensor<2x20xi32>) -> (tensor<f32>) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %c_0 = stablehlo.constant dense<12> : tensor<i32>
  %c_1 = stablehlo.constant dense<11> : tensor<1xi32>
  %c_2 = stablehlo.constant dense<true> : tensor<i1>
  %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
  %cst_3 = stablehlo.constant dense<4.000000e+01> : tensor<f32>
  %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %cst_5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%arg0 init: %cst_5) applies stablehlo.maximum across dimensions = [2] : (tensor<2x20x12xf32>, tensor<f32>) -> tensor<2x20xf32>
  %1 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<2x20xf32>
  %2 = stablehlo.maximum %1, %0 : tensor<2x20xf32>
  %3 = stablehlo.is_finite %2 : (tensor<2x20xf32>) -> tensor<2x20xi1>
  %4 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x20xf32>
  %5 = stablehlo.select %3, %2, %4 : tensor<2x20xi1>, tensor<2x20xf32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<2x20xf32>) -> tensor<2x20x1xf32>
  %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2] : (tensor<2x20x1xf32>) -> tensor<2x20x12xf32>
  %8 = stablehlo.subtract %arg0, %7 : tensor<2x20x12xf32>
  %9 = stablehlo.exponential %8 : tensor<2x20x12xf32>
  %10 = stablehlo.reduce(%9 init: %cst_4) applies stablehlo.add across dimensions = [2] : (tensor<2x20x12xf32>, tensor<f32>) -> tensor<2x20xf32>
  %11 = stablehlo.abs %10 : tensor<2x20xf32>
  %12 = stablehlo.log %11 : tensor<2x20xf32>
  %13 = stablehlo.add %12, %5 : tensor<2x20xf32>
  %14 = stablehlo.broadcast_in_dim %arg1, dims = [0, 1] : (tensor<2x20xi32>) -> tensor<2x20x1xi32>
  %15 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2x20x1xi32>
  %16 = stablehlo.compare LT, %14, %15, SIGNED : (tensor<2x20x1xi32>, tensor<2x20x1xi32>) -> tensor<2x20x1xi1>
  %17 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<2x20x1xi32>
  %18 = stablehlo.add %14, %17 : tensor<2x20x1xi32>
  %19 = stablehlo.select %16, %18, %14 : tensor<2x20x1xi1>, tensor<2x20x1xi32>
  %20 = stablehlo.reshape %19 : (tensor<2x20x1xi32>) -> tensor<2x20x1x1xi32>
  %21 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2x20x1x1xi32>
  %22 = stablehlo.compare GE, %20, %21, SIGNED : (tensor<2x20x1x1xi32>, tensor<2x20x1x1xi32>) -> tensor<2x20x1x1xi1>
  %23 = stablehlo.broadcast_in_dim %c_1, dims = [3] : (tensor<1xi32>) -> tensor<1x1x1x1xi32>
  %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2, 3] : (tensor<1x1x1x1xi32>) -> tensor<2x20x1x1xi32>
  %25 = stablehlo.compare LE, %20, %24, SIGNED : (tensor<2x20x1x1xi32>, tensor<2x20x1x1xi32>) -> tensor<2x20x1x1xi1>
  %26 = stablehlo.and %22, %25 : tensor<2x20x1x1xi1>
  %27 = stablehlo.reduce(%26 init: %c_2) applies stablehlo.and across dimensions = [3] : (tensor<2x20x1x1xi1>, tensor<i1>) -> tensor<2x20x1xi1>
  %28 = "stablehlo.gather"(%arg0, %20) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 3>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<2x20x12xf32>, tensor<2x20x1x1xi32>) -> tensor<2x20x1xf32>
  %29 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x20x1xf32>
  %30 = stablehlo.select %27, %28, %29 : tensor<2x20x1xi1>, tensor<2x20x1xf32>
  %31 = stablehlo.reshape %30 : (tensor<2x20x1xf32>) -> tensor<2x20xf32>
  %32 = stablehlo.subtract %13, %31 : tensor<2x20xf32>
  %33 = stablehlo.reduce(%32 init: %cst_4) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x20xf32>, tensor<f32>) -> tensor<f32>
  %34 = stablehlo.divide %33, %cst_3 : tensor<f32>
  return %34 : tensor<f32>
}

func.func @cross_entropy_gradient(%arg0: tensor<2x20x12xf32>, %arg1: tensor<2x20xi32>) -> (tensor<2x20x12xf32>) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %c_0 = stablehlo.constant dense<12> : tensor<i32>
  %cst = stablehlo.constant dense<4.000000e+01> : tensor<f32>
  %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
  %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%arg0 init: %cst_3) applies stablehlo.maximum across dimensions = [2] : (tensor<2x20x12xf32>, tensor<f32>) -> tensor<2x20xf32>
  %1 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x20xf32>
  %2 = stablehlo.maximum %1, %0 : tensor<2x20xf32>
  %3 = stablehlo.is_finite %2 : (tensor<2x20xf32>) -> tensor<2x20xi1>
  %4 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x20xf32>
  %5 = stablehlo.select %3, %2, %4 : tensor<2x20xi1>, tensor<2x20xf32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<2x20xf32>) -> tensor<2x20x1xf32>
  %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2] : (tensor<2x20x1xf32>) -> tensor<2x20x12xf32>
  %8 = stablehlo.subtract %arg0, %7 : tensor<2x20x12xf32>
  %9 = stablehlo.exponential %8 : tensor<2x20x12xf32>
  %10 = stablehlo.reduce(%9 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<2x20x12xf32>, tensor<f32>) -> tensor<2x20xf32>
  %11 = stablehlo.abs %10 : tensor<2x20xf32>
  %12 = stablehlo.compare GE, %10, %4, FLOAT : (tensor<2x20xf32>, tensor<2x20xf32>) -> tensor<2x20xi1>
  %13 = stablehlo.broadcast_in_dim %arg1, dims = [0, 1] : (tensor<2x20xi32>) -> tensor<2x20x1xi32>
  %14 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2x20x1xi32>
  %15 = stablehlo.compare LT, %13, %14, SIGNED : (tensor<2x20x1xi32>, tensor<2x20x1xi32>) -> tensor<2x20x1xi1>
  %16 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<2x20x1xi32>
  %17 = stablehlo.add %13, %16 : tensor<2x20x1xi32>
  %18 = stablehlo.select %15, %17, %13 : tensor<2x20x1xi1>, tensor<2x20x1xi32>
  %19 = stablehlo.reshape %18 : (tensor<2x20x1xi32>) -> tensor<2x20x1x1xi32>
  %20 = stablehlo.divide %cst_1, %cst : tensor<f32>
  %21 = stablehlo.broadcast_in_dim %20, dims = [] : (tensor<f32>) -> tensor<2x20xf32>
  %22 = stablehlo.negate %21 : tensor<2x20xf32>
  %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1] : (tensor<2x20xf32>) -> tensor<2x20x1xf32>
  %24 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x20x12xf32>
  %25 = "stablehlo.scatter"(%24, %19, %23) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 3>, unique_indices = false}> ({
  ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
    %34 = stablehlo.add %arg2, %arg3 : tensor<f32>
    stablehlo.return %34 : tensor<f32>
  }) : (tensor<2x20x12xf32>, tensor<2x20x1x1xi32>, tensor<2x20x1xf32>) -> tensor<2x20x12xf32>
  %26 = stablehlo.divide %21, %11 : tensor<2x20xf32>
  %27 = stablehlo.select %12, %4, %26 : tensor<2x20xi1>, tensor<2x20xf32>
  %28 = stablehlo.select %12, %26, %4 : tensor<2x20xi1>, tensor<2x20xf32>
  %29 = stablehlo.negate %27 : tensor<2x20xf32>
  %30 = stablehlo.add %28, %29 : tensor<2x20xf32>
  %31 = stablehlo.broadcast_in_dim %30, dims = [0, 1] : (tensor<2x20xf32>) -> tensor<2x20x12xf32>
  %32 = stablehlo.multiply %31, %9 : tensor<2x20x12xf32>
  %33 = stablehlo.add %25, %32 : tensor<2x20x12xf32>
  return %33 : tensor<2x20x12xf32>
}

func.func @norm_gradient(%arg0: tensor<1x20x33xf32>, %arg1: tensor<33xf32>) -> (tensor<1x20x33xf32>, tensor<33xf32>) {
  %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
  %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
  %cst_1 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
  %cst_2 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
  %cst_3 = stablehlo.constant dense<3.300000e+01> : tensor<f32>
  %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = stablehlo.multiply %arg0, %arg0 : tensor<1x20x33xf32>
  %1 = stablehlo.reduce(%0 init: %cst_4) applies stablehlo.add across dimensions = [2] : (tensor<1x20x33xf32>, tensor<f32>) -> tensor<1x20xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x20xf32>) -> tensor<1x20x1xf32>
  %3 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x20x1xf32>
  %4 = stablehlo.divide %2, %3 : tensor<1x20x1xf32>
  %5 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<1x20x1xf32>
  %6 = stablehlo.add %4, %5 : tensor<1x20x1xf32>
  %7 = stablehlo.rsqrt %6 : tensor<1x20x1xf32>
  %8 = stablehlo.divide %7, %6 : tensor<1x20x1xf32>
  %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1x20x1xf32>
  %10 = stablehlo.multiply %9, %8 : tensor<1x20x1xf32>
  %11 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<1x20x1xf32>) -> tensor<1x20x33xf32>
  %12 = stablehlo.multiply %arg0, %11 : tensor<1x20x33xf32>
  %13 = stablehlo.broadcast_in_dim %arg1, dims = [2] : (tensor<33xf32>) -> tensor<1x1x33xf32>
  %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<1x1x33xf32>) -> tensor<1x20x33xf32>
  %15 = stablehlo.multiply %12, %14 : tensor<1x20x33xf32>
  %16 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x20x33xf32>
  %17 = stablehlo.multiply %16, %15 : tensor<1x20x33xf32>
  %18 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x20x33xf32>
  %19 = stablehlo.multiply %18, %17 : tensor<1x20x33xf32>
  %20 = stablehlo.multiply %12, %19 : tensor<1x20x33xf32>
  %21 = stablehlo.reduce(%20 init: %cst_4) applies stablehlo.add across dimensions = [1] : (tensor<1x20x33xf32>, tensor<f32>) -> tensor<1x33xf32>
  %22 = stablehlo.reshape %21 : (tensor<1x33xf32>) -> tensor<1x1x33xf32>
  %23 = stablehlo.multiply %19, %14 : tensor<1x20x33xf32>
  %24 = stablehlo.reduce(%22 init: %cst_4) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x33xf32>, tensor<f32>) -> tensor<33xf32>
  %25 = stablehlo.multiply %arg0, %23 : tensor<1x20x33xf32>
  %26 = stablehlo.reduce(%25 init: %cst_4) applies stablehlo.add across dimensions = [2] : (tensor<1x20x33xf32>, tensor<f32>) -> tensor<1x20xf32>
  %27 = stablehlo.reshape %26 : (tensor<1x20xf32>) -> tensor<1x20x1xf32>
  %28 = stablehlo.multiply %23, %11 : tensor<1x20x33xf32>
  %29 = stablehlo.multiply %27, %10 : tensor<1x20x1xf32>
  %30 = stablehlo.divide %29, %3 : tensor<1x20x1xf32>
  %31 = stablehlo.reduce(%30 init: %cst_4) applies stablehlo.add across dimensions = [0, 2] : (tensor<1x20x1xf32>, tensor<f32>) -> tensor<20xf32>
  %32 = stablehlo.broadcast_in_dim %31, dims = [1] : (tensor<20xf32>) -> tensor<1x20xf32>
  %33 = stablehlo.broadcast_in_dim %32, dims = [0, 1] : (tensor<1x20xf32>) -> tensor<1x20x33xf32>
  %34 = stablehlo.multiply %arg0, %33 : tensor<1x20x33xf32>
  %35 = stablehlo.add %28, %34 : tensor<1x20x33xf32>
  %36 = stablehlo.add %35, %34 : tensor<1x20x33xf32>
  return %36, %24 : tensor<1x20x33xf32>, tensor<33xf32>
}

func.func @adam(%arg0: tensor<70x33xf32>, %arg1: tensor<70x33xf32>, %arg2: tensor<70x33xf32>, %arg3: tensor<70x33xf32>) -> (tensor<70x33xf32>, tensor<70x33xf32>, tensor<70x33xf32>) {
  %cst = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
  %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
  %cst_1 = stablehlo.constant dense<0.00999999977> : tensor<f32>
  %cst_2 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
  %cst_3 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
  %cst_4 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
  %cst_5 = stablehlo.constant dense<0.899999976> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<70x33xf32>
  %1 = stablehlo.multiply %arg2, %0 : tensor<70x33xf32>
  %2 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<70x33xf32>
  %3 = stablehlo.multiply %arg1, %2 : tensor<70x33xf32>
  %4 = stablehlo.add %1, %3 : tensor<70x33xf32>
  %5 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<70x33xf32>
  %6 = stablehlo.multiply %5, %4 : tensor<70x33xf32>
  %7 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<70x33xf32>
  %8 = stablehlo.multiply %arg3, %7 : tensor<70x33xf32>
  %9 = stablehlo.multiply %arg1, %arg1 : tensor<70x33xf32>
  %10 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<70x33xf32>
  %11 = stablehlo.multiply %9, %10 : tensor<70x33xf32>
  %12 = stablehlo.add %8, %11 : tensor<70x33xf32>
  %13 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<70x33xf32>
  %14 = stablehlo.add %12, %13 : tensor<70x33xf32>
  %15 = stablehlo.sqrt %14 : tensor<70x33xf32>
  %16 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<70x33xf32>
  %17 = stablehlo.add %15, %16 : tensor<70x33xf32>
  %18 = stablehlo.divide %6, %17 : tensor<70x33xf32>
  %19 = stablehlo.subtract %arg0, %18 : tensor<70x33xf32>
  return %19, %4, %12 : tensor<70x33xf32>, tensor<70x33xf32>, tensor<70x33xf32>
}
