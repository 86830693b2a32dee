// RUN: sp-kernel-check %s | FileCheck %s
// RUN: sp-kernel-check --cpu=x86-64-v3 %s | FileCheck %s
// RUN: sp-kernel-check --grid %s | FileCheck %s
// CHECK-NOT: WRONG

// Integers of every kind.

func.func @binary_i32(%arg0: tensor<133xi32>, %arg1: tensor<133xi32>) -> (tensor<133xi32>, tensor<133xi32>, tensor<133xi32>, tensor<133xi32>, tensor<133xi32>, tensor<133xi32>, tensor<133xi32>, tensor<133xi1>, tensor<133xi1>, tensor<133xi1>, tensor<133xi1>, tensor<133xi1>, tensor<133xi1>, tensor<133xi32>, tensor<133xi32>, tensor<133xi32>, tensor<133xi32>, tensor<133xi32>, tensor<133xi32>) {
  %0 = stablehlo.add %arg0, %arg1 : tensor<133xi32>
  %1 = stablehlo.subtract %arg0, %arg1 : tensor<133xi32>
  %2 = stablehlo.multiply %arg0, %arg1 : tensor<133xi32>
  %3 = stablehlo.divide %arg0, %arg1 : tensor<133xi32>
  %4 = stablehlo.maximum %arg0, %arg1 : tensor<133xi32>
  %5 = stablehlo.minimum %arg0, %arg1 : tensor<133xi32>
  %6 = stablehlo.remainder %arg0, %arg1 : tensor<133xi32>
  %7 = stablehlo.compare EQ, %arg0, %arg1, SIGNED : (tensor<133xi32>, tensor<133xi32>) -> tensor<133xi1>
  %8 = stablehlo.compare NE, %arg0, %arg1, SIGNED : (tensor<133xi32>, tensor<133xi32>) -> tensor<133xi1>
  %9 = stablehlo.compare LT, %arg0, %arg1, SIGNED : (tensor<133xi32>, tensor<133xi32>) -> tensor<133xi1>
  %10 = stablehlo.compare GE, %arg0, %arg1, SIGNED : (tensor<133xi32>, tensor<133xi32>) -> tensor<133xi1>
  %11 = stablehlo.compare GT, %arg0, %arg1, SIGNED : (tensor<133xi32>, tensor<133xi32>) -> tensor<133xi1>
  %12 = stablehlo.compare LE, %arg0, %arg1, SIGNED : (tensor<133xi32>, tensor<133xi32>) -> tensor<133xi1>
  %13 = stablehlo.and %arg0, %arg1 : tensor<133xi32>
  %14 = stablehlo.or %arg0, %arg1 : tensor<133xi32>
  %15 = stablehlo.xor %arg0, %arg1 : tensor<133xi32>
  %16 = stablehlo.shift_left %arg0, %arg1 : tensor<133xi32>
  %17 = stablehlo.shift_right_logical %arg0, %arg1 : tensor<133xi32>
  %18 = stablehlo.shift_right_arithmetic %arg0, %arg1 : tensor<133xi32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18 : tensor<133xi32>, tensor<133xi32>, tensor<133xi32>, tensor<133xi32>, tensor<133xi32>, tensor<133xi32>, tensor<133xi32>, tensor<133xi1>, tensor<133xi1>, tensor<133xi1>, tensor<133xi1>, tensor<133xi1>, tensor<133xi1>, tensor<133xi32>, tensor<133xi32>, tensor<133xi32>, tensor<133xi32>, tensor<133xi32>, tensor<133xi32>
}

