// RUN: sp-opt %s -split-input-file --sp-propagate-shardings --sp-localize --remarks-filter="sp-localize" -verify-diagnostics
//
// What is not token-local is named, with the bytes that a rank sends for it.

module @reversed_tokens_are_gathered {
  sp.mesh @mesh <["sp" = 3]> sequence "sp"
  func.func @main(%x: tensor<2x10x4xf32> {sp.sharding = #sp.sharding<[[2], [10 by <contiguous 10 on "sp" of 3>], [4]]>}) -> tensor<2x10x4xf32> {
    // expected-remark @below {{[Analysis] Gathered | Category:sp-localize | Remark=stablehlo.reverse, Remark=" needs dimension ", Remark=" whole: it is gathered over ", Remark="axis "sp"", Remark=", a rank sends ", Remark=" bytes", bytes=256, dimension=1}}
    %y = stablehlo.reverse %x, dims = [1] : tensor<2x10x4xf32>
    return %y : tensor<2x10x4xf32>
  }
}

// -----

module @last_token_is_handed_on {
  sp.mesh @mesh <["sp" = 3]> sequence "sp"
  func.func @main(%x: tensor<2x10x4xf32> {sp.sharding = #sp.sharding<[[2], [10 by <contiguous 10 on "sp" of 3>], [4]]>}) -> tensor<2x1x4xf32> {
    // expected-remark @below {{[Analysis] Moved | Category:sp-localize | Remark=stablehlo.slice, Remark=" moves rows of dimension ", Remark=", a rank sends ", Remark=" bytes", bytes=64, dimension=1}}
    %y = stablehlo.slice %x [0:2, 9:10, 0:4] : (tensor<2x10x4xf32>) -> tensor<2x1x4xf32>
    return %y : tensor<2x1x4xf32>
  }
}

// -----

module @reshape_that_mixes_tokens_is_gathered {
  sp.mesh @mesh <["sp" = 3]> sequence "sp"
  func.func @main(%x: tensor<2x10x4xf32> {sp.sharding = #sp.sharding<[[2], [10 by <contiguous 10 on "sp" of 3>], [4]]>}) -> tensor<2x5x8xf32> {
    // expected-remark @below {{[Analysis] Gathered | Category:sp-localize | Remark=stablehlo.reshape, Remark=" needs dimension ", Remark=" whole: it is gathered over ", Remark="axis "sp"", Remark=", a rank sends ", Remark=" bytes", bytes=256, dimension=1}}
    %y = stablehlo.reshape %x : (tensor<2x10x4xf32>) -> tensor<2x5x8xf32>
    return %y : tensor<2x5x8xf32>
  }
}

// -----

module @sorted_tokens_are_gathered {
  sp.mesh @mesh <["sp" = 3]> sequence "sp"
  func.func @main(%x: tensor<2x10x4xf32> {sp.sharding = #sp.sharding<[[2], [10 by <contiguous 10 on "sp" of 3>], [4]]>}) -> tensor<2x10x4xf32> {
    // expected-remark @below {{[Analysis] Gathered | Category:sp-localize | Remark=stablehlo.sort, Remark=" needs dimension ", Remark=" whole: it is gathered over ", Remark="axis "sp"", Remark=", a rank sends ", Remark=" bytes", bytes=256, dimension=1}}
    %y = "stablehlo.sort"(%x) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %l = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %l : tensor<i1>
    }) : (tensor<2x10x4xf32>) -> tensor<2x10x4xf32>
    return %y : tensor<2x10x4xf32>
  }
}

// -----

module @running_sum_is_gathered {
  sp.mesh @mesh <["sp" = 3]> sequence "sp"
  func.func @main(%x: tensor<2x10x4xf32> {sp.sharding = #sp.sharding<[[2], [10 by <contiguous 10 on "sp" of 3>], [4]]>}) -> tensor<2x10x4xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    // expected-remark @below {{[Analysis] Gathered | Category:sp-localize | Remark=stablehlo.reduce_window, Remark=" needs dimension ", Remark=" whole: it is gathered over ", Remark="axis "sp"", Remark=", a rank sends ", Remark=" bytes", bytes=256, dimension=1}}
    %y = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 1, 10, 1>, padding = dense<[[0, 0], [9, 0], [0, 0]]> : tensor<3x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<2x10x4xf32>, tensor<f32>) -> tensor<2x10x4xf32>
    return %y : tensor<2x10x4xf32>
  }
}

// -----

module @sum_over_tokens_says_its_bytes {
  sp.mesh @mesh <["sp" = 3]> sequence "sp"
  func.func @main(%x: tensor<2x10x4xf32> {sp.sharding = #sp.sharding<[[2], [10 by <contiguous 10 on "sp" of 3>], [4]]>}) -> tensor<2x4xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    // expected-remark @below {{[Analysis] Reduced | Category:sp-localize | Remark=stablehlo.reduce, Remark=" is reduced over ", Remark="axis "", Remark=sp, Remark="" of ", Remark=", a rank sends ", Remark=" bytes", bytes=44, ranks=3}}
    %s = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x10x4xf32>, tensor<f32>) -> tensor<2x4xf32>
    return %s : tensor<2x4xf32>
  }
}
