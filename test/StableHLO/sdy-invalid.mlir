// RUN: sp-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{expected axis "x" only once in a mesh}}
sdy.mesh @mesh = <["x"=2, "x"=4]>

// -----

// expected-error@+1 {{expected a positive size of axis "x" but got 0}}
sdy.mesh @mesh = <["x"=0]>

// -----

// expected-error@+1 {{expected device_ids to be a permutation of 0..3}}
sdy.mesh @mesh = <["x"=4], device_ids=[0, 1, 2, 4]>

// -----

func.func @missing_mesh(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{'sdy.sharding_constraint' op expected a mesh called '@mesh'}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"x"}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["data"=2, "sp"=4]>
func.func @missing_axis(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{'sdy.sharding_constraint' op expected an axis of the mesh but got "cp"; it has "data", "sp"}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"cp"}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["data"=2, "sp"=4]>
// expected-error@+1 {{'func.func' op expected a sharding of 1 dimensions but got 2}}
func.func @rank(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"sp"}, {}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["data"=2, "sp"=4]>
// expected-error@+1 {{'func.func' op expected axis "sp" only once in a sharding}}
func.func @axis_twice(%x: tensor<8x8xf32>) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"sp"}, {"sp"}]>}) {
  return %x : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["data"=2, "sp"=4]>
func.func @factor(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{'sdy.reshard' op expected a factor of axis "sp" of size 4 but got (3)2}}
  %0 = sdy.reshard %x <@mesh, [{"sp":(3)2}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @open_in_the_middle(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{expected '?' only at the end}}
  %0 = sdy.reshard %x <@mesh, [{?, "sp"}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["data"=2, "sp"=4]>
func.func @results_without_sharding(%x: tensor<8xf32>) {
  // expected-error@+1 {{'stablehlo.negate' op expected 'sdy.sharding' to have a sharding for each of 1 results but got #sdy.sharding_per_value<[]>}}
  %0 = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[]>} : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["data"=2, "sp"=4]>
func.func @manual_computation_c2_local(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{'sdy.manual_computation' op expected operands 0 of local type 'tensor<2xf32>' but got 'tensor<8xf32>'}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"sp"}]>] out_shardings=[<@mesh, [{"sp"}]>] manual_axes={"sp"} (%c: tensor<8xf32>) {
    sdy.return %c : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["data"=2, "sp"=4]>
func.func @manual_computation_c1_count(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{'sdy.manual_computation' op expected 1 operands but got 0 shardings and 1 in the body}}
  %0 = sdy.manual_computation(%x) in_shardings=[] out_shardings=[<@mesh, [{"sp"}]>] manual_axes={"sp"} (%c: tensor<8xf32>) {
    sdy.return %c : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