func.func @unary_i32(%arg0: tensor<35xi32>) -> (tensor<35xi32>, tensor<35xi32>, tensor<35xi32>, tensor<35xi32>, tensor<35xi32>, tensor<35xi32>, tensor<35xf32>, tensor<35xf64>, tensor<35xbf16>, tensor<35xi1>, tensor<35xi8>, tensor<35xui32>, tensor<35xi64>) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.not %arg0 : tensor<35xi32>
  %1 = stablehlo.popcnt %arg0 : tensor<35xi32>
  %2 = stablehlo.count_leading_zeros %arg0 : tensor<35xi32>
  %3 = stablehlo.sign %arg0 : tensor<35xi32>
  %4 = stablehlo.abs %arg0 : tensor<35xi32>
  %5 = stablehlo.negate %arg0 : tensor<35xi32>
  %6 = stablehlo.convert %arg0 : (tensor<35xi32>) -> tensor<35xf32>
  %7 = stablehlo.convert %arg0 : (tensor<35xi32>) -> tensor<35xf64>
  %8 = stablehlo.convert %arg0 : (tensor<35xi32>) -> tensor<35xbf16>
  %9 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<35xi32>
  %10 = stablehlo.compare NE, %arg0, %9, SIGNED : (tensor<35xi32>, tensor<35xi32>) -> tensor<35xi1>
  %11 = stablehlo.convert %10 : tensor<35xi1>
  %12 = stablehlo.convert %arg0 : (tensor<35xi32>) -> tensor<35xi8>
  %13 = stablehlo.convert %arg0 : (tensor<35xi32>) -> tensor<35xui32>
  %14 = stablehlo.convert %arg0 : (tensor<35xi32>) -> tensor<35xi64>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %11, %12, %13, %14 : tensor<35xi32>, tensor<35xi32>, tensor<35xi32>, tensor<35xi32>, tensor<35xi32>, tensor<35xi32>, tensor<35xf32>, tensor<35xf64>, tensor<35xbf16>, tensor<35xi1>, tensor<35xi8>, tensor<35xui32>, tensor<35xi64>
}

func.func @binary_i64(%arg0: tensor<133xi64>, %arg1: tensor<133xi64>) -> (tensor<133xi64>, tensor<133xi64>, tensor<133xi64>, tensor<133xi64>, tensor<133xi64>, tensor<133xi64>, tensor<133xi64>, tensor<133xi1>, tensor<133xi1>, tensor<133xi1>, tensor<133xi1>, tensor<133xi1>, tensor<133xi1>, tensor<133xi64>, tensor<133xi64>, tensor<133xi64>, tensor<133xi64>, tensor<133xi64>, tensor<133xi64>) {
  %0 = stablehlo.add %arg0, %arg1 : tensor<133xi64>
  %1 = stablehlo.subtract %arg0, %arg1 : tensor<133xi64>
  %2 = stablehlo.multiply %arg0, %arg1 : tensor<133xi64>
  %3 = stablehlo.divide %arg0, %arg1 : tensor<133xi64>
  %4 = stablehlo.maximum %arg0, %arg1 : tensor<133xi64>
  %5 = stablehlo.minimum %arg0, %arg1 : tensor<133xi64>
  %6 = stablehlo.remainder %arg0, %arg1 : tensor<133xi64>
  %7 = stablehlo.compare EQ, %arg0, %arg1, SIGNED : (tensor<133xi64>, tensor<133xi64>) -> tensor<133xi1>
  %8 = stablehlo.compare NE, %arg0, %arg1, SIGNED : (tensor<133xi64>, tensor<133xi64>) -> tensor<133xi1>
  %9 = stablehlo.compare LT, %arg0, %arg1, SIGNED : (tensor<133xi64>, tensor<133xi64>) -> tensor<133xi1>
  %10 = stablehlo.compare GE, %arg0, %arg1, SIGNED : (tensor<133xi64>, tensor<133xi64>) -> tensor<133xi1>
  %11 = stablehlo.compare GT, %arg0, %arg1, SIGNED : (tensor<133xi64>, tensor<133xi64>) -> tensor<133xi1>
  %12 = stablehlo.compare LE, %arg0, %arg1, SIGNED : (tensor<133xi64>, tensor<133xi64>) -> tensor<133xi1>
  %13 = stablehlo.and %arg0, %arg1 : tensor<133xi64>
  %14 = stablehlo.or %arg0, %arg1 : tensor<133xi64>
  %15 = stablehlo.xor %arg0, %arg1 : tensor<133xi64>
  %16 = stablehlo.shift_left %arg0, %arg1 : tensor<133xi64>
  %17 = stablehlo.shift_right_logical %arg0, %arg1 : tensor<133xi64>
  %18 = stablehlo.shift_right_arithmetic %arg0, %arg1 : tensor<133xi64>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18 : tensor<133xi64>, tensor<133xi64>, tensor<133xi64>, tensor<133xi64>, tensor<133xi64>, tensor<133xi64>, tensor<133xi64>, tensor<133xi1>, tensor<133xi1>, tensor<133xi1>, tensor<133xi1>, tensor<133xi1>, tensor<133xi1>, tensor<133xi64>, tensor<133xi64>, tensor<133xi64>, tensor<133xi64>, tensor<133xi64>, tensor<133xi64>
}

