// RUN: sp-opt %s --split-input-file --sp-deal-parameters=zero=1 | FileCheck %s --check-prefixes=CHECK,STATE
// RUN: sp-opt %s --split-input-file --sp-deal-parameters=zero=2 | FileCheck %s --check-prefixes=CHECK,STATE
// RUN: sp-opt %s --split-input-file --sp-deal-parameters=zero=3 | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: sp-opt %s --split-input-file --sp-deal-parameters="zero=1 axes=sp" | FileCheck %s --check-prefix=AXIS
// RUN: sp-opt %s --split-input-file --sp-deal-parameters="zero=1 axes=sp:(2)2" | FileCheck %s --check-prefix=HALF
// RUN: sp-opt %s --split-input-file --sp-deal-parameters="zero=1 axes=sp:(2)2,dp" | FileCheck %s --check-prefix=PARTS
// RUN: sp-opt %s --split-input-file --sp-deal-parameters | FileCheck %s --check-prefix=NONE
// RUN: not sp-opt %s --split-input-file --sp-deal-parameters="zero=1 axes=tp" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not sp-opt %s --split-input-file --sp-deal-parameters="zero=1 axes=sp,sp:(1)2" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: sp-opt %s --split-input-file --sp-deal-parameters=zero=3 --remarks-filter=sp-deal-parameters 2>&1 | FileCheck %s --check-prefix=REMARK

// UNKNOWN: error: expected --zero-axes to name axes of the mesh, dp=2,sp=4, or parts of them, such as "sp:(2)2", but got "tp"
// TWICE: error: expected --zero-axes to name each axis once but got "sp,sp:(1)2"
// NONE: tensor<160x256xf32> {sp.donated_to = 1 : i64}

// What a product reads is a parameter; what only updates read, the moment and the
// master of its precision, is state. The scale is smaller than 64 KiB.
// CHECK-LABEL: module @roles
// CHECK: func.func @main(%{{[^:]*}}: tensor<160x256xbf16> {
// STATE-SAME: sp.sharding = #sp.sharding<{{\[\[}}160], [256]]>}
// ALL-SAME: sp.sharding = #sp.sharding<{{\[\[}}2 by <contiguous 2 on "dp" of 2>, 80 by <contiguous 80 on "sp" of 4>], [256]]>}
// CHECK-SAME: %{{[^:]*}}: tensor<160x256xf32> {sp.donated_to = 1 : i64, sp.sharding = #sp.sharding<{{\[\[}}2 by <contiguous 2 on "dp" of 2>, 80 by <contiguous 80 on "sp" of 4>], [256]]>}
// CHECK-SAME: %{{[^:]*}}: tensor<160x256xf32> {sp.donated_to = 2 : i64, sp.sharding = #sp.sharding<{{\[\[}}2 by <contiguous 2 on "dp" of 2>, 80 by <contiguous 80 on "sp" of 4>], [256]]>}
// CHECK-SAME: %{{[^:]*}}: tensor<160xf32> {sp.donated_to = 3 : i64, sp.sharding = #sp.sharding<{{\[\[}}160]]>}
// CHECK-SAME: %{{[^:]*}}: tensor<64x160xbf16>)
// AXIS: tensor<160x256xf32> {sp.donated_to = 1 : i64, sp.sharding = #sp.sharding<{{\[\[}}160 by <contiguous 160 on "sp" of 4>], [256]]>}
// HALF: tensor<160x256xf32> {sp.donated_to = 1 : i64, sp.sharding = #sp.sharding<{{\[\[}}160 by <contiguous 160 on "sp:(2)2" of 2>], [256]]>}
// PARTS: tensor<160x256xf32> {sp.donated_to = 1 : i64, sp.sharding = #sp.sharding<{{\[\[}}2 by <contiguous 2 on "dp" of 2>, 80 by <contiguous 80 on "sp:(2)2" of 2>], [256]]>}
// REMARK: remark: [Passed] Zero {{.*}}axes="dp, sp", parameters=81920, state=327680, wholeParameters=0, wholeState=640
module @roles {
  sp.mesh @mesh <["dp" = 2, "sp" = 4]> sequence "sp" batch "dp"
  func.func @main(%w: tensor<160x256xbf16> {sp.donated_to = 0 : i64}, %master: tensor<160x256xf32> {sp.donated_to = 1 : i64},
                  %moment: tensor<160x256xf32> {sp.donated_to = 2 : i64}, %scale: tensor<160xf32> {sp.donated_to = 3 : i64},
                  %x: tensor<64x160xbf16>) -> (tensor<160x256xbf16>, tensor<160x256xf32>, tensor<160x256xf32>, tensor<160xf32>) {
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x160xbf16>, tensor<160x256xbf16>) -> tensor<64x256xbf16>
    %dw = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<64x160xbf16>, tensor<64x256xbf16>) -> tensor<160x256xf32>
    %m = stablehlo.add %moment, %dw : tensor<160x256xf32>
    %b = stablehlo.broadcast_in_dim %scale, dims = [0] : (tensor<160xf32>) -> tensor<160x256xf32>
    %u = stablehlo.multiply %m, %b : tensor<160x256xf32>
    %n = stablehlo.subtract %master, %u : tensor<160x256xf32>
    %o = stablehlo.convert %n : (tensor<160x256xf32>) -> tensor<160x256xbf16>
    return %o, %n, %m, %scale : tensor<160x256xbf16>, tensor<160x256xf32>, tensor<160x256xf32>, tensor<160xf32>
  }
}

