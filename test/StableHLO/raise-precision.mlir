// RUN: sp-opt %s --sp-raise-precision | FileCheck %s

// CHECK-LABEL: func.func @floats_become_f64
// CHECK-SAME: (%{{.*}}: tensor<2xf64>, %{{.*}}: tensor<2xi32>) -> tensor<2xf64>
func.func @floats_become_f64(%x: tensor<2xbf16>, %i: tensor<2xi32>) -> tensor<2xf32> {
  // CHECK: stablehlo.constant dense<[5.000000e-01, 0xFFF0000000000000]> : tensor<2xf64>
  %c = stablehlo.constant dense<[0.5, 0xFF80]> : tensor<2xbf16>
  // CHECK: stablehlo.add %{{.*}} : tensor<2xf64>
  %y = stablehlo.add %x, %c : tensor<2xbf16>
  // CHECK: stablehlo.convert %{{.*}} : tensor<2xf64>
  %z = stablehlo.convert %y : (tensor<2xbf16>) -> tensor<2xf32>
  return %z : tensor<2xf32>
}

// CHECK-LABEL: func.func @bits_keep_their_type
func.func @bits_keep_their_type(%x: tensor<2xf32>) -> (tensor<2xi32>, tensor<2xf32>) {
  // CHECK: %[[NARROW:.*]] = stablehlo.convert %{{.*}} : (tensor<2xf64>) -> tensor<2xf32>
  // CHECK: stablehlo.bitcast_convert %[[NARROW]] : (tensor<2xf32>) -> tensor<2xi32>
  %b = stablehlo.bitcast_convert %x : (tensor<2xf32>) -> tensor<2xi32>
  // CHECK: %[[ROUNDED:.*]] = stablehlo.reduce_precision %{{.*}}, format = e8m7 : tensor<2xf32>
  // CHECK: stablehlo.convert %[[ROUNDED]] : (tensor<2xf32>) -> tensor<2xf64>
  %r = stablehlo.reduce_precision %x, format = e8m7 : tensor<2xf32>
  return %b, %r : tensor<2xi32>, tensor<2xf32>
}
