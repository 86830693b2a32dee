// RUN: sp-interpret %s | FileCheck %s

// Overflow wraps, division by zero gives all bits, a shift by the width or more
// leaves nothing or the sign, i1 adds with `or` and multiplies with `and`.
func.func @main() -> (tensor<3xi8>, tensor<4xi32>, tensor<4xi32>, tensor<2xui8>, tensor<4xi8>, tensor<4xi8>, tensor<4xi8>, tensor<4xi1>, tensor<4xi1>, tensor<5xi8>, tensor<2xi1>) {
  %x = stablehlo.constant dense<[-128, 127, -7]> : tensor<3xi8>
  %y = stablehlo.constant dense<[-1, 1, 2]> : tensor<3xi8>
  // CHECK: result0: tensor<3xi8> [127, -128, -5]
  %sum = stablehlo.add %x, %y : tensor<3xi8>
  %a = stablehlo.constant dense<[-2147483648, 7, -7, -7]> : tensor<4xi32>
  %b = stablehlo.constant dense<[-1, 0, 2, -2]> : tensor<4xi32>
  // CHECK-NEXT: result1: tensor<4xi32> [-2147483648, -1, -3, 3]
  %quotient = stablehlo.divide %a, %b : tensor<4xi32>
  // CHECK-NEXT: result2: tensor<4xi32> [0, 7, -1, -1]
  %remainder = stablehlo.remainder %a, %b : tensor<4xi32>
  %u = stablehlo.constant dense<[200, 3]> : tensor<2xui8>
  %z = stablehlo.constant dense<[0, 2]> : tensor<2xui8>
  // CHECK-NEXT: result3: tensor<2xui8> [255, 1]
  %unsigned = stablehlo.divide %u, %z : tensor<2xui8>
  %s = stablehlo.constant dense<[-128, -128, 127, 1]> : tensor<4xi8>
  %by = stablehlo.constant dense<[3, 8, -1, 7]> : tensor<4xi8>
  // CHECK-NEXT: result4: tensor<4xi8> [0, 0, 0, -128]
  %left = stablehlo.shift_left %s, %by : tensor<4xi8>
  // CHECK-NEXT: result5: tensor<4xi8> [16, 0, 0, 0]
  %logical = stablehlo.shift_right_logical %s, %by : tensor<4xi8>
  // CHECK-NEXT: result6: tensor<4xi8> [-16, -1, 0, 0]
  %arithmetic = stablehlo.shift_right_arithmetic %s, %by : tensor<4xi8>
  %p = stablehlo.constant dense<[false, false, true, true]> : tensor<4xi1>
  %q = stablehlo.constant dense<[false, true, false, true]> : tensor<4xi1>
  // CHECK-NEXT: result7: tensor<4xi1> [false, true, true, true]
  %or = stablehlo.add %p, %q : tensor<4xi1>
  // CHECK-NEXT: result8: tensor<4xi1> [false, false, false, true]
  %and = stablehlo.multiply %p, %q : tensor<4xi1>
  %f = stablehlo.constant dense<[1.9, -1.9, 1.0e9, 0xFF800000, 0x7FC00000]> : tensor<5xf32>
  // CHECK-NEXT: result9: tensor<5xi8> [1, -1, 127, -128, 0]
  %saturated = stablehlo.convert %f : (tensor<5xf32>) -> tensor<5xi8>
  %m = stablehlo.constant dense<[-1, 1]> : tensor<2xi16>
  %n = stablehlo.constant dense<[1, -1]> : tensor<2xi16>
  // CHECK-NEXT: result10: tensor<2xi1> [false, true]
  %less = stablehlo.compare LT, %m, %n, UNSIGNED : (tensor<2xi16>, tensor<2xi16>) -> tensor<2xi1>
  return %sum, %quotient, %remainder, %unsigned, %left, %logical, %arithmetic, %or, %and, %saturated, %less : tensor<3xi8>, tensor<4xi32>, tensor<4xi32>, tensor<2xui8>, tensor<4xi8>, tensor<4xi8>, tensor<4xi8>, tensor<4xi1>, tensor<4xi1>, tensor<5xi8>, tensor<2xi1>
}
