// RUN: sp-opt %s -split-input-file --sp-start-communication | FileCheck %s

// Started as soon as its operand is there, waited for where it is used; no ring
// waits behind such sums, on the stream `back`.
// CHECK-LABEL: module @early_start_late_wait
// CHECK: %[[X:.*]] = sp.copy
// CHECK-NEXT: %[[ALL:.*]], %[[T:.*]] = sp.all_reduce_start %[[X]] sum over ["sp"] of 2 on back :
// CHECK-NEXT: sp.copy %{{.*}}
// CHECK-NEXT: sp.wait %[[T]]
// CHECK-NEXT: sp.copy %[[ALL]]
module @early_start_late_wait {
  func.func @main(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
    %x = sp.copy %a : tensor<8xf32>
    %y = sp.copy %a : tensor<8xf32>
    %s = sp.all_reduce %x sum over ["sp"] of 2 : tensor<8xf32>
    %z = sp.copy %s : tensor<8xf32>
    return %y, %z : tensor<8xf32>, tensor<8xf32>
  }
}

// -----

// Communications keep their order, and one that needs another waits for it.
// CHECK-LABEL: module @order_is_kept
// CHECK: %[[A:.*]], %[[TA:.*]] = sp.all_reduce_start %{{.*}} sum over ["sp"] of 2 :
// CHECK-NEXT: sp.wait %[[TA]]
// CHECK-NEXT: %[[B:.*]], %[[TB:.*]] = sp.all_reduce_start %[[A]] max
// CHECK-NEXT: sp.wait %[[TB]]
// CHECK-NEXT: return %[[B]]
module @order_is_kept {
  func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
    %s = sp.all_reduce %a sum over ["sp"] of 2 : tensor<8xf32>
    %m = sp.all_reduce %s max over ["sp"] of 2 : tensor<8xf32>
    return %m : tensor<8xf32>
  }
}

// -----

// What is to be gathered after a value is not started before it.
// CHECK-LABEL: module @not_before_what_it_is_after
// CHECK: sp.all_gather_start %arg0
// CHECK-NEXT: sp.copy
// CHECK-NEXT: sp.wait
// CHECK-NEXT: %[[X:.*]] = sp.copy
// CHECK-NEXT: sp.all_gather_start %arg0 dim 0 in <contiguous 16 on "sp" of 2> after %[[X]] : tensor<16xf32>
module @not_before_what_it_is_after {
  func.func @main(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<16xf32>) {
    %y = sp.copy %a : tensor<8xf32>
    %s = sp.all_gather %a dim 0 in <contiguous 16 on "sp" of 2> : tensor<8xf32> -> tensor<16xf32>
    %x = sp.copy %s : tensor<16xf32>
    %t = sp.all_gather %a dim 0 in <contiguous 16 on "sp" of 2> after %x : tensor<16xf32> : tensor<8xf32> -> tensor<16xf32>
    return %y, %t : tensor<8xf32>, tensor<16xf32>
  }
}

// -----

// Blocks on the way back do not wait for those on the way on.
// CHECK-LABEL: module @both_ways
// CHECK: sp.shift_start %arg0 from %{{.*}} by 1 in <contiguous 16 on "sp" of 4> :
// CHECK: sp.shift_start %arg0 from %{{.*}} by -1 in <contiguous 16 on "sp" of 4> on back :
module @both_ways {
  func.func @main(%k: tensor<1x4x1x8xf32>) -> (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
    %rank = sp.rank "sp" : index
    %on = sp.shift %k from %rank by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>
    %back = sp.shift %k from %rank by -1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>
    return %on, %back : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
  }
}
