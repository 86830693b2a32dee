// RUN: sp-opt %s --sp-memory-pipeline --sp-verify-places --split-input-file | FileCheck %s

// What a turn makes is computed in its row, and weights are read where they lie.
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0) -> (d0 * 64 + [[S:[0-9]+]])>
// CHECK-DAG: #[[STACK:.*]] = affine_map<() -> ([[S]])>
// CHECK-DAG: #[[WEIGHT:.*]] = affine_map<(d0) -> (d0 * -64 + 192)>
// CHECK-LABEL: @main(
#back = affine_map<(d0) -> (3 - d0)>
func.func @main(%x: tensor<16xf32>, %w: tensor<4x16xf32>) -> (tensor<16xf32>, tensor<4x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  // CHECK: sp.launch @zeros() {sp.places = [#sp.place<arena #[[STACK]]>]}
  %s = sp.launch @zeros() : () -> tensor<4x16xf32>
  // CHECK: scf.for
  %r:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%h = %x, %t = %s) -> (tensor<16xf32>, tensor<4x16xf32>) {
    %at = affine.apply #back(%i)
    // CHECK: sp.take %{{.*}} at %{{.*}} dim 0 {sp.places = [#sp.place<arena #[[WEIGHT]]>]}
    %l = sp.take %w at %at dim 0 : tensor<4x16xf32> -> tensor<1x16xf32>
    // CHECK-NEXT: stablehlo.reshape %{{.*}} {sp.places = [#sp.place<arena #[[WEIGHT]]>]}
    %l1 = stablehlo.reshape %l : (tensor<1x16xf32>) -> tensor<16xf32>
    // CHECK-NEXT: sp.launch @step(%{{.*}}, %{{.*}}) {sp.places = [#sp.place<arena #{{.*}}>, #sp.place<arena #[[ROW]]>]}
    %n:2 = sp.launch @step(%h, %l1) : (tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>)
    // CHECK-NEXT: stablehlo.reshape %{{.*}} {sp.places = [#sp.place<arena #[[ROW]]>]}
    %m = stablehlo.reshape %n#1 : (tensor<16xf32>) -> tensor<1x16xf32>
    // CHECK-NEXT: sp.put %{{.*}} {sp.places = [#sp.place<arena #{{.*}}>]}
    %t1 = sp.put %m into %t at %i dim 0 : tensor<1x16xf32>, tensor<4x16xf32>
    scf.yield %n#0, %t1 : tensor<16xf32>, tensor<4x16xf32>
  }
  return %r#0, %r#1 : tensor<16xf32>, tensor<4x16xf32>
}
func.func private @zeros() -> tensor<4x16xf32>
func.func private @step(tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>)

// -----

// Copied are what the turn begins with, what goes on to the next turn, and what is
// saved twice: they lie elsewhere.
// CHECK-LABEL: @main(
func.func @main(%x: tensor<1x16xf32>, %s: tensor<4x16xf32>, %t: tensor<4x16xf32>, %u: tensor<4x16xf32>) -> tensor<1x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  // CHECK: scf.for %{{.*}} iter_args(%[[H:[a-z0-9]*]] =
  %r:4 = scf.for %i = %c0 to %c4 step %c1 iter_args(%h = %x, %a = %s, %b = %t, %c = %u) -> (tensor<1x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>) {
    // CHECK: %[[BEGUN:.*]] = sp.copy %[[H]]
    // CHECK: sp.put %[[BEGUN]]
    %a1 = sp.put %h into %a at %i dim 0 : tensor<1x16xf32>, tensor<4x16xf32>
    // CHECK: %[[N:.*]] = sp.launch @step
    %n = sp.launch @step(%h) : (tensor<1x16xf32>) -> tensor<1x16xf32>
    // CHECK: %[[FIRST:.*]] = sp.copy %[[N]]
    // CHECK: sp.put %[[FIRST]]
    %b1 = sp.put %n into %b at %i dim 0 : tensor<1x16xf32>, tensor<4x16xf32>
    // CHECK: %[[SECOND:.*]] = sp.copy %[[N]]
    // CHECK: sp.put %[[SECOND]]
    %c2 = sp.put %n into %c at %i dim 0 : tensor<1x16xf32>, tensor<4x16xf32>
    // CHECK-NOT: sp.copy
    // CHECK: scf.yield %[[N]]
    scf.yield %n, %a1, %b1, %c2 : tensor<1x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>
  }
  return %r#0 : tensor<1x16xf32>
}
func.func private @step(tensor<1x16xf32>) -> tensor<1x16xf32>

// -----