// -----

// A loop takes a layer's part of dimension 0, so that another one is dealt, of state
// too: evenly, though the first of the others is longer.
// CHECK-LABEL: module @scanned
// CHECK: func.func @main(%{{[^:]*}}: tensor<8x99x96xf32> {
// ALL-SAME: [8], [99], [2 by <contiguous 2 on "dp" of 2>, 48 by <contiguous 48 on "sp" of 4>]
// CHECK-SAME: %{{[^:]*}}: tensor<8x99x96xf32> {sp.donated_to = 1 : i64, sp.sharding = #sp.sharding<{{\[\[}}8], [99], [2 by <contiguous 2 on "dp" of 2>, 48 by <contiguous 48 on "sp" of 4>]]>}
// The user's own sharding stays.
// CHECK-SAME: %{{[^:]*}}: tensor<128x128xf32> {sp.donated_to = 2 : i64, sp.sharding = #sp.sharding<{{\[\[}}128], [128]]>}
module @scanned {
  sp.mesh @mesh <["dp" = 2, "sp" = 4]> sequence "sp" batch "dp"
  func.func @main(%w: tensor<8x99x96xf32> {sp.donated_to = 0 : i64}, %m: tensor<8x99x96xf32> {sp.donated_to = 1 : i64},
                  %own: tensor<128x128xf32> {sp.donated_to = 2 : i64, sp.sharding = #sp.sharding<[[128], [128]]>},
                  %x: tensor<99x99xf32>) -> (tensor<8x99x96xf32>, tensor<8x99x96xf32>, tensor<128x128xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %layers = stablehlo.constant dense<8> : tensor<i32>
    %l:4 = stablehlo.while(%i = %zero, %s = %w, %a = %x, %g = %w) : tensor<i32>, tensor<8x99x96xf32>, tensor<99x99xf32>, tensor<8x99x96xf32>
      cond {
        %c = stablehlo.compare LT, %i, %layers : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %part = stablehlo.dynamic_slice %s, %i, %zero, %zero, sizes = [1, 99, 96] : (tensor<8x99x96xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x99x96xf32>
        %of = stablehlo.reshape %part : (tensor<1x99x96xf32>) -> tensor<99x96xf32>
        %y = stablehlo.dot_general %a, %of, contracting_dims = [1] x [0] : (tensor<99x99xf32>, tensor<99x96xf32>) -> tensor<99x96xf32>
        %p = stablehlo.reshape %y : (tensor<99x96xf32>) -> tensor<1x99x96xf32>
        %h = stablehlo.dynamic_update_slice %g, %p, %i, %zero, %zero : (tensor<8x99x96xf32>, tensor<1x99x96xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<8x99x96xf32>
        %next = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %next, %s, %a, %h : tensor<i32>, tensor<8x99x96xf32>, tensor<99x99xf32>, tensor<8x99x96xf32>
      }
    %n = stablehlo.add %m, %l#3 : tensor<8x99x96xf32>
    %v = stablehlo.subtract %w, %n : tensor<8x99x96xf32>
    return %v, %n, %own : tensor<8x99x96xf32>, tensor<8x99x96xf32>, tensor<128x128xf32>
  }
}

// -----

// No axis divides the longer dimension: the last one deals it, the other one the next.
// CHECK-LABEL: module @uneven
// CHECK: sp.sharding = #sp.sharding<{{\[\[}}101 by <contiguous 101 on "dp" of 2>], [177 by <contiguous 177 on "sp" of 4>]]>
module @uneven {
  sp.mesh @mesh <["dp" = 2, "sp" = 4]> sequence "sp" batch "dp"
  func.func @main(%m: tensor<101x177xf32> {sp.donated_to = 0 : i64}) -> tensor<101x177xf32> {
    %n = stablehlo.add %m, %m : tensor<101x177xf32>
    return %n : tensor<101x177xf32>
  }
}
