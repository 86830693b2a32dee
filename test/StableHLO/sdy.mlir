// As the printer of jaxlib 0.10.2 writes it: read and written without a change,
// and the same after a detour through the generic form.
//
// RUN: grep -v "^//\|^$" %s > %t.expected
// RUN: sp-opt %s | grep . > %t.pretty
// RUN: diff %t.expected %t.pretty
// RUN: sp-opt %s --mlir-print-op-generic | sp-opt | grep . > %t.generic
// RUN: diff %t.expected %t.generic


module {
  sdy.mesh @mesh = <["data"=2, "sp"=4]> {stablehlo.mesh = {axes = [{name = "data", size = 2 : i64}, {name = "sp", size = 4 : i64}]}}
  sdy.mesh @reversed = <["x"=4, "y"=2], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>
  sdy.mesh @maximal = <[], device_ids=[0]>
  sdy.mesh @empty = <[]>
  func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"sp", ?}p1]>, tf.aliasing_output = 0 : i32}) -> (tensor<8x8xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{?}, {}], replicated={"x"}>}) {
    %0 = sdy.constant dense<0.000000e+00> : tensor<f32>
    %1 = sdy.sharding_constraint %arg0 <@mesh, [{"sp":(2)2}p0, {?}p1], replicated={"data", "sp":(1)2}> : tensor<8x8xf32>
    %2 = sdy.reshard %1 <@mesh, [{"data", "sp"}, {?}]> : tensor<8x8xf32>
    %3 = sdy.sharding_constraint %arg0 <@reversed, [{"x", "y", ?}, {}]> : tensor<8x8xf32>
    %4 = stablehlo.add %arg0, %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"data"}, {}], unreduced={"sp"}>]>} : tensor<8x8xf32>
    %5 = sdy.propagation_barrier %4 allowed_direction=NONE : tensor<8x8xf32>
    sdy.sharding_group %5 group_id=3 : tensor<8x8xf32>
    return %4 : tensor<8x8xf32>
  }
  func.func @regions(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %0 = sdy.manual_computation(%arg0, %arg0) in_shardings=[<@mesh, [{"sp"}, {}]>, <@mesh, [{}, {}]>] out_shardings=[<@mesh, [{"sp"}, {}]>] manual_axes={"sp"} (%arg1: tensor<2x8xf32>, %arg2: tensor<8x8xf32>) {
      sdy.return %arg1 : tensor<2x8xf32>
    } : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %1 = sdy.named_computation<"foo">(%0) in_shardings=[<@mesh, [{"data"}, {}]>] out_shardings=[<@mesh, [{"data"}, {}]>] (%arg1: tensor<8x8xf32>) {
      sdy.return %arg1 : tensor<8x8xf32>
    } : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %2 = sdy.manual_computation(%1) in_shardings=[<@mesh, [{}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={} (%arg1: tensor<8x8xf32>) {
      sdy.return %arg1 : tensor<8x8xf32>
    } : (tensor<8x8xf32>) -> tensor<8x8xf32>
    sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {
      sdy.return
    } : () -> ()
    return %2 : tensor<8x8xf32>
  }
}
