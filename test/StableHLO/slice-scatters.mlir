// RUN: sp-opt %s --sp-slice-scatters | FileCheck %s
// RUN: sp-opt %s --sp-slice-scatters | sp-interpret - --random-inputs=1 --outputs=%t.sliced.npz
// RUN: sp-interpret %s --random-inputs=1 --outputs=%t.npz
// RUN: %python -c "import sys, numpy; a, b = map(numpy.load, sys.argv[1:]); assert a.files == b.files and len(a.files) == 5; assert all((a[k] == b[k]).all() for k in a.files)" %t.npz %t.sliced.npz

// One update that replaces what is there, at numbers that are known, is a slice; one
// that is added, does not fit, or lies where an input says, is not.

// CHECK-LABEL: func.func @main
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x8x3xf32>, %[[U:[a-z0-9]+]]: tensor<2x4x3xf32>, %[[R:[a-z0-9]+]]: tensor<3xf32>
func.func @main(%x: tensor<2x8x3xf32>, %u: tensor<2x4x3xf32>, %r: tensor<3xf32>, %i: tensor<1xi32>)
    -> (tensor<2x8x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32>) {
  // As JAX has `x.at[:, 3:7].set(u)`.
  // CHECK: %[[C0:.*]] = stablehlo.constant dense<0> : tensor<i32>
  // CHECK-NEXT: %[[C3:.*]] = stablehlo.constant dense<3> : tensor<i32>
  // CHECK: stablehlo.dynamic_update_slice %[[X]], %[[U]], %{{.*}}, %[[C3]], %{{.*}} : (tensor<2x8x3xf32>, tensor<2x4x3xf32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %at = stablehlo.broadcast_in_dim %three, dims = [] : (tensor<i32>) -> tensor<1xi32>
  %0 = "stablehlo.scatter"(%x, %at, %u) <{indices_are_sorted = true, unique_indices = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1, 2], scatter_dims_to_operand_dims = [1]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<2x8x3xf32>, tensor<1xi32>, tensor<2x4x3xf32>) -> tensor<2x8x3xf32>
  // As JAX has `x.at[1, 3].set(r)`.
  // CHECK: %[[ROW:.*]] = stablehlo.reshape %[[R]] : (tensor<3xf32>) -> tensor<1x1x3xf32>
  // CHECK: %[[C1:.*]] = stablehlo.constant dense<1> : tensor<i32>
  // CHECK: stablehlo.dynamic_update_slice %[[X]], %[[ROW]], %[[C1]], %{{.*}}, %{{.*}} : (tensor<2x8x3xf32>, tensor<1x1x3xf32>
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %both = stablehlo.concatenate %one, %at, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %1 = "stablehlo.scatter"(%x, %both, %r) <{indices_are_sorted = true, unique_indices = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<2x8x3xf32>, tensor<2xi32>, tensor<3xf32>) -> tensor<2x8x3xf32>
  // CHECK-COUNT-3: "stablehlo.scatter"
  %2 = "stablehlo.scatter"(%x, %at, %u) <{indices_are_sorted = true, unique_indices = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1, 2], scatter_dims_to_operand_dims = [1]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2x8x3xf32>, tensor<1xi32>, tensor<2x4x3xf32>) -> tensor<2x8x3xf32>
  %five = stablehlo.constant dense<5> : tensor<1xi32>
  %3 = "stablehlo.scatter"(%x, %five, %u) <{indices_are_sorted = true, unique_indices = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1, 2], scatter_dims_to_operand_dims = [1]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<2x8x3xf32>, tensor<1xi32>, tensor<2x4x3xf32>) -> tensor<2x8x3xf32>
  %4 = "stablehlo.scatter"(%x, %i, %u) <{indices_are_sorted = true, unique_indices = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1, 2], scatter_dims_to_operand_dims = [1]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<2x8x3xf32>, tensor<1xi32>, tensor<2x4x3xf32>) -> tensor<2x8x3xf32>
  return %0, %1, %2, %3, %4 : tensor<2x8x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32>
}