func.func @unary_i64(%arg0: tensor<35xi64>) -> (tensor<35xi64>, tensor<35xi64>, tensor<35xi64>, tensor<35xi64>, tensor<35xi64>, tensor<35xi64>, tensor<35xf32>, tensor<35xf64>, tensor<35xbf16>, tensor<35xi1>, tensor<35xi8>, tensor<35xui32>, tensor<35xi64>) {
  %c = stablehlo.constant dense<0> : tensor<i64>
  %0 = stablehlo.not %arg0 : tensor<35xi64>
  %1 = stablehlo.popcnt %arg0 : tensor<35xi64>
  %2 = stablehlo.count_leading_zeros %arg0 : tensor<35xi64>
  %3 = stablehlo.sign %arg0 : tensor<35xi64>
  %4 = stablehlo.abs %arg0 : tensor<35xi64>
  %5 = stablehlo.negate %arg0 : tensor<35xi64>
  %6 = stablehlo.convert %arg0 : (tensor<35xi64>) -> tensor<35xf32>
  %7 = stablehlo.convert %arg0 : (tensor<35xi64>) -> tensor<35xf64>
  %8 = stablehlo.convert %arg0 : (tensor<35xi64>) -> tensor<35xbf16>
  %9 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<35xi64>
  %10 = stablehlo.compare NE, %arg0, %9, SIGNED : (tensor<35xi64>, tensor<35xi64>) -> tensor<35xi1>
  %11 = stablehlo.convert %10 : tensor<35xi1>
  %12 = stablehlo.convert %arg0 : (tensor<35xi64>) -> tensor<35xi8>
  %13 = stablehlo.convert %arg0 : (tensor<35xi64>) -> tensor<35xui32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %11, %12, %13, %arg0 : tensor<35xi64>, tensor<35xi64>, tensor<35xi64>, tensor<35xi64>, tensor<35xi64>, tensor<35xi64>, tensor<35xf32>, tensor<35xf64>, tensor<35xbf16>, tensor<35xi1>, tensor<35xi8>, tensor<35xui32>, tensor<35xi64>
}

