// RUN: sp-opt %s -split-input-file --sp-verify-stacks --sp-verify-places -verify-diagnostics

#at0 = affine_map<() -> (0)>
#in0 = affine_map<(d0) -> (0)>
module @block_overwritten_before_it_is_gone {
  func.func @main(%x: tensor<1x16xf32> {sp.place = #sp.place<arena #at0>}) attributes {sp.arena_bytes = 128 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 4096 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %e = sp.empty {sp.places = [#sp.place<far #at0>]} : tensor<2x16xf32, #sp.far>
    %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %e) -> (tensor<2x16xf32, #sp.far>) {
      %b = sp.copy %x {sp.places = [#sp.place<arena affine_map<(d0) -> (64)>>]} : tensor<1x16xf32>
      %h, %gone = sp.evict_rows_start %b into %s at %i dim 0 {sp.places = [#sp.place<far #in0>]} : tensor<1x16xf32>, tensor<2x16xf32, #sp.far>
      // expected-note @below {{written here}}
      %c = sp.copy %x {sp.places = [#sp.place<arena affine_map<(d0) -> (64)>>]} : tensor<1x16xf32>
      // expected-error @below {{'sp.wait' op expected 64 bytes of a 'tensor<1x16xf32>' at offset 64, which something else has overwritten}}
      sp.wait %gone
      scf.yield %h : tensor<2x16xf32, #sp.far>
    } {sp.carried_places = [#sp.place<far #in0>], sp.places = [#sp.place<far #at0>]}
    return
  }
}

// -----

#at0 = affine_map<() -> (0)>
#in0 = affine_map<(d0) -> (0)>
module @rows_put_twice {
  func.func @main(%x: tensor<1x16xf32> {sp.place = #sp.place<arena #at0>}) attributes {sp.arena_bytes = 128 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 4096 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    // expected-note @below {{which begin here}}
    %e = sp.empty {sp.places = [#sp.place<far #at0>]} : tensor<2x16xf32, #sp.far>
    %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %e) -> (tensor<2x16xf32, #sp.far>) {
      // expected-error @below {{'sp.evict_rows_start' op puts rows a second time: up to 1}}
      %h, %gone = sp.evict_rows_start %x into %s at %c0 dim 0 {sp.places = [#sp.place<far #in0>]} : tensor<1x16xf32>, tensor<2x16xf32, #sp.far>
      sp.wait %gone
      scf.yield %h : tensor<2x16xf32, #sp.far>
    } {sp.carried_places = [#sp.place<far #in0>], sp.places = [#sp.place<far #at0>]}
    return
  }
}

// -----

#at0 = affine_map<() -> (0)>
#at64 = affine_map<() -> (64)>
module @rows_fetched_before_they_are_there {
  func.func @main(%x: tensor<1x16xf32> {sp.place = #sp.place<arena #at0>}) attributes {sp.arena_bytes = 128 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 4096 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // expected-note @below {{which is this one}}
    %e = sp.empty {sp.places = [#sp.place<far #at0>]} : tensor<2x16xf32, #sp.far>
    %h, %gone = sp.evict_rows_start %x into %e at %c0 dim 0 {sp.places = [#sp.place<far #at0>]} : tensor<1x16xf32>, tensor<2x16xf32, #sp.far>
    sp.wait %gone
    // expected-error @below {{'sp.fetch_rows_start' op reads a stack of which rows are missing: there are 1 of 2}}
    %y, %came = sp.fetch_rows_start %h at %c1 dim 0 {sp.places = [#sp.place<arena #at64>]} : tensor<2x16xf32, #sp.far> -> tensor<1x16xf32>
    sp.wait %came
    return
  }
}

// -----

#at0 = affine_map<() -> (0)>
#at4096 = affine_map<() -> (4096)>
module @stack_continued_elsewhere {
  func.func @main(%x: tensor<1x16xf32> {sp.place = #sp.place<arena #at0>}, %y: tensor<2x16xf32> {sp.place = #sp.place<arena affine_map<() -> (64)>>}) attributes {sp.arena_bytes = 192 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 8192 : i64} {
    %c0 = arith.constant 0 : index
    %e, %sent = sp.evict_start %y {sp.places = [#sp.place<far #at0>]} : tensor<2x16xf32> -> tensor<2x16xf32, #sp.far>
    sp.wait %sent
    // expected-error @below {{'sp.evict_rows_start' op expected the stack to be continued in place}}
    %h, %gone = sp.evict_rows_start %x into %e at %c0 dim 0 {sp.places = [#sp.place<far #at4096>]} : tensor<1x16xf32>, tensor<2x16xf32, #sp.far>
    sp.wait %gone
    return
  }
}

// -----

#at0 = affine_map<() -> (0)>
module @rows_of_another_turn_overwritten {
  func.func @main(%x: tensor<1x16xf32> {sp.place = #sp.place<arena #at0>}, %y: tensor<2x16xf32> {sp.place = #sp.place<arena affine_map<() -> (64)>>}) attributes {sp.arena_bytes = 256 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 4096 : i64} {
    %c1 = arith.constant 1 : index
    %e, %sent = sp.evict_start %y {sp.places = [#sp.place<far #at0>]} : tensor<2x16xf32> -> tensor<2x16xf32, #sp.far>
    sp.wait %sent
    // expected-note @below {{written here}}
    %h, %gone = sp.evict_rows_start %x into %e at %c1 dim 0 {sp.places = [#sp.place<far #at0>]} : tensor<1x16xf32>, tensor<2x16xf32, #sp.far>
    sp.wait %gone
    // expected-error @below {{'sp.fetch_rows_start' op expected 64 bytes of a 'tensor<2x16xf32, #sp.far>' at offset 64, which something else has overwritten}}
    %z, %came = sp.fetch_rows_start %e at %c1 dim 0 {sp.places = [#sp.place<arena affine_map<() -> (192)>>]} : tensor<2x16xf32, #sp.far> -> tensor<1x16xf32>
    sp.wait %came
    return
  }
}

// -----

#at0 = affine_map<() -> (0)>
module @rows_beyond_the_stack {
  func.func @main(%y: tensor<2x16xf32> {sp.place = #sp.place<arena affine_map<() -> (64)>>}) attributes {sp.arena_bytes = 256 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 4096 : i64} {
    %c2 = arith.constant 2 : index
    %e, %sent = sp.evict_start %y {sp.places = [#sp.place<far #at0>]} : tensor<2x16xf32> -> tensor<2x16xf32, #sp.far>
    sp.wait %sent
    // expected-error @below {{'sp.fetch_rows_start' op expected rows of a stack of 2 at every turn but got 1 from 2 to 2}}
    %z, %came = sp.fetch_rows_start %e at %c2 dim 0 {sp.places = [#sp.place<arena affine_map<() -> (192)>>]} : tensor<2x16xf32, #sp.far> -> tensor<1x16xf32>
    sp.wait %came
    return
  }
}

// -----

#at0 = affine_map<() -> (0)>
#in0 = affine_map<(d0) -> (0)>
module @slot_of_what_comes_is_still_read {
  func.func @main(%y: tensor<2x16xf32> {sp.place = #sp.place<arena affine_map<() -> (64)>>}) attributes {sp.arena_bytes = 256 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 4096 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %e, %sent = sp.evict_start %y {sp.places = [#sp.place<far #at0>]} : tensor<2x16xf32> -> tensor<2x16xf32, #sp.far>
    sp.wait %sent
    %z, %came = sp.fetch_rows_start %e at %c0 dim 0 {sp.places = [#sp.place<arena affine_map<() -> (192)>>]} : tensor<2x16xf32, #sp.far> -> tensor<1x16xf32>
    sp.wait %came
    %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %z) -> (tensor<1x16xf32>) {
      // expected-note @below {{written here}}
      %n, %next = sp.fetch_rows_start %e at %i dim 0 {sp.places = [#sp.place<arena affine_map<(d0) -> (192)>>]} : tensor<2x16xf32, #sp.far> -> tensor<1x16xf32>
      // expected-error @below {{'sp.copy' op expected 64 bytes of a 'tensor<1x16xf32>' at offset 192, which something else has overwritten}}
      %b = sp.copy %s {sp.places = [#sp.place<arena affine_map<(d0) -> (0)>>]} : tensor<1x16xf32>
      sp.wait %next
      scf.yield %n : tensor<1x16xf32>
    } {sp.carried_places = [#sp.place<arena affine_map<(d0) -> (192)>>], sp.places = [#sp.place<arena affine_map<() -> (192)>>]}
    return
  }
}

// -----

#at0 = affine_map<() -> (0)>
module @rows_beyond_the_stack_in_the_last_turn {
  func.func @main(%y: tensor<6x16xf32> {sp.place = #sp.place<arena affine_map<() -> (64)>>}) attributes {sp.arena_bytes = 512 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 4096 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c6 = arith.constant 6 : index
    %e, %sent = sp.evict_start %y {sp.places = [#sp.place<far #at0>]} : tensor<6x16xf32> -> tensor<6x16xf32, #sp.far>
    sp.wait %sent
    scf.for %i = %c0 to %c6 step %c1 {
      %at = affine.apply affine_map<(d0) -> (d0 + 1)>(%i)
      // expected-error @below {{'sp.fetch_rows_start' op expected rows of a stack of 6 at every turn but got 1 from 1 to 6}}
      %z, %came = sp.fetch_rows_start %e at %at dim 0 {sp.places = [#sp.place<arena affine_map<(d0) -> (448)>>]} : tensor<6x16xf32, #sp.far> -> tensor<1x16xf32>
      sp.wait %came
    }
    return
  }
}

// -----

#at0 = affine_map<() -> (0)>
#in0 = affine_map<(d0) -> (0)>
module @rows_sent_beyond_the_stack {
  func.func @main(%x: tensor<1x16xf32> {sp.place = #sp.place<arena #at0>}, %y: tensor<2x16xf32> {sp.place = #sp.place<arena affine_map<() -> (64)>>}) attributes {sp.arena_bytes = 512 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 4096 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c6 = arith.constant 6 : index
    %e, %sent = sp.evict_start %y {sp.places = [#sp.place<far #at0>]} : tensor<2x16xf32> -> tensor<2x16xf32, #sp.far>
    sp.wait %sent
    %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%s = %e) -> (tensor<2x16xf32, #sp.far>) {
      // expected-error @below {{'sp.evict_rows_start' op expected rows of a stack of 2 at every turn but got 1 from 0 to 5}}
      %h, %gone = sp.evict_rows_start %x into %s at %i dim 0 {sp.places = [#sp.place<far #in0>]} : tensor<1x16xf32>, tensor<2x16xf32, #sp.far>
      sp.wait %gone
      scf.yield %h : tensor<2x16xf32, #sp.far>
    } {sp.carried_places = [#sp.place<far #in0>], sp.places = [#sp.place<far #at0>]}
    return
  }
}
