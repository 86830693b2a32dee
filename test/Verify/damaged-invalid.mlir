// RUN: sp-opt %s -split-input-file --sp-verify-pipeline -verify-diagnostics
//
// What a stage left in order and somebody has damaged since.

#zero = affine_map<() -> (0)>
#block = affine_map<() -> (64)>
#new = affine_map<() -> (128)>

module @wait_is_gone {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  func.func @main(%x: tensor<8xf32> {sp.place = #sp.place<arena #zero>}) -> tensor<8xf32> attributes {sp.arena_bytes = 192 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 0 : i64} {
    // expected-error @below {{'sp.all_gather_start' op expected exactly one wait, in the same block}}
    %g, %t = sp.all_gather_start %x dim 0 in <contiguous 16 on "sp" of 2> {sp.places = [#sp.place<arena #block>]} : tensor<8xf32> -> tensor<16xf32>
    %y = sp.launch @half(%g) {sp.places = [#sp.place<arena #new>]} : (tensor<16xf32>) -> tensor<8xf32>
    return %y : tensor<8xf32>
  }
  func.func private @half(tensor<16xf32>) -> tensor<8xf32>
}

// -----

#zero = affine_map<() -> (0)>
#block = affine_map<() -> (64)>

module @mesh_of_another_name {
  sp.mesh @mesh <["dp" = 2]> batch "dp"
  func.func @main(%x: tensor<8xf32> {sp.place = #sp.place<arena #zero>}) -> tensor<16xf32> attributes {sp.arena_bytes = 192 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 0 : i64} {
    // expected-error @below {{'sp.all_gather_start' op expected layouts on the axes of mesh dp=2 but got #sp.layout<contiguous 16 on "sp" of 2>}}
    %g, %t = sp.all_gather_start %x dim 0 in <contiguous 16 on "sp" of 2> {sp.places = [#sp.place<arena #block>]} : tensor<8xf32> -> tensor<16xf32>
    sp.wait %t
    return %g : tensor<16xf32>
  }
}

// -----

#zero = affine_map<() -> (0)>
#block = affine_map<() -> (64)>

module @mesh_is_gone {
  func.func @main(%x: tensor<8xf32> {sp.place = #sp.place<arena #zero>}) -> tensor<16xf32> attributes {sp.arena_bytes = 192 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 0 : i64} {
    // expected-error @below {{'sp.all_gather_start' op expected a mesh beside #sp.layout<contiguous 16 on "sp" of 2>}}
    %g, %t = sp.all_gather_start %x dim 0 in <contiguous 16 on "sp" of 2> {sp.places = [#sp.place<arena #block>]} : tensor<8xf32> -> tensor<16xf32>
    sp.wait %t
    return %g : tensor<16xf32>
  }
}

// -----

#zero = affine_map<() -> (0)>
#row = affine_map<(d0) -> (d0 * 32 + 32)>
#next = affine_map<(d0) -> (d0 + 1)>
#new = affine_map<() -> (256)>

// The first turns are right: only the last reads beyond the stack.
module @last_turn_reads_beyond_the_stack {
  func.func @main(%x: tensor<4x8xf32> {sp.place = #sp.place<arena #zero>}, %s: tensor<1x8xf32> {sp.place = #sp.place<arena #new>}) -> tensor<1x8xf32> attributes {sp.arena_bytes = 320 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 0 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %y = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %s) -> (tensor<1x8xf32>) {
      %at = affine.apply #next(%i)
      // expected-error @below {{'sp.take' op expected rows of a stack of 4 at every turn but got 1 from 1 to 4}}
      %r = sp.take %x at %at dim 0 {sp.places = [#sp.place<arena #row>]} : tensor<4x8xf32> -> tensor<1x8xf32>
      %n = sp.launch @add(%a, %r) {sp.places = [#sp.place<arena #new>]} : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
      scf.yield %n : tensor<1x8xf32>
    } {sp.places = [#sp.place<arena #new>]}
    return %y : tensor<1x8xf32>
  }
  func.func private @add(tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
}
