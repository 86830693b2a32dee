//===- StableHLOAttrs.td - Structured attributes of StableHLO -------------===//

#ifndef SP_STABLEHLO_ATTRS
#define SP_STABLEHLO_ATTRS

include "sp/StableHLO/StableHLOBase.td"

class HLO_Attr<string name, string attrMnemonic>
    : AttrDef<Stablehlo_Dialect, name> {
  let mnemonic = attrMnemonic;
  let hasCustomAssemblyFormat = 1;
}

def HLO_Dims : ArrayRefParameter<"int64_t">;

def HLO_DotDimensionNumbers : HLO_Attr<"DotDimensionNumbers", "dot"> {
  let summary = "Dimension numbers of a dot_general";
  let description = [{
    Example: `#stablehlo.dot<lhs_batching_dimensions = [0],
    rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2],
    rhs_contracting_dimensions = [1]>`. The result has the batching dimensions,
    then the free ones of the left operand, then those of the right.
  }];
  let parameters = (ins HLO_Dims:$lhsBatchingDimensions,
                        HLO_Dims:$rhsBatchingDimensions,
                        HLO_Dims:$lhsContractingDimensions,
                        HLO_Dims:$rhsContractingDimensions);
}

def HLO_GatherDimensionNumbers : HLO_Attr<"GatherDimensionNumbers", "gather"> {
  let summary = "Dimension numbers of a gather";
  let description = [{
    Example: `#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
    start_index_map = [0], index_vector_dim = 1>`. Lists that are empty and a
    zero `index_vector_dim` are not printed.
  }];
  let parameters = (ins HLO_Dims:$offsetDims, HLO_Dims:$collapsedSliceDims,
                        HLO_Dims:$operandBatchingDims,
                        HLO_Dims:$startIndicesBatchingDims,
                        HLO_Dims:$startIndexMap, "int64_t":$indexVectorDim);
}

def HLO_ScatterDimensionNumbers
    : HLO_Attr<"ScatterDimensionNumbers", "scatter"> {
  let summary = "Dimension numbers of a scatter";
  let description = [{
    Example: `#stablehlo.scatter<inserted_window_dims = [0],
    scatter_dims_to_operand_dims = [0], index_vector_dim = 1>`.
  }];
  let parameters = (ins HLO_Dims:$updateWindowDims,
                        HLO_Dims:$insertedWindowDims,
                        HLO_Dims:$inputBatchingDims,
                        HLO_Dims:$scatterIndicesBatchingDims,
                        HLO_Dims:$scatterDimsToOperandDims,
                        "int64_t":$indexVectorDim);
}

def HLO_ConvDimensionNumbers : HLO_Attr<"ConvDimensionNumbers", "conv"> {
  let summary = "Dimension numbers of a convolution";
  let description = [{
    Example: `#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>`: what
    each dimension of input, kernel and output is: batch, feature, input or
    output feature of the kernel, or the number of a spatial dimension.
  }];
  let parameters = (ins "int64_t":$inputBatchDimension,
                        "int64_t":$inputFeatureDimension,
                        HLO_Dims:$inputSpatialDimensions,
                        "int64_t":$kernelInputFeatureDimension,
                        "int64_t":$kernelOutputFeatureDimension,
                        HLO_Dims:$kernelSpatialDimensions,
                        "int64_t":$outputBatchDimension,
                        "int64_t":$outputFeatureDimension,
                        HLO_Dims:$outputSpatialDimensions);
}

def HLO_DotAlgorithm : HLO_Attr<"DotAlgorithm", "dot_algorithm"> {
  let summary = "Arithmetic of a dot_general";
  let description = [{
    Example: `#stablehlo.dot_algorithm<lhs_precision_type = bf16,
    rhs_precision_type = bf16, accumulation_type = f32,
    lhs_component_count = 1, rhs_component_count = 1,
    num_primitive_operations = 1, allow_imprecise_accumulation = false>`.
  }];
  let parameters = (ins "Type":$lhsPrecisionType, "Type":$rhsPrecisionType,
                        "Type":$accumulationType, "int64_t":$lhsComponentCount,
                        "int64_t":$rhsComponentCount,
                        "int64_t":$numPrimitiveOperations,
                        "bool":$allowImpreciseAccumulation);
}

def HLO_ChannelHandle : HLO_Attr<"ChannelHandle", "channel_handle"> {
  let summary = "Channel of a collective";
  let parameters = (ins "int64_t":$handle, "int64_t":$type);
  let description = "Example: `#stablehlo.channel_handle<handle = 1, type = 1>`.";
}

def HLO_OutputOperandAlias
    : HLO_Attr<"OutputOperandAlias", "output_operand_alias"> {
  let summary = "Result of a custom call that reuses an operand";
  let description = [{
    Example: `#stablehlo.output_operand_alias<output_tuple_indices = [],
    operand_index = 0, operand_tuple_indices = []>`.
  }];
  let parameters = (ins HLO_Dims:$outputTupleIndices, "int64_t":$operandIndex,
                        HLO_Dims:$operandTupleIndices);
}

def HLO_ResultAccuracy : HLO_Attr<"ResultAccuracy", "result_accuracy"> {
  let summary = "Accuracy that an elementary function must reach";
  let description = [{
    Example: `#stablehlo.result_accuracy<atol = 1.0, rtol = 2.0, ulps = 3,
    mode = #stablehlo.result_accuracy_mode<TOLERANCE>>`. Our kernels are held to
    their own tolerances; the attribute is read, kept and printed.
  }];
  let parameters = (ins "APFloat":$atol, "APFloat":$rtol, "int64_t":$ulps,
                        "ResultAccuracyModeAttr":$mode);
}

#endif // SP_STABLEHLO_ATTRS
