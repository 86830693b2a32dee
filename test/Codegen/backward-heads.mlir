// RUN: sp-emit-partitioned %s | FileCheck %s
// RUN: sp-emit-partitioned %s -o %t.spx
// RUN: sp-emit-partitioned %s | %python %S/Inputs/backward_check.py %t.spx 4
// RUN: not sp-emit-partitioned %s --cuda 2>&1 | FileCheck %s --check-prefix=CUDA

// A rank of heads has the kv heads that they read, and the last one none.
// CHECK: attend_backward {{.*}} rows 0 of layout 2 keys 0 of layout 2 heads sp * 0 + min(sp, 4)+rows#{{[0-9]+}}(sp)/4 kv ((sp * 0 + min(sp, 4)) * 4) / 4+(((sp * 0 + min(sp, 4) + rows#{{[0-9]+}}(sp) - 1) * 4) / 4 - (((sp * 0 + min(sp, 4)) * 4) / 4) + 1) * min(rows#{{[0-9]+}}(sp), 1)/4 bands
// CHECK: rank 3 sends 868 bytes, computes 3276 flops
// CHECK: rank 4 sends 512 bytes, computes 0 flops

// CUDA: error: expected no gradient of attention with --target=cuda; leave --target out

module @heads {
  sp.mesh @mesh <["sp" = 5]> sequence "sp"
  func.func @main(%q: tensor<1x3x4x4xf32> {sp.sharding = #sp.sharding<[[1], [13 by <contiguous 13 on "sp" of 5>], [4], [4]]>}, %k: tensor<1x3x4x4xf32> {sp.sharding = #sp.sharding<[[1], [13 by <contiguous 13 on "sp" of 5>], [4], [4]]>},
                  %v: tensor<1x3x4x3xf32> {sp.sharding = #sp.sharding<[[1], [13 by <contiguous 13 on "sp" of 5>], [4], [3]]>}, %do: tensor<1x3x4x3xf32> {sp.sharding = #sp.sharding<[[1], [13 by <contiguous 13 on "sp" of 5>], [4], [3]]>},
                  %lse: tensor<1x3x4xf32> {sp.sharding = #sp.sharding<[[1], [13 by <contiguous 13 on "sp" of 5>], [4]]>}, %delta: tensor<1x3x4xf32> {sp.sharding = #sp.sharding<[[1], [13 by <contiguous 13 on "sp" of 5>], [4]]>})
      -> (tensor<1x3x4x4xf32> {sp.sharding = #sp.sharding<[[1], [13 by <contiguous 13 on "sp" of 5>], [4], [4]]>}, tensor<1x3x4x4xf32> {sp.sharding = #sp.sharding<[[1], [13 by <contiguous 13 on "sp" of 5>], [4], [4]]>}, tensor<1x3x4x3xf32> {sp.sharding = #sp.sharding<[[1], [13 by <contiguous 13 on "sp" of 5>], [4], [3]]>}) {
    %q1 = sp.all_to_all %q rows <contiguous 13 on "sp" of 5> heads <contiguous 4 on "sp" of 5> of 4 : tensor<1x3x4x4xf32> -> tensor<1x13x1x4xf32>
    %k1 = sp.all_to_all %k rows <contiguous 13 on "sp" of 5> heads <contiguous 4 on "sp" of 5> of 4 : tensor<1x3x4x4xf32> -> tensor<1x13x1x4xf32>
    %v1 = sp.all_to_all %v rows <contiguous 13 on "sp" of 5> heads <contiguous 4 on "sp" of 5> of 4 : tensor<1x3x4x3xf32> -> tensor<1x13x1x3xf32>
    %do1 = sp.all_to_all %do rows <contiguous 13 on "sp" of 5> heads <contiguous 4 on "sp" of 5> of 4 : tensor<1x3x4x3xf32> -> tensor<1x13x1x3xf32>
    %l = stablehlo.reshape %lse : (tensor<1x3x4xf32>) -> tensor<1x3x4x1xf32>
    %d = stablehlo.reshape %delta : (tensor<1x3x4xf32>) -> tensor<1x3x4x1xf32>
    %l1 = sp.all_to_all %l rows <contiguous 13 on "sp" of 5> heads <contiguous 4 on "sp" of 5> of 4 : tensor<1x3x4x1xf32> -> tensor<1x13x1x1xf32>
    %d1 = sp.all_to_all %d rows <contiguous 13 on "sp" of 5> heads <contiguous 4 on "sp" of 5> of 4 : tensor<1x3x4x1xf32> -> tensor<1x13x1x1xf32>
    %l2 = stablehlo.reshape %l1 : (tensor<1x13x1x1xf32>) -> tensor<1x13x1xf32>
    %d2 = stablehlo.reshape %d1 : (tensor<1x13x1x1xf32>) -> tensor<1x13x1xf32>
    %dq, %dk, %dv = sp.attend_backward(%q1, %k1, %v1) of(%do1, %l2, %d2) queries <contiguous 13 on "sp" of 1> keys <contiguous 13 on "sp" of 1> heads <contiguous 4 on "sp" of 5> kv_heads 4
      bands [#sp.band<q 0 to 13, k 0 to 13, lo -inf, hi 0>] scale 0.5
      : (tensor<1x13x1x4xf32>, tensor<1x13x1x4xf32>, tensor<1x13x1x3xf32>, tensor<1x13x1x3xf32>, tensor<1x13x1xf32>) -> (tensor<1x13x1x4xf32>, tensor<1x13x1x4xf32>, tensor<1x13x1x3xf32>)
    %dq1 = sp.all_to_all %dq rows <contiguous 13 on "sp" of 5> heads <contiguous 4 on "sp" of 5> of 4 to_rows : tensor<1x13x1x4xf32> -> tensor<1x3x4x4xf32>
    %dk1 = sp.all_to_all %dk rows <contiguous 13 on "sp" of 5> heads <contiguous 4 on "sp" of 5> of 4 to_rows : tensor<1x13x1x4xf32> -> tensor<1x3x4x4xf32>
    %dv1 = sp.all_to_all %dv rows <contiguous 13 on "sp" of 5> heads <contiguous 4 on "sp" of 5> of 4 to_rows : tensor<1x13x1x3xf32> -> tensor<1x3x4x3xf32>
    return %dq1, %dk1, %dv1 : tensor<1x3x4x4xf32>, tensor<1x3x4x4xf32>, tensor<1x3x4x3xf32>
  }
}
