// RUN: sp-compile %s --mesh=sp=2 --strategy=none --emit=commands | FileCheck %s
// RUN: sp-compile %s --mesh=sp=2 --strategy=none -o %t.spx
// RUN: sp-run %t.spx --random-inputs=1 --save-inputs=%t.npz
// RUN: sp-interpret %s --inputs=%t.npz --outputs=%t.out.npz
// RUN: sp-run %t.spx --inputs=%t.npz --check=%t.out.npz

// A loop that is not counted reads what it carries unchanged, and hands it on, from where it lies.
// CHECK: result result1: 1xf32 at constant[[[AT:[0-9]+]]; 4]
// CHECK: while
// CHECK: launch multiply_0 {{.*}} constant[[[AT]]; 4]
func.func @main(%x: tensor<5xf32>) -> (tensor<5xf32>, tensor<1xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %factor = stablehlo.constant dense<1.01> : tensor<f32>
  %r:3 = stablehlo.while(%i = %zero, %y = %x, %carried = %factor) : tensor<i32>, tensor<5xf32>, tensor<f32>
  cond {
    %n = stablehlo.constant dense<199> : tensor<i32>
    %p = stablehlo.compare LE, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %all = stablehlo.broadcast_in_dim %carried, dims = [] : (tensor<f32>) -> tensor<5xf32>
    %next = stablehlo.multiply %y, %all : tensor<5xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %next, %carried : tensor<i32>, tensor<5xf32>, tensor<f32>
  }
  %last = stablehlo.reshape %r#2 : (tensor<f32>) -> tensor<1xf32>
  return %r#1, %last : tensor<5xf32>, tensor<1xf32>
}
