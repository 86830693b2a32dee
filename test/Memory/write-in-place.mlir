// RUN: sp-opt %s -split-input-file --sp-write-in-place | FileCheck %s
// RUN: sp-opt %s -split-input-file --sp-memory-pipeline --sp-verify-places | FileCheck %s --check-prefix=PLACES

// Rows that a mask of rows changes are written where the cache lies: into that of
// the caller, who donates it, and into what was made of it.
// CHECK-LABEL: module @donated
// CHECK: %[[A:.*]] = sp.launch @masked(%{{.*}}, %{{.*}}, %{{.*}}) onto 2
// CHECK: sp.launch @masked(%{{.*}}, %{{.*}}, %[[A]]) onto 2
// CHECK: func.func private @masked({{.*}}, {{.*}}, %{{.*}}: tensor<8x16xf32> {sp.onto})
// PLACES-LABEL: module @donated
// PLACES-NOT: sp.copy
// PLACES: return
module @donated {
  func.func @main(%cache: tensor<8x16xf32> {sp.donated_to = 0 : i64}, %rows: tensor<8xi1>, %new: tensor<16xf32>) -> tensor<8x16xf32> {
    %a = sp.launch @masked(%rows, %new, %cache) : (tensor<8xi1>, tensor<16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %b = sp.launch @masked(%rows, %new, %a) : (tensor<8xi1>, tensor<16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    return %b : tensor<8x16xf32>
  }
  func.func private @masked(%rows: tensor<8xi1>, %new: tensor<16xf32>, %old: tensor<8x16xf32>) -> tensor<8x16xf32> {
    %m = stablehlo.broadcast_in_dim %rows, dims = [0] : (tensor<8xi1>) -> tensor<8x16xi1>
    %n = stablehlo.broadcast_in_dim %new, dims = [1] : (tensor<16xf32>) -> tensor<8x16xf32>
    %r = stablehlo.select %m, %n, %old : tensor<8x16xi1>, tensor<8x16xf32>
    return %r : tensor<8x16xf32>
  }
}

// -----

// Slices and indices, too; what a mask keeps may be on either side.
// CHECK-LABEL: module @forms
// CHECK: sp.launch @sliced(%{{.*}}, %{{.*}}, %{{.*}}) onto 0
// CHECK: sp.launch @indexed(%{{.*}}, %{{.*}}, %{{.*}}) onto 0
// CHECK: sp.launch @kept(%{{.*}}, %{{.*}}) onto 1
// PLACES-LABEL: module @forms
// PLACES-NOT: sp.copy
// PLACES: return
module @forms {
  func.func @main(%x: tensor<8x16xf32> {sp.donated_to = 0 : i64}, %y: tensor<8x16xf32> {sp.donated_to = 1 : i64}, %z: tensor<8x16xf32> {sp.donated_to = 2 : i64}, %new: tensor<1x16xf32>, %at: tensor<i32>, %rows: tensor<8xi1>) -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) {
    %a = sp.launch @sliced(%x, %new, %at) : (tensor<8x16xf32>, tensor<1x16xf32>, tensor<i32>) -> tensor<8x16xf32>
    %b = sp.launch @indexed(%y, %new, %at) : (tensor<8x16xf32>, tensor<1x16xf32>, tensor<i32>) -> tensor<8x16xf32>
    %c = sp.launch @kept(%rows, %z) : (tensor<8xi1>, tensor<8x16xf32>) -> tensor<8x16xf32>
    return %a, %b, %c : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>
  }
  func.func private @sliced(%old: tensor<8x16xf32>, %new: tensor<1x16xf32>, %at: tensor<i32>) -> tensor<8x16xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %r = stablehlo.dynamic_update_slice %old, %new, %at, %zero : (tensor<8x16xf32>, tensor<1x16xf32>, tensor<i32>, tensor<i32>) -> tensor<8x16xf32>
    return %r : tensor<8x16xf32>
  }
  func.func private @indexed(%old: tensor<8x16xf32>, %new: tensor<1x16xf32>, %at: tensor<i32>) -> tensor<8x16xf32> {
    %i = stablehlo.reshape %at : (tensor<i32>) -> tensor<1x1xi32>
    %r = "stablehlo.scatter"(%old, %i, %new) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      stablehlo.return %b : tensor<f32>
    }) : (tensor<8x16xf32>, tensor<1x1xi32>, tensor<1x16xf32>) -> tensor<8x16xf32>
    return %r : tensor<8x16xf32>
  }
  func.func private @kept(%rows: tensor<8xi1>, %old: tensor<8x16xf32>) -> tensor<8x16xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<8x16xf32>
    %m = stablehlo.broadcast_in_dim %rows, dims = [0] : (tensor<8xi1>) -> tensor<8x16xi1>
    %r = stablehlo.select %m, %old, %zero : tensor<8x16xi1>, tensor<8x16xf32>
    return %r : tensor<8x16xf32>
  }
}