func.func @binary_i8(%arg0: tensor<133xi8>, %arg1: tensor<133xi8>) -> (tensor<133xi8>, tensor<133xi8>, tensor<133xi8>, tensor<133xi8>, tensor<133xi8>, tensor<133xi8>, tensor<133xi8>, tensor<133xi1>, tensor<133xi1>, tensor<133xi1>, tensor<133xi1>, tensor<133xi1>, tensor<133xi1>, tensor<133xi8>, tensor<133xi8>, tensor<133xi8>, tensor<133xi8>, tensor<133xi8>, tensor<133xi8>) {
  %0 = stablehlo.add %arg0, %arg1 : tensor<133xi8>
  %1 = stablehlo.subtract %arg0, %arg1 : tensor<133xi8>
  %2 = stablehlo.multiply %arg0, %arg1 : tensor<133xi8>
  %3 = stablehlo.divide %arg0, %arg1 : tensor<133xi8>
  %4 = stablehlo.maximum %arg0, %arg1 : tensor<133xi8>
  %5 = stablehlo.minimum %arg0, %arg1 : tensor<133xi8>
  %6 = stablehlo.remainder %arg0, %arg1 : tensor<133xi8>
  %7 = stablehlo.compare EQ, %arg0, %arg1, SIGNED : (tensor<133xi8>, tensor<133xi8>) -> tensor<133xi1>
  %8 = stablehlo.compare NE, %arg0, %arg1, SIGNED : (tensor<133xi8>, tensor<133xi8>) -> tensor<133xi1>
  %9 = stablehlo.compare LT, %arg0, %arg1, SIGNED : (tensor<133xi8>, tensor<133xi8>) -> tensor<133xi1>
  %10 = stablehlo.compare GE, %arg0, %arg1, SIGNED : (tensor<133xi8>, tensor<133xi8>) -> tensor<133xi1>
  %11 = stablehlo.compare GT, %arg0, %arg1, SIGNED : (tensor<133xi8>, tensor<133xi8>) -> tensor<133xi1>
  %12 = stablehlo.compare LE, %arg0, %arg1, SIGNED : (tensor<133xi8>, tensor<133xi8>) -> tensor<133xi1>
  %13 = stablehlo.and %arg0, %arg1 : tensor<133xi8>
  %14 = stablehlo.or %arg0, %arg1 : tensor<133xi8>
  %15 = stablehlo.xor %arg0, %arg1 : tensor<133xi8>
  %16 = stablehlo.shift_left %arg0, %arg1 : tensor<133xi8>
  %17 = stablehlo.shift_right_logical %arg0, %arg1 : tensor<133xi8>
  %18 = stablehlo.shift_right_arithmetic %arg0, %arg1 : tensor<133xi8>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18 : tensor<133xi8>, tensor<133xi8>, tensor<133xi8>, tensor<133xi8>, tensor<133xi8>, tensor<133xi8>, tensor<133xi8>, tensor<133xi1>, tensor<133xi1>, tensor<133xi1>, tensor<133xi1>, tensor<133xi1>, tensor<133xi1>, tensor<133xi8>, tensor<133xi8>, tensor<133xi8>, tensor<133xi8>, tensor<133xi8>, tensor<133xi8>
}

func.func @unary_i8(%arg0: tensor<35xi8>) -> (tensor<35xi8>, tensor<35xi8>, tensor<35xi8>, tensor<35xi8>, tensor<35xi8>, tensor<35xi8>, tensor<35xf32>, tensor<35xf64>, tensor<35xbf16>, tensor<35xi1>, tensor<35xi8>, tensor<35xui32>, tensor<35xi64>) {
  %c = stablehlo.constant dense<0> : tensor<i8>
  %0 = stablehlo.not %arg0 : tensor<35xi8>
  %1 = stablehlo.popcnt %arg0 : tensor<35xi8>
  %2 = stablehlo.count_leading_zeros %arg0 : tensor<35xi8>
  %3 = stablehlo.sign %arg0 : tensor<35xi8>
  %4 = stablehlo.abs %arg0 : tensor<35xi8>
  %5 = stablehlo.negate %arg0 : tensor<35xi8>
  %6 = stablehlo.convert %arg0 : (tensor<35xi8>) -> tensor<35xf32>
  %7 = stablehlo.convert %arg0 : (tensor<35xi8>) -> tensor<35xf64>
  %8 = stablehlo.convert %arg0 : (tensor<35xi8>) -> tensor<35xbf16>
  %9 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i8>) -> tensor<35xi8>
  %10 = stablehlo.compare NE, %arg0, %9, SIGNED : (tensor<35xi8>, tensor<35xi8>) -> tensor<35xi1>
  %11 = stablehlo.convert %10 : tensor<35xi1>
  %12 = stablehlo.convert %arg0 : (tensor<35xi8>) -> tensor<35xui32>
  %13 = stablehlo.convert %arg0 : (tensor<35xi8>) -> tensor<35xi64>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %11, %arg0, %12, %13 : tensor<35xi8>, tensor<35xi8>, tensor<35xi8>, tensor<35xi8>, tensor<35xi8>, tensor<35xi8>, tensor<35xf32>, tensor<35xf64>, tensor<35xbf16>, tensor<35xi1>, tensor<35xi8>, tensor<35xui32>, tensor<35xi64>
}

