// RUN: sp-emit-partitioned %s | FileCheck %s
// RUN: sp-emit-partitioned %s -o %t.spx
// RUN: sp-emit-partitioned %s | %python %S/Inputs/backward_check.py %t.spx 2
// RUN: not sp-emit-partitioned %s --cuda 2>&1 | FileCheck %s --check-prefix=CUDA

// K and V travel with the gradients of their blocks, which have two places in
// turn, are continued where they lie, and come home at last.
// CHECK: kernel [[KERNEL:[0-9]+]] attend_backward_f32_d4x3
// CHECK: result result0: {{.*}} at arena[[DQ:\[[0-9]+; 256\]]]
// CHECK: attend_backward attend_backward_f32_d4x3 {{.*}} dq=arena[[DQ]] dk=arena[[DK:\[[0-9]+; 128\]]] dv=arena[[DV:\[[0-9]+; 96\]]] rows sp of layout 0 keys sp of layout 0 heads 0+4/4 kv 0+2/2 bands {q 0..13 k 0..13 -inf..0} init queries init keys "attend_backward"
// CHECK: send_recv {{.*}} send arena[[DK]] {{.*}} send arena[[DV]]
// CHECK: loop t in 1..3
// CHECK: attend_backward {{.*}} dq=arena[[DQ]] dk=arena[[DK:\[\(\(t \+ 1\) % 2\) \* 128 \+ [0-9]+; 128\]]] dv=arena[[DV:\[\(\(t \+ 1\) % 2\) \* 128 \+ [0-9]+; 96\]]] rows sp of layout 0 keys (sp - t) % 4 of layout 0 heads 0+4/4 kv 0+2/2 bands {q 0..13 k 0..13 -inf..0} "attend_backward"
// CHECK: send_recv {{.*}} send arena[[DK]] {{.*}} send arena[[DV]] {{.*}} recv arena[(t % 2) * 128
// CHECK: attend_backward {{.*}} dq=arena[[DQ]] {{.*}} keys (sp + 1) % 4 of layout 0
// CHECK-NOT: copy
// CHECK: rank 3 sends 1288 bytes, computes 4896 flops

// CUDA: error: expected no gradient of attention with --target=cuda; leave --target out

