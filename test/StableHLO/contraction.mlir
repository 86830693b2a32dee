// As the printer of jaxlib 0.10.2 writes it: read and written without a change,
// and the same after a detour through the generic form.
//
// RUN: grep -v "^//\|^$" %s > %t.expected
// RUN: sp-opt %s | grep . > %t.pretty
// RUN: diff %t.expected %t.pretty
// RUN: sp-opt %s --mlir-print-op-generic | sp-opt | grep . > %t.generic
// RUN: diff %t.expected %t.generic


module {
  func.func @dots(%arg0: tensor<2x16x4x8xf32>, %arg1: tensor<2x16x4x8xf32>, %arg2: tensor<3x4xbf16>, %arg3: tensor<4x5xbf16>, %arg4: tensor<4xbf16>) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, HIGHEST] : (tensor<2x16x4x8xf32>, tensor<2x16x4x8xf32>) -> tensor<2x4x16x16xf32>
    %1 = stablehlo.dot_general %arg2, %arg3, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<3x4xbf16>, tensor<4x5xbf16>) -> tensor<3x5xbf16>
    %2 = stablehlo.dot_general %arg2, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<3x4xbf16>, tensor<4x5xbf16>) -> tensor<3x5xf32>
    %3 = stablehlo.dot_general %arg2, %arg3, contracting_dims = [1] x [0] {mhlo.frontend_attributes = {grad_x = "false"}} : (tensor<3x4xbf16>, tensor<4x5xbf16>) -> tensor<3x5xbf16>
    %4 = stablehlo.dot_general %arg4, %arg4, contracting_dims = [] x [] : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4x4xbf16>
    %5 = stablehlo.dot_general %arg4, %arg4, batching_dims = [0] x [0], contracting_dims = [] x [] : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xbf16>
    %6 = stablehlo.dot %arg2, %arg3 : (tensor<3x4xbf16>, tensor<4x5xbf16>) -> tensor<3x5xbf16>
    %7 = stablehlo.dot %arg4, %arg3, precision = [DEFAULT, DEFAULT] : (tensor<4xbf16>, tensor<4x5xbf16>) -> tensor<5xbf16>
    return
  }
  func.func @patches(%arg0: tensor<1x16x16x3xf32>, %arg1: tensor<4x4x3x8xf32>) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [4, 4], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x16x16x3xf32>, tensor<4x4x3x8xf32>) -> tensor<1x4x4x8xf32>
    %1 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[f, b, 1, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x16x16x3xf32>, tensor<4x4x3x8xf32>) -> tensor<8x1x13x13xf32>
    return
  }
  func.func @calls(%arg0: tensor<2x3xf32>) {
    %0 = stablehlo.custom_call @Sharding(%arg0) {backend_config = "", mhlo.sharding = "{devices=[2,1]<=[2]}"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %1 = stablehlo.custom_call @mhlo.erf(%arg0) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %2:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%arg0, %arg0) {api_version = 2 : i32, backend_config = "{\22mask\22: 1}", operand_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<[1, 0]> : tensor<2xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<[1, 0]> : tensor<2xindex>]} : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
    %3 = stablehlo.custom_call @"foo bar"(%arg0) {api_version = 4 : i32, backend_config = {a = 1 : i32}, called_computations = [@impl], has_side_effect = true, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    stablehlo.custom_call @none() : () -> ()
    %4 = stablehlo.composite "odml.rms_norm" %arg0 {composite_attributes = {epsilon = 9.99999997E-7 : f32}, decomposition = @impl, version = 2 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %5 = stablehlo.composite "my.op" %arg0 {decomposition = @impl} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %6:2 = call @two(%arg0) {mhlo.frontend_attributes = {}} : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
    return
  }
  func.func private @impl(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    return %arg0 : tensor<2x3xf32>
  }
  func.func private @two(%arg0: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
    return %arg0, %arg0 : tensor<2x3xf32>, tensor<2x3xf32>
  }
  func.func @exchange(%arg0: tensor<2x3xf32>) {
    %0 = "stablehlo.all_reduce"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<0> : tensor<1x1xi64>, use_global_device_ids}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %5 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %1 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<2x3xf32>) -> tensor<4x3xf32>
    %2 = "stablehlo.reduce_scatter"(%arg0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 0 : i64}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %5 = stablehlo.maximum %arg1, %arg2 : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }) : (tensor<2x3xf32>) -> tensor<1x3xf32>
    %3 = "stablehlo.all_to_all"(%arg0) <{concat_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<2x3xf32>) -> tensor<1x6xf32>
    %4 = "stablehlo.collective_permute"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return
  }
}
