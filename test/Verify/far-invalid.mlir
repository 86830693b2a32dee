// RUN: sp-opt %s -split-input-file --sp-verify-places -verify-diagnostics

#at0 = affine_map<() -> (0)>
#at64 = affine_map<() -> (64)>
#at128 = affine_map<() -> (128)>
#at4096 = affine_map<() -> (4096)>

module @overwritten_before_it_is_gone {
  func.func @main(%x: tensor<8xf32> {sp.place = #sp.place<arena #at0>}) attributes {sp.arena_bytes = 192 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 4096 : i64} {
    %a = sp.copy %x {sp.places = [#sp.place<arena #at64>]} : tensor<8xf32>
    %h, %gone = sp.evict_start %a {sp.places = [#sp.place<far #at0>]} : tensor<8xf32> -> tensor<8xf32, #sp.far>
    // expected-note @below {{written here}}
    %b = sp.copy %x {sp.places = [#sp.place<arena #at64>]} : tensor<8xf32>
    // expected-error @below {{'sp.wait' op expected 32 bytes of a 'tensor<8xf32>' at offset 64, which something else has overwritten}}
    sp.wait %gone
    return
  }
}

// -----

#at0 = affine_map<() -> (0)>
#at64 = affine_map<() -> (64)>
module @overwritten_in_far_memory {
  func.func @main(%x: tensor<8xf32> {sp.place = #sp.place<arena #at0>}) attributes {sp.arena_bytes = 192 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 4096 : i64} {
    %h, %gone = sp.evict_start %x {sp.places = [#sp.place<far #at0>]} : tensor<8xf32> -> tensor<8xf32, #sp.far>
    sp.wait %gone
    // expected-note @below {{written here}}
    %i, %went = sp.evict_start %x {sp.places = [#sp.place<far #at0>]} : tensor<8xf32> -> tensor<8xf32, #sp.far>
    sp.wait %went
    // expected-error @below {{'sp.fetch_start' op expected 32 bytes of a 'tensor<8xf32, #sp.far>' at offset 0, which something else has overwritten}}
    %b, %came = sp.fetch_start %h {sp.places = [#sp.place<arena #at64>]} : tensor<8xf32, #sp.far> -> tensor<8xf32>
    sp.wait %came
    return
  }
}

// -----

#at0 = affine_map<() -> (0)>
#at64 = affine_map<() -> (64)>
module @overwritten_while_it_comes {
  func.func @main(%x: tensor<8xf32> {sp.place = #sp.place<arena #at0>}) attributes {sp.arena_bytes = 192 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 8192 : i64} {
    %h, %gone = sp.evict_start %x {sp.places = [#sp.place<far #at0>]} : tensor<8xf32> -> tensor<8xf32, #sp.far>
    sp.wait %gone
    %b, %came = sp.fetch_start %h {sp.places = [#sp.place<arena #at64>]} : tensor<8xf32, #sp.far> -> tensor<8xf32>
    // expected-note @below {{written here}}
    %i, %went = sp.evict_start %x {sp.places = [#sp.place<far #at0>]} : tensor<8xf32> -> tensor<8xf32, #sp.far>
    // expected-error @below {{'sp.wait' op expected 32 bytes of a 'tensor<8xf32, #sp.far>' at offset 0, which something else has overwritten}}
    sp.wait %came
    sp.wait %went
    return
  }
}

// -----

#at0 = affine_map<() -> (0)>
#at64 = affine_map<() -> (64)>
module @fetched_before_it_is_gone {
  func.func @main(%x: tensor<8xf32> {sp.place = #sp.place<arena #at0>}) attributes {sp.arena_bytes = 192 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 4096 : i64} {
    %h, %gone = sp.evict_start %x {sp.places = [#sp.place<far #at0>]} : tensor<8xf32> -> tensor<8xf32, #sp.far>
    // expected-error @below {{'sp.fetch_start' op expected to use what is communicated only after the wait}}
    %b, %came = sp.fetch_start %h {sp.places = [#sp.place<arena #at64>]} : tensor<8xf32, #sp.far> -> tensor<8xf32>
    sp.wait %gone
    sp.wait %came
    return
  }
}

// -----

#at0 = affine_map<() -> (0)>
module @never_waited_for {
  func.func @main(%x: tensor<8xf32> {sp.place = #sp.place<arena #at0>}) attributes {sp.arena_bytes = 192 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 4096 : i64} {
    // expected-error @below {{'sp.evict_start' op expected exactly one wait, in the same block}}
    %h, %gone = sp.evict_start %x {sp.places = [#sp.place<far #at0>]} : tensor<8xf32> -> tensor<8xf32, #sp.far>
    return
  }
}

// -----

#at0 = affine_map<() -> (0)>
module @far_in_the_arena {
  func.func @main(%x: tensor<8xf32> {sp.place = #sp.place<arena #at0>}) attributes {sp.arena_bytes = 192 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 4096 : i64} {
    // expected-error @below {{'sp.evict_start' op expected a place for result 0 of type 'tensor<8xf32, #sp.far>' in the memory that the type says but got #sp.place<arena affine_map<() -> (0)>>}}
    %h, %gone = sp.evict_start %x {sp.places = [#sp.place<arena #at0>]} : tensor<8xf32> -> tensor<8xf32, #sp.far>
    sp.wait %gone
    return
  }
}

// -----

#at0 = affine_map<() -> (0)>
#at64 = affine_map<() -> (64)>
module @far_within_a_page {
  func.func @main(%x: tensor<8xf32> {sp.place = #sp.place<arena #at0>}) attributes {sp.arena_bytes = 192 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 4096 : i64} {
    // expected-error @below {{'sp.evict_start' op expected a place for result 0 of type 'tensor<8xf32, #sp.far>' of 32 bytes at a multiple of 4096 within the 4096 of the far but got #sp.place<far affine_map<() -> (64)>>}}
    %h, %gone = sp.evict_start %x {sp.places = [#sp.place<far #at64>]} : tensor<8xf32> -> tensor<8xf32, #sp.far>
    sp.wait %gone
    return
  }
}

// -----

#at0 = affine_map<() -> (0)>
#at4096 = affine_map<() -> (4096)>
module @beyond_far_memory {
  func.func @main(%x: tensor<8xf32> {sp.place = #sp.place<arena #at0>}) attributes {sp.arena_bytes = 192 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 4096 : i64} {
    // expected-error @below {{of 32 bytes at a multiple of 4096 within the 4096 of the far but got #sp.place<far affine_map<() -> (4096)>>}}
    %h, %gone = sp.evict_start %x {sp.places = [#sp.place<far #at4096>]} : tensor<8xf32> -> tensor<8xf32, #sp.far>
    sp.wait %gone
    return
  }
}
