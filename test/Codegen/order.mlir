// RUN: sp-kernel-check %s | FileCheck %s
// RUN: sp-kernel-check --cpu=x86-64-v3 %s | FileCheck %s
// RUN: sp-kernel-check --grid %s | FileCheck %s
// CHECK-NOT: WRONG

// Sorting and scattering.

func.func @sort_rows(%arg0: tensor<33x100xf32>) -> (tensor<33x100xf32>) {
  %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
  %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = "stablehlo.sort"(%arg0) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
    %1 = stablehlo.compare EQ, %arg1, %cst_0, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = stablehlo.select %1, %cst_0, %arg1 : tensor<i1>, tensor<f32>
    %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %4 = stablehlo.select %3, %cst, %2 : tensor<i1>, tensor<f32>
    %5 = stablehlo.compare EQ, %arg2, %cst_0, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %6 = stablehlo.select %5, %cst_0, %arg2 : tensor<i1>, tensor<f32>
    %7 = stablehlo.compare NE, %arg2, %arg2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %8 = stablehlo.select %7, %cst, %6 : tensor<i1>, tensor<f32>
    %9 = stablehlo.compare LT, %4, %8, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %9 : tensor<i1>
  }) : (tensor<33x100xf32>) -> tensor<33x100xf32>
  return %0 : tensor<33x100xf32>
}

// Lines of one element, read again by what follows.
func.func @sort_single(%arg0: tensor<6x1xf32>, %arg1: tensor<6x1xi32>) -> (tensor<6x1xf32>) {
  %0:2 = "stablehlo.sort"(%arg0, %arg1) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %1 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<6x1xf32>, tensor<6x1xi32>) -> (tensor<6x1xf32>, tensor<6x1xi32>)
  %2 = stablehlo.convert %0#1 : (tensor<6x1xi32>) -> tensor<6x1xf32>
  %3 = stablehlo.add %0#0, %2 : tensor<6x1xf32>
  return %3 : tensor<6x1xf32>
}

func.func @sort_columns(%arg0: tensor<33x10xf32>) -> (tensor<33x10xi64>) {
  %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
  %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = stablehlo.iota dim = 0 : tensor<33x10xi64>
  %1:2 = "stablehlo.sort"(%arg0, %0) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>, %arg3: tensor<i64>, %arg4: tensor<i64>):
    %2 = stablehlo.compare EQ, %arg1, %cst_0, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %3 = stablehlo.select %2, %cst_0, %arg1 : tensor<i1>, tensor<f32>
    %4 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %5 = stablehlo.select %4, %cst, %3 : tensor<i1>, tensor<f32>
    %6 = stablehlo.compare EQ, %arg2, %cst_0, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %7 = stablehlo.select %6, %cst_0, %arg2 : tensor<i1>, tensor<f32>
    %8 = stablehlo.compare NE, %arg2, %arg2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %9 = stablehlo.select %8, %cst, %7 : tensor<i1>, tensor<f32>
    %10 = stablehlo.compare LT, %5, %9, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %10 : tensor<i1>
  }) : (tensor<33x10xf32>, tensor<33x10xi64>) -> (tensor<33x10xf32>, tensor<33x10xi64>)
  return %1#1 : tensor<33x10xi64>
}

func.func @sort_pairs(%arg0: tensor<6x10x4xi32>, %arg1: tensor<6x10x4xf32>) -> (tensor<6x10x4xi32>, tensor<6x10x4xf32>) {
  %0:2 = "stablehlo.sort"(%arg0, %arg1) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%arg2: tensor<i32>, %arg3: tensor<i32>, %arg4: tensor<f32>, %arg5: tensor<f32>):
    %1 = stablehlo.compare LT, %arg2, %arg3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<6x10x4xi32>, tensor<6x10x4xf32>) -> (tensor<6x10x4xi32>, tensor<6x10x4xf32>)
  return %0#0, %0#1 : tensor<6x10x4xi32>, tensor<6x10x4xf32>
}

func.func @sort_nan_special(%arg0: tensor<6x10x4xf32>) -> (tensor<6x10x4xf32>) {
  %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
  %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = "stablehlo.sort"(%arg0) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
    %1 = stablehlo.compare EQ, %arg1, %cst_0, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = stablehlo.select %1, %cst_0, %arg1 : tensor<i1>, tensor<f32>
    %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %4 = stablehlo.select %3, %cst, %2 : tensor<i1>, tensor<f32>
    %5 = stablehlo.compare EQ, %arg2, %cst_0, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %6 = stablehlo.select %5, %cst_0, %arg2 : tensor<i1>, tensor<f32>
    %7 = stablehlo.compare NE, %arg2, %arg2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %8 = stablehlo.select %7, %cst, %6 : tensor<i1>, tensor<f32>
    %9 = stablehlo.compare LT, %4, %8, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %9 : tensor<i1>
  }) : (tensor<6x10x4xf32>) -> tensor<6x10x4xf32>
  return %0 : tensor<6x10x4xf32>
}

