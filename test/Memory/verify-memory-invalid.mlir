// RUN: sp-opt %s -split-input-file --sp-verify-memory -verify-diagnostics

#at192 = affine_map<() -> (192)>
module @place_outside_the_arena {
  func.func @main(%x: tensor<8xf32> {sp.place = #sp.place<arena affine_map<() -> (0)>>}) attributes {sp.arena_bytes = 192 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 0 : i64} {
    // expected-error @below {{'sp.copy' op expected a place for result 0 of type 'tensor<8xf32>' of 32 bytes at a multiple of 64 within the 192 of the arena but got #sp.place<arena affine_map<() -> (192)>>}}
    %a = sp.copy %x {sp.places = [#sp.place<arena #at192>]} : tensor<8xf32>
    return
  }
}

// -----

module @value_without_a_place {
  func.func @main(%x: tensor<8xf32> {sp.place = #sp.place<arena affine_map<() -> (0)>>}) attributes {sp.arena_bytes = 192 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 0 : i64} {
    // expected-error @below {{'sp.copy' op expected a place for result 0 of type 'tensor<8xf32>'}}
    %a = sp.copy %x : tensor<8xf32>
    return
  }
}

// -----

module @no_arena {
  // expected-error @below {{'func.func' op expected the sizes of arena, constants and far memory after Memory}}
  func.func @main() {
    return
  }
}

// -----

module @place_between_places {
  func.func @main(%x: tensor<8xf32> {sp.place = #sp.place<arena affine_map<() -> (0)>>}) attributes {sp.arena_bytes = 192 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 0 : i64} {
    // expected-error @below {{'sp.copy' op expected a place for result 0 of type 'tensor<8xf32>' of 32 bytes at a multiple of 64 within the 192 of the arena but got #sp.place<arena affine_map<() -> (32)>>}}
    %a = sp.copy %x {sp.places = [#sp.place<arena affine_map<() -> (32)>>]} : tensor<8xf32>
    return
  }
}

// -----

module @place_by_the_counter_of_no_loop {
  func.func @main(%x: tensor<8xf32> {sp.place = #sp.place<arena affine_map<() -> (0)>>}) attributes {sp.arena_bytes = 192 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 0 : i64} {
    // expected-error @below {{'sp.copy' op expected a place for result 0 of type 'tensor<8xf32>' by the counters of 0 loops but got #sp.place<arena affine_map<(d0) -> (d0 * 64)>>}}
    %a = sp.copy %x {sp.places = [#sp.place<arena affine_map<(d0) -> (d0 * 64)>>]} : tensor<8xf32>
    return
  }
}

// -----

module @constant_in_the_arena {
  func.func @main() attributes {sp.arena_bytes = 192 : i64, sp.constant_bytes = 64 : i64, sp.far_bytes = 0 : i64} {
    // expected-error @below {{'stablehlo.constant' op expected a place for result 0 of type 'tensor<8xf32>' among the constants but got #sp.place<arena affine_map<() -> (0)>>}}
    %a = stablehlo.constant {sp.places = [#sp.place<arena affine_map<() -> (0)>>]} dense<1.0> : tensor<8xf32>
    return
  }
}

// -----

#at0 = affine_map<() -> (0)>
module @far_value_computed_with {
  func.func @main(%x: tensor<8xf32> {sp.place = #sp.place<arena #at0>}) attributes {sp.arena_bytes = 192 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 8192 : i64} {
    %h, %gone = sp.evict_start %x {sp.places = [#sp.place<far #at0>]} : tensor<8xf32> -> tensor<8xf32, #sp.far>
    sp.wait %gone
    // expected-error @below {{'sp.copy' op expected no value in far memory; fetch it first}}
    %a = sp.copy %h {sp.places = [#sp.place<far #at0>]} : tensor<8xf32, #sp.far>
    return
  }
}
