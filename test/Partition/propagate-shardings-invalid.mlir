// RUN: sp-opt %s -split-input-file --sp-propagate-shardings -verify-diagnostics

// expected-error @below {{expected a mesh; run sp-plan-pipeline first}}
module {}

// -----

// expected-error @below {{expected a function called 'main'}}
module @no_program {
  sp.mesh @mesh <["sp" = 3]> sequence "sp"
}

// -----

sp.mesh @mesh <["sp" = 3]> sequence "sp"
// expected-error @below {{'func.func' op expected a body of one block but got 0}}
func.func private @main()

// -----

sp.mesh @mesh <["sp" = 3]> sequence "sp"
func.func private @silu(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'func.call' op expected calls to be inlined before Partition; run sp-import-pipeline}}
  %y = func.call @silu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

sp.mesh @mesh <["sp" = 3]> sequence "sp"
// expected-error @below {{expected argument 0 to be a tensor of static shape, of numbers or booleans, but got 'tensor<?xf32>'}}
func.func @main(%x: tensor<?xf32>) {
  return
}

// -----

sdy.mesh @cluster = <["sp"=3, "tp"=2]>
sp.mesh @mesh <["sp" = 3]> sequence "sp"
// expected-error @below {{argument 0: 'sdy.sharding' expected axes of the mesh, "sp", but got "tp"; name it with --mesh, or export the model without it}}
func.func @main(%x: tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@cluster, [{"tp"}, {}]>}) {
  return
}

// -----

sdy.mesh @cluster = <["sp"=6]>
sp.mesh @mesh <["sp" = 4]> sequence "sp"
// expected-error @below {{argument 0: 'sdy.sharding' expected a part of axis "sp" of 4 ranks but got "sp:(1)3"}}
func.func @main(%x: tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@cluster, [{"sp":(1)3}, {}]>}) {
  return
}

// -----

sp.mesh @mesh <["sp" = 3]> sequence "sp"
// expected-error @below {{argument 0: 'sp.sharding' expected dimension 0 to have size 6 but got 8}}
func.func @main(%x: tensor<6x4xf32> {sp.sharding = #sp.sharding<[[8], [4]]>}) {
  return
}

// -----

sp.mesh @mesh <["sp" = 3]> sequence "sp"
// expected-error @below {{argument 0: 'sp.sharding' expected a layout of 6 positions on the 3 ranks of axis "sp" but got #sp.layout<contiguous 6 on "sp" of 4>}}
func.func @main(%x: tensor<6x4xf32> {sp.sharding = #sp.sharding<[[6 by <contiguous 6 on "sp" of 4>], [4]]>}) {
  return
}

// -----

sp.mesh @mesh <["sp" = 2, "tp" = 2]> sequence "sp" tensor "tp"
sdy.mesh @cluster = <["sp"=2, "tp"=2]>

// expected-error @below {{argument 0: 'sdy.sharding' expected axes of which all but the last divide a dimension of size 7 but got ["sp", "tp"], and no order of them does; name one of them}}
func.func @main(%x: tensor<7xf32> {sdy.sharding = #sdy.sharding<@cluster, [{"sp", "tp"}]>}) -> tensor<7xf32> {
  return %x : tensor<7xf32>
}

// -----

sp.mesh @mesh <["sp" = 6]> sequence "sp"
// The ranks of one step along "sp:(3)2" may be two along "sp:(1)2" as well.
// expected-error @below {{argument 0: 'sp.sharding' expected every axis to deal one dimension but got}}
func.func @main(%x: tensor<4x4xf32> {sp.sharding = #sp.sharding<[[4 by <contiguous 4 on "sp:(1)2" of 2>], [4 by <contiguous 4 on "sp:(3)2" of 2>]]>}) -> tensor<4x4xf32> {
  return %x : tensor<4x4xf32>
}

// -----

sdy.mesh @cluster = <["sp"=6]>
sp.mesh @mesh <["sp" = 6]> sequence "sp"
func.func @main(%x: tensor<6xf32> {sdy.sharding = #sdy.sharding<@cluster, [{"sp":(1)2}]>},
                // expected-error @below {{argument 1: 'sdy.sharding' expected parts of axis "sp" that begin and end at divisors of one another but got "sp:(3)2" beside "sp:(1)2"; with the latter goes "sp:(2)3"}}
                %y: tensor<6xf32> {sdy.sharding = #sdy.sharding<@cluster, [{"sp":(3)2}]>}) -> tensor<6xf32> {
  return %x : tensor<6xf32>
}
