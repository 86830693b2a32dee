// RUN: sp-interpret %s | FileCheck %s --check-prefixes=CHECK,F64
// RUN: sp-interpret %s --precision=program | FileCheck %s --check-prefixes=CHECK,PROGRAM

// A constant means the value it has in its own type; arithmetic is raised to
// f64 but for bitcast_convert and reduce_precision. Integers are the program's.
func.func @main() -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i8>, tensor<bf16>) {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %three = stablehlo.constant dense<3.0> : tensor<f32>
  %tenth = stablehlo.constant dense<1.000000e-01> : tensor<f32>
  // CHECK: result0: tensor<
  // F64-SAME: f64> [0.10000000149011612]
  // PROGRAM-SAME: f32> [0.1]
  // F64: result1: tensor<f64> [0.3333333333333333]
  // PROGRAM: result1: tensor<f32> [0.33333334]
  %third = stablehlo.divide %one, %three : tensor<f32>
  // CHECK: result2: {{.*}} [0.33398{{.*}}]
  %rounded = stablehlo.reduce_precision %third, format = e5m7 : tensor<f32>
  // 1/3 in f32 is 0x3EAAAAAB.
  // CHECK: result3: tensor<i32> [1051372203]
  %bits = stablehlo.bitcast_convert %third : (tensor<f32>) -> tensor<i32>
  // F64: result4: tensor<f64> [16777217]
  // PROGRAM: result4: tensor<f32> [16777216]
  %big = stablehlo.constant dense<16777216.0> : tensor<f32>
  %sum = stablehlo.add %big, %one : tensor<f32>
  // CHECK: result5: tensor<i8> [-56]
  %hundred = stablehlo.constant dense<100> : tensor<i8>
  %wrapped = stablehlo.add %hundred, %hundred : tensor<i8>
  // F64: result6: tensor<f64> [0.3333333333333333]
  // PROGRAM: result6: tensor<bf16> [0.33398438]
  %narrow = stablehlo.convert %third : (tensor<f32>) -> tensor<bf16>
  return %tenth, %third, %rounded, %bits, %sum, %wrapped, %narrow : tensor<f32>, tensor<f32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i8>, tensor<bf16>
}