func.func @binary_ui8(%arg0: tensor<133xui8>, %arg1: tensor<133xui8>) -> (tensor<133xui8>, tensor<133xui8>, tensor<133xui8>, tensor<133xui8>, tensor<133xui8>, tensor<133xui8>, tensor<133xui8>, tensor<133xi1>, tensor<133xi1>, tensor<133xi1>, tensor<133xi1>, tensor<133xi1>, tensor<133xi1>, tensor<133xui8>, tensor<133xui8>, tensor<133xui8>, tensor<133xui8>, tensor<133xui8>, tensor<133xui8>) {
  %0 = stablehlo.add %arg0, %arg1 : tensor<133xui8>
  %1 = stablehlo.subtract %arg0, %arg1 : tensor<133xui8>
  %2 = stablehlo.multiply %arg0, %arg1 : tensor<133xui8>
  %3 = stablehlo.divide %arg0, %arg1 : tensor<133xui8>
  %4 = stablehlo.maximum %arg0, %arg1 : tensor<133xui8>
  %5 = stablehlo.minimum %arg0, %arg1 : tensor<133xui8>
  %6 = stablehlo.remainder %arg0, %arg1 : tensor<133xui8>
  %7 = stablehlo.compare EQ, %arg0, %arg1, UNSIGNED : (tensor<133xui8>, tensor<133xui8>) -> tensor<133xi1>
  %8 = stablehlo.compare NE, %arg0, %arg1, UNSIGNED : (tensor<133xui8>, tensor<133xui8>) -> tensor<133xi1>
  %9 = stablehlo.compare LT, %arg0, %arg1, UNSIGNED : (tensor<133xui8>, tensor<133xui8>) -> tensor<133xi1>
  %10 = stablehlo.compare GE, %arg0, %arg1, UNSIGNED : (tensor<133xui8>, tensor<133xui8>) -> tensor<133xi1>
  %11 = stablehlo.compare GT, %arg0, %arg1, UNSIGNED : (tensor<133xui8>, tensor<133xui8>) -> tensor<133xi1>
  %12 = stablehlo.compare LE, %arg0, %arg1, UNSIGNED : (tensor<133xui8>, tensor<133xui8>) -> tensor<133xi1>
  %13 = stablehlo.and %arg0, %arg1 : tensor<133xui8>
  %14 = stablehlo.or %arg0, %arg1 : tensor<133xui8>
  %15 = stablehlo.xor %arg0, %arg1 : tensor<133xui8>
  %16 = stablehlo.shift_left %arg0, %arg1 : tensor<133xui8>
  %17 = stablehlo.shift_right_logical %arg0, %arg1 : tensor<133xui8>
  %18 = stablehlo.shift_right_arithmetic %arg0, %arg1 : tensor<133xui8>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18 : tensor<133xui8>, tensor<133xui8>, tensor<133xui8>, tensor<133xui8>, tensor<133xui8>, tensor<133xui8>, tensor<133xui8>, tensor<133xi1>, tensor<133xi1>, tensor<133xi1>, tensor<133xi1>, tensor<133xi1>, tensor<133xi1>, tensor<133xui8>, tensor<133xui8>, tensor<133xui8>, tensor<133xui8>, tensor<133xui8>, tensor<133xui8>
}

