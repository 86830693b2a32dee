// RUN: sp-opt %s --sp-verify-import --split-input-file --verify-diagnostics

module {
  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @below {{expected operations of StableHLO and attention after import but got 'func.call'}}
    %0 = call @main(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module {
  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
  // expected-error @below {{expected one function after import but got another one, "second"}}
  func.func public @second(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

// expected-error @below {{expected a public function @main}}
module {
  func.func public @other(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

module {
  func.func public @main(%x: tensor<?xf32>) -> tensor<?xf32> {
    // expected-error @below {{expected static shapes but got 'tensor<?xf32>'}}
    %0 = stablehlo.negate %x : tensor<?xf32>
    return %0 : tensor<?xf32>
  }
}

// -----

module {
  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @below {{expected operations of StableHLO and attention after import but got 'arith.negf'}}
    %0 = arith.negf %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
