// RUN: sp-opt %s -split-input-file --sp-verify-axes -verify-diagnostics

// A gradient of weights that is reduced, and once more along one of both axes.
module @c1_reduced_twice {
  sp.mesh @mesh <["dp" = 2, "sp" = 4]> sequence "sp" batch "dp"
  func.func @main(%x: tensor<1x2x4xf32> {sp.sharding = #sp.sharding<[[2 by <contiguous 2 on "dp" of 2>], [8 by <contiguous 8 on "sp" of 4>], [4]]>}, %dy: tensor<1x2x4xf32> {sp.sharding = #sp.sharding<[[2 by <contiguous 2 on "dp" of 2>], [8 by <contiguous 8 on "sp" of 4>], [4]]>}) -> (tensor<4x4xf32> {sp.sharding = #sp.sharding<[[4], [4]]>}) {
    %p = stablehlo.dot_general %x, %dy, contracting_dims = [0, 1] x [0, 1] : (tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> tensor<4x4xf32>
    // expected-note @below {{the operand is made here}}
    %once = sp.all_reduce %p sum over ["dp", "sp"] of 8 : tensor<4x4xf32>
    // expected-error @below {{'sp.all_reduce' op expected operand 0 to be partial (sum) along axis "dp" but it is equal, so that each of its 2 ranks would count the whole; reduce once}}
    %twice = sp.all_reduce %once sum over ["dp"] of 2 : tensor<4x4xf32>
    return %twice : tensor<4x4xf32>
  }
}

// -----

// In each turn of a loop, and behind it.
module @c1_reduced_in_and_behind_a_loop {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%x: tensor<2x4xf32> {sp.sharding = #sp.sharding<[[8 by <contiguous 8 on "sp" of 4>], [4]]>}, %dy: tensor<2x4xf32> {sp.sharding = #sp.sharding<[[8 by <contiguous 8 on "sp" of 4>], [4]]>}) -> (tensor<4x4xf32> {sp.sharding = #sp.sharding<[[4], [4]]>}) {
    %p = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<4x4xf32>
    %n = stablehlo.constant dense<0> : tensor<i32>
    %end = stablehlo.constant dense<3> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    // expected-note @below {{the operand is made here}}
    %sums:2 = stablehlo.while(%i = %n, %sum = %zero) : tensor<i32>, tensor<4x4xf32>
    cond {
      %more = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %r = sp.all_reduce %p sum over ["sp"] of 4 : tensor<4x4xf32>
      %next = stablehlo.add %sum, %r : tensor<4x4xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %next : tensor<i32>, tensor<4x4xf32>
    }
    // expected-error @below {{'sp.all_reduce' op expected operand 0 to be partial (sum) along axis "sp" but it is equal, so that each of its 4 ranks would count the whole; reduce once}}
    %twice = sp.all_reduce %sums#1 sum over ["sp"] of 4 : tensor<4x4xf32>
    return %twice : tensor<4x4xf32>
  }
}

// -----

// Rows of different tokens, added up.
module @c1_rows_are_no_parts {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%x: tensor<2x4xf32> {sp.sharding = #sp.sharding<[[8 by <contiguous 8 on "sp" of 4>], [4]]>}, %dy: tensor<2x4xf32> {sp.sharding = #sp.sharding<[[8 by <contiguous 8 on "sp" of 4>], [4]]>}) -> (tensor<2x4xf32> {sp.sharding = #sp.sharding<[[8 by <contiguous 8 on "sp" of 4>], [4]]>}) {
    // expected-note @below {{the operand is made here}}
    %y = stablehlo.add %x, %dy : tensor<2x4xf32>
    // expected-error @below {{'sp.all_reduce' op expected operand 0 to be partial (sum) along axis "sp" but it is dealt by dimension 0 as #sp.layout<contiguous 8 on "sp" of 4>; gather rows, or reduce what is made of them}}
    %s = sp.all_reduce %y sum over ["sp"] of 4 : tensor<2x4xf32>
    return %s : tensor<2x4xf32>
  }
}

// -----

// Parts of a sum, of which the greatest is taken.
module @c1_by_another_combination {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%x: tensor<2x4xf32> {sp.sharding = #sp.sharding<[[8 by <contiguous 8 on "sp" of 4>], [4]]>}, %dy: tensor<2x4xf32> {sp.sharding = #sp.sharding<[[8 by <contiguous 8 on "sp" of 4>], [4]]>}) -> (tensor<4x4xf32> {sp.sharding = #sp.sharding<[[4], [4]]>}) {
    // expected-note @below {{the operand is made here}}
    %p = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
    // expected-error @below {{'sp.all_reduce' op expected operand 0 to be partial (max) along axis "sp" but it is partial (sum); combine parts as they were made}}
    %s = sp.all_reduce %p max over ["sp"] of 4 : tensor<4x4xf32>
    return %s : tensor<4x4xf32>
  }
}

// -----

// Reduced, and then reduced into parts.
module @c1_scattered_twice {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%x: tensor<2x4xf32> {sp.sharding = #sp.sharding<[[8 by <contiguous 8 on "sp" of 4>], [4]]>}, %dy: tensor<2x4xf32> {sp.sharding = #sp.sharding<[[8 by <contiguous 8 on "sp" of 4>], [4]]>}) -> (tensor<1x4xf32> {sp.sharding = #sp.sharding<[[4 by <contiguous 4 on "sp" of 4>], [4]]>}) {
    %p = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
    // expected-note @below {{the operand is made here}}
    %s = sp.all_reduce %p sum over ["sp"] of 4 : tensor<4x4xf32>
    // expected-error @below {{'sp.reduce_scatter' op expected operand 0 to be partial (sum) along axis "sp" but it is equal, so that each of its 4 ranks would count the whole; reduce once}}
    %own = sp.reduce_scatter %s sum dim 0 in <contiguous 4 on "sp" of 4> : tensor<4x4xf32> -> tensor<1x4xf32>
    return %own : tensor<1x4xf32>
  }
}

// -----

// The norm of a gradient of which the rank has a part.
module @c2_clipped_before_it_is_reduced {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%x: tensor<2x4xf32> {sp.sharding = #sp.sharding<[[8 by <contiguous 8 on "sp" of 4>], [4]]>}, %dy: tensor<2x4xf32> {sp.sharding = #sp.sharding<[[8 by <contiguous 8 on "sp" of 4>], [4]]>}) -> (tensor<4x4xf32> {sp.sharding = #sp.sharding<[[4], [4]]>}) {
    // expected-note @below {{the operand is made here}}
    %p = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
    // expected-error @below {{'stablehlo.multiply' op expected one factor to be whole along axis "sp" but both are partial (sum); reduce one before}}
    %squares = stablehlo.multiply %p, %p : tensor<4x4xf32>
    %s = sp.all_reduce %squares sum over ["sp"] of 4 : tensor<4x4xf32>
    return %s : tensor<4x4xf32>
  }
}

// -----

module @c2_exponential {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%x: tensor<2x4xf32> {sp.sharding = #sp.sharding<[[8 by <contiguous 8 on "sp" of 4>], [4]]>}, %dy: tensor<2x4xf32> {sp.sharding = #sp.sharding<[[8 by <contiguous 8 on "sp" of 4>], [4]]>}) -> (tensor<4x4xf32> {sp.sharding = #sp.sharding<[[4], [4]]>}) {
    // expected-note @below {{the operand is made here}}
    %p = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
    // expected-error @below {{'stablehlo.exponential' op expected operand 0 to be whole along axis "sp" but it is partial (sum), of which this makes no part; reduce it before}}
    %e = stablehlo.exponential %p : tensor<4x4xf32>
    %s = sp.all_reduce %e sum over ["sp"] of 4 : tensor<4x4xf32>
    return %s : tensor<4x4xf32>
  }
}

// -----

// The parameter would count once a rank.
module @c2_updated_before_it_is_reduced {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%x: tensor<2x4xf32> {sp.sharding = #sp.sharding<[[8 by <contiguous 8 on "sp" of 4>], [4]]>}, %dy: tensor<2x4xf32> {sp.sharding = #sp.sharding<[[8 by <contiguous 8 on "sp" of 4>], [4]]>}, 
                  // expected-note @below {{the operand is made here}}
                  %w: tensor<4x4xf32> {sp.sharding = #sp.sharding<[[4], [4]]>, sp.donated_to = 0 : i64}) -> (tensor<4x4xf32> {sp.sharding = #sp.sharding<[[4], [4]]>}) {
    %p = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
    // expected-error @below {{'stablehlo.subtract' op expected operand 0 to be partial as operand 1 along axis "sp" but it is equal: it would count 4 times; add it after the reduction}}
    %new = stablehlo.subtract %w, %p : tensor<4x4xf32>
    %s = sp.all_reduce %new sum over ["sp"] of 4 : tensor<4x4xf32>
    return %s : tensor<4x4xf32>
  }
}

// -----

// What a sum starts from.
module @c2_sum_from_another_start {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%x: tensor<2x4xf32> {sp.sharding = #sp.sharding<[[8 by <contiguous 8 on "sp" of 4>], [4]]>}, %dy: tensor<2x4xf32> {sp.sharding = #sp.sharding<[[8 by <contiguous 8 on "sp" of 4>], [4]]>}) -> (tensor<4xf32> {sp.sharding = #sp.sharding<[[4]]>}) {
    // expected-note @below {{the operand is made here}}
    %start = stablehlo.constant dense<1.0> : tensor<f32>
    // expected-error @below {{'stablehlo.reduce' op expected operand 1 to be 0, as rows are added along axis "sp", but it is equal on its ranks: it would count 4 times; add it after the reduction}}
    %p = stablehlo.reduce(%x init: %start) applies stablehlo.add across dimensions = [0] : (tensor<2x4xf32>, tensor<f32>) -> tensor<4xf32>
    %s = sp.all_reduce %p sum over ["sp"] of 4 : tensor<4xf32>
    return %s : tensor<4xf32>
  }
}

// -----

// Parts that each rank scales by a number of its own.
module @c2_scaled_by_ranks {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%x: tensor<2x4xf32> {sp.sharding = #sp.sharding<[[8 by <contiguous 8 on "sp" of 4>], [4]]>}, %dy: tensor<2x4xf32> {sp.sharding = #sp.sharding<[[8 by <contiguous 8 on "sp" of 4>], [4]]>}) -> (tensor<4x4xf32> {sp.sharding = #sp.sharding<[[4], [4]]>}) {
    %p = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
    %rows = sp.row_count <contiguous 8 on "sp" of 4> : tensor<i32>
    %count = stablehlo.convert %rows : (tensor<i32>) -> tensor<f32>
    // expected-note @below {{the operand is made here}}
    %counts = stablehlo.broadcast_in_dim %count, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
    // expected-error @below {{'stablehlo.divide' op expected operand 1 to be equal along axis "sp" but it is varying; reduce operand 0 before}}
    %mean = stablehlo.divide %p, %counts : tensor<4x4xf32>
    %s = sp.all_reduce %mean sum over ["sp"] of 4 : tensor<4x4xf32>
    return %s : tensor<4x4xf32>
  }
}
