// RUN: sp-opt %s --sp-import-pipeline --split-input-file | FileCheck %s

// Masks of positions that no linear comparison gives, as JAX prints them: read row
// by row and joined to bands.

// Causal inside chunks of four, by an integer division.
// CHECK-LABEL: module @chunks
// CHECK: sp.attention(%arg0, %arg1, %arg2) bands {{\[}}#sp.band<q 0 to 4, k 0 to 4, lo -inf, hi 0>, #sp.band<q 4 to 8, k 4 to 8, lo -inf, hi 0>, #sp.band<q 8 to 12, k 8 to 12, lo -inf, hi 0>]
// CHECK-NOT: exponential
module @chunks {
  func.func public @main(%arg0: tensor<1x12x2x4xf32>, %arg1: tensor<1x12x2x4xf32>, %arg2: tensor<1x12x2x4xf32>) -> (tensor<1x12x2x4xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x12x2x4xf32>, tensor<1x12x2x4xf32>) -> tensor<1x2x12x12xf32>
    %1 = stablehlo.iota dim = 0 : tensor<12xi32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<12xi32>) -> tensor<1x12xi32>
    %3 = stablehlo.iota dim = 0 : tensor<12xi32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
    %5 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<1x12xi32>) -> tensor<12x12xi32>
    %6 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<12x1xi32>) -> tensor<12x12xi32>
    %7 = stablehlo.compare LE, %5, %6, SIGNED : (tensor<12x12xi32>, tensor<12x12xi32>) -> tensor<12x12xi1>
    %8 = stablehlo.iota dim = 0 : tensor<12xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
    %c = stablehlo.constant dense<4> : tensor<i32>
    %10 = call @floor_divide(%9, %c) : (tensor<12x1xi32>, tensor<i32>) -> tensor<12x1xi32>
    %11 = stablehlo.iota dim = 0 : tensor<12xi32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [1] : (tensor<12xi32>) -> tensor<1x12xi32>
    %c_0 = stablehlo.constant dense<4> : tensor<i32>
    %13 = call @floor_divide_0(%12, %c_0) : (tensor<1x12xi32>, tensor<i32>) -> tensor<1x12xi32>
    %14 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<12x1xi32>) -> tensor<12x12xi32>
    %15 = stablehlo.broadcast_in_dim %13, dims = [0, 1] : (tensor<1x12xi32>) -> tensor<12x12xi32>
    %16 = stablehlo.compare EQ, %14, %15, SIGNED : (tensor<12x12xi32>, tensor<12x12xi32>) -> tensor<12x12xi1>
    %17 = stablehlo.and %7, %16 : tensor<12x12xi1>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %18 = call @_where_2(%17, %0, %cst) : (tensor<12x12xi1>, tensor<1x2x12x12xf32>, tensor<f32>) -> tensor<1x2x12x12xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %19 = stablehlo.reduce(%18 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<1x2x12x12xf32>, tensor<f32>) -> tensor<1x2x12xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<1x2x12xf32>
    %21 = stablehlo.maximum %20, %19 : tensor<1x2x12xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2] : (tensor<1x2x12xf32>) -> tensor<1x2x12x1xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2, 3] : (tensor<1x2x12x1xf32>) -> tensor<1x2x12x12xf32>
    %24 = stablehlo.subtract %18, %23 : tensor<1x2x12x12xf32>
    %25 = stablehlo.exponential %24 : tensor<1x2x12x12xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.reduce(%25 init: %cst_3) applies stablehlo.add across dimensions = [3] : (tensor<1x2x12x12xf32>, tensor<f32>) -> tensor<1x2x12xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2] : (tensor<1x2x12xf32>) -> tensor<1x2x12x1xf32>
    %28 = stablehlo.broadcast_in_dim %27, dims = [0, 1, 2, 3] : (tensor<1x2x12x1xf32>) -> tensor<1x2x12x12xf32>
    %29 = stablehlo.divide %25, %28 : tensor<1x2x12x12xf32>
    %30 = stablehlo.dot_general %arg2, %29, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x12x2x4xf32>, tensor<1x2x12x12xf32>) -> tensor<1x2x4x12xf32>
    %31 = stablehlo.transpose %30, dims = [0, 3, 1, 2] : (tensor<1x2x4x12xf32>) -> tensor<1x12x2x4xf32>
    return %31 : tensor<1x12x2x4xf32>
  }
  func.func private @floor_divide(%arg0: tensor<12x1xi32>, %arg1: tensor<i32>) -> tensor<12x1xi32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<12x1xi32>
    %2 = stablehlo.divide %arg0, %1 : tensor<12x1xi32>
    %3 = stablehlo.sign %arg0 : tensor<12x1xi32>
    %4 = stablehlo.sign %0 : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i32>) -> tensor<12x1xi32>
    %6 = stablehlo.compare NE, %3, %5, SIGNED : (tensor<12x1xi32>, tensor<12x1xi32>) -> tensor<12x1xi1>
    %7 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<12x1xi32>
    %8 = stablehlo.remainder %arg0, %7 : tensor<12x1xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<12x1xi32>
    %10 = stablehlo.compare NE, %8, %9, SIGNED : (tensor<12x1xi32>, tensor<12x1xi32>) -> tensor<12x1xi1>
    %11 = stablehlo.and %6, %10 : tensor<12x1xi1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %12 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<12x1xi32>
    %13 = stablehlo.subtract %2, %12 : tensor<12x1xi32>
    %14 = call @_where(%11, %13, %2) : (tensor<12x1xi1>, tensor<12x1xi32>, tensor<12x1xi32>) -> tensor<12x1xi32>
    return %14 : tensor<12x1xi32>
  }
  func.func private @_where(%arg0: tensor<12x1xi1>, %arg1: tensor<12x1xi32>, %arg2: tensor<12x1xi32>) -> tensor<12x1xi32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<12x1xi1>, tensor<12x1xi32>
    return %0 : tensor<12x1xi32>
  }
  func.func private @floor_divide_0(%arg0: tensor<1x12xi32>, %arg1: tensor<i32>) -> tensor<1x12xi32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<1x12xi32>
    %2 = stablehlo.divide %arg0, %1 : tensor<1x12xi32>
    %3 = stablehlo.sign %arg0 : tensor<1x12xi32>
    %4 = stablehlo.sign %0 : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i32>) -> tensor<1x12xi32>
    %6 = stablehlo.compare NE, %3, %5, SIGNED : (tensor<1x12xi32>, tensor<1x12xi32>) -> tensor<1x12xi1>
    %7 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<1x12xi32>
    %8 = stablehlo.remainder %arg0, %7 : tensor<1x12xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<1x12xi32>
    %10 = stablehlo.compare NE, %8, %9, SIGNED : (tensor<1x12xi32>, tensor<1x12xi32>) -> tensor<1x12xi1>
    %11 = stablehlo.and %6, %10 : tensor<1x12xi1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %12 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<1x12xi32>
    %13 = stablehlo.subtract %2, %12 : tensor<1x12xi32>
    %14 = call @_where_1(%11, %13, %2) : (tensor<1x12xi1>, tensor<1x12xi32>, tensor<1x12xi32>) -> tensor<1x12xi32>
    return %14 : tensor<1x12xi32>
  }
  func.func private @_where_1(%arg0: tensor<1x12xi1>, %arg1: tensor<1x12xi32>, %arg2: tensor<1x12xi32>) -> tensor<1x12xi32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<1x12xi1>, tensor<1x12xi32>
    return %0 : tensor<1x12xi32>
  }
  func.func private @_where_2(%arg0: tensor<12x12xi1>, %arg1: tensor<1x2x12x12xf32>, %arg2: tensor<f32>) -> tensor<1x2x12x12xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<12x12xi1>) -> tensor<1x2x12x12xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<1x2x12x12xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<1x2x12x12xi1>, tensor<1x2x12x12xf32>
    return %3 : tensor<1x2x12x12xf32>
  }
}

