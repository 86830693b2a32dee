// RUN: sp-interpret %s --function=numbers | FileCheck %s --check-prefix=NUMBERS
// RUN: sp-interpret %s --function=loop | FileCheck %s --check-prefix=LOOP
// RUN: sp-interpret %s --function=commands | FileCheck %s --check-prefix=COMMANDS
// RUN: sp-interpret %s --function=rows | FileCheck %s --check-prefix=ROWS
// RUN: sp-interpret %s --function=argument --random-inputs=1 | FileCheck %s --check-prefix=ARGUMENT

sp.mesh @mesh <["dp" = 2, "sp" = 2]> sequence "sp" batch "dp"

// Of 3 positions rank 0 of "sp" holds 0, rank 1 has 1 2; padding repeats 0.
// NUMBERS: result0: tensor<2x4xi32> [0, 0, 1, 2, 0, 0, 1, 2]
// NUMBERS: result1: tensor<4xi32> [1, 2, 1, 2]
func.func @numbers() -> (tensor<1x2xi32> {sp.sharding = #sp.sharding<[[2 by <contiguous 2 on "dp" of 2>], [4 by <contiguous 4 on "sp" of 2>]]>},
                         tensor<1xi32> {sp.sharding = #sp.sharding<[[2 by <contiguous 2 on "dp" of 2>, 2 by <contiguous 2 on "sp" of 2>]]>}) {
  %p = sp.positions <zigzag 3 on "sp" of 2> : tensor<2xi32>
  %x = stablehlo.reshape %p : (tensor<2xi32>) -> tensor<1x2xi32>
  %n = sp.row_count <zigzag 3 on "sp" of 2> : tensor<i32>
  %c = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  return %x, %c : tensor<1x2xi32>, tensor<1xi32>
}

// Blocks go round once in two turns: owner (rank - turn) mod 2.
// LOOP: [0, 1]
func.func @loop() -> (tensor<1xi32> {sp.sharding = #sp.sharding<[[2 by <contiguous 2 on "sp" of 2>]]>}) {
  %p = sp.positions <contiguous 2 on "sp" of 2> : tensor<1xi32>
  %x = stablehlo.reshape %p : (tensor<1xi32>) -> tensor<1x1xi32>
  %r = sp.rank "sp" : index
  %from = arith.constant 0 : index
  %to = arith.constant 2 : index
  %one = arith.constant 1 : index
  %y = scf.for %i = %from to %to step %one iter_args(%block = %x) -> (tensor<1x1xi32>) {
    %owner = affine.apply affine_map<(d0)[s0] -> ((s0 - d0) mod 2)>(%i)[%r]
    %next = sp.shift %block from %owner by 1 in <contiguous 2 on "sp" of 2> : tensor<1x1xi32>
    scf.yield %next : tensor<1x1xi32>
  }
  %z = stablehlo.reshape %y : (tensor<1x1xi32>) -> tensor<1xi32>
  return %z : tensor<1xi32>
}

// [1 2; 3 4] [1 -2; 0 1] = [1 0; 3 -2], read as its transpose, plus a bias.
// COMMANDS: result0: tensor<2x2xf64> [1, 1, 3, 0]
// COMMANDS: result1: tensor<2x2xf64> [1, 4, 9, 16]
// COMMANDS: result2: tensor<2x2xf64> [2, 2, 6, 2]
func.func @commands() -> (tensor<2x2xf64> {sp.sharding = #sp.sharding<[[2], [2]]>}, tensor<2x2xf64> {sp.sharding = #sp.sharding<[[2], [2]]>}, tensor<2x2xf32> {sp.sharding = #sp.sharding<[[2], [2]]>}) {
  %a = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf64>
  %b = stablehlo.constant dense<[[1.0, 0.0], [-2.0, 1.0]]> : tensor<2x2xf64>
  %v = stablehlo.constant dense<[0.0, 1.0]> : tensor<2xf64>
  %c = sp.gemm %a, %b bias %v then relu sizes [1, 2, 2, 2] strides [0, 2, 1] x [0, 1, 2] : (tensor<2x2xf64>, tensor<2x2xf64>, tensor<2xf64>) -> tensor<2x2xf64>
  %x = stablehlo.convert %a : (tensor<2x2xf64>) -> tensor<2x2xf32>
  %y = stablehlo.convert %b : (tensor<2x2xf64>) -> tensor<2x2xf32>
  %f = sp.gemm %x, %y onto %x sizes [1, 2, 2, 2] strides [0, 2, 1] x [0, 1, 2] : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %d = sp.launch @square(%a) : (tensor<2x2xf64>) -> tensor<2x2xf64>
  %e = sp.copy %d : tensor<2x2xf64>
  return %c, %e, %f : tensor<2x2xf64>, tensor<2x2xf64>, tensor<2x2xf32>
}

func.func private @square(%x: tensor<2x2xf64>) -> tensor<2x2xf64> {
  %y = stablehlo.multiply %x, %x : tensor<2x2xf64>
  return %y : tensor<2x2xf64>
}

// What is dealt is put together again, whatever padding holds: batch and rows
// are one dimension here.
// ARGUMENT: result0: tensor<6xi1> [true, true, true, true, true, true]
func.func @argument(%x: tensor<4xf32> {sp.sharding = #sp.sharding<[[2, 3 by <zigzag 3 on "sp" of 2>]]>}) -> (tensor<4xi1> {sp.sharding = #sp.sharding<[[2, 3 by <zigzag 3 on "sp" of 2>]]>}) {
  %y = stablehlo.compare EQ, %x, %x, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %y : tensor<4xi1>
}

// Rows of a stack are read and written by the turn of a loop.
// ROWS: result0: tensor<3x2xi32> [4, 5, 2, 3, 0, 1]
func.func @rows() -> (tensor<3x2xi32> {sp.sharding = #sp.sharding<[[3], [2]]>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %n = stablehlo.iota dim = 0 : tensor<6xi32>
  %x = stablehlo.reshape %n : (tensor<6xi32>) -> tensor<3x2xi32>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%y = %x) -> tensor<3x2xi32> {
    %back = affine.apply affine_map<(d0) -> (2 - d0)>(%i)
    %row = sp.take %x at %back dim 0 : tensor<3x2xi32> -> tensor<1x2xi32>
    %next = sp.put %row into %y at %i dim 0 : tensor<1x2xi32>, tensor<3x2xi32>
    scf.yield %next : tensor<3x2xi32>
  }
  return %r : tensor<3x2xi32>
}