func.func @unary_ui8(%arg0: tensor<35xui8>) -> (tensor<35xui8>, tensor<35xui8>, tensor<35xui8>, tensor<35xui8>, tensor<35xui8>, tensor<35xui8>, tensor<35xf32>, tensor<35xf64>, tensor<35xbf16>, tensor<35xi1>, tensor<35xi8>, tensor<35xui32>, tensor<35xi64>) {
  %c = stablehlo.constant dense<1> : tensor<ui8>
  %c_0 = stablehlo.constant dense<0> : tensor<ui8>
  %0 = stablehlo.not %arg0 : tensor<35xui8>
  %1 = stablehlo.popcnt %arg0 : tensor<35xui8>
  %2 = stablehlo.count_leading_zeros %arg0 : tensor<35xui8>
  %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<ui8>) -> tensor<35xui8>
  %4 = stablehlo.compare EQ, %arg0, %3, UNSIGNED : (tensor<35xui8>, tensor<35xui8>) -> tensor<35xi1>
  %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui8>) -> tensor<35xui8>
  %6 = stablehlo.select %4, %3, %5 : tensor<35xi1>, tensor<35xui8>
  %7 = stablehlo.negate %arg0 : tensor<35xui8>
  %8 = stablehlo.convert %arg0 : (tensor<35xui8>) -> tensor<35xf32>
  %9 = stablehlo.convert %arg0 : (tensor<35xui8>) -> tensor<35xf64>
  %10 = stablehlo.convert %arg0 : (tensor<35xui8>) -> tensor<35xbf16>
  %11 = stablehlo.compare NE, %arg0, %3, UNSIGNED : (tensor<35xui8>, tensor<35xui8>) -> tensor<35xi1>
  %12 = stablehlo.convert %11 : tensor<35xi1>
  %13 = stablehlo.convert %arg0 : (tensor<35xui8>) -> tensor<35xi8>
  %14 = stablehlo.convert %arg0 : (tensor<35xui8>) -> tensor<35xui32>
  %15 = stablehlo.convert %arg0 : (tensor<35xui8>) -> tensor<35xi64>
  return %0, %1, %2, %6, %arg0, %7, %8, %9, %10, %12, %13, %14, %15 : tensor<35xui8>, tensor<35xui8>, tensor<35xui8>, tensor<35xui8>, tensor<35xui8>, tensor<35xui8>, tensor<35xf32>, tensor<35xf64>, tensor<35xbf16>, tensor<35xi1>, tensor<35xi8>, tensor<35xui32>, tensor<35xi64>
}

func.func @binary_ui32(%arg0: tensor<133xui32>, %arg1: tensor<133xui32>) -> (tensor<133xui32>, tensor<133xui32>, tensor<133xui32>, tensor<133xui32>, tensor<133xui32>, tensor<133xui32>, tensor<133xui32>, tensor<133xi1>, tensor<133xi1>, tensor<133xi1>, tensor<133xi1>, tensor<133xi1>, tensor<133xi1>, tensor<133xui32>, tensor<133xui32>, tensor<133xui32>, tensor<133xui32>, tensor<133xui32>, tensor<133xui32>) {
  %0 = stablehlo.add %arg0, %arg1 : tensor<133xui32>
  %1 = stablehlo.subtract %arg0, %arg1 : tensor<133xui32>
  %2 = stablehlo.multiply %arg0, %arg1 : tensor<133xui32>
  %3 = stablehlo.divide %arg0, %arg1 : tensor<133xui32>
  %4 = stablehlo.maximum %arg0, %arg1 : tensor<133xui32>
  %5 = stablehlo.minimum %arg0, %arg1 : tensor<133xui32>
  %6 = stablehlo.remainder %arg0, %arg1 : tensor<133xui32>
  %7 = stablehlo.compare EQ, %arg0, %arg1, UNSIGNED : (tensor<133xui32>, tensor<133xui32>) -> tensor<133xi1>
  %8 = stablehlo.compare NE, %arg0, %arg1, UNSIGNED : (tensor<133xui32>, tensor<133xui32>) -> tensor<133xi1>
  %9 = stablehlo.compare LT, %arg0, %arg1, UNSIGNED : (tensor<133xui32>, tensor<133xui32>) -> tensor<133xi1>
  %10 = stablehlo.compare GE, %arg0, %arg1, UNSIGNED : (tensor<133xui32>, tensor<133xui32>) -> tensor<133xi1>
  %11 = stablehlo.compare GT, %arg0, %arg1, UNSIGNED : (tensor<133xui32>, tensor<133xui32>) -> tensor<133xi1>
  %12 = stablehlo.compare LE, %arg0, %arg1, UNSIGNED : (tensor<133xui32>, tensor<133xui32>) -> tensor<133xi1>
  %13 = stablehlo.and %arg0, %arg1 : tensor<133xui32>
  %14 = stablehlo.or %arg0, %arg1 : tensor<133xui32>
  %15 = stablehlo.xor %arg0, %arg1 : tensor<133xui32>
  %16 = stablehlo.shift_left %arg0, %arg1 : tensor<133xui32>
  %17 = stablehlo.shift_right_logical %arg0, %arg1 : tensor<133xui32>
  %18 = stablehlo.shift_right_arithmetic %arg0, %arg1 : tensor<133xui32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18 : tensor<133xui32>, tensor<133xui32>, tensor<133xui32>, tensor<133xui32>, tensor<133xui32>, tensor<133xui32>, tensor<133xui32>, tensor<133xi1>, tensor<133xi1>, tensor<133xi1>, tensor<133xi1>, tensor<133xi1>, tensor<133xi1>, tensor<133xui32>, tensor<133xui32>, tensor<133xui32>, tensor<133xui32>, tensor<133xui32>, tensor<133xui32>
}

