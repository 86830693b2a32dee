// RUN: sp-opt %s -sp-replace-custom-calls | FileCheck %s

// CHECK-LABEL: @causal_of_groups
// CHECK-SAME: (%[[Q:.*]]: tensor<2x6x4x8xbf16>, %[[K:.*]]: tensor<2x5x2x8xbf16>, %[[V:.*]]: tensor<2x5x2x16xbf16>)
// CHECK: %[[K_GROUPS:.*]] = stablehlo.broadcast_in_dim %[[K]], dims = [0, 1, 2, 4] : (tensor<2x5x2x8xbf16>) -> tensor<2x5x2x2x8xbf16>
// CHECK: %[[K_HEADS:.*]] = stablehlo.reshape %[[K_GROUPS]] : {{.*}} -> tensor<2x5x4x8xbf16>
// CHECK: %[[QK:.*]] = stablehlo.dot_general %[[Q]], %[[K_HEADS]], batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : {{.*}} -> tensor<2x4x6x5xf32>
// CHECK: %[[SCALE:.*]] = stablehlo.constant dense<5.000000e-01> : tensor<f32>
// CHECK: %[[SCALES:.*]] = stablehlo.broadcast_in_dim %[[SCALE]]
// CHECK: %[[SCORES:.*]] = stablehlo.multiply %[[QK]], %[[SCALES]]
// CHECK: %[[QUERIES:.*]] = stablehlo.iota dim = 0 : tensor<6x5xi32>
// CHECK: %[[KEYS:.*]] = stablehlo.iota dim = 1 : tensor<6x5xi32>
// CHECK: %[[CAUSAL:.*]] = stablehlo.compare GE, %[[QUERIES]], %[[KEYS]], SIGNED
// CHECK: %[[VISIBLE:.*]] = stablehlo.broadcast_in_dim %[[CAUSAL]], dims = [2, 3]
// CHECK: %[[HIDDEN:.*]] = stablehlo.broadcast_in_dim %{{.*}} : (tensor<f32>) -> tensor<2x4x6x5xf32>
// CHECK: %[[MASKED:.*]] = stablehlo.select %[[VISIBLE]], %[[SCORES]], %[[HIDDEN]]
// CHECK: %[[MAX:.*]] = stablehlo.reduce(%[[MASKED]] init: %{{.*}}) applies stablehlo.maximum across dimensions = [3]
// CHECK: stablehlo.constant dense<-3.40282347E+38>
// CHECK: %[[FINITE:.*]] = stablehlo.maximum %[[MAX]]
// CHECK: %[[SHIFT:.*]] = stablehlo.broadcast_in_dim %[[FINITE]], dims = [0, 1, 2]
// CHECK: %[[SHIFTED:.*]] = stablehlo.subtract %[[MASKED]], %[[SHIFT]]
// CHECK: %[[EXP:.*]] = stablehlo.exponential %[[SHIFTED]]
// CHECK: %[[SUM:.*]] = stablehlo.reduce(%[[EXP]] init: %{{.*}}) applies stablehlo.add across dimensions = [3]
// CHECK: stablehlo.constant dense<1.000000e+00>
// CHECK: %[[DIVISOR:.*]] = stablehlo.maximum %[[SUM]]
// CHECK: %[[DIVISORS:.*]] = stablehlo.broadcast_in_dim %[[DIVISOR]], dims = [0, 1, 2]
// CHECK: %[[WEIGHTS:.*]] = stablehlo.divide %[[EXP]], %[[DIVISORS]] : tensor<2x4x6x5xf32>
// CHECK: %[[V_GROUPS:.*]] = stablehlo.broadcast_in_dim %[[V]], dims = [0, 1, 2, 4] : (tensor<2x5x2x16xbf16>) -> tensor<2x5x2x2x16xbf16>
// CHECK: %[[V_HEADS:.*]] = stablehlo.reshape %[[V_GROUPS]] : {{.*}} -> tensor<2x5x4x16xbf16>
// CHECK: %[[NARROW:.*]] = stablehlo.convert %[[WEIGHTS]] : {{.*}} -> tensor<2x4x6x5xbf16>
// CHECK: %[[WIDE:.*]] = stablehlo.dot_general %[[NARROW]], %[[V_HEADS]], batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1] : {{.*}} -> tensor<2x4x6x16xf32>
// CHECK: %[[O:.*]] = stablehlo.convert %[[WIDE]] : {{.*}} -> tensor<2x4x6x16xbf16>
// CHECK-NOT: custom_call
// CHECK: return %[[O]] : tensor<2x4x6x16xbf16>
func.func @causal_of_groups(%a0: tensor<2x6x4x8xbf16>, %a1: tensor<2x5x2x8xbf16>, %a2: tensor<2x5x2x16xbf16>) -> tensor<2x4x6x16xbf16> {
  %0:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%a0, %a1, %a2) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.5, \22mask_type\22: \22CAUSAL\22, \22bmm1_dot_dimension_numbers\22: {\22lhs_contracting_dimensions\22: [\223\22], \22rhs_contracting_dimensions\22: [\223\22], \22lhs_batch_dimensions\22: [\220\22, \222\22], \22rhs_batch_dimensions\22: [\220\22, \222\22]}}}"} : (tensor<2x6x4x8xbf16>, tensor<2x5x2x8xbf16>, tensor<2x5x2x16xbf16>) -> (tensor<2x4x6x16xbf16>, tensor<0xui8>)
  return %0#0 : tensor<2x4x6x16xbf16>
}

