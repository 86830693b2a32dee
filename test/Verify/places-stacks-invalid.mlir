// RUN: sp-opt %s -split-input-file --sp-verify-places -verify-diagnostics

// Rows of stacks, which lie where the stack lies.

#at0 = affine_map<() -> (0)>
#at64 = affine_map<() -> (64)>
#at128 = affine_map<() -> (128)>
#at192 = affine_map<() -> (192)>
module @rows_and_stacks_that_are_right {
  func.func @main(%x: tensor<1x16xf32> {sp.place = #sp.place<arena #at0>}) attributes {sp.arena_bytes = 256 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 0 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %s = sp.launch @made() {sp.places = [#sp.place<arena #at64>]} : () -> tensor<2x16xf32>
    %b = sp.copy %x {sp.places = [#sp.place<arena #at128>]} : tensor<1x16xf32>
    %s1 = sp.put %b into %s at %c1 dim 0 {sp.places = [#sp.place<arena #at64>]} : tensor<1x16xf32>, tensor<2x16xf32>
    %r = sp.take %s1 at %c0 dim 0 {sp.places = [#sp.place<arena #at64>]} : tensor<2x16xf32> -> tensor<1x16xf32>
    // What was put is still there, in its stack.
    sp.launch @read(%b, %s1, %r) : (tensor<1x16xf32>, tensor<2x16xf32>, tensor<1x16xf32>) -> ()
    return
  }
  func.func private @made() -> tensor<2x16xf32>
  func.func private @read(tensor<1x16xf32>, tensor<2x16xf32>, tensor<1x16xf32>)
}

// -----

#at0 = affine_map<() -> (0)>
#at64 = affine_map<() -> (64)>
module @other_row_taken {
  func.func @main(%s: tensor<2x16xf32> {sp.place = #sp.place<arena #at0>}) attributes {sp.arena_bytes = 128 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 0 : i64} {
    %c0 = arith.constant 0 : index
    // expected-error @below {{'sp.take' op expected rows of the stack at offset 0 but got offset 64}}
    %r = sp.take %s at %c0 dim 0 {sp.places = [#sp.place<arena #at64>]} : tensor<2x16xf32> -> tensor<1x16xf32>
    return
  }
}

// -----

#at0 = affine_map<() -> (0)>
#at64 = affine_map<() -> (64)>
#at192 = affine_map<() -> (192)>
module @rows_put_from_elsewhere {
  func.func @main(%x: tensor<1x16xf32> {sp.place = #sp.place<arena #at0>}) attributes {sp.arena_bytes = 256 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 0 : i64} {
    %c1 = arith.constant 1 : index
    %s = sp.launch @made() {sp.places = [#sp.place<arena #at64>]} : () -> tensor<2x16xf32>
    %b = sp.copy %x {sp.places = [#sp.place<arena #at192>]} : tensor<1x16xf32>
    // expected-error @below {{'sp.put' op expected rows of the stack at offset 128 but got offset 192}}
    %s1 = sp.put %b into %s at %c1 dim 0 {sp.places = [#sp.place<arena #at64>]} : tensor<1x16xf32>, tensor<2x16xf32>
    return
  }
  func.func private @made() -> tensor<2x16xf32>
}

// -----

#at0 = affine_map<() -> (0)>
#at64 = affine_map<() -> (64)>
#at128 = affine_map<() -> (128)>
module @old_stack_read_once_rows_are_there {
  func.func @main(%x: tensor<1x16xf32> {sp.place = #sp.place<arena #at0>}) attributes {sp.arena_bytes = 256 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 0 : i64} {
    %c1 = arith.constant 1 : index
    %s = sp.launch @made() {sp.places = [#sp.place<arena #at64>]} : () -> tensor<2x16xf32>
    // expected-note @below {{written here}}
    %b = sp.copy %x {sp.places = [#sp.place<arena #at128>]} : tensor<1x16xf32>
    %s1 = sp.put %b into %s at %c1 dim 0 {sp.places = [#sp.place<arena #at64>]} : tensor<1x16xf32>, tensor<2x16xf32>
    // expected-error @below {{'sp.launch' op expected 128 bytes of a 'tensor<2x16xf32>' at offset 64, which something else has overwritten}}
    sp.launch @read(%s) : (tensor<2x16xf32>) -> ()
    return
  }
  func.func private @made() -> tensor<2x16xf32>
  func.func private @read(tensor<2x16xf32>)
}

// -----

#at0 = affine_map<() -> (0)>
#at64 = affine_map<() -> (64)>
#at128 = affine_map<() -> (128)>
module @other_rows_overwritten {
  func.func @main(%x: tensor<1x16xf32> {sp.place = #sp.place<arena #at0>}) attributes {sp.arena_bytes = 256 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 0 : i64} {
    %c1 = arith.constant 1 : index
    %s = sp.launch @made() {sp.places = [#sp.place<arena #at64>]} : () -> tensor<2x16xf32>
    %b = sp.copy %x {sp.places = [#sp.place<arena #at128>]} : tensor<1x16xf32>
    // expected-note @below {{written here}}
    %n = sp.copy %x {sp.places = [#sp.place<arena #at64>]} : tensor<1x16xf32>
    // expected-error @below {{'sp.put' op expected 128 bytes of a 'tensor<2x16xf32>' at offset 64, which something else has overwritten}}
    %s1 = sp.put %b into %s at %c1 dim 0 {sp.places = [#sp.place<arena #at64>]} : tensor<1x16xf32>, tensor<2x16xf32>
    return
  }
  func.func private @made() -> tensor<2x16xf32>
}