func.func @top_k(%arg0: tensor<33x100xf32>) -> (tensor<33x5xf32>, tensor<33x5xi32>) {
  %values, %indices = chlo.top_k(%arg0, k = 5) : tensor<33x100xf32> -> (tensor<33x5xf32>, tensor<33x5xi32>)
  return %values, %indices : tensor<33x5xf32>, tensor<33x5xi32>
}

func.func @top_k_ties(%arg0: tensor<7x9xi64>) -> (tensor<7x3xi64>, tensor<7x3xi32>) {
  %values, %indices = chlo.top_k(%arg0, k = 3) : tensor<7x9xi64> -> (tensor<7x3xi64>, tensor<7x3xi32>)
  return %values, %indices : tensor<7x3xi64>, tensor<7x3xi32>
}

func.func @scatter_add(%arg0: tensor<10x7xf32>, %arg1: tensor<9xi32>, %arg2: tensor<9x7xf32>) -> (tensor<10x7xf32>) {
  %c = stablehlo.constant dense<10> : tensor<i32>
  %c_0 = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<9xi32>
  %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<9xi32>, tensor<9xi32>) -> tensor<9xi1>
  %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<9xi32>
  %3 = stablehlo.add %arg1, %2 : tensor<9xi32>
  %4 = stablehlo.select %1, %3, %arg1 : tensor<9xi1>, tensor<9xi32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<9xi32>) -> tensor<9x1xi32>
  %6 = "stablehlo.scatter"(%arg0, %5, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    %7 = stablehlo.add %arg3, %arg4 : tensor<f32>
    stablehlo.return %7 : tensor<f32>
  }) : (tensor<10x7xf32>, tensor<9x1xi32>, tensor<9x7xf32>) -> tensor<10x7xf32>
  return %6 : tensor<10x7xf32>
}

func.func @scatter_max(%arg0: tensor<10x7xf32>, %arg1: tensor<9xi32>, %arg2: tensor<9x7xf32>) -> (tensor<10x7xf32>) {
  %c = stablehlo.constant dense<10> : tensor<i32>
  %c_0 = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<9xi32>
  %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<9xi32>, tensor<9xi32>) -> tensor<9xi1>
  %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<9xi32>
  %3 = stablehlo.add %arg1, %2 : tensor<9xi32>
  %4 = stablehlo.select %1, %3, %arg1 : tensor<9xi1>, tensor<9xi32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<9xi32>) -> tensor<9x1xi32>
  %6 = "stablehlo.scatter"(%arg0, %5, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    %7 = stablehlo.maximum %arg3, %arg4 : tensor<f32>
    stablehlo.return %7 : tensor<f32>
  }) : (tensor<10x7xf32>, tensor<9x1xi32>, tensor<9x7xf32>) -> tensor<10x7xf32>
  return %6 : tensor<10x7xf32>
}

func.func @scatter_min(%arg0: tensor<10x7xf32>, %arg1: tensor<9xi32>, %arg2: tensor<9x7xf32>) -> (tensor<10x7xf32>) {
  %c = stablehlo.constant dense<10> : tensor<i32>
  %c_0 = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<9xi32>
  %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<9xi32>, tensor<9xi32>) -> tensor<9xi1>
  %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<9xi32>
  %3 = stablehlo.add %arg1, %2 : tensor<9xi32>
  %4 = stablehlo.select %1, %3, %arg1 : tensor<9xi1>, tensor<9xi32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<9xi32>) -> tensor<9x1xi32>
  %6 = "stablehlo.scatter"(%arg0, %5, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    %7 = stablehlo.minimum %arg3, %arg4 : tensor<f32>
    stablehlo.return %7 : tensor<f32>
  }) : (tensor<10x7xf32>, tensor<9x1xi32>, tensor<9x7xf32>) -> tensor<10x7xf32>
  return %6 : tensor<10x7xf32>
}

func.func @scatter_mul(%arg0: tensor<10x7xf32>, %arg1: tensor<9xi32>, %arg2: tensor<9x7xf32>) -> (tensor<10x7xf32>) {
  %c = stablehlo.constant dense<10> : tensor<i32>
  %c_0 = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<9xi32>
  %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<9xi32>, tensor<9xi32>) -> tensor<9xi1>
  %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<9xi32>
  %3 = stablehlo.add %arg1, %2 : tensor<9xi32>
  %4 = stablehlo.select %1, %3, %arg1 : tensor<9xi1>, tensor<9xi32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<9xi32>) -> tensor<9x1xi32>
  %6 = "stablehlo.scatter"(%arg0, %5, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    %7 = stablehlo.multiply %arg3, %arg4 : tensor<f32>
    stablehlo.return %7 : tensor<f32>
  }) : (tensor<10x7xf32>, tensor<9x1xi32>, tensor<9x7xf32>) -> tensor<10x7xf32>
  return %6 : tensor<10x7xf32>
}