// CHECK-LABEL: @heads_first
// CHECK-SAME: (%[[Q:.*]]: tensor<2x4x6x8xbf16>, %[[K:.*]]: tensor<2x4x6x8xbf16>, %[[V:.*]]: tensor<2x4x6x8xbf16>)
// CHECK-NEXT: stablehlo.dot_general %[[Q]], %[[K]], batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3]
// CHECK: %[[CAUSAL:.*]] = stablehlo.compare GE
// CHECK: %[[UNTIL_QUERY:.*]] = stablehlo.broadcast_in_dim %[[CAUSAL]]
// CHECK: %[[SIZE:.*]] = stablehlo.constant dense<3> : tensor<i32>
// CHECK: %[[SIZES:.*]] = stablehlo.broadcast_in_dim %[[SIZE]]
// CHECK: %[[QUERIES:.*]] = stablehlo.iota dim = 0
// CHECK: %[[BEFORE:.*]] = stablehlo.subtract %[[QUERIES]], %[[SIZES]]
// CHECK: %[[KEYS:.*]] = stablehlo.iota dim = 1
// CHECK: %[[IN_WINDOW:.*]] = stablehlo.compare GT, %[[KEYS]], %[[BEFORE]], SIGNED
// CHECK: %[[FROM_WINDOW:.*]] = stablehlo.broadcast_in_dim %[[IN_WINDOW]]
// CHECK: %[[VISIBLE:.*]] = stablehlo.and %[[UNTIL_QUERY]], %[[FROM_WINDOW]]
// CHECK: stablehlo.select %[[VISIBLE]]
// CHECK: stablehlo.dot_general %{{.*}}, %[[V]], batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2]
func.func @heads_first(%a0: tensor<2x4x6x8xbf16>, %a1: tensor<2x4x6x8xbf16>, %a2: tensor<2x4x6x8xbf16>) -> tensor<2x4x6x8xbf16> {
  %0:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%a0, %a1, %a2) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.5, \22mask_type\22: \22NO_MASK\22, \22sliding_window_length\22: 3, \22bmm1_dot_dimension_numbers\22: {\22lhs_contracting_dimensions\22: [\223\22], \22rhs_contracting_dimensions\22: [\223\22], \22lhs_batch_dimensions\22: [\220\22, \221\22], \22rhs_batch_dimensions\22: [\220\22, \221\22]}}}"} : (tensor<2x4x6x8xbf16>, tensor<2x4x6x8xbf16>, tensor<2x4x6x8xbf16>) -> (tensor<2x4x6x8xbf16>, tensor<0xui8>)
  return %0#0 : tensor<2x4x6x8xbf16>
}

