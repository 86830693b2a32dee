// RUN: sp-compile %s --emit=commands --mesh=sp=4 --strategy=none | FileCheck %s --check-prefixes=CHECK,NONE
// RUN: sp-compile %s --emit=commands --mesh=sp=4 --strategy=ring | FileCheck %s --check-prefixes=CHECK,RING
// RUN: sp-compile %s --emit=commands --mesh=sp=4 --strategy=ulysses | FileCheck %s --check-prefixes=CHECK,ULYSSES
// RUN: sp-compile %s --emit=commands --mesh=sp=2 --strategy=ulysses --head-groups=2 | FileCheck %s --check-prefix=GROUPS

// A launch of an attention says what its score function reads: values of
// queries, keys, heads and pairs, and a table. The kernel is named after both,
// and after the sums that it leaves to the next step of a ring.

// CHECK: kernel [[KERNEL:[0-9]+]] attend_f32_d8_score_0
// CHECK: input arg3: 2x6xi32{{.*}} at arena[[IDS:\[[0-9]+; [0-9]+\]]]
// NONE: input arg4: 1x4x6x6xf32 at arena[[BIAS:\[[0-9]+; 576\]]]
// RING: input arg4: 1x4x6x6xf32, dim 2 by layout 0 of owner sp at arena[[BIAS:\[[0-9]+; 192\]]]
// ULYSSES: input arg4: 1x4x6x6xf32, dim 1 by layout [[HEADS:[0-9]+]] of owner sp at arena[[BIAS:\[[0-9]+; 144\]]]
// CHECK: input arg5: 4xf32 at arena[[WEIGHTS:\[[0-9]+; 16\]]]
// CHECK: input arg6: 5x4xf32 at arena[[TABLE:\[[0-9]+; 80\]]]

// NONE: attend attend_f32_d8_score_0 {{.*}} term=arena[{{[0-9]+}}; 48] term=arena[{{[0-9]+}}; 48] term=arena[{{[0-9]+}}; 16] term=arena[[BIAS]] term=arena[[TABLE]] init "layer0"

// What is said of keys comes from where its block was received; the others stay.
// RING: send_recv to (sp + 1) % 4 {{.*}} send arena[[OWN:\[[0-9]+; 16\]]] rows sp of layout 0 heads 1 of 4 B recv arena[{{[0-9]+}}; 16]
// RING: attend attend_f32_d8_score_0_sums {{.*}} term=arena[[QUERIES:\[[0-9]+; 16\]]] term=arena[[OWN]] term=arena[[OFHEADS:\[[0-9]+; 16\]]] term=arena[[BIAS]] term=arena[[TABLE]] init
// RING: loop t in 1..3
// RING: send_recv {{.*}} send arena[[BLOCK:\[\(\(t \+ 1\) % 2\) \* 64 \+ [0-9]+; 16\]]] rows (sp - t) % 4 of layout 0 heads 1 of 4 B
// RING: attend attend_f32_d8_score_0_sums {{.*}} term=arena[[QUERIES]] term=arena[[BLOCK]] term=arena[[OFHEADS]] term=arena[[BIAS]] term=arena[[TABLE]]
// RING: attend attend_f32_d8_score_0_sums {{.*}} term=arena[[QUERIES]] term=arena[{{[0-9]+}}; 16] term=arena[[OFHEADS]] term=arena[[BIAS]] term=arena[[TABLE]]

// ULYSSES: all_to_all along sp rows to heads arena[{{[0-9]+}}; 64] to arena[[FIRST:\[[0-9]+; 48\]]] rows by layout {{[0-9]+}}, 4 heads
// ULYSSES: all_to_all along sp rows to heads arena[{{[0-9]+}}; 64] to arena[[SECOND:\[[0-9]+; 48\]]] rows by layout {{[0-9]+}}, 4 heads
// ULYSSES: attend attend_f32_d8_score_0 {{.*}} term=arena[[FIRST]] term=arena[[SECOND]] term=arena[{{[0-9]+}}; 16] term=arena[[BIAS]] term=arena[[TABLE]] init

