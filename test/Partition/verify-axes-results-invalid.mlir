// RUN: sp-opt %s -split-input-file --sp-verify-axes -verify-diagnostics

// What every rank has already.
module @c3_gathered_whole {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%w: tensor<4x4xf32> {sp.sharding = #sp.sharding<[[4], [4]]>}) -> (tensor<16x4xf32> {sp.sharding = #sp.sharding<[[16], [4]]>}) {
    // expected-note @below {{the operand is made here}}
    %v = stablehlo.negate %w : tensor<4x4xf32>
    // expected-error @below {{'sp.all_gather' op expected operand 0 to be dealt by dimension 0 as #sp.layout<contiguous 16 on "sp" of 4> but along axis "sp" it is equal: every rank has all already}}
    %all = sp.all_gather %v dim 0 in <contiguous 16 on "sp" of 4> : tensor<4x4xf32> -> tensor<16x4xf32>
    return %all : tensor<16x4xf32>
  }
}

// -----

module @c3_gathered_parts {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%x: tensor<2x4xf32> {sp.sharding = #sp.sharding<[[8 by <contiguous 8 on "sp" of 4>], [4]]>}, %dy: tensor<2x4xf32> {sp.sharding = #sp.sharding<[[8 by <contiguous 8 on "sp" of 4>], [4]]>}) -> (tensor<16x4xf32> {sp.sharding = #sp.sharding<[[16], [4]]>}) {
    // expected-note @below {{the operand is made here}}
    %p = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
    // expected-error @below {{'sp.all_gather' op expected operand 0 to be dealt by dimension 0 as #sp.layout<contiguous 16 on "sp" of 4> but along axis "sp" it is partial (sum); reduce it before}}
    %all = sp.all_gather %p dim 0 in <contiguous 16 on "sp" of 4> : tensor<4x4xf32> -> tensor<16x4xf32>
    return %all : tensor<16x4xf32>
  }
}

// -----

module @c3_gathered_in_another_order {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%x: tensor<2x4xf32> {sp.sharding = #sp.sharding<[[8 by <contiguous 8 on "sp" of 4>], [4]]>}) -> (tensor<8x4xf32> {sp.sharding = #sp.sharding<[[8], [4]]>}) {
    // expected-note @below {{the operand is made here}}
    %v = stablehlo.negate %x : tensor<2x4xf32>
    // expected-error @below {{'sp.all_gather' op expected operand 0 to be dealt by dimension 0 as #sp.layout<zigzag 8 on "sp" of 4> but along axis "sp" it is dealt by dimension 0 as #sp.layout<contiguous 8 on "sp" of 4>; say how its rows are dealt}}
    %all = sp.all_gather %v dim 0 in <zigzag 8 on "sp" of 4> : tensor<2x4xf32> -> tensor<8x4xf32>
    return %all : tensor<8x4xf32>
  }
}

// -----

module @c4_never_reduced {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%x: tensor<2x4xf32> {sp.sharding = #sp.sharding<[[8 by <contiguous 8 on "sp" of 4>], [4]]>}, %dy: tensor<2x4xf32> {sp.sharding = #sp.sharding<[[8 by <contiguous 8 on "sp" of 4>], [4]]>}) -> (tensor<4x4xf32> {sp.sharding = #sp.sharding<[[4], [4]]>}) {
    // expected-note @below {{it is made here}}
    %p = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
    // expected-error @below {{'func.return' op expected result 0 to be equal along axis "sp" but it is partial (sum); it is never reduced}}
    return %p : tensor<4x4xf32>
  }
}

// -----