// -----

// What the caller keeps, what is read later, what a kernel reads beside, and what
// it changes element by element.
// CHECK-LABEL: module @others
// CHECK-NOT: onto
module @others {
  func.func @main(%x: tensor<8x16xf32>, %y: tensor<8x16xf32> {sp.donated_to = 0 : i64}, %z: tensor<8x16xf32> {sp.donated_to = 1 : i64}, %w: tensor<8x16xf32> {sp.donated_to = 2 : i64}, %new: tensor<1x16xf32>, %at: tensor<i32>, %mask: tensor<8x16xi1>) -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) {
    %a = sp.launch @sliced(%x, %new, %at) : (tensor<8x16xf32>, tensor<1x16xf32>, tensor<i32>) -> tensor<8x16xf32>
    %b = sp.launch @sliced(%y, %new, %at) : (tensor<8x16xf32>, tensor<1x16xf32>, tensor<i32>) -> tensor<8x16xf32>
    %c = stablehlo.add %b, %y : tensor<8x16xf32>
    %d = sp.launch @reading(%z, %at) : (tensor<8x16xf32>, tensor<i32>) -> tensor<8x16xf32>
    %e = sp.launch @elements(%mask, %w) : (tensor<8x16xi1>, tensor<8x16xf32>) -> tensor<8x16xf32>
    return %a, %b, %c, %d, %e : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>
  }
  func.func private @sliced(%old: tensor<8x16xf32>, %new: tensor<1x16xf32>, %at: tensor<i32>) -> tensor<8x16xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %r = stablehlo.dynamic_update_slice %old, %new, %at, %zero : (tensor<8x16xf32>, tensor<1x16xf32>, tensor<i32>, tensor<i32>) -> tensor<8x16xf32>
    return %r : tensor<8x16xf32>
  }
  func.func private @reading(%old: tensor<8x16xf32>, %at: tensor<i32>) -> tensor<8x16xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %new = stablehlo.slice %old [7:8, 0:16] : (tensor<8x16xf32>) -> tensor<1x16xf32>
    %r = stablehlo.dynamic_update_slice %old, %new, %at, %zero : (tensor<8x16xf32>, tensor<1x16xf32>, tensor<i32>, tensor<i32>) -> tensor<8x16xf32>
    return %r : tensor<8x16xf32>
  }
  func.func private @elements(%mask: tensor<8x16xi1>, %old: tensor<8x16xf32>) -> tensor<8x16xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<8x16xf32>
    %r = stablehlo.select %mask, %old, %zero : tensor<8x16xi1>, tensor<8x16xf32>
    return %r : tensor<8x16xf32>
  }
}

// -----

// A stack that a loop makes of a stack, row by row, which the caller donates: both
// lie in one place, and a trip writes its new rows alone.
// CHECK-LABEL: module @stacks
// CHECK: func.func @main(%[[CACHES:.*]]: tensor<4x8x16xf32> {{.*}}, %[[ROWS:.*]]: tensor<8xi1>
// CHECK-NOT: @zeros
// CHECK: scf.for %[[I:.*]] = {{.*}} iter_args(%[[ALL:.*]] = %[[CACHES]])
// CHECK: sp.take %[[ALL]] at %[[I]] dim 0
// CHECK: sp.launch @masked({{.*}}) onto 2
// CHECK: sp.put %{{.*}} into %[[ALL]] at %[[I]] dim 0
// CHECK-NOT: @zeros
// PLACES-LABEL: module @stacks
// PLACES-NOT: sp.copy
// PLACES: return
module @stacks {
  func.func @main(%caches: tensor<4x8x16xf32> {sp.donated_to = 0 : i64}, %rows: tensor<8xi1>, %new: tensor<16xf32>) -> tensor<4x8x16xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %zeros = sp.launch @zeros() : () -> tensor<4x8x16xf32>
    %made = scf.for %i = %c0 to %c4 step %c1 iter_args(%stack = %zeros) -> (tensor<4x8x16xf32>) {
      %taken = sp.take %caches at %i dim 0 : tensor<4x8x16xf32> -> tensor<1x8x16xf32>
      %cache = stablehlo.reshape %taken : (tensor<1x8x16xf32>) -> tensor<8x16xf32>
      %next = sp.launch @masked(%rows, %new, %cache) : (tensor<8xi1>, tensor<16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %block = stablehlo.reshape %next : (tensor<8x16xf32>) -> tensor<1x8x16xf32>
      %more = sp.put %block into %stack at %i dim 0 : tensor<1x8x16xf32>, tensor<4x8x16xf32>
      scf.yield %more : tensor<4x8x16xf32>
    }
    return %made : tensor<4x8x16xf32>
  }
  func.func private @zeros() -> tensor<4x8x16xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<4x8x16xf32>
    return %zero : tensor<4x8x16xf32>
  }
  func.func private @masked(%rows: tensor<8xi1>, %new: tensor<16xf32>, %old: tensor<8x16xf32>) -> tensor<8x16xf32> {
    %m = stablehlo.broadcast_in_dim %rows, dims = [0] : (tensor<8xi1>) -> tensor<8x16xi1>
    %n = stablehlo.broadcast_in_dim %new, dims = [1] : (tensor<16xf32>) -> tensor<8x16xf32>
    %r = stablehlo.select %m, %n, %old : tensor<8x16xi1>, tensor<8x16xf32>
    return %r : tensor<8x16xf32>
  }
}

