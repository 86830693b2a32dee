// RUN: sp-opt %s | FileCheck %s

// CHECK-LABEL: @shift_in_both_forms
func.func @shift_in_both_forms(%k: tensor<1x1024x2x64xf32>, %v: tensor<1x1024x2x32xf32>) {
  %src = sp.rank "sp" : index
  // CHECK: sp.shift %{{.*}}, %{{.*}} from %{{.*}} by 1 in <zigzag 4096 on "sp" of 4> : tensor<1x1024x2x64xf32>, tensor<1x1024x2x32xf32>{{$}}
  %k1, %v1 = sp.shift %k, %v from %src by 1 in <zigzag 4096 on "sp" of 4> : tensor<1x1024x2x64xf32>, tensor<1x1024x2x32xf32>
  // CHECK: sp.shift %{{.*}} from %{{.*}} by -1 hops 2 in <zigzag 4096 on "sp" of 4> : tensor<1x1024x2x64xf32>{{$}}
  %back = sp.shift %k from %src by -1 hops 2 in <zigzag 4096 on "sp" of 4> : tensor<1x1024x2x64xf32>
  // CHECK: sp.shift %{{.*}} from %{{.*}} by 1 along "sp:(2)2" in <zigzag 4096 on "sp" of 4> needed_by <rows <contiguous 9 on "sp" of 4> bands [#sp.band<q 0 to 9, k 0 to 4096, lo -inf, hi 0>]> : tensor<1x1024x2x64xf32>{{$}}
  %seen = sp.shift %k from %src by 1 along "sp:(2)2" in <zigzag 4096 on "sp" of 4> needed_by <rows <contiguous 9 on "sp" of 4> bands [#sp.band<q 0 to 9, k 0 to 4096, lo -inf, hi 0>]> : tensor<1x1024x2x64xf32>
  // CHECK: sp.shift %{{.*}} from %{{.*}} by 2 in <zigzag 4096 on "sp" of 4> seen_by <rows <contiguous 9 on "sp" of 4> bands [#sp.band<q 0 to 9, k 0 to 4096, lo -2, hi 0>]> : tensor<1x1024x2x64xf32>{{$}}
  %straight = sp.shift %k from %src by 2 in <zigzag 4096 on "sp" of 4> seen_by <rows <contiguous 9 on "sp" of 4> bands [#sp.band<q 0 to 9, k 0 to 4096, lo -2, hi 0>]> : tensor<1x1024x2x64xf32>
  // CHECK: %{{.*}}:2, %[[MOVED:.*]] = sp.shift_start %{{.*}}, %{{.*}} from %{{.*}} by 1 in <zigzag 4096 on "sp" of 4> : tensor<1x1024x2x64xf32>, tensor<1x1024x2x32xf32>{{$}}
  %k2, %v2, %moved = sp.shift_start %k1, %v1 from %src by 1 in <zigzag 4096 on "sp" of 4> : tensor<1x1024x2x64xf32>, tensor<1x1024x2x32xf32>
  // CHECK: sp.wait %[[MOVED]]
  sp.wait %moved
  return
}

// CHECK-LABEL: @redeal_in_both_forms
func.func @redeal_in_both_forms(%x: tensor<1x3x8xi32>) {
  // CHECK: sp.redeal %{{.*}} dim 1 from <zigzag 10 on "sp" of 4> to <zigzag 9 within 10 on "sp" of 4> by 1 : tensor<1x3x8xi32> -> tensor<1x3x8xi32>
  %y = sp.redeal %x dim 1 from <zigzag 10 on "sp" of 4> to <zigzag 9 within 10 on "sp" of 4> by 1 : tensor<1x3x8xi32> -> tensor<1x3x8xi32>
  // CHECK: sp.redeal %{{.*}} dim 1 from <zigzag 10 on "sp" of 4> to <contiguous 10 on "sp" of 4 split 2> : tensor
  %z = sp.redeal %x dim 1 from <zigzag 10 on "sp" of 4> to <contiguous 10 on "sp" of 4 split 2> : tensor<1x3x8xi32> -> tensor<1x3x8xi32>
  // CHECK: sp.redeal_start %{{.*}} dim 1 from <zigzag 10 on "sp" of 4> to <contiguous 1 on "" of 1> by 9 on back : tensor<1x3x8xi32> -> tensor<1x1x8xi32>
  %w, %t = sp.redeal_start %x dim 1 from <zigzag 10 on "sp" of 4> to <contiguous 1 on "" of 1> by 9 on back : tensor<1x3x8xi32> -> tensor<1x1x8xi32>
  sp.wait %t
  return
}

// CHECK-LABEL: @all_gather_in_both_forms
func.func @all_gather_in_both_forms(%k: tensor<3x8xi32>) {
  // CHECK: sp.all_gather %{{.*}} dim 0 in <contiguous 10 on "sp" of 4> : tensor<3x8xi32> -> tensor<10x8xi32>
  %all = sp.all_gather %k dim 0 in <contiguous 10 on "sp" of 4> : tensor<3x8xi32> -> tensor<10x8xi32>
  // CHECK: sp.all_gather_start %{{.*}} dim 0 in <contiguous 10 on "sp" of 4> : tensor<3x8xi32> -> tensor<10x8xi32>
  %all2, %t = sp.all_gather_start %k dim 0 in <contiguous 10 on "sp" of 4> : tensor<3x8xi32> -> tensor<10x8xi32>
  sp.wait %t
  // CHECK: %[[LATER:.*]], %{{.*}} = sp.all_gather_start %{{.*}} dim 0 in <contiguous 10 on "sp" of 4> after %{{.*}} : tensor<10x8xi32> : tensor<3x8xi32> -> tensor<10x8xi32>
  %all3, %t3 = sp.all_gather_start %k dim 0 in <contiguous 10 on "sp" of 4> after %all2 : tensor<10x8xi32> : tensor<3x8xi32> -> tensor<10x8xi32>
  sp.wait %t3
  // CHECK: sp.all_gather %{{.*}} dim 0 in <contiguous 10 on "sp" of 4> after %[[LATER]] : tensor<10x8xi32> : tensor<3x8xi32> -> tensor<10x8xi32>
  %all4 = sp.all_gather %k dim 0 in <contiguous 10 on "sp" of 4> after %all3 : tensor<10x8xi32> : tensor<3x8xi32> -> tensor<10x8xi32>
  return
}

// Types and dimensions may differ; a dimension and layout that all share stands once.
// CHECK-LABEL: @values_gathered_together
func.func @values_gathered_together(%k: tensor<3x8xf32>, %v: tensor<3x4xbf16>, %w: tensor<2x3xi32>) {
  // CHECK: sp.all_gather %{{.*}}, %{{.*}} dim 0 in <zigzag 10 on "sp" of 4> : tensor<3x8xf32>, tensor<3x4xbf16> -> tensor<10x8xf32>, tensor<10x4xbf16>
  %0:2 = sp.all_gather %k, %v dim 0 in <zigzag 10 on "sp" of 4> : tensor<3x8xf32>, tensor<3x4xbf16> -> tensor<10x8xf32>, tensor<10x4xbf16>
  // CHECK: sp.all_gather_start %{{.*}}, %{{.*}} dims [0 in <zigzag 10 on "sp" of 4>, 1 in <contiguous 9 on "sp" of 4>] on back : tensor<3x8xf32>, tensor<2x3xi32> -> tensor<10x8xf32>, tensor<2x9xi32>
  %1:3 = sp.all_gather_start %k, %w dims [0 in <zigzag 10 on "sp" of 4>, 1 in <contiguous 9 on "sp" of 4>] on back : tensor<3x8xf32>, tensor<2x3xi32> -> tensor<10x8xf32>, tensor<2x9xi32>
  sp.wait %1#2
  return
}

// CHECK-LABEL: @all_to_all_in_both_directions_and_forms
func.func @all_to_all_in_both_directions_and_forms(%q: tensor<1x3x6x4xf32>) {
  // CHECK: sp.all_to_all %{{.*}} rows <zigzag 10 on "sp" of 4> heads <contiguous 6 on "sp" of 4> of 6 : tensor<1x3x6x4xf32> -> tensor<1x10x2x4xf32>
  %h = sp.all_to_all %q rows <zigzag 10 on "sp" of 4> heads <contiguous 6 on "sp" of 4> of 6 : tensor<1x3x6x4xf32> -> tensor<1x10x2x4xf32>
  // CHECK: sp.all_to_all %{{.*}} of 6 to_rows : tensor<1x10x2x4xf32> -> tensor<1x3x6x4xf32>
  %r = sp.all_to_all %h rows <zigzag 10 on "sp" of 4> heads <contiguous 6 on "sp" of 4> of 6 to_rows : tensor<1x10x2x4xf32> -> tensor<1x3x6x4xf32>
  // CHECK: sp.all_to_all_start %{{.*}} of 6 to_rows : tensor<1x10x2x4xf32> -> tensor<1x3x6x4xf32>
  %r2, %t = sp.all_to_all_start %h rows <zigzag 10 on "sp" of 4> heads <contiguous 6 on "sp" of 4> of 6 to_rows : tensor<1x10x2x4xf32> -> tensor<1x3x6x4xf32>
  sp.wait %t
  return
}

// One kv head for 8 query heads: every rank holds it.
// CHECK-LABEL: @all_to_all_repeats_kv_heads
func.func @all_to_all_repeats_kv_heads(%k: tensor<1x3x1x4xf32>) {
  // CHECK: of 1 : tensor<1x3x1x4xf32> -> tensor<1x10x1x4xf32>
  %h = sp.all_to_all %k rows <zigzag 10 on "sp" of 4> heads <contiguous 8 on "sp" of 4> of 1 : tensor<1x3x1x4xf32> -> tensor<1x10x1x4xf32>
  return
}

// CHECK-LABEL: @all_reduce_of_every_kind
func.func @all_reduce_of_every_kind(%x: tensor<8xf32>, %b: tensor<i1>) {
  // CHECK: sp.all_reduce %{{.*}} sum over ["sp"] of 4 : tensor<8xf32>{{$}}
  %0 = sp.all_reduce %x sum over ["sp"] of 4 : tensor<8xf32>
  // CHECK: sp.all_reduce %{{.*}} max over ["sp"] of 4 : tensor<8xf32>
  %1 = sp.all_reduce %0 max over ["sp"] of 4 : tensor<8xf32>
  // CHECK: sp.all_reduce %{{.*}} min over ["sp"] of 4 : tensor<8xf32>
  %2 = sp.all_reduce %1 min over ["sp"] of 4 : tensor<8xf32>
  // CHECK: sp.all_reduce %{{.*}} mul over ["sp"] of 4 : tensor<8xf32>
  %3 = sp.all_reduce %2 mul over ["sp"] of 4 : tensor<8xf32>
  // CHECK: sp.all_reduce %{{.*}} and over ["sp"] of 4 : tensor<i1>
  %4 = sp.all_reduce %b and over ["sp"] of 4 : tensor<i1>
  // CHECK: sp.all_reduce_start %{{.*}} or over ["sp"] of 4 : tensor<i1>{{$}}
  %5, %t = sp.all_reduce_start %4 or over ["sp"] of 4 : tensor<i1>
  sp.wait %t
  // CHECK: sp.all_reduce_start %{{.*}} or over ["sp"] of 4 on back : tensor<i1>{{$}}
  %6, %u = sp.all_reduce_start %4 or over ["sp"] of 4 on back : tensor<i1>
  sp.wait %u
  return
}

// CHECK-LABEL: @reduce_scatter_in_both_forms
func.func @reduce_scatter_in_both_forms(%x: tensor<8xf32>) {
  // CHECK: sp.reduce_scatter %{{.*}} sum dim 0 in <contiguous 8 on "sp" of 4> : tensor<8xf32> -> tensor<2xf32>
  %s = sp.reduce_scatter %x sum dim 0 in <contiguous 8 on "sp" of 4> : tensor<8xf32> -> tensor<2xf32>
  // CHECK: sp.reduce_scatter_start %{{.*}} max dim 0 in <contiguous 8 on "sp" of 4> : tensor<8xf32> -> tensor<2xf32>
  %s2, %t = sp.reduce_scatter_start %x max dim 0 in <contiguous 8 on "sp" of 4> : tensor<8xf32> -> tensor<2xf32>
  sp.wait %t
  return
}

// CHECK-LABEL: @values_scattered_together
func.func @values_scattered_together(%x: tensor<8x2xf32>, %y: tensor<2x9xf32>) {
  // CHECK: sp.reduce_scatter %{{.*}}, %{{.*}} sum dims [0 in <contiguous 8 on "sp" of 4>, 1 in <contiguous 9 on "sp" of 4>] : tensor<8x2xf32>, tensor<2x9xf32> -> tensor<2x2xf32>, tensor<2x3xf32>
  %0:2 = sp.reduce_scatter %x, %y sum dims [0 in <contiguous 8 on "sp" of 4>, 1 in <contiguous 9 on "sp" of 4>] : tensor<8x2xf32>, tensor<2x9xf32> -> tensor<2x2xf32>, tensor<2x3xf32>
  // CHECK: sp.reduce_scatter_start %{{.*}}, %{{.*}} sum dim 0 in <contiguous 8 on "sp" of 4> : tensor<8x2xf32>, tensor<8x2xf32> -> tensor<2x2xf32>, tensor<2x2xf32>
  %1:3 = sp.reduce_scatter_start %x, %x sum dim 0 in <contiguous 8 on "sp" of 4> : tensor<8x2xf32>, tensor<8x2xf32> -> tensor<2x2xf32>, tensor<2x2xf32>
  sp.wait %1#2
  return
}