// -----

// Causal inside documents of five and seven, numbered by a table.
// CHECK-LABEL: module @documents
// CHECK: sp.attention(%arg0, %arg1, %arg2) bands {{\[}}#sp.band<q 0 to 5, k 0 to 5, lo -inf, hi 0>, #sp.band<q 5 to 12, k 5 to 12, lo -inf, hi 0>]
// CHECK-NOT: exponential
module @documents {
  func.func public @main(%arg0: tensor<1x12x2x4xf32>, %arg1: tensor<1x12x2x4xf32>, %arg2: tensor<1x12x2x4xf32>) -> (tensor<1x12x2x4xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<[0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1]> : tensor<12xi32>
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x12x2x4xf32>, tensor<1x12x2x4xf32>) -> tensor<1x2x12x12xf32>
    %1 = stablehlo.iota dim = 0 : tensor<12xi32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<12xi32>) -> tensor<1x12xi32>
    %3 = stablehlo.iota dim = 0 : tensor<12xi32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
    %5 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<1x12xi32>) -> tensor<12x12xi32>
    %6 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<12x1xi32>) -> tensor<12x12xi32>
    %7 = stablehlo.compare LE, %5, %6, SIGNED : (tensor<12x12xi32>, tensor<12x12xi32>) -> tensor<12x12xi1>
    %8 = stablehlo.iota dim = 0 : tensor<12xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %10 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<12x1xi32>
    %11 = stablehlo.compare LT, %9, %10, SIGNED : (tensor<12x1xi32>, tensor<12x1xi32>) -> tensor<12x1xi1>
    %c_1 = stablehlo.constant dense<12> : tensor<i32>
    %12 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<12x1xi32>
    %13 = stablehlo.add %9, %12 : tensor<12x1xi32>
    %14 = stablehlo.select %11, %13, %9 : tensor<12x1xi1>, tensor<12x1xi32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1] : (tensor<12x1xi32>) -> tensor<12x1x1xi32>
    %16 = "stablehlo.gather"(%c, %15) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<12xi32>, tensor<12x1x1xi32>) -> tensor<12x1xi32>
    %17 = stablehlo.iota dim = 0 : tensor<12xi32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [1] : (tensor<12xi32>) -> tensor<1x12xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %19 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<1x12xi32>
    %20 = stablehlo.compare LT, %18, %19, SIGNED : (tensor<1x12xi32>, tensor<1x12xi32>) -> tensor<1x12xi1>
    %c_3 = stablehlo.constant dense<12> : tensor<i32>
    %21 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<1x12xi32>
    %22 = stablehlo.add %18, %21 : tensor<1x12xi32>
    %23 = stablehlo.select %20, %22, %18 : tensor<1x12xi1>, tensor<1x12xi32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1] : (tensor<1x12xi32>) -> tensor<1x12x1xi32>
    %25 = "stablehlo.gather"(%c, %24) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<12xi32>, tensor<1x12x1xi32>) -> tensor<1x12xi32>
    %26 = stablehlo.broadcast_in_dim %16, dims = [0, 1] : (tensor<12x1xi32>) -> tensor<12x12xi32>
    %27 = stablehlo.broadcast_in_dim %25, dims = [0, 1] : (tensor<1x12xi32>) -> tensor<12x12xi32>
    %28 = stablehlo.compare EQ, %26, %27, SIGNED : (tensor<12x12xi32>, tensor<12x12xi32>) -> tensor<12x12xi1>
    %29 = stablehlo.and %7, %28 : tensor<12x12xi1>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %30 = call @_where(%29, %0, %cst) : (tensor<12x12xi1>, tensor<1x2x12x12xf32>, tensor<f32>) -> tensor<1x2x12x12xf32>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %31 = stablehlo.reduce(%30 init: %cst_4) applies stablehlo.maximum across dimensions = [3] : (tensor<1x2x12x12xf32>, tensor<f32>) -> tensor<1x2x12xf32>
    %cst_5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<1x2x12xf32>
    %33 = stablehlo.maximum %32, %31 : tensor<1x2x12xf32>
    %34 = stablehlo.broadcast_in_dim %33, dims = [0, 1, 2] : (tensor<1x2x12xf32>) -> tensor<1x2x12x1xf32>
    %35 = stablehlo.broadcast_in_dim %34, dims = [0, 1, 2, 3] : (tensor<1x2x12x1xf32>) -> tensor<1x2x12x12xf32>
    %36 = stablehlo.subtract %30, %35 : tensor<1x2x12x12xf32>
    %37 = stablehlo.exponential %36 : tensor<1x2x12x12xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %38 = stablehlo.reduce(%37 init: %cst_6) applies stablehlo.add across dimensions = [3] : (tensor<1x2x12x12xf32>, tensor<f32>) -> tensor<1x2x12xf32>
    %39 = stablehlo.broadcast_in_dim %38, dims = [0, 1, 2] : (tensor<1x2x12xf32>) -> tensor<1x2x12x1xf32>
    %40 = stablehlo.broadcast_in_dim %39, dims = [0, 1, 2, 3] : (tensor<1x2x12x1xf32>) -> tensor<1x2x12x12xf32>
    %41 = stablehlo.divide %37, %40 : tensor<1x2x12x12xf32>
    %42 = stablehlo.dot_general %arg2, %41, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x12x2x4xf32>, tensor<1x2x12x12xf32>) -> tensor<1x2x4x12xf32>
    %43 = stablehlo.transpose %42, dims = [0, 3, 1, 2] : (tensor<1x2x4x12xf32>) -> tensor<1x12x2x4xf32>
    return %43 : tensor<1x12x2x4xf32>
  }
  func.func private @_where(%arg0: tensor<12x12xi1>, %arg1: tensor<1x2x12x12xf32>, %arg2: tensor<f32>) -> tensor<1x2x12x12xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<12x12xi1>) -> tensor<1x2x12x12xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<1x2x12x12xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<1x2x12x12xi1>, tensor<1x2x12x12xf32>
    return %3 : tensor<1x2x12x12xf32>
  }
}

