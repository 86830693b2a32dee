// RUN: sp-opt %s -split-input-file --sp-verify-places -verify-diagnostics

#at0 = affine_map<() -> (0)>
#at64 = affine_map<() -> (64)>
#at128 = affine_map<() -> (128)>

module @value_overwritten_before_its_read {
  func.func @main(%x: tensor<8xf32> {sp.place = #sp.place<arena affine_map<() -> (0)>>}) -> tensor<8xf32> attributes {sp.arena_bytes = 192 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 0 : i64} {
    %a = sp.copy %x {sp.places = [#sp.place<arena #at64>]} : tensor<8xf32>
    // expected-note @below {{written here}}
    %b = sp.copy %x {sp.places = [#sp.place<arena #at64>]} : tensor<8xf32>
    // expected-error @below {{'sp.copy' op expected 32 bytes of a 'tensor<8xf32>' at offset 64, which something else has overwritten}}
    %c = sp.copy %a {sp.places = [#sp.place<arena #at128>]} : tensor<8xf32>
    return %c : tensor<8xf32>
  }
}

// -----

#at0 = affine_map<() -> (0)>
module @argument_overwritten {
  func.func @main(%x: tensor<8xf32> {sp.place = #sp.place<arena affine_map<() -> (0)>>}) -> tensor<8xf32> attributes {sp.arena_bytes = 192 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 0 : i64} {
    // expected-error @below {{'sp.copy' op expected 32 bytes of a 'tensor<8xf32>' at offset 0, which something else has overwritten}}
    // expected-note @below {{written here}}
    %a = sp.copy %x {sp.places = [#sp.place<arena #at0>]} : tensor<8xf32>
    return %a : tensor<8xf32>
  }
}

// -----

#at0 = affine_map<() -> (0)>
#at64 = affine_map<() -> (64)>
#at128 = affine_map<() -> (128)>
module @donated_argument_overwritten_before_its_read {
  func.func @main(%x: tensor<8xf32> {sp.donated_to = 0 : i64, sp.place = #sp.place<arena affine_map<() -> (0)>>}) -> tensor<8xf32> attributes {sp.arena_bytes = 192 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 0 : i64} {
    %a = sp.copy %x {sp.places = [#sp.place<arena #at64>]} : tensor<8xf32>
    // expected-note @below {{written here}}
    %b = sp.copy %a {sp.places = [#sp.place<arena #at0>]} : tensor<8xf32>
    // expected-error @below {{'sp.copy' op expected 32 bytes of a 'tensor<8xf32>' at offset 0, which something else has overwritten}}
    %c = sp.copy %x {sp.places = [#sp.place<arena #at128>]} : tensor<8xf32>
    return %b : tensor<8xf32>
  }
}

// -----

#at64 = affine_map<() -> (64)>
#at128 = affine_map<() -> (128)>
module @communication_overwritten_before_its_wait {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  func.func @main(%x: tensor<8xf32> {sp.place = #sp.place<arena affine_map<() -> (0)>>}) -> tensor<8xf32> attributes {sp.arena_bytes = 192 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 0 : i64} {
    %a = sp.copy %x {sp.places = [#sp.place<arena #at64>]} : tensor<8xf32>
    %s, %t = sp.all_reduce_start %a sum over ["sp"] of 2 {sp.places = [#sp.place<arena #at64>]} : tensor<8xf32>
    // expected-note @below {{written here}}
    %b = sp.copy %x {sp.places = [#sp.place<arena #at64>]} : tensor<8xf32>
    // expected-error @below {{'sp.wait' op expected 32 bytes of a 'tensor<8xf32>' at offset 64, which something else has overwritten}}
    sp.wait %t
    return %s : tensor<8xf32>
  }
}

// -----

#at64 = affine_map<() -> (64)>
#at128 = affine_map<() -> (128)>
module @sum_in_another_place {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  func.func @main(%x: tensor<8xf32> {sp.place = #sp.place<arena affine_map<() -> (0)>>}) -> tensor<8xf32> attributes {sp.arena_bytes = 192 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 0 : i64} {
    %a = sp.copy %x {sp.places = [#sp.place<arena #at64>]} : tensor<8xf32>
    // expected-error @below {{'sp.all_reduce_start' op expected the value to be continued in place}}
    %s, %t = sp.all_reduce_start %a sum over ["sp"] of 2 {sp.places = [#sp.place<arena #at128>]} : tensor<8xf32>
    sp.wait %t
    return %s : tensor<8xf32>
  }
}

// -----

#at512 = affine_map<() -> (512)>
#at768 = affine_map<() -> (768)>
#at1024 = affine_map<() -> (1024)>
#at1280 = affine_map<() -> (1280)>
module @gradient_continued_elsewhere {
  sp.mesh @mesh <["sp" = 1]> sequence "sp"
  func.func @main(%q: tensor<1x8x2x4xf32> {sp.place = #sp.place<arena affine_map<() -> (0)>>}, %l: tensor<1x8x2xf32> {sp.place = #sp.place<arena affine_map<() -> (256)>>}) attributes {sp.arena_bytes = 1536 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 0 : i64} {
    %dq, %dk, %dv = sp.attend_backward(%q, %q, %q) of(%q, %l, %l) queries <contiguous 8 on "sp" of 1> keys <contiguous 8 on "sp" of 1> bands [] scale 1.0 {sp.places = [#sp.place<arena #at512>, #sp.place<arena #at768>, #sp.place<arena #at1024>]}
       : (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2xf32>) -> (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>)
    // expected-error @below {{'sp.attend_backward' op expected the gradient to be continued in place}}
    %dq1, %dk1, %dv1 = sp.attend_backward(%q, %q, %q) of(%q, %l, %l) onto_query(%dq) onto_keys(%dk, %dv) queries <contiguous 8 on "sp" of 1> keys <contiguous 8 on "sp" of 1> bands [] scale 1.0 {sp.places = [#sp.place<arena #at512>, #sp.place<arena #at1280>, #sp.place<arena #at1024>]}
       : (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2xf32>) -> (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>)
    return
  }
}

// -----

module @before_memory {
  // expected-error @below {{'func.func' op expected the sizes of arena, constants and far memory after Memory}}
  func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    return %x : tensor<8xf32>
  }
}
