// RUN: sp-opt %s --split-input-file --sp-verify-stacks | FileCheck %s

// Blocks, and what is left over.
// CHECK-LABEL: @main
func.func @main(%x: tensor<1x10x4xf32>) -> tensor<1x10x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %e = sp.empty : tensor<1x10x4xf32>
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %e) -> (tensor<1x10x4xf32>) {
    %at = affine.apply affine_map<(d0) -> (d0 * 4)>(%i)
    %a = sp.take %x at %at dim 1 : tensor<1x10x4xf32> -> tensor<1x4x4xf32>
    %b = sp.launch @row(%a) : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
    %n = sp.put %b into %s at %at dim 1 : tensor<1x4x4xf32>, tensor<1x10x4xf32>
    scf.yield %n : tensor<1x10x4xf32>
  } {sp.row_blocks = array<i64: 0, 10, 4>}
  %l = sp.take %x at %c8 dim 1 : tensor<1x10x4xf32> -> tensor<1x2x4xf32>
  %m = sp.launch @last(%l) : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  %y = sp.put %m into %r at %c8 dim 1 : tensor<1x2x4xf32>, tensor<1x10x4xf32>
  return %y : tensor<1x10x4xf32>
}
func.func private @row(tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
func.func private @last(tensor<1x2x4xf32>) -> tensor<1x2x4xf32>

// -----

// A stack of a turn's own, inside a loop, and rows that come the other way round.
// CHECK-LABEL: @main
func.func @main(%x: tensor<2x4x3xf32>) -> tensor<2x4x3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %e = sp.empty : tensor<2x4x3xf32>
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %e) -> (tensor<2x4x3xf32>) {
    %a = sp.take %x at %i dim 0 : tensor<2x4x3xf32> -> tensor<1x4x3xf32>
    %f = sp.empty : tensor<1x4x3xf32>
    %t = scf.for %j = %c0 to %c4 step %c1 iter_args(%u = %f) -> (tensor<1x4x3xf32>) {
      %back = affine.apply affine_map<(d0) -> (3 - d0)>(%j)
      %b = sp.take %a at %back dim 1 : tensor<1x4x3xf32> -> tensor<1x1x3xf32>
      %v = sp.put %b into %u at %back dim 1 : tensor<1x1x3xf32>, tensor<1x4x3xf32>
      scf.yield %v : tensor<1x4x3xf32>
    }
    %n = sp.put %t into %s at %i dim 0 : tensor<1x4x3xf32>, tensor<2x4x3xf32>
    scf.yield %n : tensor<2x4x3xf32>
  }
  return %r : tensor<2x4x3xf32>
}
