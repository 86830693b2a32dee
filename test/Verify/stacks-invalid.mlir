// RUN: sp-opt %s -split-input-file --sp-verify-stacks -verify-diagnostics

// The rest is left out.
func.func @main(%x: tensor<1x10x4xf32>) -> tensor<1x10x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  // expected-note @below {{which is this one}}
  %e = sp.empty : tensor<1x10x4xf32>
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %e) -> (tensor<1x10x4xf32>) {
    %at = affine.apply affine_map<(d0) -> (d0 * 4)>(%i)
    %a = sp.take %x at %at dim 1 : tensor<1x10x4xf32> -> tensor<1x4x4xf32>
    %b = sp.launch @row(%a) : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
    %n = sp.put %b into %s at %at dim 1 : tensor<1x4x4xf32>, tensor<1x10x4xf32>
    scf.yield %n : tensor<1x10x4xf32>
  } {sp.row_blocks = array<i64: 0, 10, 4>}
  %l = sp.take %x at %c8 dim 1 : tensor<1x10x4xf32> -> tensor<1x2x4xf32>
  %m = sp.launch @last(%l) : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  // expected-error @below {{'func.return' op reads a stack of which rows are missing: there are 8 of 10}}
  return %r : tensor<1x10x4xf32>
}
func.func private @row(tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
func.func private @last(tensor<1x2x4xf32>) -> tensor<1x2x4xf32>

// -----

// One block too few.
func.func @main(%x: tensor<1x10x4xf32>) -> tensor<1x10x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  // expected-note @below {{which is this one}}
  %e = sp.empty : tensor<1x10x4xf32>
  %r = scf.for %i = %c0 to %c1 step %c1 iter_args(%s = %e) -> (tensor<1x10x4xf32>) {
    %at = affine.apply affine_map<(d0) -> (d0 * 4)>(%i)
    %a = sp.take %x at %at dim 1 : tensor<1x10x4xf32> -> tensor<1x4x4xf32>
    %b = sp.launch @row(%a) : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
    %n = sp.put %b into %s at %at dim 1 : tensor<1x4x4xf32>, tensor<1x10x4xf32>
    scf.yield %n : tensor<1x10x4xf32>
  } {sp.row_blocks = array<i64: 0, 10, 4>}
  %l = sp.take %x at %c8 dim 1 : tensor<1x10x4xf32> -> tensor<1x2x4xf32>
  %m = sp.launch @last(%l) : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  %y = sp.put %m into %r at %c8 dim 1 : tensor<1x2x4xf32>, tensor<1x10x4xf32>
  // expected-error @below {{'func.return' op reads a stack of which rows are missing: there are 6 of 10}}
  return %y : tensor<1x10x4xf32>
}
func.func private @row(tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
func.func private @last(tensor<1x2x4xf32>) -> tensor<1x2x4xf32>

// -----

// A block is put where the one before it was.
func.func @main(%x: tensor<1x10x4xf32>) -> tensor<1x10x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  // expected-note @below {{which begin here}}
  %e = sp.empty : tensor<1x10x4xf32>
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %e) -> (tensor<1x10x4xf32>) {
    %at = affine.apply affine_map<(d0) -> (d0 * 4)>(%i)
    %a = sp.take %x at %at dim 1 : tensor<1x10x4xf32> -> tensor<1x4x4xf32>
    %b = sp.launch @row(%a) : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
    %two = affine.apply affine_map<(d0) -> (d0 * 2)>(%i)
    // expected-error @below {{'sp.put' op puts rows a second time: up to 6}}
    %n = sp.put %b into %s at %two dim 1 : tensor<1x4x4xf32>, tensor<1x10x4xf32>
    scf.yield %n : tensor<1x10x4xf32>
  }
  %l = sp.take %x at %c8 dim 1 : tensor<1x10x4xf32> -> tensor<1x2x4xf32>
  %m = sp.launch @last(%l) : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  %y = sp.put %m into %r at %c8 dim 1 : tensor<1x2x4xf32>, tensor<1x10x4xf32>
  return %y : tensor<1x10x4xf32>
}
func.func private @row(tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
func.func private @last(tensor<1x2x4xf32>) -> tensor<1x2x4xf32>

// -----

// The same rows in every turn.
func.func @main(%x: tensor<1x10x4xf32>) -> tensor<1x10x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  // expected-note @below {{which begin here}}
  %e = sp.empty : tensor<1x10x4xf32>
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %e) -> (tensor<1x10x4xf32>) {
    %at = affine.apply affine_map<(d0) -> (d0 * 4)>(%i)
    %a = sp.take %x at %at dim 1 : tensor<1x10x4xf32> -> tensor<1x4x4xf32>
    %b = sp.launch @row(%a) : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
    // expected-error @below {{'sp.put' op puts rows a second time: up to 4}}
    %n = sp.put %b into %s at %c0 dim 1 : tensor<1x4x4xf32>, tensor<1x10x4xf32>
    scf.yield %n : tensor<1x10x4xf32>
  } {sp.row_blocks = array<i64: 0, 10, 4>}
  %l = sp.take %x at %c8 dim 1 : tensor<1x10x4xf32> -> tensor<1x2x4xf32>
  %m = sp.launch @last(%l) : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  %y = sp.put %m into %r at %c8 dim 1 : tensor<1x2x4xf32>, tensor<1x10x4xf32>
  return %y : tensor<1x10x4xf32>
}
func.func private @row(tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
func.func private @last(tensor<1x2x4xf32>) -> tensor<1x2x4xf32>

// -----

// Rows of the next block are read.
func.func @main(%x: tensor<1x10x4xf32>) -> tensor<1x10x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %e = sp.empty : tensor<1x10x4xf32>
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %e) -> (tensor<1x10x4xf32>) {
    %at = affine.apply affine_map<(d0) -> (d0 * 4)>(%i)
    %next = affine.apply affine_map<(d0) -> (d0 * 4 + 2)>(%i)
    // expected-error @below {{'sp.take' op expected the rows of its own block, from turn * 4 on}}
    %a = sp.take %x at %next dim 1 : tensor<1x10x4xf32> -> tensor<1x4x4xf32>
    %b = sp.launch @row(%a) : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
    %n = sp.put %b into %s at %at dim 1 : tensor<1x4x4xf32>, tensor<1x10x4xf32>
    scf.yield %n : tensor<1x10x4xf32>
  } {sp.row_blocks = array<i64: 0, 10, 4>}
  %l = sp.take %x at %c8 dim 1 : tensor<1x10x4xf32> -> tensor<1x2x4xf32>
  %m = sp.launch @last(%l) : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  %y = sp.put %m into %r at %c8 dim 1 : tensor<1x2x4xf32>, tensor<1x10x4xf32>
  return %y : tensor<1x10x4xf32>
}
func.func private @row(tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
func.func private @last(tensor<1x2x4xf32>) -> tensor<1x2x4xf32>

// -----

// Blocks are read in the order of the turns and put in the other.
func.func @main(%x: tensor<1x10x4xf32>) -> tensor<1x10x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %e = sp.empty : tensor<1x10x4xf32>
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %e) -> (tensor<1x10x4xf32>) {
    %at = affine.apply affine_map<(d0) -> (d0 * 4)>(%i)
    %a = sp.take %x at %at dim 1 : tensor<1x10x4xf32> -> tensor<1x4x4xf32>
    %b = sp.launch @row(%a) : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
    %back = affine.apply affine_map<(d0) -> (4 - d0 * 4)>(%i)
    // expected-error @below {{'sp.put' op expected the rows of its own block, from turn * 4 on}}
    %n = sp.put %b into %s at %back dim 1 : tensor<1x4x4xf32>, tensor<1x10x4xf32>
    scf.yield %n : tensor<1x10x4xf32>
  } {sp.row_blocks = array<i64: 0, 10, 4>}
  %l = sp.take %x at %c8 dim 1 : tensor<1x10x4xf32> -> tensor<1x2x4xf32>
  %m = sp.launch @last(%l) : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  %y = sp.put %m into %r at %c8 dim 1 : tensor<1x2x4xf32>, tensor<1x10x4xf32>
  return %y : tensor<1x10x4xf32>
}
func.func private @row(tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
func.func private @last(tensor<1x2x4xf32>) -> tensor<1x2x4xf32>

// -----

// Read before all rows are there.
func.func @main(%x: tensor<1x10x4xf32>) -> tensor<1x10x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  // expected-note @below {{which is this one}}
  %e = sp.empty : tensor<1x10x4xf32>
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %e) -> (tensor<1x10x4xf32>) {
    %at = affine.apply affine_map<(d0) -> (d0 * 4)>(%i)
    %a = sp.take %x at %at dim 1 : tensor<1x10x4xf32> -> tensor<1x4x4xf32>
    // expected-error @below {{'sp.launch' op reads a stack of which rows are missing: there are 0}}
    %w = sp.launch @whole(%s) : (tensor<1x10x4xf32>) -> tensor<1x4x4xf32>
    %b = sp.launch @row(%a) : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
    %n = sp.put %b into %s at %at dim 1 : tensor<1x4x4xf32>, tensor<1x10x4xf32>
    scf.yield %n : tensor<1x10x4xf32>
  } {sp.row_blocks = array<i64: 0, 10, 4>}
  %l = sp.take %x at %c8 dim 1 : tensor<1x10x4xf32> -> tensor<1x2x4xf32>
  %m = sp.launch @last(%l) : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  %y = sp.put %m into %r at %c8 dim 1 : tensor<1x2x4xf32>, tensor<1x10x4xf32>
  return %y : tensor<1x10x4xf32>
}
func.func private @whole(tensor<1x10x4xf32>) -> tensor<1x4x4xf32>
func.func private @row(tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
func.func private @last(tensor<1x2x4xf32>) -> tensor<1x2x4xf32>

// -----

// Two go on with one stack.
func.func @main(%x: tensor<1x10x4xf32>) -> tensor<1x10x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %e = sp.empty : tensor<1x10x4xf32>
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %e) -> (tensor<1x10x4xf32>) {
    %at = affine.apply affine_map<(d0) -> (d0 * 4)>(%i)
    %a = sp.take %x at %at dim 1 : tensor<1x10x4xf32> -> tensor<1x4x4xf32>
    %b = sp.launch @row(%a) : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
    %n = sp.put %b into %s at %at dim 1 : tensor<1x4x4xf32>, tensor<1x10x4xf32>
    scf.yield %n : tensor<1x10x4xf32>
  } {sp.row_blocks = array<i64: 0, 10, 4>}
  // expected-error @below {{'sp.copy' op goes on with a stack of which rows are missing, as another operation does}}
  %other = sp.copy %r : tensor<1x10x4xf32>
  %l = sp.take %x at %c8 dim 1 : tensor<1x10x4xf32> -> tensor<1x2x4xf32>
  %m = sp.launch @last(%l) : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  %y = sp.put %m into %r at %c8 dim 1 : tensor<1x2x4xf32>, tensor<1x10x4xf32>
  return %y : tensor<1x10x4xf32>
}
func.func private @row(tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
func.func private @last(tensor<1x2x4xf32>) -> tensor<1x2x4xf32>

// -----

// The rest comes as another dimension's rows.
func.func @main(%x: tensor<1x10x4xf32>) -> tensor<1x10x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %e = sp.empty : tensor<1x10x4xf32>
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %e) -> (tensor<1x10x4xf32>) {
    %at = affine.apply affine_map<(d0) -> (d0 * 4)>(%i)
    %a = sp.take %x at %at dim 1 : tensor<1x10x4xf32> -> tensor<1x4x4xf32>
    %b = sp.launch @row(%a) : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
    %n = sp.put %b into %s at %at dim 1 : tensor<1x4x4xf32>, tensor<1x10x4xf32>
    scf.yield %n : tensor<1x10x4xf32>
  } {sp.row_blocks = array<i64: 0, 10, 4>}
  %l = sp.take %x at %c8 dim 1 : tensor<1x10x4xf32> -> tensor<1x2x4xf32>
  %m = sp.launch @last(%l) : (tensor<1x2x4xf32>) -> tensor<1x10x4xf32>
  // expected-error @below {{'sp.put' op puts rows of dimension 0 into a stack of rows of dimension 1}}
  %y = sp.put %m into %r at %c0 dim 0 : tensor<1x10x4xf32>, tensor<1x10x4xf32>
  return %y : tensor<1x10x4xf32>
}
func.func private @row(tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
func.func private @last(tensor<1x2x4xf32>) -> tensor<1x10x4xf32>

// -----

// A sum that begins with what nobody made.
func.func @main(%x: tensor<1x8x4xf32>) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  // expected-note @below {{which is this one}}
  %e = sp.empty : tensor<4x4xf32>
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %e) -> (tensor<4x4xf32>) {
    %at = affine.apply affine_map<(d0) -> (d0 * 4)>(%i)
    %a = sp.take %x at %at dim 1 : tensor<1x8x4xf32> -> tensor<1x4x4xf32>
    // expected-error @below {{'sp.gemm' op reads a stack of which rows are missing: there are 0}}
    %n = sp.gemm %a, %a onto %s sizes [1, 4, 4, 4] strides [0, 1, 4] x [0, 4, 1] : (tensor<1x4x4xf32>, tensor<1x4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %n : tensor<4x4xf32>
  } {sp.row_blocks = array<i64: 0, 8, 4>}
  return %r : tensor<4x4xf32>
}

// -----

// A sum of the last block alone.
func.func @main(%x: tensor<1x8x4xf32>, %z: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  // expected-error @below {{'scf.for' op forgets what earlier blocks left of carried value 0}}
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %z) -> (tensor<4x4xf32>) {
    %at = affine.apply affine_map<(d0) -> (d0 * 4)>(%i)
    %a = sp.take %x at %at dim 1 : tensor<1x8x4xf32> -> tensor<1x4x4xf32>
    %n = sp.gemm %a, %a sizes [1, 4, 4, 4] strides [0, 1, 4] x [0, 4, 1] : (tensor<1x4x4xf32>, tensor<1x4x4xf32>) -> tensor<4x4xf32>
    scf.yield %n : tensor<4x4xf32>
  } {sp.row_blocks = array<i64: 0, 8, 4>}
  return %r : tensor<4x4xf32>
}

// -----

func.func @main(%z: tensor<4x4xf32>) {
  // expected-error @below {{expected 'sp.row_blocks' to be a region's number, its tokens and those of a block but got array<i64: 0, 8, 0>}}
  %r = sp.copy %z {sp.row_blocks = array<i64: 0, 8, 0>} : tensor<4x4xf32>
  return
}
