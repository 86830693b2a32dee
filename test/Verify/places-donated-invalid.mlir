// RUN: sp-opt %s -split-input-file --sp-verify-places -verify-diagnostics

// The new parameter lies where the old one did: what is gathered of the old one is
// gathered before, and has come.

#at0 = affine_map<() -> (0)>
#at64 = affine_map<() -> (64)>
#at128 = affine_map<() -> (128)>
module @gather_moved_behind_the_update {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  func.func @main(%w: tensor<8xf32> {sp.donated_to = 0 : i64, sp.place = #sp.place<arena affine_map<() -> (0)>>}) -> (tensor<8xf32>, tensor<16xf32>) attributes {sp.arena_bytes = 256 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 0 : i64} {
    %a = sp.copy %w {sp.places = [#sp.place<arena #at64>]} : tensor<8xf32>
    // expected-note @below {{written here}}
    %new = sp.copy %a {sp.places = [#sp.place<arena #at0>]} : tensor<8xf32>
    // expected-error @below {{'sp.all_gather_start' op expected 32 bytes of a 'tensor<8xf32>' at offset 0, which something else has overwritten}}
    %all, %came = sp.all_gather_start %w dim 0 in <contiguous 16 on "sp" of 2> {sp.places = [#sp.place<arena #at128>]} : tensor<8xf32> -> tensor<16xf32>
    sp.wait %came
    return %new, %all : tensor<8xf32>, tensor<16xf32>
  }
}

// -----

#at0 = affine_map<() -> (0)>
#at64 = affine_map<() -> (64)>
#at128 = affine_map<() -> (128)>
module @update_before_the_gather_has_come {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  func.func @main(%w: tensor<8xf32> {sp.donated_to = 0 : i64, sp.place = #sp.place<arena affine_map<() -> (0)>>}) -> (tensor<8xf32>, tensor<16xf32>) attributes {sp.arena_bytes = 256 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 0 : i64} {
    %a = sp.copy %w {sp.places = [#sp.place<arena #at64>]} : tensor<8xf32>
    %all, %came = sp.all_gather_start %w dim 0 in <contiguous 16 on "sp" of 2> {sp.places = [#sp.place<arena #at128>]} : tensor<8xf32> -> tensor<16xf32>
    // expected-note @below {{written here}}
    %new = sp.copy %a {sp.places = [#sp.place<arena #at0>]} : tensor<8xf32>
    // expected-error @below {{'sp.wait' op expected 32 bytes of a 'tensor<8xf32>' at offset 0, which something else has overwritten}}
    sp.wait %came
    return %new, %all : tensor<8xf32>, tensor<16xf32>
  }
}
