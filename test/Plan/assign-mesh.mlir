// RUN: split-file %s %t
// RUN: sp-opt --sp-assign-mesh="mesh=dp=2,sp=4" %t/plain.mlir | FileCheck %s --check-prefix=NAMED
// RUN: sp-opt --sp-assign-mesh="mesh=x=8" %t/plain.mlir | FileCheck %s --check-prefix=ONLY
// RUN: sp-opt --sp-assign-mesh="mesh=a=2,b=4 seq-axis=a batch-axis=b" %t/plain.mlir | FileCheck %s --check-prefix=ASKED
// RUN: sp-opt --sp-assign-mesh="mesh=dp=2" %t/plain.mlir | FileCheck %s --check-prefix=BATCH
// RUN: sp-opt --sp-assign-mesh="mesh=dp=2,sp=2,model=2" %t/plain.mlir | FileCheck %s --check-prefix=TENSOR
// RUN: sp-opt --sp-assign-mesh="mesh=dp=2,sp=2,tp=2" --remarks-filter=sp-assign-mesh %t/plain.mlir 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: sp-opt --sp-assign-mesh="mesh=tp=2,sp=2" --remarks-filter=sp-assign-mesh %t/plain.mlir 2>&1 | FileCheck %s --check-prefix=APART
// RUN: sp-opt --sp-assign-mesh="mesh=tp=2" %t/plain.mlir | FileCheck %s --check-prefix=ALONE
// RUN: sp-opt --sp-assign-mesh %t/declared.mlir | FileCheck %s --check-prefix=DECLARED
// RUN: sp-opt --sp-assign-mesh %t/sharded.mlir | FileCheck %s --check-prefix=SHARDED
// RUN: sp-opt --sp-assign-mesh="seq-axis=y batch-axis=x" %t/sharded.mlir | FileCheck %s --check-prefix=OVERRULED

// NAMED: sp.mesh @mesh <["dp" = 2, "sp" = 4]> sequence "sp" batch "dp"
// ONLY: sp.mesh @mesh <["x" = 8]> sequence "x"{{$}}
// ASKED: sp.mesh @mesh <["a" = 2, "b" = 4]> sequence "a" batch "b"
// BATCH: sp.mesh @mesh <["dp" = 2]> batch "dp"
// TENSOR: sp.mesh @mesh <["dp" = 2, "sp" = 2, "model" = 2]> sequence "sp" batch "dp" tensor "model"
// ORDER: remark: [Passed] MeshOrder {{.*}}, which exchange activations in every layer, are neighbours"
// APART: remark: [Missed] MeshOrder {{.*}} are no neighbours: put it last in --mesh"
// ALONE: sp.mesh @mesh <["tp" = 2]> tensor "tp"
// The mesh of the module, whose name is taken, and not the empty one.
// DECLARED: sp.mesh @sp_mesh <["data" = 2, "context" = 3]> sequence "context" batch "data"
// The axis on the dimension that is the sequence of the attention's queries.
// SHARDED: sp.mesh @sp_mesh <["x" = 4, "y" = 2]> sequence "x" batch "y"
// OVERRULED: sp.mesh @sp_mesh <["x" = 4, "y" = 2]> sequence "y" batch "x"

//--- plain.mlir
func.func @main() {
  return
}

//--- declared.mlir
sdy.mesh @empty = <[]>
sdy.mesh @mesh = <["data"=2, "context"=3]>
func.func @main() {
  return
}

//--- sharded.mlir
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%x: tensor<2x64x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}, {}]>},
                %w: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> tensor<2x64x2x8xf32> {
  %p = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0] : (tensor<2x64x16xf32>, tensor<16x16xf32>) -> tensor<2x64x16xf32>
  %q = stablehlo.reshape %p : (tensor<2x64x16xf32>) -> tensor<2x64x2x8xf32>
  %o = sp.attention(%q, %q, %q) bands [#sp.band<q 0 to 64, k 0 to 64, lo -inf, hi inf>] scale 1.0 : tensor<2x64x2x8xf32>, tensor<2x64x2x8xf32>, tensor<2x64x2x8xf32> -> tensor<2x64x2x8xf32>
  return %o : tensor<2x64x2x8xf32>
}
