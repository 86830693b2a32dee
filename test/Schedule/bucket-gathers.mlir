// RUN: sp-opt %s -split-input-file --sp-bucket-reductions | FileCheck %s --check-prefixes=CHECK,LARGE
// RUN: sp-opt %s -split-input-file --sp-bucket-reductions=bucket-bytes=64 | FileCheck %s --check-prefixes=CHECK,SMALL

// Weights come together where the first one does, of which a bucket has room for so
// many bytes; keys are not there yet, and weights do not keep them waiting.
// CHECK-LABEL: module @gathers_that_start_together
// LARGE: %[[W:.*]]:2 = sp.all_gather %arg1, %arg2 dims [0 in <contiguous 4 on "sp" of 2>, 1 in <contiguous 3 on "sp" of 2>]
// SMALL: sp.all_gather %arg1 dim 0
// CHECK-NEXT: %[[K:.*]] = sp.launch @double(%arg0)
// SMALL-NEXT: sp.all_gather %arg2 dim 1
// CHECK-NEXT: sp.all_gather %[[K]] dim 0 in <zigzag 4 on "sp" of 2>
// LARGE-NEXT: sp.all_gather %arg1, %arg3 dims [0 in <contiguous 4 on "sp" of 2>, 0 in <contiguous 2 on "sp" of 2>]
// SMALL-NEXT: sp.all_gather %arg1 dim 0
// SMALL-NEXT: sp.all_gather %arg3 dim 0
module @gathers_that_start_together {
  func.func private @double(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %y = stablehlo.add %x, %x : tensor<2x4xf32>
    return %y : tensor<2x4xf32>
  }
  func.func @main(%x: tensor<2x4xf32>, %u: tensor<2x4xf32>, %v: tensor<4x2xf32>, %w: tensor<1x4xbf16>) -> (tensor<4x4xf32>, tensor<4x3xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<2x4xbf16>) {
    %0 = sp.all_gather %u dim 0 in <contiguous 4 on "sp" of 2> : tensor<2x4xf32> -> tensor<4x4xf32>
    %k = sp.launch @double(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %1 = sp.all_gather %v dim 1 in <contiguous 3 on "sp" of 2> : tensor<4x2xf32> -> tensor<4x3xf32>
    %2 = sp.all_gather %k dim 0 in <zigzag 4 on "sp" of 2> : tensor<2x4xf32> -> tensor<4x4xf32>
    %3 = sp.all_gather %u dim 0 in <contiguous 4 on "sp" of 2> : tensor<2x4xf32> -> tensor<4x4xf32>
    %4 = sp.all_gather %w dim 0 in <contiguous 2 on "sp" of 2> : tensor<1x4xbf16> -> tensor<2x4xbf16>
    return %0, %1, %2, %3, %4 : tensor<4x4xf32>, tensor<4x3xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<2x4xbf16>
  }
}

// -----

// Not along other axes, not after something else, and not across other communication
// or a loop.
// CHECK-LABEL: module @gathers_apart
// CHECK: sp.all_gather %arg0 dim 0 in <contiguous 4 on "sp" of 2> :
// CHECK-NEXT: sp.all_gather %arg0 dim 0 in <contiguous 4 on "dp" of 2> :
// CHECK-NEXT: sp.all_gather %arg0 dim 0 in <contiguous 4 on "dp" of 2> after %arg1
// CHECK-NEXT: sp.all_reduce
// CHECK-NEXT: sp.all_gather %arg0 dim 0 in <contiguous 4 on "dp" of 2> after %arg1
// CHECK-NEXT: scf.for
// CHECK: sp.all_gather %arg0 dim 0 in <contiguous 4 on "dp" of 2> after %arg1
module @gathers_apart {
  func.func @main(%u: tensor<2xf32>, %x: tensor<8xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<8xf32>, tensor<4xf32>, tensor<8xf32>, tensor<4xf32>) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %0 = sp.all_gather %u dim 0 in <contiguous 4 on "sp" of 2> : tensor<2xf32> -> tensor<4xf32>
    %1 = sp.all_gather %u dim 0 in <contiguous 4 on "dp" of 2> : tensor<2xf32> -> tensor<4xf32>
    %2 = sp.all_gather %u dim 0 in <contiguous 4 on "dp" of 2> after %x : tensor<8xf32> : tensor<2xf32> -> tensor<4xf32>
    %3 = sp.all_reduce %x max over ["sp"] of 2 : tensor<8xf32>
    %4 = sp.all_gather %u dim 0 in <contiguous 4 on "dp" of 2> after %x : tensor<8xf32> : tensor<2xf32> -> tensor<4xf32>
    %5 = scf.for %i = %zero to %one step %one iter_args(%a = %x) -> (tensor<8xf32>) {
      %s = sp.all_reduce %a max over ["sp"] of 2 : tensor<8xf32>
      scf.yield %s : tensor<8xf32>
    }
    %6 = sp.all_gather %u dim 0 in <contiguous 4 on "dp" of 2> after %x : tensor<8xf32> : tensor<2xf32> -> tensor<4xf32>
    return %0, %1, %2, %3, %4, %5, %6 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<8xf32>, tensor<4xf32>, tensor<8xf32>, tensor<4xf32>
  }
}