// A later group begins behind the heads of those before it; the pair holds the
// heads of both.
// GROUPS: input arg4: 1x4x6x6xf32 at arena[[BIAS:\[[0-9]+; 576\]]]
// GROUPS: attend {{.*}} heads sp + min(sp, 0)+rows#{{[0-9]+}}(sp)/2 kv ((sp + min(sp, 0)) * 2) / 2/2 {{.*}} term=arena[[BIAS]]
// GROUPS: attend {{.*}} heads 2 + sp + min(sp, 0)+rows#{{[0-9]+}}(sp)/4 kv 2 + ((sp + min(sp, 0)) * 2) / 2/4 {{.*}} term=arena[[BIAS]]
module @terms_of_a_launch {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x4x8xf32>, %arg2: tensor<2x6x4x8xf32>, %arg3: tensor<2x6xi32>, %arg4: tensor<1x4x6x6xf32>, %arg5: tensor<4xf32>, %arg6: tensor<5x4xf32>) -> (tensor<2x6x4x8xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %1 = stablehlo.broadcast_in_dim %arg4, dims = [0, 1, 2, 3] : (tensor<1x4x6x6xf32>) -> tensor<2x4x6x6xf32>
    %2 = stablehlo.add %0, %1 : tensor<2x4x6x6xf32>
    %3 = stablehlo.iota dim = 0 : tensor<6xi32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
    %5 = stablehlo.iota dim = 0 : tensor<6xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [1] : (tensor<6xi32>) -> tensor<1x6xi32>
    %7 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<6x1xi32>) -> tensor<6x6xi32>
    %8 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<1x6xi32>) -> tensor<6x6xi32>
    %9 = stablehlo.subtract %7, %8 : tensor<6x6xi32>
    %c = stablehlo.constant dense<-2> : tensor<i32>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %10 = call @clip(%9, %c, %c_0) : (tensor<6x6xi32>, tensor<i32>, tensor<i32>) -> tensor<6x6xi32>
    %c_1 = stablehlo.constant dense<2> : tensor<i32>
    %11 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<6x6xi32>
    %12 = stablehlo.add %10, %11 : tensor<6x6xi32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1] : (tensor<6x6xi32>) -> tensor<6x6x1xi32>
    %14 = "stablehlo.gather"(%arg6, %13) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<5x4xf32>, tensor<6x6x1xi32>) -> tensor<6x6x4xf32>
    %15 = stablehlo.transpose %14, dims = [2, 0, 1] : (tensor<6x6x4xf32>) -> tensor<4x6x6xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [1, 2, 3] : (tensor<4x6x6xf32>) -> tensor<1x4x6x6xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2, 3] : (tensor<1x4x6x6xf32>) -> tensor<2x4x6x6xf32>
    %18 = stablehlo.add %2, %17 : tensor<2x4x6x6xf32>
    %19 = stablehlo.broadcast_in_dim %arg3, dims = [0, 2] : (tensor<2x6xi32>) -> tensor<2x1x6x1xi32>
    %20 = stablehlo.broadcast_in_dim %arg3, dims = [0, 3] : (tensor<2x6xi32>) -> tensor<2x1x1x6xi32>
    %21 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2, 3] : (tensor<2x1x6x1xi32>) -> tensor<2x1x6x6xi32>
    %22 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2, 3] : (tensor<2x1x1x6xi32>) -> tensor<2x1x6x6xi32>
    %23 = stablehlo.compare EQ, %21, %22, SIGNED : (tensor<2x1x6x6xi32>, tensor<2x1x6x6xi32>) -> tensor<2x1x6x6xi1>
    %24 = stablehlo.iota dim = 0 : tensor<6xi32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
    %26 = stablehlo.iota dim = 0 : tensor<6xi32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [1] : (tensor<6xi32>) -> tensor<1x6xi32>
    %28 = stablehlo.broadcast_in_dim %25, dims = [0, 1] : (tensor<6x1xi32>) -> tensor<6x6xi32>
    %29 = stablehlo.broadcast_in_dim %27, dims = [0, 1] : (tensor<1x6xi32>) -> tensor<6x6xi32>
    %30 = stablehlo.compare GE, %28, %29, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %31 = stablehlo.broadcast_in_dim %30, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<1x1x6x6xi1>
    %32 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2, 3] : (tensor<1x1x6x6xi1>) -> tensor<2x1x6x6xi1>
    %33 = stablehlo.and %23, %32 : tensor<2x1x6x6xi1>
    %34 = stablehlo.broadcast_in_dim %arg5, dims = [0] : (tensor<4xf32>) -> tensor<4x1x1xf32>
    %35 = stablehlo.broadcast_in_dim %34, dims = [1, 2, 3] : (tensor<4x1x1xf32>) -> tensor<1x4x1x1xf32>
    %36 = stablehlo.broadcast_in_dim %35, dims = [0, 1, 2, 3] : (tensor<1x4x1x1xf32>) -> tensor<2x4x6x6xf32>
    %37 = stablehlo.multiply %18, %36 : tensor<2x4x6x6xf32>
    %38 = stablehlo.broadcast_in_dim %33, dims = [0, 1, 2, 3] : (tensor<2x1x6x6xi1>) -> tensor<2x4x6x6xi1>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %40 = stablehlo.select %38, %37, %39 : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %41 = stablehlo.reduce(%40 init: %cst_2) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %42 = stablehlo.broadcast_in_dim %41, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %43 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %44 = stablehlo.subtract %40, %43 : tensor<2x4x6x6xf32>
    %45 = stablehlo.exponential %44 : tensor<2x4x6x6xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %46 = stablehlo.reduce(%45 init: %cst_3) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %47 = stablehlo.broadcast_in_dim %46, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %48 = stablehlo.broadcast_in_dim %47, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %49 = stablehlo.divide %45, %48 : tensor<2x4x6x6xf32>
    %50 = stablehlo.dot_general %arg2, %49, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %51 = stablehlo.transpose %50, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    return %51 : tensor<2x6x4x8xf32>
  }
  func.func private @clip(%arg0: tensor<6x6xi32>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<6x6xi32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<6x6xi32>
    %2 = stablehlo.maximum %1, %arg0 : tensor<6x6xi32>
    %3 = stablehlo.convert %arg2 : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<i32>) -> tensor<6x6xi32>
    %5 = stablehlo.minimum %4, %2 : tensor<6x6xi32>
    return %5 : tensor<6x6xi32>
  }
}