// CHECK-LABEL: @bias
// CHECK: %[[SCORES:.*]] = stablehlo.multiply
// CHECK-NEXT: %[[WIDE:.*]] = stablehlo.convert %{{.*}} : (tensor<1x4x6x5xf16>) -> tensor<1x4x6x5xf32>
// CHECK-NEXT: %[[BIAS:.*]] = stablehlo.broadcast_in_dim %[[WIDE]], dims = [0, 1, 2, 3]
// CHECK-NEXT: %[[BIASED:.*]] = stablehlo.add %[[SCORES]], %[[BIAS]]
// CHECK-NOT: select
// CHECK: stablehlo.reduce(%[[BIASED]]
func.func @bias(%a0: tensor<2x6x4x8xf16>, %a1: tensor<2x5x4x8xf16>, %a2: tensor<2x5x4x8xf16>, %a3: tensor<1x4x6x5xf16>) -> tensor<2x4x6x8xf16> {
  %0:2 = stablehlo.custom_call @__cudnn$fmhaScaleBiasSoftmax(%a0, %a1, %a2, %a3) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.5, \22mask_type\22: \22NO_MASK\22, \22bmm1_dot_dimension_numbers\22: {\22lhs_contracting_dimensions\22: [\223\22], \22rhs_contracting_dimensions\22: [\223\22], \22lhs_batch_dimensions\22: [\220\22, \222\22], \22rhs_batch_dimensions\22: [\220\22, \222\22]}}}"} : (tensor<2x6x4x8xf16>, tensor<2x5x4x8xf16>, tensor<2x5x4x8xf16>, tensor<1x4x6x5xf16>) -> (tensor<2x4x6x8xf16>, tensor<0xui8>)
  return %0#0 : tensor<2x4x6x8xf16>
}

// CHECK-LABEL: @lengths_and_sums
// CHECK-SAME: %[[Q_LENGTHS:[^:]*]]: tensor<2xi32>, %[[K_LENGTHS:[^:]*]]: tensor<2xi32>
// CHECK: %[[QUERIES:.*]] = stablehlo.iota dim = 1 : tensor<2x6xi32>
// CHECK: %[[Q_ENDS:.*]] = stablehlo.broadcast_in_dim %[[Q_LENGTHS]], dims = [0]
// CHECK: %[[Q_INSIDE:.*]] = stablehlo.compare LT, %[[QUERIES]], %[[Q_ENDS]], SIGNED
// CHECK: %[[ROWS:.*]] = stablehlo.broadcast_in_dim %[[Q_INSIDE]], dims = [0, 2]
// CHECK: %[[KEYS:.*]] = stablehlo.iota dim = 1 : tensor<2x5xi32>
// CHECK: %[[K_ENDS:.*]] = stablehlo.broadcast_in_dim %[[K_LENGTHS]], dims = [0]
// CHECK: %[[K_INSIDE:.*]] = stablehlo.compare LT, %[[KEYS]], %[[K_ENDS]], SIGNED
// CHECK: %[[COLUMNS:.*]] = stablehlo.broadcast_in_dim %[[K_INSIDE]], dims = [0, 3]
// CHECK: stablehlo.and %[[ROWS]], %[[COLUMNS]]
// CHECK: %[[FINITE:.*]] = stablehlo.maximum
// CHECK: %[[SUM:.*]] = stablehlo.reduce({{.*}}) applies stablehlo.add
// CHECK: %[[O:.*]] = stablehlo.convert %{{.*}} : {{.*}} -> tensor<2x4x6x16xbf16>
// CHECK: %[[LOG:.*]] = stablehlo.log %[[SUM]]
// CHECK: %[[LSE:.*]] = stablehlo.add %[[FINITE]], %[[LOG]]
// CHECK: %[[ZERO:.*]] = stablehlo.constant dense<0> : tensor<ui8>
// CHECK: %[[WORKSPACE:.*]] = stablehlo.broadcast_in_dim %[[ZERO]], dims = [] : (tensor<ui8>) -> tensor<16xui8>
// CHECK: return %[[O]], %[[LSE]], %[[WORKSPACE]]
func.func @lengths_and_sums(%a0: tensor<2x6x4x8xbf16>, %a1: tensor<2x5x2x8xbf16>, %a2: tensor<2x5x2x16xbf16>, %a3: tensor<2xi32>, %a4: tensor<2xi32>) -> (tensor<2x4x6x16xbf16>, tensor<2x4x6xf32>, tensor<16xui8>) {
  %0:3 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%a0, %a1, %a2, %a3, %a4) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.5, \22mask_type\22: \22PADDING\22, \22bmm1_dot_dimension_numbers\22: {\22lhs_contracting_dimensions\22: [\223\22], \22rhs_contracting_dimensions\22: [\223\22], \22lhs_batch_dimensions\22: [\220\22, \222\22], \22rhs_batch_dimensions\22: [\220\22, \222\22]}}}"} : (tensor<2x6x4x8xbf16>, tensor<2x5x2x8xbf16>, tensor<2x5x2x16xbf16>, tensor<2xi32>, tensor<2xi32>) -> (tensor<2x4x6x16xbf16>, tensor<2x4x6xf32>, tensor<16xui8>)
  return %0#0, %0#1, %0#2 : tensor<2x4x6x16xbf16>, tensor<2x4x6xf32>, tensor<16xui8>
}