#back = affine_map<(d0)[s0] -> ((s0 - d0) mod 4)>
#last = affine_map<()[s0] -> ((s0 + 1) mod 4)>
module @ring {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%q: tensor<1x4x4x4xf32> {sp.sharding = #sp.sharding<[[1], [13 by <zigzag 13 on "sp" of 4>], [4], [4]]>}, %k: tensor<1x4x2x4xf32> {sp.sharding = #sp.sharding<[[1], [13 by <zigzag 13 on "sp" of 4>], [2], [4]]>},
                  %v: tensor<1x4x2x3xf32> {sp.sharding = #sp.sharding<[[1], [13 by <zigzag 13 on "sp" of 4>], [2], [3]]>}, %do: tensor<1x4x4x3xf32> {sp.sharding = #sp.sharding<[[1], [13 by <zigzag 13 on "sp" of 4>], [4], [3]]>},
                  %lse: tensor<1x4x4xf32> {sp.sharding = #sp.sharding<[[1], [13 by <zigzag 13 on "sp" of 4>], [4]]>}, %delta: tensor<1x4x4xf32> {sp.sharding = #sp.sharding<[[1], [13 by <zigzag 13 on "sp" of 4>], [4]]>})
      -> (tensor<1x4x4x4xf32> {sp.sharding = #sp.sharding<[[1], [13 by <zigzag 13 on "sp" of 4>], [4], [4]]>}, tensor<1x4x2x4xf32> {sp.sharding = #sp.sharding<[[1], [13 by <zigzag 13 on "sp" of 4>], [2], [4]]>}, tensor<1x4x2x3xf32> {sp.sharding = #sp.sharding<[[1], [13 by <zigzag 13 on "sp" of 4>], [2], [3]]>}) {
    %one = arith.constant 1 : index
    %three = arith.constant 3 : index
    %rank = sp.rank "sp" : index
    %k0:2 = sp.shift %k, %v from %rank by 1 in <zigzag 13 on "sp" of 4> : tensor<1x4x2x4xf32>, tensor<1x4x2x3xf32>
    %dq0, %dk0, %dv0 = sp.attend_backward(%q, %k, %v) of(%do, %lse, %delta) queries <zigzag 13 on "sp" of 4> keys <zigzag 13 on "sp" of 4> from %rank
      bands [#sp.band<q 0 to 13, k 0 to 13, lo -inf, hi 0>] scale 0.5
      : (tensor<1x4x4x4xf32>, tensor<1x4x2x4xf32>, tensor<1x4x2x3xf32>, tensor<1x4x4x3xf32>, tensor<1x4x4xf32>) -> (tensor<1x4x4x4xf32>, tensor<1x4x2x4xf32>, tensor<1x4x2x3xf32>)
    %g0:2 = sp.shift %dk0, %dv0 from %rank by 1 in <zigzag 13 on "sp" of 4> : tensor<1x4x2x4xf32>, tensor<1x4x2x3xf32>
    %r:5 = scf.for %i = %one to %three step %one iter_args(%dq1 = %dq0, %k1 = %k0#0, %v1 = %k0#1, %dk1 = %g0#0, %dv1 = %g0#1) -> (tensor<1x4x4x4xf32>, tensor<1x4x2x4xf32>, tensor<1x4x2x3xf32>, tensor<1x4x2x4xf32>, tensor<1x4x2x3xf32>) {
      %src = affine.apply #back(%i)[%rank]
      %k2:2 = sp.shift %k1, %v1 from %src by 1 in <zigzag 13 on "sp" of 4> : tensor<1x4x2x4xf32>, tensor<1x4x2x3xf32>
      %dq2, %dk2, %dv2 = sp.attend_backward(%q, %k1, %v1) of(%do, %lse, %delta) onto_query(%dq1) onto_keys(%dk1, %dv1) queries <zigzag 13 on "sp" of 4> keys <zigzag 13 on "sp" of 4> from %src
      bands [#sp.band<q 0 to 13, k 0 to 13, lo -inf, hi 0>] scale 0.5
      : (tensor<1x4x4x4xf32>, tensor<1x4x2x4xf32>, tensor<1x4x2x3xf32>, tensor<1x4x4x3xf32>, tensor<1x4x4xf32>) -> (tensor<1x4x4x4xf32>, tensor<1x4x2x4xf32>, tensor<1x4x2x3xf32>)
      %g2:2 = sp.shift %dk2, %dv2 from %src by 1 in <zigzag 13 on "sp" of 4> : tensor<1x4x2x4xf32>, tensor<1x4x2x3xf32>
      scf.yield %dq2, %k2#0, %k2#1, %g2#0, %g2#1 : tensor<1x4x4x4xf32>, tensor<1x4x2x4xf32>, tensor<1x4x2x3xf32>, tensor<1x4x2x4xf32>, tensor<1x4x2x3xf32>
    }
    %end = affine.apply #last()[%rank]
    %dq9, %dk9, %dv9 = sp.attend_backward(%q, %r#1, %r#2) of(%do, %lse, %delta) onto_query(%r#0) onto_keys(%r#3, %r#4) queries <zigzag 13 on "sp" of 4> keys <zigzag 13 on "sp" of 4> from %end
      bands [#sp.band<q 0 to 13, k 0 to 13, lo -inf, hi 0>] scale 0.5
      : (tensor<1x4x4x4xf32>, tensor<1x4x2x4xf32>, tensor<1x4x2x3xf32>, tensor<1x4x4x3xf32>, tensor<1x4x4xf32>) -> (tensor<1x4x4x4xf32>, tensor<1x4x2x4xf32>, tensor<1x4x2x3xf32>)
    %home:2 = sp.shift %dk9, %dv9 from %end by 1 in <zigzag 13 on "sp" of 4> : tensor<1x4x2x4xf32>, tensor<1x4x2x3xf32>
    return %dq9, %home#0, %home#1 : tensor<1x4x4x4xf32>, tensor<1x4x2x4xf32>, tensor<1x4x2x3xf32>
  }
}