func.func @unary_ui32(%arg0: tensor<35xui32>) -> (tensor<35xui32>, tensor<35xui32>, tensor<35xui32>, tensor<35xui32>, tensor<35xui32>, tensor<35xui32>, tensor<35xf32>, tensor<35xf64>, tensor<35xbf16>, tensor<35xi1>, tensor<35xi8>, tensor<35xui32>, tensor<35xi64>) {
  %c = stablehlo.constant dense<1> : tensor<ui32>
  %c_0 = stablehlo.constant dense<0> : tensor<ui32>
  %0 = stablehlo.not %arg0 : tensor<35xui32>
  %1 = stablehlo.popcnt %arg0 : tensor<35xui32>
  %2 = stablehlo.count_leading_zeros %arg0 : tensor<35xui32>
  %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<ui32>) -> tensor<35xui32>
  %4 = stablehlo.compare EQ, %arg0, %3, UNSIGNED : (tensor<35xui32>, tensor<35xui32>) -> tensor<35xi1>
  %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui32>) -> tensor<35xui32>
  %6 = stablehlo.select %4, %3, %5 : tensor<35xi1>, tensor<35xui32>
  %7 = stablehlo.negate %arg0 : tensor<35xui32>
  %8 = stablehlo.convert %arg0 : (tensor<35xui32>) -> tensor<35xf32>
  %9 = stablehlo.convert %arg0 : (tensor<35xui32>) -> tensor<35xf64>
  %10 = stablehlo.convert %arg0 : (tensor<35xui32>) -> tensor<35xbf16>
  %11 = stablehlo.compare NE, %arg0, %3, UNSIGNED : (tensor<35xui32>, tensor<35xui32>) -> tensor<35xi1>
  %12 = stablehlo.convert %11 : tensor<35xi1>
  %13 = stablehlo.convert %arg0 : (tensor<35xui32>) -> tensor<35xi8>
  %14 = stablehlo.convert %arg0 : (tensor<35xui32>) -> tensor<35xi64>
  return %0, %1, %2, %6, %arg0, %7, %8, %9, %10, %12, %13, %arg0, %14 : tensor<35xui32>, tensor<35xui32>, tensor<35xui32>, tensor<35xui32>, tensor<35xui32>, tensor<35xui32>, tensor<35xf32>, tensor<35xf64>, tensor<35xbf16>, tensor<35xi1>, tensor<35xi8>, tensor<35xui32>, tensor<35xi64>
}
