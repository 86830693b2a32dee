// RUN: sp-interpret %s --function=shift | FileCheck %s --check-prefix=SHIFT
// RUN: sp-interpret %s --function=shift_of_heads | FileCheck %s --check-prefix=HEADS
// RUN: sp-interpret %s --function=gather | FileCheck %s --check-prefix=GATHER
// RUN: sp-interpret %s --function=gather_together | FileCheck %s --check-prefix=TOGETHER
// RUN: sp-interpret %s --function=to_heads | FileCheck %s --check-prefix=TOHEADS
// RUN: sp-interpret %s --function=to_rows | FileCheck %s --check-prefix=TOROWS
// RUN: sp-interpret %s --function=reduce | FileCheck %s --check-prefix=REDUCE
// RUN: sp-interpret %s --function=scatter | FileCheck %s --check-prefix=SCATTER
// RUN: sp-interpret %s --function=started | FileCheck %s --check-prefix=STARTED
// RUN: sp-interpret %s --function=needed | FileCheck %s --check-prefix=NEEDED

sp.mesh @mesh <["sp" = 3]> sequence "sp"

// Each result is what the ranks hold, one after another. What nobody wrote is
// the greatest integer. Of 7 positions rank 0 holds 0 1 6, rank 1 has 2 5 and
// rank 2 has 3 4, behind which lies a row of padding.

