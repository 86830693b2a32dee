// RUN: sp-opt %s -split-input-file --sp-memory-pipeline | FileCheck %s
// RUN: sp-opt %s -split-input-file --sp-assign-offsets=only-sizes | FileCheck %s --check-prefix=SIZES

// What is donated need not stay: the second result takes the first argument's
// place. Results stay, and so does an argument that is one.
// CHECK: #[[FREED:.*]] = affine_map<() -> (0)>
// CHECK-LABEL: module @memory_of_read_arguments_is_free
// SIZES-NOT: sp.place
// SIZES: sp.arena_bytes = 192 : i64
// SIZES-NOT: sp.place
// CHECK: @main(%[[W:.*]]: tensor<16xf32> {sp.donated_to = 0 : i64, sp.place = #sp.place<arena #[[FREED]]>}, %[[V:.*]]: tensor<16xf32>
// CHECK-SAME: sp.arena_bytes = 192 : i64
// CHECK-NEXT: sp.copy %[[W]]
// CHECK-NEXT: sp.copy %[[V]] {sp.places = [#sp.place<arena #[[FREED]]>]}
module @memory_of_read_arguments_is_free {
  func.func @main(%w: tensor<16xf32> {sp.donated_to = 0 : i64}, %v: tensor<16xf32> {sp.donated_to = 1 : i64}) -> (tensor<16xf32>, tensor<16xf32>) {
    %a = sp.copy %w : tensor<16xf32>
    %b = sp.copy %v : tensor<16xf32>
    return %a, %b : tensor<16xf32>, tensor<16xf32>
  }
}

// -----

// CHECK-LABEL: module @other_arguments_stay
// SIZES: sp.arena_bytes = 256 : i64
// SIZES-NOT: sp.place
// CHECK: sp.arena_bytes = 256 : i64
module @other_arguments_stay {
  func.func @main(%w: tensor<16xf32>, %v: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
    %a = sp.copy %w : tensor<16xf32>
    %b = sp.copy %v : tensor<16xf32>
    return %a, %b : tensor<16xf32>, tensor<16xf32>
  }
}

// -----

// CHECK-LABEL: module @returned_argument_stays
// CHECK: sp.arena_bytes = 256 : i64
module @returned_argument_stays {
  func.func @main(%w: tensor<16xf32> {sp.donated_to = 0 : i64}, %v: tensor<16xf32> {sp.donated_to = 1 : i64}) -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) {
    %a = sp.copy %w : tensor<16xf32>
    %b = sp.copy %v : tensor<16xf32>
    return %a, %b, %w, %v : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
  }
}
