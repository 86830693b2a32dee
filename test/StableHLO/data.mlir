// As the printer of jaxlib 0.10.2 writes it: read and written without a change,
// and the same after a detour through the generic form.
//
// RUN: grep -v "^//\|^$" %s > %t.expected
// RUN: sp-opt %s | grep . > %t.pretty
// RUN: diff %t.expected %t.pretty
// RUN: sp-opt %s --mlir-print-op-generic | sp-opt | grep . > %t.generic
// RUN: diff %t.expected %t.generic


module {
  func.func @constants() {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %c = stablehlo.constant dense<[1, 2]> : tensor<2xui64>
    %cst_1 = stablehlo.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
    %c_2 = stablehlo.constant {mhlo.note = 1 : i32} dense<true> : tensor<i1>
    %cst_3 = stablehlo.constant dense<(1.000000e+00,2.000000e+00)> : tensor<complex<f32>>
    %c_4 = stablehlo.constant dense<> : tensor<0x4xi32>
    %cst_5 = stablehlo.constant dense<5.000000e-01> : tensor<f64>
    %cst_6 = stablehlo.constant dense_resource<__elided__> : tensor<32x4xf16>
    return
  }
  func.func @positions(%arg0: tensor<2xui64>, %arg1: tensor<f32>) {
    %0 = stablehlo.iota dim = 0 : tensor<8x8xi32>
    %1 = stablehlo.partition_id : tensor<ui32>
    %2 = stablehlo.replica_id : tensor<ui32>
    %output_state, %output = stablehlo.rng_bit_generator %arg0, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
    %c = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
    %3 = stablehlo.rng %arg1, %arg1, %c, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<1x2xf32>
    return
  }
  func.func @dimensions(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>) {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2x4xf32>
    %2 = stablehlo.broadcast %arg0, sizes = [5] : (tensor<2x3xf32>) -> tensor<5x2x3xf32>
    %3 = stablehlo.reshape %arg0 : (tensor<2x3xf32>) -> tensor<6xf32>
    %4 = stablehlo.transpose %arg0, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[3,2]{0,1}"} : (tensor<2x3xf32>) -> tensor<3x2xf32>
    %5 = stablehlo.reverse %arg0, dims = [1] : tensor<2x3xf32>
    %6 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<2x3xf32>) -> tensor<i32>
    return
  }
  func.func @pieces(%arg0: tensor<8x9xf32>, %arg1: tensor<2x2xf32>, %arg2: tensor<f32>, %arg3: tensor<i32>) {
    %0 = stablehlo.slice %arg0 [0:8, 0:4:2] : (tensor<8x9xf32>) -> tensor<8x2xf32>
    %1 = stablehlo.slice %arg2 [] : (tensor<f32>) -> tensor<f32>
    %2 = stablehlo.dynamic_slice %arg0, %arg3, %arg3, sizes = [1, 6] : (tensor<8x9xf32>, tensor<i32>, tensor<i32>) -> tensor<1x6xf32>
    %3 = stablehlo.dynamic_update_slice %arg0, %arg1, %arg3, %arg3 : (tensor<8x9xf32>, tensor<2x2xf32>, tensor<i32>, tensor<i32>) -> tensor<8x9xf32>
    %4 = stablehlo.concatenate %arg0, %arg0, dim = 1 : (tensor<8x9xf32>, tensor<8x9xf32>) -> tensor<8x18xf32>
    %5 = stablehlo.concatenate %arg0, dim = 0 : (tensor<8x9xf32>) -> tensor<8x9xf32>
    %6 = stablehlo.pad %arg0, %arg2, low = [0, -2], high = [3, 0], interior = [0, 1] : (tensor<8x9xf32>, tensor<f32>) -> tensor<11x15xf32>
    return
  }
  func.func @gather_rows(%arg0: tensor<64x16xf32>, %arg1: tensor<2x8x1xi32>) -> tensor<2x8x16xf32> {
    %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 16>}> : (tensor<64x16xf32>, tensor<2x8x1xi32>) -> tensor<2x8x16xf32>
    return %0 : tensor<2x8x16xf32>
  }
  func.func @gather_along_axis(%arg0: tensor<2x5x32xf32>, %arg1: tensor<2x5x3x1xi32>) -> tensor<2x5x3xf32> {
    %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 3>, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<2x5x32xf32>, tensor<2x5x3x1xi32>) -> tensor<2x5x3xf32>
    return %0 : tensor<2x5x3xf32>
  }
  func.func @bundles(%arg0: tensor<2xf32>, %arg1: tensor<f32>) {
    %0:2 = stablehlo.optimization_barrier %arg0, %arg1 : tensor<2xf32>, tensor<f32>
    %1 = stablehlo.optimization_barrier {mhlo.note} %arg0 : tensor<2xf32>
    stablehlo.optimization_barrier()
    %2 = stablehlo.tuple %arg0, %arg1 : tuple<tensor<2xf32>, tensor<f32>>
    %3 = stablehlo.get_tuple_element %2[1] : (tuple<tensor<2xf32>, tensor<f32>>) -> tensor<f32>
    return
  }
}
