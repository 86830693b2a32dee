// RUN: sp-opt %s --sp-fuse-epilogues --split-input-file | FileCheck %s

// Attention that no other step goes on with leaves its result as what it is converted to.
// CHECK-LABEL: @single
// CHECK: %[[O:.*]], %{{.*}} = sp.attend({{.*}}) -> tensor<1x8x2x16xbf16>, tensor<1x8x2xf32>
// CHECK-NEXT: return %[[O]] : tensor<1x8x2x16xbf16>
func.func @single(%q: tensor<1x8x2x16xbf16>) -> tensor<1x8x2x16xbf16> {
  %o, %lse = sp.attend(%q, %q, %q) queries <contiguous 8 on "" of 1> keys <contiguous 8 on "" of 1> bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 2.500000e-01 : (tensor<1x8x2x16xbf16>, tensor<1x8x2x16xbf16>, tensor<1x8x2x16xbf16>) -> tensor<1x8x2x16xf32>, tensor<1x8x2xf32>
  %r = stablehlo.convert %o : (tensor<1x8x2x16xf32>) -> tensor<1x8x2x16xbf16>
  return %r : tensor<1x8x2x16xbf16>
}

// -----

// A second step goes on with the first one's state, and its own is read in f32 too.
// CHECK-LABEL: @read_twice
// CHECK: sp.attend({{.*}}) -> tensor<1x8x2x16xf32>, tensor<1x8x2xf32>
// CHECK: sp.attend({{.*}}) onto({{.*}}) -> tensor<1x8x2x16xf32>, tensor<1x8x2xf32>
// CHECK-NEXT: stablehlo.convert
func.func @read_twice(%q: tensor<1x8x2x16xbf16>) -> (tensor<1x8x2x16xf32>, tensor<1x8x2x16xbf16>) {
  %o, %lse = sp.attend(%q, %q, %q) queries <contiguous 8 on "" of 1> keys <contiguous 8 on "" of 1> bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 2.500000e-01 : (tensor<1x8x2x16xbf16>, tensor<1x8x2x16xbf16>, tensor<1x8x2x16xbf16>) -> tensor<1x8x2x16xf32>, tensor<1x8x2xf32>
  %o1, %lse1 = sp.attend(%q, %q, %q) onto(%o, %lse) queries <contiguous 8 on "" of 1> keys <contiguous 8 on "" of 1> bands [#sp.band<q 0 to 8, k 0 to 8, lo 1, hi inf>] scale 2.500000e-01 : (tensor<1x8x2x16xbf16>, tensor<1x8x2x16xbf16>, tensor<1x8x2x16xbf16>) -> tensor<1x8x2x16xf32>, tensor<1x8x2xf32>
  %r = stablehlo.convert %o1 : (tensor<1x8x2x16xf32>) -> tensor<1x8x2x16xbf16>
  return %o1, %r : tensor<1x8x2x16xf32>, tensor<1x8x2x16xbf16>
}

// -----

// Another type than the queries', and a state of sums.
// CHECK-LABEL: @others
// CHECK: sp.attend({{.*}}) -> tensor<1x8x2x16xf32>, tensor<1x8x2xf32>
// CHECK: sp.attend({{.*}}) -> tensor<1x8x2x16xf32>, tensor<1x8x2x2xf32>
func.func @others(%q: tensor<1x8x2x16xbf16>) -> (tensor<1x8x2x16xf16>, tensor<1x8x2x16xbf16>) {
  %o, %lse = sp.attend(%q, %q, %q) queries <contiguous 8 on "" of 1> keys <contiguous 8 on "" of 1> bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 2.500000e-01 : (tensor<1x8x2x16xbf16>, tensor<1x8x2x16xbf16>, tensor<1x8x2x16xbf16>) -> tensor<1x8x2x16xf32>, tensor<1x8x2xf32>
  %h = stablehlo.convert %o : (tensor<1x8x2x16xf32>) -> tensor<1x8x2x16xf16>
  %s, %sums = sp.attend(%q, %q, %q) queries <contiguous 8 on "" of 1> keys <contiguous 8 on "" of 1> bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 2.500000e-01 as sums_base_2 : (tensor<1x8x2x16xbf16>, tensor<1x8x2x16xbf16>, tensor<1x8x2x16xbf16>) -> tensor<1x8x2x16xf32>, tensor<1x8x2x2xf32>
  %b = stablehlo.convert %s : (tensor<1x8x2x16xf32>) -> tensor<1x8x2x16xbf16>
  return %h, %b : tensor<1x8x2x16xf16>, tensor<1x8x2x16xbf16>
}

// -----

// CHECK-LABEL: @kept
// CHECK: sp.attend({{.*}}) -> tensor<1x8x2x16xf32>, tensor<1x8x2xf32>
// CHECK-NEXT: stablehlo.convert
module attributes {sp.attention_state} {
  func.func @kept(%q: tensor<1x8x2x16xbf16>) -> tensor<1x8x2x16xbf16> {
    %o, %lse = sp.attend(%q, %q, %q) queries <contiguous 8 on "" of 1> keys <contiguous 8 on "" of 1> bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 2.500000e-01 : (tensor<1x8x2x16xbf16>, tensor<1x8x2x16xbf16>, tensor<1x8x2x16xbf16>) -> tensor<1x8x2x16xf32>, tensor<1x8x2xf32>
    %r = stablehlo.convert %o : (tensor<1x8x2x16xf32>) -> tensor<1x8x2x16xbf16>
    return %r : tensor<1x8x2x16xbf16>
  }
}

// -----

// So does a score function that no sums are wanted of.
// CHECK-LABEL: @scored
// CHECK: %[[O:.*]], %{{.*}} = sp.attend({{.*}}) score @half {{.*}} -> tensor<1x8x2x16xbf16>, tensor<1x8x2xf32>
// CHECK-NEXT: return %[[O]] : tensor<1x8x2x16xbf16>
func.func private @half(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<f32> {
  %c = stablehlo.constant dense<0.5> : tensor<f32>
  %r = stablehlo.multiply %s, %c : tensor<f32>
  return %r : tensor<f32>
}
func.func @scored(%q: tensor<1x8x2x16xbf16>) -> tensor<1x8x2x16xbf16> {
  %o, %lse = sp.attend(%q, %q, %q) score @half queries <contiguous 8 on "" of 1> keys <contiguous 8 on "" of 1> bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 2.500000e-01 : (tensor<1x8x2x16xbf16>, tensor<1x8x2x16xbf16>, tensor<1x8x2x16xbf16>) -> tensor<1x8x2x16xf32>, tensor<1x8x2xf32>
  %r = stablehlo.convert %o : (tensor<1x8x2x16xf32>) -> tensor<1x8x2x16xbf16>
  return %r : tensor<1x8x2x16xbf16>
}
