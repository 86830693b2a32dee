// As the printer of jaxlib 0.10.2 writes it: read and written without a change,
// and the same after a detour through the generic form.
//
// RUN: grep -v "^//\|^$" %s > %t.expected
// RUN: sp-opt %s | grep . > %t.pretty
// RUN: diff %t.expected %t.pretty
// RUN: sp-opt %s --mlir-print-op-generic | sp-opt | grep . > %t.generic
// RUN: diff %t.expected %t.generic


module {
  func.func @reductions(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xi32>, %arg2: tensor<f32>, %arg3: tensor<i32>) {
    %0 = stablehlo.reduce(%arg0 init: %arg2) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %1 = stablehlo.reduce(%arg0 init: %arg2) applies stablehlo.add across dimensions = [0, 1] {mhlo.note = 1 : i32} : (tensor<2x3xf32>, tensor<f32>) -> tensor<f32>
    %2:2 = stablehlo.reduce(%arg0 init: %arg2), (%arg1 init: %arg3) across dimensions = [1] : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
     reducer(%arg4: tensor<f32>, %arg6: tensor<f32>) (%arg5: tensor<i32>, %arg7: tensor<i32>)  {
      %5 = stablehlo.compare GT, %arg4, %arg6, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %6 = stablehlo.select %5, %arg4, %arg6 : tensor<i1>, tensor<f32>
      %7 = stablehlo.select %5, %arg5, %arg7 : tensor<i1>, tensor<i32>
      stablehlo.return %6, %7 : tensor<f32>, tensor<i32>
    }
    %3 = stablehlo.reduce(%arg0 init: %arg2) across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
     reducer(%arg4: tensor<f32>, %arg5: tensor<f32>)  {
      %5 = stablehlo.maximum %arg5, %arg4 : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }
    %4 = stablehlo.reduce(%arg0 init: %arg2) across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
     reducer(%arg4: tensor<f32>, %arg5: tensor<f32>)  {
      %5 = stablehlo.subtract %arg4, %arg5 : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }
    return
  }
  func.func @cumulative_sum(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>) -> tensor<2x3xf32> {
    %0 = "stablehlo.reduce_window"(%arg0, %arg1) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [2, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %1 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
  func.func @updates(%arg0: tensor<2x3xf32>, %arg1: tensor<2x4x1xi32>, %arg2: tensor<2x4xf32>, %arg3: tensor<1xi32>, %arg4: tensor<3xf32>) {
    %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      stablehlo.return %arg6 : tensor<f32>
    }) : (tensor<2x3xf32>, tensor<2x4x1xi32>, tensor<2x4xf32>) -> tensor<2x3xf32>
    %1 = "stablehlo.scatter"(%arg0, %arg3, %arg4) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %2 = stablehlo.add %arg5, %arg6 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<2x3xf32>, tensor<1xi32>, tensor<3xf32>) -> tensor<2x3xf32>
    return
  }
  func.func @order(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xi32>) {
    %0:2 = "stablehlo.sort"(%arg0, %arg1) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>, %arg4: tensor<i32>, %arg5: tensor<i32>):
      %2 = stablehlo.compare LT, %arg2, %arg3, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    }) : (tensor<2x3xf32>, tensor<2x3xi32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
    %1 = "stablehlo.map"(%arg0) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg2: tensor<f32>):
      %2 = stablehlo.negate %arg2 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return
  }
  func.func @loop(%arg0: tensor<2x3xf32>, %arg1: tensor<i32>) -> tensor<2x3xf32> {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0:2 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg1) : tensor<2x3xf32>, tensor<i32> attributes {mhlo.note}
    cond {
      %1 = stablehlo.compare LT, %iterArg_0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.add %iterArg_0, %c : tensor<i32>
      %2 = stablehlo.while(%iterArg_1 = %iterArg) : tensor<2x3xf32>
      cond {
        %c_2 = stablehlo.constant dense<false> : tensor<i1>
        stablehlo.return %c_2 : tensor<i1>
      } do {
        stablehlo.return %iterArg_1 : tensor<2x3xf32>
      }
      stablehlo.return %2, %1 : tensor<2x3xf32>, tensor<i32>
    }
    stablehlo.while()
    cond {
      %c_0 = stablehlo.constant dense<false> : tensor<i1>
      stablehlo.return %c_0 : tensor<i1>
    } do {
      stablehlo.return 
    }
    return %0#0 : tensor<2x3xf32>
  }
  func.func @branches(%arg0: tensor<i32>, %arg1: tensor<i1>, %arg2: tensor<2xf32>) {
    %0 = "stablehlo.case"(%arg0) ({
      stablehlo.return %arg2 : tensor<2xf32>
    }, {
      %2 = stablehlo.negate %arg2 : tensor<2xf32>
      stablehlo.return %2 : tensor<2xf32>
    }) : (tensor<i32>) -> tensor<2xf32>
    %1 = "stablehlo.if"(%arg1) ({
      stablehlo.return %arg2 : tensor<2xf32>
    }, {
      stablehlo.return %0 : tensor<2xf32>
    }) : (tensor<i1>) -> tensor<2xf32>
    return
  }
  func.func @functions(%arg0: tensor<8x4xf32>) {
    %0 = chlo.erf %arg0 : tensor<8x4xf32> -> tensor<8x4xf32>
    %1 = chlo.erfc %arg0 : tensor<8x4xf32> -> tensor<8x4xf32>
    %2 = chlo.erf_inv %arg0 : tensor<8x4xf32> -> tensor<8x4xf32>
    %3 = chlo.square %arg0 : tensor<8x4xf32> -> tensor<8x4xf32>
    %4 = chlo.asin %arg0 : tensor<8x4xf32> -> tensor<8x4xf32>
    %5 = chlo.acos %arg0 : tensor<8x4xf32> -> tensor<8x4xf32>
    %6 = chlo.atan %arg0 : tensor<8x4xf32> -> tensor<8x4xf32>
    %7 = chlo.sinh %arg0 : tensor<8x4xf32> -> tensor<8x4xf32>
    %8 = chlo.cosh %arg0 : tensor<8x4xf32> -> tensor<8x4xf32>
    %values, %indices = chlo.top_k(%arg0, k = 2) {mhlo.note} : tensor<8x4xf32> -> (tensor<8x2xf32>, tensor<8x2xi32>)
    return
  }
}
