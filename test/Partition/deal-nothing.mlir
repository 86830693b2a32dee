// RUN: sp-opt %s --split-input-file --sp-deal-parameters=zero=1 --remarks-filter=sp-deal-parameters 2>&1 | FileCheck %s
// RUN: sp-opt %s --split-input-file --sp-deal-parameters=zero=3 --remarks-filter=sp-deal-parameters 2>&1 | FileCheck %s --check-prefix=THREE

// The user's own layout stays, with any option.
// CHECK: remark: [Missed] NothingDealt {{.*}}Remark="all that is trained has a layout of its own; leave one out", axes=sp, zero=1
// THREE: remark: [Missed] NothingDealt {{.*}}Remark="all that is trained has a layout of its own; leave one out", axes=sp, zero=3
module @own {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%m: tensor<128x128xf32> {sp.donated_to = 0 : i64, sp.sharding = #sp.sharding<[[128], [128]]>}) -> tensor<128x128xf32> {
    %n = stablehlo.add %m, %m : tensor<128x128xf32>
    return %n : tensor<128x128xf32>
  }
}

// -----

// What a product reads is no state: of two parameters one is small.
// CHECK: remark: [Missed] NothingDealt {{.*}}axes=sp, byThree=65536, wholeParameters=65600, wholeState=0, zero=1
// THREE: remark: [Passed] Zero {{.*}}parameters=65536, state=0, wholeParameters=64, wholeState=0
module @parameters {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%w: tensor<128x128xf32> {sp.donated_to = 0 : i64}, %v: tensor<4x4xf32> {sp.donated_to = 1 : i64}, %x: tensor<4x4xf32>, %y: tensor<128x128xf32>) -> (tensor<128x128xf32>, tensor<4x4xf32>) {
    %p = stablehlo.dot_general %y, %w, contracting_dims = [1] x [0] : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
    %q = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    return %p, %q : tensor<128x128xf32>, tensor<4x4xf32>
  }
}

// -----

// State that no axis can share, or that is small.
// CHECK: remark: [Missed] NothingDealt {{.*}} has no dimension that the ranks can share: leave the option out", axes=sp, small=65536, wholeParameters=0, wholeState=73728, zero=1
// THREE: remark: [Missed] NothingDealt {{.*}}wholeState=73728
module @short {
  sp.mesh @mesh <["sp" = 16384]> sequence "sp"
  func.func @main(%m: tensor<128x128xf32> {sp.donated_to = 0 : i64}, %s: tensor<2048xf32> {sp.donated_to = 1 : i64}) -> (tensor<128x128xf32>, tensor<2048xf32>) {
    %n = stablehlo.add %m, %m : tensor<128x128xf32>
    %t = stablehlo.add %s, %s : tensor<2048xf32>
    return %n, %t : tensor<128x128xf32>, tensor<2048xf32>
  }
}
