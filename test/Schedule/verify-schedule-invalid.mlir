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
