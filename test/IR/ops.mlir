// RUN: sp-opt %s | FileCheck %s

// CHECK: sp.mesh @mesh <["dp" = 2, "sp" = 4]> sequence "sp" batch "dp"
sp.mesh @mesh <["dp" = 2, "sp" = 4]> sequence "sp" batch "dp"

// CHECK-LABEL: @attention_without_a_plan
// CHECK: sp.attention(%{{.*}}, %{{.*}}, %{{.*}}) bands [#sp.band<q 0 to 64, k 0 to 64, lo -inf, hi 0>] scale 1.250000e-01 {name = "layer0"} : tensor<1x64x8x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32> -> tensor<1x64x8x16xf32>
func.func @attention_without_a_plan(%q: tensor<1x64x8x16xf32>, %k: tensor<1x64x2x16xf32>) {
  %o = sp.attention(%q, %k, %k) bands [#sp.band<q 0 to 64, k 0 to 64, lo -inf, hi 0>] scale 1.250000e-01 {name = "layer0"}
     : tensor<1x64x8x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32> -> tensor<1x64x8x16xf32>
  return
}

// CHECK-LABEL: @attention_with_everything
// CHECK: bands [#sp.band<q 0 to 3, k 0 to 9, lo -2, hi inf>, #sp.band<q 3 to 7, k 0 to 9, lo -inf, hi inf, uniform>]
// CHECK-SAME: empty mean plan <axis = "sp", heads = 2, outer = 1, inner = 2, gather = 1, layout = striped, placement = context_first>
func.func @attention_with_everything(%q: tensor<2x7x4x8xbf16>, %k: tensor<2x9x2x8xbf16>, %v: tensor<2x9x2x6xbf16>) {
  %o = sp.attention(%q, %k, %v)
     bands [#sp.band<q 0 to 3, k 0 to 9, lo -2, hi inf>, #sp.band<q 3 to 7, k 0 to 9, lo -inf, hi inf, uniform>]
     scale 1.0 empty mean
     plan <axis = "sp", heads = 2, outer = 1, inner = 2, gather = 1, layout = striped, placement = context_first>
     : tensor<2x7x4x8xbf16>, tensor<2x9x2x8xbf16>, tensor<2x9x2x6xbf16> -> tensor<2x7x4x6xbf16>
  return
}

// CHECK-LABEL: @attend_starts_a_state
// CHECK: sp.attend(%{{.*}}, %{{.*}}, %{{.*}}) queries <zigzag 4096 on "sp" of 4> keys <contiguous 4096 on "sp" of 1> bands [] scale 1.000000e+00 : (tensor<1x1024x8x64xf32>, tensor<1x4096x2x64xf32>, tensor<1x4096x2x64xf32>) -> tensor<1x1024x8x64xf32>, tensor<1x1024x8xf32>
func.func @attend_starts_a_state(%q: tensor<1x1024x8x64xf32>, %k: tensor<1x4096x2x64xf32>) {
  %o, %l = sp.attend(%q, %k, %k) queries <zigzag 4096 on "sp" of 4> keys <contiguous 4096 on "sp" of 1> bands [] scale 1.0
     : (tensor<1x1024x8x64xf32>, tensor<1x4096x2x64xf32>, tensor<1x4096x2x64xf32>) -> tensor<1x1024x8x64xf32>, tensor<1x1024x8xf32>
  return
}

// CHECK-LABEL: @attend_continues_a_state
// CHECK: sp.attend(%{{.*}}, %{{.*}}, %{{.*}}) onto(%{{.*}}, %{{.*}}) queries <zigzag 4096 on "sp" of 4> keys <zigzag 4096 on "sp" of 4> from %{{.*}} bands [#sp.band<q 0 to 4096, k 0 to 4096, lo -inf, hi 0>] scale 1.250000e-01 :
func.func @attend_continues_a_state(%q: tensor<1x1024x8x64xf32>, %k: tensor<1x1024x2x64xf32>,
                                    %o: tensor<1x1024x8x64xf32>, %l: tensor<1x1024x8xf32>) {
  %src = sp.rank "sp" : index
  %o1, %l1 = sp.attend(%q, %k, %k) onto(%o, %l) queries <zigzag 4096 on "sp" of 4> keys <zigzag 4096 on "sp" of 4> from %src
     bands [#sp.band<q 0 to 4096, k 0 to 4096, lo -inf, hi 0>] scale 1.250000e-01
     : (tensor<1x1024x8x64xf32>, tensor<1x1024x2x64xf32>, tensor<1x1024x2x64xf32>) -> tensor<1x1024x8x64xf32>, tensor<1x1024x8xf32>
  return
}

// CHECK-LABEL: @attend_on_some_heads
// CHECK: heads <contiguous 8 on "sp" of 4> kv_heads 2 bands
func.func @attend_on_some_heads(%q: tensor<1x4096x2x64xf64>, %k: tensor<1x4096x1x64xf64>) {
  %o, %l = sp.attend(%q, %k, %k) queries <contiguous 4096 on "sp" of 1> keys <contiguous 4096 on "sp" of 1>
     heads <contiguous 8 on "sp" of 4> kv_heads 2 bands [] scale 1.0
     : (tensor<1x4096x2x64xf64>, tensor<1x4096x1x64xf64>, tensor<1x4096x1x64xf64>) -> tensor<1x4096x2x64xf64>, tensor<1x4096x2xf64>
  return
}

// CHECK-LABEL: @ranks_and_rows
func.func @ranks_and_rows() {
  // CHECK: sp.rank "sp" : index
  %r = sp.rank "sp" : index
  // CHECK: sp.positions <striped 10 on "sp" of 4> : tensor<3xi32>
  %pos = sp.positions <striped 10 on "sp" of 4> : tensor<3xi32>
  // CHECK: sp.row_count <striped 10 on "sp" of 4> : tensor<i32>
  %n = sp.row_count <striped 10 on "sp" of 4> : tensor<i32>
  return
}

// CHECK-LABEL: @commands
func.func @commands(%x: tensor<8x64xf32>, %w: tensor<64x16xf32>, %b: tensor<16xf32>, %t: !sp.token) {
  // CHECK: sp.launch @norm(%{{.*}}) : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %y = sp.launch @norm(%x) : (tensor<8x64xf32>) -> tensor<8x64xf32>
  // CHECK: sp.launch @write(%{{.*}}, %{{.*}}) onto 1 : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
  %z = sp.launch @write(%x, %y) onto 1 : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
  // CHECK: sp.gemm %{{.*}}, %{{.*}} sizes [1, 8, 16, 64] strides [0, 64, 1] x [0, 16, 1] : (tensor<8x64xf32>, tensor<64x16xf32>) -> tensor<8x16xf32>
  %c = sp.gemm %y, %w sizes [1, 8, 16, 64] strides [0, 64, 1] x [0, 16, 1] : (tensor<8x64xf32>, tensor<64x16xf32>) -> tensor<8x16xf32>
  // CHECK: sp.gemm %{{.*}}, %{{.*}} bias %{{.*}} sizes [1, 8, 16, 64] {{.*}} : (tensor<8x64xf32>, tensor<64x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
  %e = sp.gemm %y, %w bias %b sizes [1, 8, 16, 64] strides [0, 64, 1] x [0, 16, 1] : (tensor<8x64xf32>, tensor<64x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
  // CHECK: sp.gemm %{{.*}}, %{{.*}} bias %{{.*}} then relu sizes [1, 8, 16, 64]
  %f = sp.gemm %y, %w bias %b then relu sizes [1, 8, 16, 64] strides [0, 64, 1] x [0, 16, 1] : (tensor<8x64xf32>, tensor<64x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
  // CHECK: sp.gemm %{{.*}}, %{{.*}} onto %{{.*}} sizes [1, 8, 16, 64] {{.*}} : (tensor<8x64xf32>, tensor<64x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %h = sp.gemm %y, %w onto %c sizes [1, 8, 16, 64] strides [0, 64, 1] x [0, 16, 1] : (tensor<8x64xf32>, tensor<64x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  // CHECK: sp.empty : tensor<1x64xf32>
  %i = sp.empty : tensor<1x64xf32>
  // CHECK: sp.gemm %{{.*}}, %{{.*}} then gelu sizes [1, 8, 16, 64]
  %g = sp.gemm %y, %w then gelu sizes [1, 8, 16, 64] strides [0, 64, 1] x [0, 16, 1] : (tensor<8x64xf32>, tensor<64x16xf32>) -> tensor<8x16xf32>
  // CHECK: sp.copy %{{.*}} : tensor<8x16xf32>
  %d = sp.copy %c : tensor<8x16xf32>
  // CHECK: sp.wait %{{.*}}
  sp.wait %t
  return
}
func.func private @write(tensor<8x64xf32>, tensor<8x64xf32> {sp.onto}) -> tensor<8x64xf32>
func.func private @norm(tensor<8x64xf32>) -> tensor<8x64xf32>

// CHECK-LABEL: @shardings
// CHECK-SAME: empty = #sp.sharding<[]>
// CHECK-SAME{LITERAL}: joined = #sp.sharding<[[2 by <contiguous 2 on "dp" of 2>, 4096 by <zigzag 4096 on "sp" of 4>], [512]]>
func.func @shardings() attributes {
  empty = #sp.sharding<[]>,
  joined = #sp.sharding<[[2 by <contiguous 2 on "dp" of 2>, 4096 by <zigzag 4096 on "sp" of 4>], [512]]>} {
  return
}

// CHECK-LABEL: @rows_of_a_stack
func.func @rows_of_a_stack(%x: tensor<1x24x8xf32>) -> tensor<1x24x8xf32> {
  %i = arith.constant 3 : index
  // CHECK: %[[R:.*]] = sp.take %{{.*}} at %{{.*}} dim 1 : tensor<1x24x8xf32> -> tensor<1x2x8xf32>
  %r = sp.take %x at %i dim 1 : tensor<1x24x8xf32> -> tensor<1x2x8xf32>
  // CHECK: sp.put %[[R]] into %{{.*}} at %{{.*}} dim 1 : tensor<1x2x8xf32>, tensor<1x24x8xf32>
  %s = sp.put %r into %x at %i dim 1 : tensor<1x2x8xf32>, tensor<1x24x8xf32>
  return %s : tensor<1x24x8xf32>
}