// A block of two rows arrives with two.
// SHIFT: [3, 4, 2147483647, 0, 1, 6, 2, 5, 2147483647]
func.func @shift() -> (tensor<1x3xi32> {sp.sharding = #sp.sharding<[[3 by <contiguous 3 on "sp" of 3>], [3]]>}) {
  %p = sp.positions <zigzag 7 on "sp" of 3> : tensor<3xi32>
  %x = stablehlo.reshape %p : (tensor<3xi32>) -> tensor<1x3xi32>
  %r = sp.rank "sp" : index
  %y = sp.shift %x from %r by 1 in <zigzag 7 on "sp" of 3> : tensor<1x3xi32>
  return %y : tensor<1x3xi32>
}

// The query heads 0 1, 2 3 and 4 of the ranks read kv heads 0, 1 2 and 3.
// HEADS: [7, 2147483647, 7, 7, 7, 2147483647]
func.func @shift_of_heads() -> (tensor<1x1x2xi32> {sp.sharding = #sp.sharding<[[3 by <contiguous 3 on "sp" of 3>], [1], [2]]>}) {
  %x = stablehlo.constant dense<7> : tensor<1x1x2xi32>
  %r = sp.rank "sp" : index
  %y = sp.shift %x from %r by -1 in <contiguous 3 on "sp" of 3> heads <contiguous 5 on "sp" of 3> of 4 : tensor<1x1x2xi32>
  return %y : tensor<1x1x2xi32>
}

// GATHER: [0, 1, 2, 3, 4, 5, 6]
func.func @gather() -> (tensor<7xi32> {sp.sharding = #sp.sharding<[[7]]>}) {
  %p = sp.positions <zigzag 7 on "sp" of 3> : tensor<3xi32>
  %y = sp.all_gather %p dim 0 in <zigzag 7 on "sp" of 3> : tensor<3xi32> -> tensor<7xi32>
  return %y : tensor<7xi32>
}

// Head h of the row at position p is 10 p + h. Of 5 query heads the ranks hold
// 2, 2 and 1, which read kv heads 0, 1 2 and 3.
// TOHEADS: [0, 2147483647, 10, 2147483647, 20, 2147483647, 30, 2147483647, 1, 2, 11, 12, 21, 22, 31, 32, 3, 2147483647, 13, 2147483647, 23, 2147483647, 33, 2147483647]
func.func @to_heads() -> (tensor<1x4x2x1xi32> {sp.sharding = #sp.sharding<[[3 by <contiguous 3 on "sp" of 3>], [4], [2], [1]]>}) {
  %x = func.call @numbered() : () -> tensor<1x2x4x1xi32>
  %y = sp.all_to_all %x rows <striped 4 on "sp" of 3> heads <contiguous 5 on "sp" of 3> of 4 : tensor<1x2x4x1xi32> -> tensor<1x4x2x1xi32>
  return %y : tensor<1x4x2x1xi32>
}

// Rank r has 10 r + p at position p. Ranks 0 and 1 hold the first of 2 kv heads:
// rank 0 passes it on.
// TOROWS: [0, 20, 3, 23, 1, 21, 2147483647, 2147483647, 2, 22, 2147483647, 2147483647]
func.func @to_rows() -> (tensor<1x2x2x1xi32> {sp.sharding = #sp.sharding<[[3 by <contiguous 3 on "sp" of 3>], [2], [2], [1]]>}) {
  %h = stablehlo.iota dim = 1 : tensor<1x4x1x1xi32>
  %r = sp.positions <contiguous 3 on "sp" of 3> : tensor<1xi32>
  %ten = stablehlo.constant dense<10> : tensor<1xi32>
  %n = stablehlo.multiply %r, %ten : tensor<1xi32>
  %w = stablehlo.broadcast_in_dim %n, dims = [3] : (tensor<1xi32>) -> tensor<1x4x1x1xi32>
  %x = stablehlo.add %h, %w : tensor<1x4x1x1xi32>
  %y = sp.all_to_all %x rows <striped 4 on "sp" of 3> heads <contiguous 3 on "sp" of 3> of 2 to_rows : tensor<1x4x1x1xi32> -> tensor<1x2x2x1xi32>
  return %y : tensor<1x2x2x1xi32>
}

// REDUCE: result0: tensor<2xi32> [3, 3]
// REDUCE: result1: tensor<f64> [2]
func.func @reduce() -> (tensor<2xi32> {sp.sharding = #sp.sharding<[[2]]>}, tensor<f64> {sp.sharding = #sp.sharding<[]>}) {
  %r = sp.positions <contiguous 3 on "sp" of 3> : tensor<1xi32>
  %x = stablehlo.broadcast_in_dim %r, dims = [0] : (tensor<1xi32>) -> tensor<2xi32>
  %y = sp.all_reduce %x sum over ["sp"] of 3 : tensor<2xi32>
  %s = stablehlo.reshape %r : (tensor<1xi32>) -> tensor<i32>
  %f = stablehlo.convert %s : (tensor<i32>) -> tensor<f64>
  %m = sp.all_reduce %f max over ["sp"] of 3 : tensor<f64>
  return %y, %m : tensor<2xi32>, tensor<f64>
}

// Each value along its own dimension: positions, and a row of the numbers of ranks.
// TOGETHER: result0: tensor<7xi32> [0, 1, 2, 3, 4, 5, 6]
// TOGETHER: result1: tensor<1x3xi32> [0, 1, 2]
func.func @gather_together() -> (tensor<7xi32> {sp.sharding = #sp.sharding<[[7]]>},
                                 tensor<1x3xi32> {sp.sharding = #sp.sharding<[[1], [3]]>}) {
  %p = sp.positions <zigzag 7 on "sp" of 3> : tensor<3xi32>
  %r = sp.positions <contiguous 3 on "sp" of 3> : tensor<1xi32>
  %c = stablehlo.reshape %r : (tensor<1xi32>) -> tensor<1x1xi32>
  %y:2 = sp.all_gather %p, %c dims [0 in <zigzag 7 on "sp" of 3>, 1 in <contiguous 3 on "sp" of 3>] : tensor<3xi32>, tensor<1x1xi32> -> tensor<7xi32>, tensor<1x3xi32>
  return %y#0, %y#1 : tensor<7xi32>, tensor<1x3xi32>
}

// Each rank has 0 1 2 3 and its number on top; rank 0 keeps positions 0 and 3. Of
// its number alone, thrice, each keeps one sum.
// SCATTER: result0: tensor<3x2xi32> [3, 12, 6, 2147483647, 9, 2147483647]
// SCATTER: result1: tensor<3xi32> [3, 3, 3]
func.func @scatter() -> (tensor<1x2xi32> {sp.sharding = #sp.sharding<[[3 by <contiguous 3 on "sp" of 3>], [2]]>},
                         tensor<1xi32> {sp.sharding = #sp.sharding<[[3 by <contiguous 3 on "sp" of 3>]]>}) {
  %i = stablehlo.iota dim = 1 : tensor<1x4xi32>
  %r = sp.positions <contiguous 3 on "sp" of 3> : tensor<1xi32>
  %w = stablehlo.broadcast_in_dim %r, dims = [0] : (tensor<1xi32>) -> tensor<1x4xi32>
  %x = stablehlo.add %i, %w : tensor<1x4xi32>
  %n = stablehlo.broadcast_in_dim %r, dims = [0] : (tensor<1xi32>) -> tensor<3xi32>
  %y:2 = sp.reduce_scatter %x, %n sum dims [1 in <striped 4 on "sp" of 3>, 0 in <contiguous 3 on "sp" of 3>] : tensor<1x4xi32>, tensor<3xi32> -> tensor<1x2xi32>, tensor<1xi32>
  return %y#0, %y#1 : tensor<1x2xi32>, tensor<1xi32>
}

// What is started is there once it is awaited.
// STARTED: result0: tensor<3xi32> [2147483647, 2147483647, 2147483647]
// STARTED: result1: tensor<3xi32> [2, 0, 1]
func.func @started() -> (tensor<1xi32> {sp.sharding = #sp.sharding<[[3 by <contiguous 3 on "sp" of 3>]]>},
                         tensor<1xi32> {sp.sharding = #sp.sharding<[[3 by <contiguous 3 on "sp" of 3>]]>}) {
  %p = sp.positions <contiguous 3 on "sp" of 3> : tensor<1xi32>
  %x = stablehlo.reshape %p : (tensor<1xi32>) -> tensor<1x1xi32>
  %r = sp.rank "sp" : index
  %y, %t = sp.shift_start %x from %r by 1 in <contiguous 3 on "sp" of 3> : tensor<1x1xi32>
  %early = stablehlo.reshape %y : (tensor<1x1xi32>) -> tensor<1xi32>
  sp.wait %t
  %late = stablehlo.reshape %y : (tensor<1x1xi32>) -> tensor<1xi32>
  return %early, %late : tensor<1xi32>, tensor<1xi32>
}

// Queries see keys at or before them: nobody after rank 2 reads its block.
// NEEDED: result0: tensor<1x3x1x1xf64> [nan, 0, 1]
func.func @needed() -> (tensor<1x1x1x1xf64> {sp.sharding = #sp.sharding<[[1], [3 by <contiguous 3 on "sp" of 3>], [1], [1]]>},
                        tensor<1x1x1x1xf64> {sp.sharding = #sp.sharding<[[1], [3 by <contiguous 3 on "sp" of 3>], [1], [1]]>}) {
  %p = sp.positions <contiguous 3 on "sp" of 3> : tensor<1xi32>
  %n = stablehlo.convert %p : (tensor<1xi32>) -> tensor<1xf64>
  %k = stablehlo.reshape %n : (tensor<1xf64>) -> tensor<1x1x1x1xf64>
  %r = sp.rank "sp" : index
  %k1, %t = sp.shift_start %k from %r by 1 in <contiguous 3 on "sp" of 3>
    needed_by <rows <contiguous 3 on "sp" of 3> bands [#sp.band<q 0 to 3, k 0 to 3, lo -inf, hi 0>]> : tensor<1x1x1x1xf64>
  %o, %l = sp.attend(%k, %k, %k) queries <contiguous 3 on "sp" of 3> keys <contiguous 3 on "sp" of 3> from %r
    bands [#sp.band<q 0 to 3, k 0 to 3, lo -inf, hi 0>] scale 1.0
    : (tensor<1x1x1x1xf64>, tensor<1x1x1x1xf64>, tensor<1x1x1x1xf64>) -> tensor<1x1x1x1xf64>, tensor<1x1x1xf64>
  sp.wait %t
  return %k1, %o : tensor<1x1x1x1xf64>, tensor<1x1x1x1xf64>
}

func.func private @numbered() -> tensor<1x2x4x1xi32> {
  %p = sp.positions <striped 4 on "sp" of 3> : tensor<2xi32>
  %ten = stablehlo.constant dense<10> : tensor<2xi32>
  %n = stablehlo.multiply %p, %ten : tensor<2xi32>
  %w = stablehlo.broadcast_in_dim %n, dims = [1] : (tensor<2xi32>) -> tensor<1x2x4x1xi32>
  %h = stablehlo.iota dim = 2 : tensor<1x2x4x1xi32>
  %x = stablehlo.add %w, %h : tensor<1x2x4x1xi32>
  return %x : tensor<1x2x4x1xi32>
}