module @c4_never_reduced_along_one_axis {
  sp.mesh @mesh <["dp" = 2, "sp" = 4]> sequence "sp" batch "dp"
  func.func @main(%x: tensor<1x2x4xf32> {sp.sharding = #sp.sharding<[[2 by <contiguous 2 on "dp" of 2>], [8 by <contiguous 8 on "sp" of 4>], [4]]>}, %dy: tensor<1x2x4xf32> {sp.sharding = #sp.sharding<[[2 by <contiguous 2 on "dp" of 2>], [8 by <contiguous 8 on "sp" of 4>], [4]]>}) -> (tensor<4x4xf32> {sp.sharding = #sp.sharding<[[4], [4]]>}) {
    %p = stablehlo.dot_general %x, %dy, contracting_dims = [0, 1] x [0, 1] : (tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> tensor<4x4xf32>
    // expected-note @below {{it is made here}}
    %s = sp.all_reduce %p sum over ["sp"] of 4 : tensor<4x4xf32>
    // expected-error @below {{'func.return' op expected result 0 to be equal along axis "dp" but it is partial (sum); it is never reduced}}
    return %s : tensor<4x4xf32>
  }
}

// -----

// The gradient of a norm, whose tokens a third axis deals as well.
module @c4_norm_without_its_tensor_sum {
  sp.mesh @mesh <["sp" = 2, "tp" = 2]> sequence "sp"
  func.func @main(%x: tensor<2x4xf32> {sp.sharding = #sp.sharding<[[2 by <contiguous 2 on "sp" of 2>, 4 by <contiguous 4 on "tp" of 2>], [4]]>}) -> (tensor<4xf32> {sp.sharding = #sp.sharding<[[4]]>}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %p = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2x4xf32>, tensor<f32>) -> tensor<4xf32>
    // expected-note @below {{it is made here}}
    %s = sp.all_reduce %p sum over ["sp"] of 2 : tensor<4xf32>
    // expected-error @below {{'func.return' op expected result 0 to be equal along axis "tp" but it is partial (sum); it is never reduced}}
    return %s : tensor<4xf32>
  }
}

// -----

module @c4_reduced_along_half_of_an_axis {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%x: tensor<2x4xf32> {sp.sharding = #sp.sharding<[[8 by <contiguous 8 on "sp" of 4>], [4]]>}, %dy: tensor<2x4xf32> {sp.sharding = #sp.sharding<[[8 by <contiguous 8 on "sp" of 4>], [4]]>}) -> (tensor<4x4xf32> {sp.sharding = #sp.sharding<[[4], [4]]>}) {
    %p = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
    // expected-note @below {{it is made here}}
    %s = sp.all_reduce %p sum over ["sp:(2)2"] of 2 : tensor<4x4xf32>
    // expected-error @below {{'func.return' op expected result 0 to be equal along axis "sp:(1)2" but it is partial (sum); it is never reduced}}
    return %s : tensor<4x4xf32>
  }
}

// -----

// A whole parameter that each rank updates by what it has.
module @c4_updated_by_parts {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%w: tensor<4x4xf32> {sp.sharding = #sp.sharding<[[4], [4]]>, sp.donated_to = 0 : i64}, %x: tensor<4x4xf32> {sp.sharding = #sp.sharding<[[16 by <contiguous 16 on "sp" of 4>], [4]]>}) -> (tensor<4x4xf32> {sp.sharding = #sp.sharding<[[4], [4]]>}) {
    // expected-note @below {{it is made here}}
    %new = stablehlo.subtract %w, %x : tensor<4x4xf32>
    // expected-error @below {{'func.return' op expected result 0 to be equal along axis "sp" but it is dealt by dimension 0 as #sp.layout<contiguous 16 on "sp" of 4>; gather or reduce it}}
    return %new : tensor<4x4xf32>
  }
}

// -----

// State that is dealt, of which each rank keeps the same rows.
module @c4_the_first_rows_on_every_rank {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%w: tensor<4x4xf32> {sp.sharding = #sp.sharding<[[4], [4]]>}) -> (tensor<1x4xf32> {sp.sharding = #sp.sharding<[[4 by <contiguous 4 on "sp" of 4>], [4]]>}) {
    // expected-note @below {{it is made here}}
    %own = stablehlo.slice %w [0:1, 0:4] : (tensor<4x4xf32>) -> tensor<1x4xf32>
    // expected-error @below {{'func.return' op expected result 0 to be dealt by dimension 0 as #sp.layout<contiguous 4 on "sp" of 4> along axis "sp" but it is equal; take the rows of each rank}}
    return %own : tensor<1x4xf32>
  }
}

// -----

module @c4_of_another_layout {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%x: tensor<2x4xf32> {sp.sharding = #sp.sharding<[[8 by <contiguous 8 on "sp" of 4>], [4]]>}) -> (tensor<2x4xf32> {sp.sharding = #sp.sharding<[[8 by <zigzag 8 on "sp" of 4>], [4]]>}) {
    // expected-note @below {{it is made here}}
    %v = stablehlo.negate %x : tensor<2x4xf32>
    // expected-error @below {{'func.return' op expected result 0 to be dealt by dimension 0 as #sp.layout<zigzag 8 on "sp" of 4> along axis "sp" but it is dealt by dimension 0 as #sp.layout<contiguous 8 on "sp" of 4>; deal it anew}}
    return %v : tensor<2x4xf32>
  }
}

// -----

// A branch that ranks choose differently.
module @c4_by_the_rank {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%w: tensor<4x4xf32> {sp.sharding = #sp.sharding<[[4], [4]]>}) -> (tensor<4x4xf32> {sp.sharding = #sp.sharding<[[4], [4]]>}) {
    %rows = sp.row_count <contiguous 7 on "sp" of 4> : tensor<i32>
    %two = stablehlo.constant dense<2> : tensor<i32>
    %full = stablehlo.compare EQ, %rows, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
    // expected-note @below {{it is made here}}
    %chosen = "stablehlo.if"(%full) ({
      stablehlo.return %w : tensor<4x4xf32>
    }, {
      %v = stablehlo.negate %w : tensor<4x4xf32>
      stablehlo.return %v : tensor<4x4xf32>
    }) : (tensor<i1>) -> tensor<4x4xf32>
    // expected-error @below {{'func.return' op expected result 0 to be equal along axis "sp" but it is varying; gather or reduce it}}
    return %chosen : tensor<4x4xf32>
  }
}

// -----

// What each of the micro-batches makes, before their loop is there.
module @c4_turns_never_added {
  sp.mesh @sp_turns <["turns" = 2]> batch "turns" folded
  func.func @main(%x: tensor<2x4xf32> {sp.sharding = #sp.sharding<[[4 by <contiguous 4 on "turns" of 2>], [4]]>}) -> (tensor<4xf32> {sp.sharding = #sp.sharding<[[4]]>}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    // expected-note @below {{it is made here}}
    %p = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2x4xf32>, tensor<f32>) -> tensor<4xf32>
    // expected-error @below {{'func.return' op expected result 0 to be equal along axis "turns" but it is partial (sum); it is never reduced}}
    return %p : tensor<4xf32>
  }
}

// -----

// Of all queries each rank has what its own keys make: a state to be merged.
module @state_never_merged {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%q: tensor<1x2x1x8xf32> {sp.sharding = #sp.sharding<[[1], [2], [1], [8]]>}, %k: tensor<1x4x1x8xf32> {sp.sharding = #sp.sharding<[[1], [16 by <contiguous 16 on "sp" of 4>], [1], [8]]>}) -> (tensor<1x2x1x8xf32> {sp.sharding = #sp.sharding<[[1], [2], [1], [8]]>}) {
    // expected-note @below {{it is made here}}
    %o, %l = sp.attend(%q, %k, %k) queries <contiguous 2 on "" of 1> keys <contiguous 16 on "sp" of 4> bands [#sp.band<q 0 to 2, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 as sums_base_2 : (tensor<1x2x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x2x1x8xf32>, tensor<1x2x1x2xf32>
    // expected-error @below {{'func.return' op expected result 0 to be equal along axis "sp" but it is varying; gather or reduce it}}
    return %o : tensor<1x2x1x8xf32>
  }
}

// -----

// A rank's row that is said to lie in another dimension of one.
module @c4_row_in_another_dimension {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%x: tensor<1x1x8xf32> {sp.sharding = #sp.sharding<[[1], [4 by <contiguous 4 on "sp" of 4>], [8]]>}) -> (tensor<1x1x8xf32> {sp.sharding = #sp.sharding<[[1], [4 by <contiguous 4 on "sp" of 4>], [8]]>}) {
    // expected-note @below {{it is made here}}
    %y = stablehlo.reshape %x {sp.one_row = {sp = 0}} : (tensor<1x1x8xf32>) -> tensor<1x1x8xf32>
    // expected-error @below {{'func.return' op expected result 0 to be dealt by dimension 1 as #sp.layout<contiguous 4 on "sp" of 4> along axis "sp" but it is dealt by dimension 0 as #sp.layout<contiguous 4 on "sp" of 4>; deal it anew}}
    return %y : tensor<1x1x8xf32>
  }
}
