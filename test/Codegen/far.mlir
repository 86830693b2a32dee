// RUN: sp-emit-partitioned %s --far=1 -o %t.spx | FileCheck %s
// RUN: mkdir -p %t.dir
// RUN: sp-run %t.spx --random-inputs=1 --save-inputs=%t.in.npz --outputs=%t.far.npz --far=%t.dir | FileCheck %s --check-prefix=SAID
// RUN: sp-emit-partitioned %s -o %t.spx | FileCheck %s --check-prefix=NEAR
// RUN: sp-run %t.spx --inputs=%t.in.npz --check=%t.far.npz --rtol=0

// Copies to and from far memory run on streams of their own, once what they read
// is there, and are waited for.
// CHECK: mesh {{.*}} far 4.00 KiB
// CHECK: copy arena[{{.*}}; 1024] to far[0; 1024]
// CHECK-SAME: stream out
// CHECK: copy far[0; 1024] to arena[{{.*}}; 1024]
// CHECK-SAME: stream in
// CHECK: rank 0 sends 0 bytes{{.*}}, of far memory 4096, reads 1024 and writes 1024 there
// NEAR-NOT: far[
// NEAR: of far memory 0, reads 0 and writes 0 there
// SAID: far {{ *}}4.00 KiB a rank (4096)
// SAID: evicted {{ *}}1.00 KiB a rank (1024)
// SAID: fetched {{ *}}1.00 KiB a rank (1024)
sp.mesh @mesh <["sp" = 2]> sequence "sp"
func.func @main(%w: tensor<16x16xf32> {sp.sharding = #sp.sharding<[[16], [16]]>}, %a: tensor<16x64xf32> {sp.sharding = #sp.sharding<[[16], [64]]>}, %b: tensor<64x16xf32> {sp.sharding = #sp.sharding<[[64], [16]]>}) -> (tensor<16x16xf32> {sp.sharding = #sp.sharding<[[16], [16]]>}) {
  %x = stablehlo.dot_general %w, %w, contracting_dims = [1] x [0] : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %z = stablehlo.dot_general %y, %a, contracting_dims = [1] x [0] : (tensor<16x16xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
  %u = stablehlo.dot_general %z, %b, contracting_dims = [1] x [0] : (tensor<16x64xf32>, tensor<64x16xf32>) -> tensor<16x16xf32>
  %v = stablehlo.dot_general %u, %w, contracting_dims = [1] x [0] : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %r = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  return %r : tensor<16x16xf32>
}
