// RUN: sp-opt %s -split-input-file --sp-verify-schedule -verify-diagnostics

module @operation_outside_kernels {
  func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    // expected-error @below {{'stablehlo.negate' op expected to be part of a kernel after Schedule}}
    %y = stablehlo.negate %x : tensor<8xf32>
    return %y : tensor<8xf32>
  }
}

// -----

module @token_never_waited_for {
  func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    // expected-error @below {{'sp.all_reduce_start' op expected exactly one wait, in the same block}}
    %s, %t = sp.all_reduce_start %x sum over ["sp"] of 2 : tensor<8xf32>
    return %s : tensor<8xf32>
  }
}

// -----

module @token_waited_for_in_another_block {
  func.func @main(%x: tensor<8xf32>, %i: tensor<i32>) -> tensor<8xf32> {
    // expected-error @below {{'sp.all_reduce_start' op expected exactly one wait, in the same block}}
    %s, %t = sp.all_reduce_start %x sum over ["sp"] of 2 : tensor<8xf32>
    %y = "stablehlo.case"(%i) ({
      sp.wait %t
      stablehlo.return %x : tensor<8xf32>
    }) : (tensor<i32>) -> tensor<8xf32>
    return %s : tensor<8xf32>
  }
}

// -----

module @used_before_the_wait {
  func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    %s, %t = sp.all_reduce_start %x sum over ["sp"] of 2 : tensor<8xf32>
    // expected-error @below {{'sp.copy' op expected to use what is communicated only after the wait}}
    %y = sp.copy %s : tensor<8xf32>
    sp.wait %t
    return %y : tensor<8xf32>
  }
}

// -----

module @ahead_without_turns {
  func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    // expected-error @below {{'sp.all_reduce_start' op expected to be in a counted loop, as 'sp.ahead' says}}
    %s, %t = sp.all_reduce_start %x sum over ["sp"] of 2 {sp.ahead} : tensor<8xf32>
    sp.wait %t
    return %s : tensor<8xf32>
  }
}

// -----

module @ahead_but_read_in_its_turn {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  func.func @main(%x: tensor<4xf32>, %y: tensor<8xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%n = %y) -> (tensor<8xf32>) {
      %g, %t = sp.all_gather_start %x dim 0 in <contiguous 8 on "sp" of 2> {sp.ahead} : tensor<4xf32> -> tensor<8xf32>
      sp.wait %t
      // expected-error @below {{'sp.copy' op expected only the next turn to read what is made ahead}}
      %c = sp.copy %g : tensor<8xf32>
      scf.yield %g : tensor<8xf32>
    }
    return
  }
}

// -----

module @ahead_but_read_after_the_last_turn {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  func.func @main(%x: tensor<4xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%n = %y) -> (tensor<8xf32>) {
      %g, %t = sp.all_gather_start %x dim 0 in <contiguous 8 on "sp" of 2> {sp.ahead} : tensor<4xf32> -> tensor<8xf32>
      sp.wait %t
      // expected-error @below {{'scf.yield' op expected only the next turn to read what is made ahead}}
      scf.yield %g : tensor<8xf32>
    }
    return %r : tensor<8xf32>
  }
}
