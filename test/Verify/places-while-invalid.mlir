// RUN: sp-opt %s -split-input-file --sp-verify-places -verify-diagnostics

#map = affine_map<() -> (0)>
#map1 = affine_map<() -> (64)>
#map2 = affine_map<() -> (128)>
#map3 = affine_map<() -> (192)>
module @overwritten_before_the_inner_loop_comes_round {
  func.func @main(%x: tensor<8xf32> {sp.place = #sp.place<arena affine_map<() -> (0)>>}, %go: tensor<i1> {sp.place = #sp.place<arena affine_map<() -> (256)>>}) -> tensor<8xf32> attributes {sp.arena_bytes = 320 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 0 : i64} {
    %kept = sp.copy %x {sp.places = [#sp.place<arena #map1>]} : tensor<8xf32>
    %first = sp.copy %x {sp.places = [#sp.place<arena #map2>]} : tensor<8xf32>
    %outer = stablehlo.while(%a = %first) : tensor<8xf32> attributes {sp.carried_places = [#sp.place<arena #map2>], sp.places = [#sp.place<arena #map2>]}
    cond {
      stablehlo.return %go : tensor<i1>
    } do {
      %begin = sp.copy %a {sp.places = [#sp.place<arena #map3>]} : tensor<8xf32>
      %n = stablehlo.while(%b = %begin) : tensor<8xf32> attributes {sp.carried_places = [#sp.place<arena #map3>], sp.places = [#sp.place<arena #map3>]}
      cond {
        stablehlo.return %go : tensor<i1>
      } do {
        // expected-error @below {{'sp.copy' op expected 32 bytes of a 'tensor<8xf32>' at offset 64, which something else has overwritten}}
        %r = sp.copy %kept {sp.places = [#sp.place<arena #map3>]} : tensor<8xf32>
        // expected-note @below {{written here}}
        %w = sp.copy %r {sp.places = [#sp.place<arena #map1>]} : tensor<8xf32>
        stablehlo.return %r : tensor<8xf32>
      }
      %e = sp.copy %n {sp.places = [#sp.place<arena #map2>]} : tensor<8xf32>
      stablehlo.return %e : tensor<8xf32>
    }
    return %outer : tensor<8xf32>
  }
}

// -----

#map = affine_map<() -> (0)>
#map1 = affine_map<() -> (64)>
#map2 = affine_map<() -> (128)>
#map3 = affine_map<() -> (192)>
module @overwritten_before_the_outer_loop_comes_round {
  func.func @main(%x: tensor<8xf32> {sp.place = #sp.place<arena affine_map<() -> (0)>>}, %go: tensor<i1> {sp.place = #sp.place<arena affine_map<() -> (256)>>}) -> tensor<8xf32> attributes {sp.arena_bytes = 320 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 0 : i64} {
    %kept = sp.copy %x {sp.places = [#sp.place<arena #map1>]} : tensor<8xf32>
    %first = sp.copy %x {sp.places = [#sp.place<arena #map2>]} : tensor<8xf32>
    %outer = stablehlo.while(%a = %first) : tensor<8xf32> attributes {sp.carried_places = [#sp.place<arena #map2>], sp.places = [#sp.place<arena #map2>]}
    cond {
      stablehlo.return %go : tensor<i1>
    } do {
      %begin = sp.copy %a {sp.places = [#sp.place<arena #map3>]} : tensor<8xf32>
      %n = stablehlo.while(%b = %begin) : tensor<8xf32> attributes {sp.carried_places = [#sp.place<arena #map3>], sp.places = [#sp.place<arena #map3>]}
      cond {
        stablehlo.return %go : tensor<i1>
      } do {
        // expected-error @below {{'sp.copy' op expected 32 bytes of a 'tensor<8xf32>' at offset 64, which something else has overwritten}}
        %r = sp.copy %kept {sp.places = [#sp.place<arena #map3>]} : tensor<8xf32>
        stablehlo.return %r : tensor<8xf32>
      }
      %e = sp.copy %n {sp.places = [#sp.place<arena #map2>]} : tensor<8xf32>
      // expected-note @below {{written here}}
      %w = sp.copy %n {sp.places = [#sp.place<arena #map1>]} : tensor<8xf32>
      stablehlo.return %e : tensor<8xf32>
    }
    return %outer : tensor<8xf32>
  }
}