func.func @scatter_set(%arg0: tensor<10x7xf32>, %arg1: tensor<4x7xf32>) -> (tensor<10x7xf32>) {
  %c = stablehlo.constant dense<10> : tensor<i64>
  %c_0 = stablehlo.constant dense<[3, 9, 0, -1]> : tensor<4xi64>
  %c_1 = stablehlo.constant dense<0> : tensor<i64>
  %0 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i64>) -> tensor<4xi64>
  %1 = stablehlo.compare LT, %c_0, %0, SIGNED : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>
  %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<4xi64>
  %3 = stablehlo.add %2, %c_0 : tensor<4xi64>
  %4 = stablehlo.select %1, %3, %c_0 : tensor<4xi1>, tensor<4xi64>
  %5 = stablehlo.convert %4 : (tensor<4xi64>) -> tensor<4xi32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
  %7 = "stablehlo.scatter"(%arg0, %6, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
    stablehlo.return %arg3 : tensor<f32>
  }) : (tensor<10x7xf32>, tensor<4x1xi32>, tensor<4x7xf32>) -> tensor<10x7xf32>
  return %7 : tensor<10x7xf32>
}

func.func @scatter_window(%arg0: tensor<6x10x4xf32>, %arg1: tensor<6x3x4xf32>) -> (tensor<6x10x4xf32>) {
  %c = stablehlo.constant dense<2> : tensor<i32>
  %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<1xi32>
  %1 = "stablehlo.scatter"(%arg0, %0, %arg1) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1, 2], scatter_dims_to_operand_dims = [1]>, unique_indices = true}> ({
  ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
    stablehlo.return %arg3 : tensor<f32>
  }) : (tensor<6x10x4xf32>, tensor<1xi32>, tensor<6x3x4xf32>) -> tensor<6x10x4xf32>
  return %1 : tensor<6x10x4xf32>
}

func.func @scatter_points(%arg0: tensor<6x10x4xf32>, %arg1: tensor<3xi32>, %arg2: tensor<3x4xf32>) -> (tensor<6x10x4xf32>) {
  %c = stablehlo.constant dense<10> : tensor<i32>
  %c_0 = stablehlo.constant dense<6> : tensor<i32>
  %c_1 = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<3xi32>
  %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
  %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<3xi32>
  %3 = stablehlo.add %arg1, %2 : tensor<3xi32>
  %4 = stablehlo.select %1, %3, %arg1 : tensor<3xi1>, tensor<3xi32>
  %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<3xi32>
  %6 = stablehlo.add %arg1, %5 : tensor<3xi32>
  %7 = stablehlo.select %1, %6, %arg1 : tensor<3xi1>, tensor<3xi32>
  %8 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
  %9 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
  %10 = stablehlo.concatenate %8, %9, dim = 1 : (tensor<3x1xi32>, tensor<3x1xi32>) -> tensor<3x2xi32>
  %11 = "stablehlo.scatter"(%arg0, %10, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    %12 = stablehlo.add %arg3, %arg4 : tensor<f32>
    stablehlo.return %12 : tensor<f32>
  }) : (tensor<6x10x4xf32>, tensor<3x2xi32>, tensor<3x4xf32>) -> tensor<6x10x4xf32>
  return %11 : tensor<6x10x4xf32>
}

func.func @scatter_bf16(%arg0: tensor<10x7xbf16>, %arg1: tensor<3xi32>, %arg2: tensor<3x7xbf16>) -> (tensor<10x7xbf16>) {
  %c = stablehlo.constant dense<10> : tensor<i32>
  %c_0 = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<3xi32>
  %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
  %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<3xi32>
  %3 = stablehlo.add %arg1, %2 : tensor<3xi32>
  %4 = stablehlo.select %1, %3, %arg1 : tensor<3xi1>, tensor<3xi32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
  %6 = "stablehlo.scatter"(%arg0, %5, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%arg3: tensor<bf16>, %arg4: tensor<bf16>):
    %7 = stablehlo.add %arg3, %arg4 : tensor<bf16>
    stablehlo.return %7 : tensor<bf16>
  }) : (tensor<10x7xbf16>, tensor<3x1xi32>, tensor<3x7xbf16>) -> tensor<10x7xbf16>
  return %6 : tensor<10x7xbf16>
}
