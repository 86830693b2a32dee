// The program "explicit" of Inputs/programs.py as JAX 0.10.2 prints it, with locations.
//
// RUN: grep -v "^//\|^$" %s > %t.expected
// RUN: sp-opt %s --mlir-print-debuginfo | grep . > %t.actual
// RUN: diff %t.expected %t.actual

#loc1 = loc("x")
module @jit__lambda attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "sp"=4]> {stablehlo.mesh = {axes = [{name = "data", size = 2 : i64}, {name = "sp", size = 4 : i64}]}} loc(#loc)
  func.func public @main(%arg0: tensor<2x16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"sp"}, {}]>} loc("x")) -> (tensor<2x16x4xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"sp"}, {}]>}) {
    %0 = stablehlo.sine %arg0 : tensor<2x16x4xf32> loc(#loc20)
    %1 = sdy.sharding_constraint %0 <@mesh, [{"data"}, {"sp"}, {}]> : tensor<2x16x4xf32> loc(#loc20)
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32> loc(#loc17)
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x16x4xf32> loc(#loc21)
    %3 = sdy.sharding_constraint %2 <@mesh, [{"data"}, {"sp"}, {}]> : tensor<2x16x4xf32> loc(#loc21)
    %4 = stablehlo.multiply %1, %3 : tensor<2x16x4xf32> loc(#loc21)
    %5 = sdy.sharding_constraint %4 <@mesh, [{"data"}, {"sp"}, {}]> : tensor<2x16x4xf32> loc(#loc21)
    %6 = stablehlo.add %5, %arg0 : tensor<2x16x4xf32> loc(#loc22)
    %7 = sdy.sharding_constraint %6 <@mesh, [{"data"}, {"sp"}, {}]> : tensor<2x16x4xf32> loc(#loc22)
    return %7 : tensor<2x16x4xf32> loc(#loc17)
  } loc(#loc)
} loc(#loc)
#loc = loc(unknown)
#loc2 = loc("programs.py":205:44 to :54)
#loc3 = loc("programs.py":209:14 to :38)
#loc4 = loc("programs.py":234:8 to :49)
#loc5 = loc("programs.py":243:4 to :10)
#loc6 = loc("programs.py":205:44 to :58)
#loc7 = loc("programs.py":205:44 to :62)
#loc8 = loc("sharded.<locals>.<lambda>"(#loc2))
#loc9 = loc("write"(#loc3))
#loc10 = loc("main"(#loc4))
#loc11 = loc("<module>"(#loc5))
#loc12 = loc("sharded.<locals>.<lambda>"(#loc6))
#loc13 = loc("sharded.<locals>.<lambda>"(#loc7))
#loc14 = loc(callsite(#loc10 at #loc11))
#loc15 = loc(callsite(#loc9 at #loc14))
#loc16 = loc(callsite(#loc8 at #loc15))
#loc17 = loc("jit(<lambda>)"(#loc15))
#loc18 = loc(callsite(#loc12 at #loc15))
#loc19 = loc(callsite(#loc13 at #loc15))
#loc20 = loc("jit(<lambda>)/sin"(#loc16))
#loc21 = loc("jit(<lambda>)/mul"(#loc18))
#loc22 = loc("jit(<lambda>)/add"(#loc19))
