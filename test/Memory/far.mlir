// RUN: sp-opt %s --sp-memory-pipeline --sp-verify-places | FileCheck %s

// Where a value lay is free once it is gone, and far memory has places of its own,
// on pages: of what is not there at once in turn.
// CHECK-LABEL: @main
// CHECK-SAME: sp.arena_bytes = 2048 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 4096 : i64
// CHECK-DAG: %[[X:.*]] = sp.launch @make(%{{.*}}) {sp.places = [#sp.place<arena #[[FIRST:.*]]>]}
// CHECK-DAG: sp.evict_start %{{.*}} {sp.places = [#sp.place<far #[[FAR:.*]]>]}
func.func @main(%a: tensor<128xf32>) -> tensor<128xf32> {
  %x = sp.launch @make(%a) : (tensor<128xf32>) -> tensor<128xf32>
  %h, %gone = sp.evict_start %x : tensor<128xf32> -> tensor<128xf32, #sp.far>
  sp.wait %gone
  // CHECK: %[[Y:.*]] = sp.launch @make(%{{.*}}) {sp.places = [#sp.place<arena #[[FIRST]]>]}
  %y = sp.launch @make(%a) : (tensor<128xf32>) -> tensor<128xf32>
  %b, %came = sp.fetch_start %h : tensor<128xf32, #sp.far> -> tensor<128xf32>
  sp.wait %came
  // CHECK: sp.evict_start %[[Y]] {sp.places = [#sp.place<far #[[FAR]]>]}
  %i, %went = sp.evict_start %y : tensor<128xf32> -> tensor<128xf32, #sp.far>
  sp.wait %went
  %z = sp.launch @make(%b) : (tensor<128xf32>) -> tensor<128xf32>
  %c, %back = sp.fetch_start %i : tensor<128xf32, #sp.far> -> tensor<128xf32>
  sp.wait %back
  %r = sp.launch @join(%z, %c) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
  return %r : tensor<128xf32>
}
func.func private @make(%a: tensor<128xf32>) -> tensor<128xf32> {
  %r = stablehlo.sine %a : tensor<128xf32>
  return %r : tensor<128xf32>
}
func.func private @join(%a: tensor<128xf32>, %b: tensor<128xf32>) -> tensor<128xf32> {
  %r = stablehlo.add %a, %b : tensor<128xf32>
  return %r : tensor<128xf32>
}