// -----

// A stack that the caller keeps, or that is read again, and one whose old rows are
// read behind what changes them, stay what they are.
// CHECK-LABEL: module @still_read
// CHECK: sp.launch @zeros()
// CHECK: sp.launch @zeros()
// CHECK: sp.launch @zeros()
// CHECK: sp.launch @masked(%{{.*}}, %{{.*}}, %{{.*}}) :
// PLACES-LABEL: module @still_read
module @still_read {
  func.func @main(%kept: tensor<4x8x16xf32>, %read: tensor<4x8x16xf32> {sp.donated_to = 1 : i64}, %late: tensor<4x8x16xf32> {sp.donated_to = 3 : i64}, %rows: tensor<8xi1>, %new: tensor<16xf32>) -> (tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<4x8x16xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %zeros = sp.launch @zeros() : () -> tensor<4x8x16xf32>
    %others = sp.launch @zeros() : () -> tensor<4x8x16xf32>
    %thirds = sp.launch @zeros() : () -> tensor<4x8x16xf32>
    %made:3 = scf.for %i = %c0 to %c4 step %c1 iter_args(%stack = %zeros, %other = %others, %third = %thirds) -> (tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<4x8x16xf32>) {
      %taken = sp.take %kept at %i dim 0 : tensor<4x8x16xf32> -> tensor<1x8x16xf32>
      %cache = stablehlo.reshape %taken : (tensor<1x8x16xf32>) -> tensor<8x16xf32>
      %next = sp.launch @masked(%rows, %new, %cache) : (tensor<8xi1>, tensor<16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %block = stablehlo.reshape %next : (tensor<8x16xf32>) -> tensor<1x8x16xf32>
      %more = sp.put %block into %stack at %i dim 0 : tensor<1x8x16xf32>, tensor<4x8x16xf32>
      %taken1 = sp.take %read at %i dim 0 : tensor<4x8x16xf32> -> tensor<1x8x16xf32>
      %cache1 = stablehlo.reshape %taken1 : (tensor<1x8x16xf32>) -> tensor<8x16xf32>
      %next1 = sp.launch @masked(%rows, %new, %cache1) : (tensor<8xi1>, tensor<16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %block1 = stablehlo.reshape %next1 : (tensor<8x16xf32>) -> tensor<1x8x16xf32>
      %more1 = sp.put %block1 into %other at %i dim 0 : tensor<1x8x16xf32>, tensor<4x8x16xf32>
      %taken2 = sp.take %late at %i dim 0 : tensor<4x8x16xf32> -> tensor<1x8x16xf32>
      %cache2 = stablehlo.reshape %taken2 : (tensor<1x8x16xf32>) -> tensor<8x16xf32>
      %next2 = sp.launch @masked(%rows, %new, %cache2) : (tensor<8xi1>, tensor<16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %both = sp.launch @sum(%next2, %cache2) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %block2 = stablehlo.reshape %next2 : (tensor<8x16xf32>) -> tensor<1x8x16xf32>
      %more2 = sp.put %block2 into %third at %i dim 0 : tensor<1x8x16xf32>, tensor<4x8x16xf32>
      scf.yield %more, %more1, %more2 : tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<4x8x16xf32>
    }
    return %made#0, %made#1, %read, %made#2 : tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<4x8x16xf32>
  }
  func.func private @sum(tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  func.func private @zeros() -> tensor<4x8x16xf32>
  func.func private @masked(%rows: tensor<8xi1>, %new: tensor<16xf32>, %old: tensor<8x16xf32>) -> tensor<8x16xf32> {
    %m = stablehlo.broadcast_in_dim %rows, dims = [0] : (tensor<8xi1>) -> tensor<8x16xi1>
    %n = stablehlo.broadcast_in_dim %new, dims = [1] : (tensor<16xf32>) -> tensor<8x16xf32>
    %r = stablehlo.select %m, %n, %old : tensor<8x16xi1>, tensor<8x16xf32>
    return %r : tensor<8x16xf32>
  }
}