// Rows that do not begin at multiples of 64 bytes are copied in and out: kernels
// want them so.
// CHECK-DAG: #[[FROM:.*]] = affine_map<(d0) -> (d0 * 12)>
// CHECK-DAG: #[[TO:.*]] = affine_map<(d0) -> (d0 * 12 + 128)>
// CHECK-LABEL: @main(
func.func @main(%w: tensor<4x3xf32>, %s: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%t = %s) -> tensor<4x3xf32> {
    // CHECK: %[[L:.*]] = sp.take %{{.*}} {sp.places = [#sp.place<arena #[[FROM]]>]}
    // CHECK-NEXT: %[[IN:.*]] = sp.copy %[[L]]
    %l = sp.take %w at %i dim 0 : tensor<4x3xf32> -> tensor<1x3xf32>
    // CHECK-NEXT: %[[N:.*]] = sp.launch @step(%[[IN]])
    %n = sp.launch @step(%l) : (tensor<1x3xf32>) -> tensor<1x3xf32>
    // CHECK-NEXT: %[[OUT:.*]] = sp.copy %[[N]] {sp.places = [#sp.place<arena #[[TO]]>]}
    // CHECK-NEXT: sp.put %[[OUT]]
    %t1 = sp.put %n into %t at %i dim 0 : tensor<1x3xf32>, tensor<4x3xf32>
    scf.yield %t1 : tensor<4x3xf32>
  }
  return %r : tensor<4x3xf32>
}
func.func private @step(tensor<1x3xf32>) -> tensor<1x3xf32>

// -----

// What adds to a row reads it last where it writes it: it is computed elsewhere.
// CHECK-LABEL: @main(
func.func @main(%w: tensor<4x16xf32>, %s: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%t = %s) -> tensor<4x16xf32> {
    %l = sp.take %t at %i dim 0 : tensor<4x16xf32> -> tensor<1x16xf32>
    // CHECK: %[[N:.*]] = sp.launch @add
    // CHECK-NEXT: %[[OUT:.*]] = sp.copy %[[N]]
    // CHECK-NEXT: sp.put %[[OUT]]
    %n = sp.launch @add(%l) : (tensor<1x16xf32>) -> tensor<1x16xf32>
    %t1 = sp.put %n into %t at %i dim 0 : tensor<1x16xf32>, tensor<4x16xf32>
    scf.yield %t1 : tensor<4x16xf32>
  }
  return %r : tensor<4x16xf32>
}
func.func private @add(tensor<1x16xf32>) -> tensor<1x16xf32>

// -----

// What a second put would put is there before the first one reads its stack: it is
// copied behind that.
// CHECK-LABEL: @main(
func.func @main(%s: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%t = %s) -> tensor<4x16xf32> {
    // CHECK: %[[N:.*]]:2 = sp.launch @two
    %n:2 = sp.launch @two() : () -> (tensor<1x16xf32>, tensor<1x16xf32>)
    // CHECK-NEXT: sp.put %[[N]]#0
    %t1 = sp.put %n#0 into %t at %i dim 0 : tensor<1x16xf32>, tensor<4x16xf32>
    // CHECK-NEXT: %[[SECOND:.*]] = sp.copy %[[N]]#1
    // CHECK-NEXT: sp.put %[[SECOND]]
    %t2 = sp.put %n#1 into %t1 at %c0 dim 0 : tensor<1x16xf32>, tensor<4x16xf32>
    scf.yield %t2 : tensor<4x16xf32>
  }
  return %r : tensor<4x16xf32>
}
func.func private @two() -> (tensor<1x16xf32>, tensor<1x16xf32>)

// -----

// A stack that is read once more is copied before its rows are written.
// CHECK-LABEL: @main(
func.func @main(%s: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  // CHECK: scf.for %{{.*}} iter_args(%[[T:[a-z0-9]*]] =
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%t = %s) -> tensor<4x16xf32> {
    // CHECK: %[[N:.*]] = sp.launch @one
    %n = sp.launch @one() : () -> tensor<1x16xf32>
    // CHECK-NEXT: %[[STACK:.*]] = sp.copy %[[T]]
    // CHECK-NEXT: %[[ROW:.*]] = sp.copy %[[N]]
    // CHECK-NEXT: sp.put %[[ROW]] into %[[STACK]]
    %t1 = sp.put %n into %t at %i dim 0 : tensor<1x16xf32>, tensor<4x16xf32>
    %u = sp.launch @both(%t, %t1) : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    scf.yield %u : tensor<4x16xf32>
  }
  return %r : tensor<4x16xf32>
}
func.func private @one() -> tensor<1x16xf32>
func.func private @both(tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>

// -----

// What a branch yields lies in the slot of what goes on to the next turn.
// CHECK-DAG: #[[OTHER:.*]] = affine_map<(d0) -> (((d0 + 1) mod 2) * 64{{.*}})>
// CHECK-LABEL: @main(
func.func @main(%x: tensor<16xf32>, %which: tensor<i32>) -> tensor<16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%h = %x) -> tensor<16xf32> {
    // CHECK: sp.launch @a({{.*}}) {sp.places = [#sp.place<arena #[[OTHER]]>]}
    // CHECK: sp.launch @b({{.*}}) {sp.places = [#sp.place<arena #[[OTHER]]>]}
    %n = "stablehlo.case"(%which) ({
      %a = sp.launch @a(%h) : (tensor<16xf32>) -> tensor<16xf32>
      stablehlo.return %a : tensor<16xf32>
    }, {
      %b = sp.launch @b(%h) : (tensor<16xf32>) -> tensor<16xf32>
      stablehlo.return %b : tensor<16xf32>
    }) : (tensor<i32>) -> tensor<16xf32>
    scf.yield %n : tensor<16xf32>
  }
  return %r : tensor<16xf32>
}
func.func private @a(tensor<16xf32>) -> tensor<16xf32>
func.func private @b(tensor<16xf32>) -> tensor<16xf32>