// -----

// Blocks of a constant.
// CHECK-LABEL: module @blocks
// CHECK: sp.attention(%arg0, %arg1, %arg2) bands {{\[}}#sp.band<q 0 to 6, k 0 to 4, lo -inf, hi inf>, #sp.band<q 6 to 12, k 0 to 1, lo -inf, hi inf>, #sp.band<q 6 to 12, k 4 to 9, lo -inf, hi inf>]
// CHECK-NOT: exponential
module @blocks {
  func.func public @main(%arg0: tensor<1x12x2x4xf32>, %arg1: tensor<1x12x2x4xf32>, %arg2: tensor<1x12x2x4xf32>) -> (tensor<1x12x2x4xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<"0x010101010000000000000000010101010000000000000000010101010000000000000000010101010000000000000000010101010000000000000000010101010000000000000000010000000101010101000000010000000101010101000000010000000101010101000000010000000101010101000000010000000101010101000000010000000101010101000000"> : tensor<12x12xi1>
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x12x2x4xf32>, tensor<1x12x2x4xf32>) -> tensor<1x2x12x12xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = call @_where(%c, %0, %cst) : (tensor<12x12xi1>, tensor<1x2x12x12xf32>, tensor<f32>) -> tensor<1x2x12x12xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<1x2x12x12xf32>, tensor<f32>) -> tensor<1x2x12xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1x2x12xf32>
    %4 = stablehlo.maximum %3, %2 : tensor<1x2x12xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2] : (tensor<1x2x12xf32>) -> tensor<1x2x12x1xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1, 2, 3] : (tensor<1x2x12x1xf32>) -> tensor<1x2x12x12xf32>
    %7 = stablehlo.subtract %1, %6 : tensor<1x2x12x12xf32>
    %8 = stablehlo.exponential %7 : tensor<1x2x12x12xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%8 init: %cst_2) applies stablehlo.add across dimensions = [3] : (tensor<1x2x12x12xf32>, tensor<f32>) -> tensor<1x2x12xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<1x2x12xf32>) -> tensor<1x2x12x1xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2, 3] : (tensor<1x2x12x1xf32>) -> tensor<1x2x12x12xf32>
    %12 = stablehlo.divide %8, %11 : tensor<1x2x12x12xf32>
    %13 = stablehlo.dot_general %arg2, %12, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x12x2x4xf32>, tensor<1x2x12x12xf32>) -> tensor<1x2x4x12xf32>
    %14 = stablehlo.transpose %13, dims = [0, 3, 1, 2] : (tensor<1x2x4x12xf32>) -> tensor<1x12x2x4xf32>
    return %14 : tensor<1x12x2x4xf32>
  }
  func.func private @_where(%arg0: tensor<12x12xi1>, %arg1: tensor<1x2x12x12xf32>, %arg2: tensor<f32>) -> tensor<1x2x12x12xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<12x12xi1>) -> tensor<1x2x12x12xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<1x2x12x12xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<1x2x12x12xi1>, tensor<1x2x12x12xf32>
    return %3 : tensor<1x2x12x12xf32>
  }
}
