// RUN: sp-interpret %s | FileCheck %s
// RUN: not sp-interpret %s --function=disagree 2>&1 | FileCheck %s --check-prefix=DISAGREE

sdy.mesh @mesh = <["dp"=2, "sp"=2]>

// Each device adds its number; then neighbours along "sp" exchange their parts.
func.func @main() -> (tensor<4x2xi32>, tensor<4x2xi32>, tensor<2xi32>) {
  %x = stablehlo.constant dense<[[0, 10], [20, 30], [40, 50], [60, 70]]> : tensor<4x2xi32>
  // CHECK: result0: tensor<4x2xi32> [0, 11, 20, 31, 42, 53, 62, 73]
  %numbered = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"dp"}, {"sp"}]>] out_shardings=[<@mesh, [{"dp"}, {"sp"}]>] manual_axes={"dp", "sp"} (%local: tensor<2x1xi32>) {
    %id = stablehlo.partition_id : tensor<ui32>
    %0 = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<2x1xi32>
    %2 = stablehlo.add %local, %1 : tensor<2x1xi32>
    sdy.return %2 : tensor<2x1xi32>
  } : (tensor<4x2xi32>) -> tensor<4x2xi32>
  // CHECK-NEXT: result1: tensor<4x2xi32> [10, 0, 30, 20, 50, 40, 70, 60]
  // CHECK-NEXT: result2: tensor<2xi32> [100, 180]
  %swapped:2 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"dp"}, {"sp"}]>] out_shardings=[<@mesh, [{"dp"}, {"sp"}]>, <@mesh, [{}]>] manual_axes={"dp", "sp"} (%local: tensor<2x1xi32>) {
    %0 = "stablehlo.collective_permute"(%local) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0], [2, 3], [3, 2]]> : tensor<4x2xi64>}> : (tensor<2x1xi32>) -> tensor<2x1xi32>
    %1 = "stablehlo.all_reduce"(%local) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %3 = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %3 : tensor<i32>
    }) : (tensor<2x1xi32>) -> tensor<2x1xi32>
    %2 = stablehlo.reshape %1 : (tensor<2x1xi32>) -> tensor<2xi32>
    sdy.return %0, %2 : tensor<2x1xi32>, tensor<2xi32>
  } : (tensor<4x2xi32>) -> (tensor<4x2xi32>, tensor<2xi32>)
  return %numbered, %swapped#0, %swapped#1 : tensor<4x2xi32>, tensor<4x2xi32>, tensor<2xi32>
}

// DISAGREE: error: 'stablehlo.if' op exchanges values between devices, but device 1 decides for 1 and device 0 for 0
func.func @disagree() -> tensor<4xi32> {
  %x = stablehlo.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"dp", "sp"}]>] out_shardings=[<@mesh, [{"dp", "sp"}]>] manual_axes={"dp", "sp"} (%local: tensor<1xi32>) {
    %id = stablehlo.partition_id : tensor<ui32>
    %one = stablehlo.constant dense<1> : tensor<ui32>
    %first = stablehlo.compare EQ, %id, %one, UNSIGNED : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
    %1 = "stablehlo.if"(%first) ({
      stablehlo.return %local : tensor<1xi32>
    }, {
      %2 = "stablehlo.all_reduce"(%local) <{replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %3 = stablehlo.add %a, %b : tensor<i32>
        stablehlo.return %3 : tensor<i32>
      }) : (tensor<1xi32>) -> tensor<1xi32>
      stablehlo.return %2 : tensor<1xi32>
    }) : (tensor<i1>) -> tensor<1xi32>
    sdy.return %1 : tensor<1xi32>
  } : (tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
