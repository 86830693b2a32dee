// RUN: not sp-interpret %s --function=disagree 2>&1 | FileCheck %s --check-prefix=DISAGREE
// RUN: not sp-interpret %s --function=no_axis 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: not sp-interpret %s --function=other_ranks 2>&1 | FileCheck %s --check-prefix=RANKS
// RUN: not sp-interpret %s --function=wrong_block 2>&1 | FileCheck %s --check-prefix=BLOCK
// RUN: not sp-interpret %s --function=not_dealt --random-inputs=1 2>&1 | FileCheck %s --check-prefix=DEALT
// RUN: not sp-interpret %s --function=unknown 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not sp-interpret %s --function=endless 2>&1 | FileCheck %s --check-prefix=STEP
// RUN: not sp-interpret %s --function=disagree --precision=program --errors=%t.npz 2>&1 | FileCheck %s --check-prefix=ERRORS

sp.mesh @mesh <["sp" = 3]> sequence "sp"

// DISAGREE: error: 'func.return' op expected ranks to agree in what several hold of result 0 but element 0 is 1 on rank 1 and 0 on rank 0
// ERRORS: error: 'func.func' op has no errors: they are not known where ranks exchange values
func.func @disagree() -> (tensor<1xi32> {sp.sharding = #sp.sharding<[[1]]>}) {
  %p = sp.positions <contiguous 3 on "sp" of 3> : tensor<1xi32>
  return %p : tensor<1xi32>
}

// AXIS: error: 'sp.rank' op cannot be evaluated: expected a mesh with axis "cp"
func.func @no_axis() -> (tensor<1xi32> {sp.sharding = #sp.sharding<[[1]]>}) {
  %r = sp.rank "cp" : index
  %c = stablehlo.constant dense<1> : tensor<1xi32>
  return %c : tensor<1xi32>
}

// RANKS: error: 'sp.row_count' op cannot be evaluated: expected a layout for the 3 ranks of axis "sp" but got one for 2
func.func @other_ranks() -> (tensor<i32> {sp.sharding = #sp.sharding<[]>}) {
  %n = sp.row_count <contiguous 2 on "sp" of 2> : tensor<i32>
  return %n : tensor<i32>
}

// BLOCK: error: 'sp.shift' op cannot be evaluated: rank 0 awaits the block of rank 2 but is sent that of rank 1
func.func @wrong_block() -> (tensor<1x1xi32> {sp.sharding = #sp.sharding<[[3 by <contiguous 3 on "sp" of 3>], [1]]>}) {
  %x = stablehlo.constant dense<1> : tensor<1x1xi32>
  %r = sp.rank "sp" : index
  %wrong = affine.apply affine_map<()[s0] -> ((2 * s0) floordiv 3)>()[%r]
  %y = sp.shift %x from %wrong by 1 in <contiguous 3 on "sp" of 3> : tensor<1x1xi32>
  return %y : tensor<1x1xi32>
}

// DEALT: error: 'func.func' op cannot be evaluated: expected argument 0 of type 'tensor<2xi32>' to say how it is dealt
func.func @not_dealt(%x: tensor<2xi32> {sp.sharding = #sp.sharding<[[3]]>}) -> (tensor<2xi32> {sp.sharding = #sp.sharding<[[2]]>}) {
  return %x : tensor<2xi32>
}

// UNKNOWN: error: 'sp.log_sum_exp' op is not evaluated
func.func @unknown() -> (tensor<2xf32> {sp.sharding = #sp.sharding<[[2]]>}) {
  %x = stablehlo.constant dense<1.0> : tensor<2x3xf32>
  %y = sp.log_sum_exp %x along 1 : tensor<2x3xf32> -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// STEP: error: 'scf.for' op cannot be evaluated with step 0
func.func @endless() -> (tensor<1xi32> {sp.sharding = #sp.sharding<[[1]]>}) {
  %x = stablehlo.constant dense<1> : tensor<1xi32>
  %c = arith.constant 0 : index
  %y = scf.for %i = %c to %c step %c iter_args(%z = %x) -> (tensor<1xi32>) {
    scf.yield %z : tensor<1xi32>
  }
  return %y : tensor<1xi32>
}
