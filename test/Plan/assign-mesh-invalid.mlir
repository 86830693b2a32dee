// RUN: split-file %s %t
// RUN: not sp-opt --sp-assign-mesh %t/plain.mlir 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not sp-opt --sp-assign-mesh="mesh=sp=0" %t/plain.mlir 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not sp-opt --sp-assign-mesh="mesh=sp" %t/plain.mlir 2>&1 | FileCheck %s --check-prefix=NOSIZE
// RUN: not sp-opt --sp-assign-mesh="mesh=sp=2,sp=4" %t/plain.mlir 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not sp-opt --sp-assign-mesh="mesh=sp=2,ep=4" %t/plain.mlir 2>&1 | FileCheck %s --check-prefix=ROLE
// RUN: not sp-opt --sp-assign-mesh="mesh=sp=2 seq-axis=cp" %t/plain.mlir 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not sp-opt --sp-assign-mesh="mesh=sp=2 batch-axis=cp" %t/plain.mlir 2>&1 | FileCheck %s --check-prefix=BATCH
// RUN: not sp-opt --sp-assign-mesh="mesh=sp=2 seq-axis=sp batch-axis=sp" %t/plain.mlir 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not sp-opt --sp-assign-mesh="mesh=sp=2,dp=2 tensor-axis=dp" %t/plain.mlir 2>&1 | FileCheck %s --check-prefix=TENSOR
// RUN: not sp-opt --sp-assign-mesh="mesh=a=2,b=2 seq-axis=a,b" %t/plain.mlir 2>&1 | FileCheck %s --check-prefix=SEVERAL
// RUN: not sp-opt --sp-assign-mesh="mesh=sp=4" %t/declared.mlir 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not sp-opt --sp-assign-mesh="mesh=sp=1048576,dp=2" %t/plain.mlir 2>&1 | FileCheck %s --check-prefix=RANKS

// NONE: error: expected a mesh but the module declares none; name one, such as --mesh=sp=8
// SIZE: error: expected a mesh of axes and positive sizes, such as dp=2,sp=4, but got "sp=0"
// NOSIZE: error: expected a mesh of axes and positive sizes, such as dp=2,sp=4, but got "sp"
// TWICE: error: expected distinct mesh axes but got "sp" twice in "sp=2,sp=4"
// ROLE: error: expected every mesh axis to shard the sequence, the batch or heads and features but axis "ep" of size 4 does not; name it with --seq-axis, --batch-axis or --tensor-axis, or leave it out
// MISSING: error: expected --seq-axis to name an axis of the mesh, "sp", but got "cp"
// BATCH: error: expected --batch-axis to name an axis of the mesh, "sp", but got "cp"
// TENSOR: error: expected different axes for the batch and tensors but got "dp" for both
// BOTH: error: expected different axes for the sequence and the batch but got "sp" for both
// SEVERAL: error: expected --seq-axis to name one axis but got "a,b"; several axes for one sequence are not supported yet
// OTHER: error: expected axis "sp" to have size 8, as the module's mesh says, but --mesh gives it 4
// OTHER: note: the module's mesh; export the model again for another, or leave --mesh out
// RANKS: error: expected a mesh of at most 1048576 ranks but got 1048576 x 2

//--- plain.mlir
func.func @main() {
  return
}

//--- declared.mlir
sdy.mesh @mesh = <["sp"=8]>
func.func @main() {
  return
}
