// RUN: sp-interpret %s | FileCheck %s

// NaN passes through maximum; FLOAT comparisons with NaN are false but NE;
// TOTALORDER places -NaN first, NaN last and -0 below +0.
func.func @main() -> (tensor<4xf32>, tensor<4xf32>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<2xcomplex<f32>>) {
  %x = stablehlo.constant dense<[0x7FC00000, -0.0, 1.0, 0xFFC00000]> : tensor<4xf32>
  %y = stablehlo.constant dense<[1.0, 0.0, 0x7FC00000, 0xFF800000]> : tensor<4xf32>
  // CHECK: result0: tensor<4xf64> [nan, 0, nan, nan]
  %max = stablehlo.maximum %x, %y : tensor<4xf32>
  // CHECK-NEXT: result1: tensor<4xf64> [nan, -0, nan, nan]
  %min = stablehlo.minimum %x, %y : tensor<4xf32>
  // CHECK-NEXT: result2: tensor<4xi1> [false, false, false, false]
  %lt = stablehlo.compare LT, %x, %y, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: result3: tensor<4xi1> [true, false, true, true]
  %ne = stablehlo.compare NE, %x, %y, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: result4: tensor<4xi1> [false, true, true, true]
  %total = stablehlo.compare LT, %x, %y, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %low = stablehlo.constant dense<0.5> : tensor<f32>
  %high = stablehlo.constant dense<2.0> : tensor<f32>
  // CHECK-NEXT: result5: tensor<4xf64> [1, 0.5, nan, 0.5]
  %clamped = stablehlo.clamp %low, %y, %high : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %h = stablehlo.constant dense<[-2.5, -0.5, 0.5, 1.5, 2.5]> : tensor<5xf32>
  // CHECK-NEXT: result6: tensor<5xf64> [-3, -1, 1, 2, 3]
  %away = stablehlo.round_nearest_afz %h : tensor<5xf32>
  // CHECK-NEXT: result7: tensor<5xf64> [-2, -0, 0, 2, 2]
  %even = stablehlo.round_nearest_even %h : tensor<5xf32>
  %two = stablehlo.constant dense<2.0> : tensor<5xf32>
  // CHECK-NEXT: result8: tensor<5xf64> [-0.5, -0.5, 0.5, 1.5, 0.5]
  %remainder = stablehlo.remainder %h, %two : tensor<5xf32>
  %z = stablehlo.constant dense<[(3.0, 4.0), (0.0, 1.0)]> : tensor<2xcomplex<f32>>
  // CHECK-NEXT: result9: tensor<2xcomplex<f64>> [(-7, 24), (-1, 0)]
  %square = stablehlo.multiply %z, %z : tensor<2xcomplex<f32>>
  return %max, %min, %lt, %ne, %total, %clamped, %away, %even, %remainder, %square : tensor<4xf32>, tensor<4xf32>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<2xcomplex<f32>>
}
