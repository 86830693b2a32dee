// RUN: sp-opt %s -split-input-file --sp-propagate-shardings --sp-localize --canonicalize --cse --sp-verify-partition \
// RUN:   | FileCheck %s

// Partial products of a bf16 weight stay in f32 until all are added, over both
// axes at once.
// CHECK-LABEL: module @product_of_bf16
// CHECK: %[[PART:.*]] = stablehlo.dot_general %{{.*}}, %{{.*}}, contracting_dims = [0, 1] x [0, 1] : (tensor<1x2x4xbf16>, tensor<1x2x3xbf16>) -> tensor<4x3xf32>
// CHECK-NEXT: %[[SUM:.*]] = sp.all_reduce %[[PART]] sum over ["dp", "sp"] of 10 : tensor<4x3xf32>
// CHECK-NEXT: %[[GRAD:.*]] = stablehlo.convert %[[SUM]] : (tensor<4x3xf32>) -> tensor<4x3xbf16>
// CHECK-NEXT: return %[[GRAD]]
module @product_of_bf16 {
  sp.mesh @mesh <["dp" = 2, "sp" = 5]> sequence "sp" batch "dp"
  func.func @main(%x: tensor<2x10x4xbf16> {sp.sharding = #sp.sharding<[[2 by <contiguous 2 on "dp" of 2>], [10 by <zigzag 10 on "sp" of 5>], [4]]>},
                  %g: tensor<2x10x3xbf16> {sp.sharding = #sp.sharding<[[2 by <contiguous 2 on "dp" of 2>], [10 by <zigzag 10 on "sp" of 5>], [3]]>}) -> tensor<4x3xbf16> {
    %w = stablehlo.dot_general %x, %g, contracting_dims = [0, 1] x [0, 1] : (tensor<2x10x4xbf16>, tensor<2x10x3xbf16>) -> tensor<4x3xbf16>
    return %w : tensor<4x3xbf16>
  }
}

// -----

// CHECK-LABEL: module @bias_in_f16_onto_another
// CHECK: func.func @main(%[[G:.*]]: tensor<2x4xf16> {{.*}}, %[[START:.*]]: tensor<f16>
// CHECK: %[[CST:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<f16>
// CHECK: %[[WIDE:.*]] = stablehlo.convert %[[G]] : (tensor<2x4xf16>) -> tensor<2x4xf32>
// CHECK: %[[ZERO:.*]] = stablehlo.convert %[[CST]] : (tensor<f16>) -> tensor<f32>
// CHECK: %[[PART:.*]] = stablehlo.reduce(%[[WIDE]] init: %[[ZERO]]) applies stablehlo.add across dimensions = [0] : (tensor<2x4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT: %[[SUM:.*]] = sp.all_reduce %[[PART]] sum over ["sp"] of 5 : tensor<4xf32>
// CHECK: %[[INIT:.*]] = stablehlo.convert %[[START]] : (tensor<f16>) -> tensor<f32>
// CHECK: %[[ALL:.*]] = stablehlo.broadcast_in_dim %[[INIT]], dims = []
// CHECK: %[[BIAS:.*]] = stablehlo.add %[[SUM]], %[[ALL]] : tensor<4xf32>
// CHECK-NEXT: stablehlo.convert %[[BIAS]] : (tensor<4xf32>) -> tensor<4xf16>
module @bias_in_f16_onto_another {
  sp.mesh @mesh <["sp" = 5]> sequence "sp"
  func.func @main(%g: tensor<10x4xf16> {sp.sharding = #sp.sharding<[[10 by <contiguous 10 on "sp" of 5>], [4]]>}, %start: tensor<f16>) -> tensor<4xf16> {
    %b = stablehlo.reduce(%g init: %start) applies stablehlo.add across dimensions = [0] : (tensor<10x4xf16>, tensor<f16>) -> tensor<4xf16>
    return %b : tensor<4xf16>
  }
}

// -----

// A maximum is not rounded, and f64 not narrowed.
// CHECK-LABEL: module @other_reductions_keep_their_type
// CHECK: sp.all_reduce %{{.*}} max over ["sp"] of 5 : tensor<4xbf16>
// CHECK: sp.all_reduce %{{.*}} sum over ["sp"] of 5 : tensor<4xf64>
module @other_reductions_keep_their_type {
  sp.mesh @mesh <["sp" = 5]> sequence "sp"
  func.func @main(%x: tensor<10x4xbf16> {sp.sharding = #sp.sharding<[[10 by <contiguous 10 on "sp" of 5>], [4]]>},
                  %y: tensor<10x4xf64> {sp.sharding = #sp.sharding<[[10 by <contiguous 10 on "sp" of 5>], [4]]>}) -> (tensor<4xbf16>, tensor<4xf64>) {
    %least = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %zero = stablehlo.constant dense<0.0> : tensor<f64>
    %m = stablehlo.reduce(%x init: %least) applies stablehlo.maximum across dimensions = [0] : (tensor<10x4xbf16>, tensor<bf16>) -> tensor<4xbf16>
    %s = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<10x4xf64>, tensor<f64>) -> tensor<4xf64>
    return %m, %s : tensor<4xbf16>, tensor<4xf64>
  }
}

// -----

// Each rank adds what its tokens give, and nothing for padding.
// CHECK-LABEL: module @embedding_in_bf16
// CHECK: func.func @main(%[[IDS:.*]]: tensor<2x1xi32> {{.*}}, %[[G:.*]]: tensor<2x4xbf16>
// CHECK-NOT: sp.all_gather
// CHECK-DAG: %[[OWN:.*]] = stablehlo.select %{{.*}}, %[[IDS]], %{{.*}} : tensor<2x1xi1>, tensor<2x1xi32>
// CHECK-DAG: %[[VALID:.*]] = stablehlo.select %{{.*}}, %[[G]], %{{.*}} : tensor<2x4xi1>, tensor<2x4xbf16>
// CHECK-DAG: %[[WIDE:.*]] = stablehlo.convert %[[VALID]]
// CHECK: %[[PART:.*]] = "stablehlo.scatter"(%{{.*}}, %[[OWN]], %[[WIDE]]) <{indices_are_sorted = false, {{.*}}, unique_indices = false}> ({
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<f32>):
// CHECK-NEXT: %[[ADDED:.*]] = stablehlo.add %[[A]], %[[B]] : tensor<f32>
// CHECK: }) : (tensor<50x4xf32>, tensor<2x1xi32>, tensor<2x4xf32>) -> tensor<50x4xf32>
// CHECK-NEXT: %[[SUM:.*]] = sp.all_reduce %[[PART]] sum over ["sp"] of 5 : tensor<50x4xf32>
// CHECK-NEXT: stablehlo.convert %[[SUM]] : (tensor<50x4xf32>) -> tensor<50x4xbf16>
module @embedding_in_bf16 {
  sp.mesh @mesh <["sp" = 5]> sequence "sp"
  func.func @main(%ids: tensor<9x1xi32> {sp.sharding = #sp.sharding<[[9 by <contiguous 9 on "sp" of 5>], [1]]>},
                  %g: tensor<9x4xbf16> {sp.sharding = #sp.sharding<[[9 by <contiguous 9 on "sp" of 5>], [4]]>}) -> tensor<50x4xbf16> {
    %c = stablehlo.constant dense<0.0> : tensor<bf16>
    %zero = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<bf16>) -> tensor<50x4xbf16>
    %t = "stablehlo.scatter"(%zero, %ids, %g) <{indices_are_sorted = true, unique_indices = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
      %s = stablehlo.add %a, %b : tensor<bf16>
      stablehlo.return %s : tensor<bf16>
    }) : (tensor<50x4xbf16>, tensor<9x1xi32>, tensor<9x4xbf16>) -> tensor<50x4xbf16>
    return %t : tensor<50x4xbf16>
  }
}

// -----

// What updates are added to counts once; what is written is gathered.
// CHECK-LABEL: module @onto_a_table_and_in_its_place
// CHECK: func.func @main(%[[TABLE:.*]]: tensor<50x4xf32>
// CHECK: %[[PART:.*]] = "stablehlo.scatter"(%{{.*}}, %{{.*}}, %{{.*}})
// CHECK: }) : (tensor<50x4xf32>, tensor<2x1xi32>, tensor<2x4xf32>) -> tensor<50x4xf32>
// CHECK-NEXT: %[[SUM:.*]] = sp.all_reduce %[[PART]] sum
// CHECK-NEXT: stablehlo.add %[[SUM]], %[[TABLE]]
// CHECK: sp.all_gather
// CHECK: "stablehlo.scatter"(%[[TABLE]],
// CHECK-NOT: sp.all_reduce
module @onto_a_table_and_in_its_place {
  sp.mesh @mesh <["sp" = 5]> sequence "sp"
  func.func @main(%table: tensor<50x4xf32>,
                  %ids: tensor<10x1xi32> {sp.sharding = #sp.sharding<[[10 by <contiguous 10 on "sp" of 5>], [1]]>},
                  %g: tensor<10x4xf32> {sp.sharding = #sp.sharding<[[10 by <contiguous 10 on "sp" of 5>], [4]]>}) -> (tensor<50x4xf32>, tensor<50x4xf32>) {
    %t = "stablehlo.scatter"(%table, %ids, %g) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<50x4xf32>, tensor<10x1xi32>, tensor<10x4xf32>) -> tensor<50x4xf32>
    %u = "stablehlo.scatter"(%table, %ids, %g) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      stablehlo.return %b : tensor<f32>
    }) : (tensor<50x4xf32>, tensor<10x1xi32>, tensor<10x4xf32>) -> tensor<50x4xf32>
    return %t, %u : tensor<50x4xf32>, tensor<50x4xf32>
  }
}

// -----

// A place is added to in f32 on a single rank too, unless each is added to once.
// CHECK-LABEL: module @table_in_bf16
// CHECK: %[[WIDE:.*]] = stablehlo.convert %{{.*}} : (tensor<9x4xbf16>) -> tensor<9x4xf32>
// CHECK: %[[SUM:.*]] = "stablehlo.scatter"(%{{.*}}, %{{.*}}, %[[WIDE]])
// CHECK: }) : (tensor<5x4xf32>, tensor<9x1xi32>, tensor<9x4xf32>) -> tensor<5x4xf32>
// CHECK: stablehlo.convert %[[SUM]] : (tensor<5x4xf32>) -> tensor<5x4xbf16>
// CHECK: }) : (tensor<5x4xbf16>, tensor<9x1xi32>, tensor<9x4xbf16>) -> tensor<5x4xbf16>
module @table_in_bf16 {
  sp.mesh @mesh <["sp" = 1]> sequence "sp"
  func.func @main(%ids: tensor<9x1xi32>, %g: tensor<9x4xbf16>) -> (tensor<5x4xbf16>, tensor<5x4xbf16>) {
    %c = stablehlo.constant dense<0.0> : tensor<bf16>
    %zero = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<bf16>) -> tensor<5x4xbf16>
    %t = "stablehlo.scatter"(%zero, %ids, %g) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
      %s = stablehlo.add %a, %b : tensor<bf16>
      stablehlo.return %s : tensor<bf16>
    }) : (tensor<5x4xbf16>, tensor<9x1xi32>, tensor<9x4xbf16>) -> tensor<5x4xbf16>
    %u = "stablehlo.scatter"(%zero, %ids, %g) <{unique_indices = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
      %s = stablehlo.add %a, %b : tensor<bf16>
      stablehlo.return %s : tensor<bf16>
    }) : (tensor<5x4xbf16>, tensor<9x1xi32>, tensor<9x4xbf16>) -> tensor<5x4xbf16>
    return %t, %u : tensor<5x4xbf16>, tensor<5x4xbf16>
  }
}
