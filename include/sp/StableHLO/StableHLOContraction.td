//===- StableHLOContraction.td - Contractions, calls and exchanges --------===//

#ifndef SP_STABLEHLO_CONTRACTION
#define SP_STABLEHLO_CONTRACTION

include "mlir/IR/SymbolInterfaces.td"
include "sp/StableHLO/StableHLOElementwise.td"

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

def HLO_DotGeneralOp : HLO_Op<"dot_general", [Pure, HLO_KernelStage]> {
  let summary = "Contraction over any dimensions";
  let description = [{
    (C1) Dimension numbers are within rank and name each dimension once.
    (C2) Paired batching and contracting dimensions have equal sizes.
    (C3) The result has the batching, then the free left, then the free right
    dimensions.
  }];
  let arguments = (ins HLO_Tensor:$lhs, HLO_Tensor:$rhs,
                       HLO_DotDimensionNumbers:$dot_dimension_numbers,
                       OptionalAttr<HLO_PrecisionConfigAttr>:$precision_config,
                       OptionalAttr<HLO_DotAlgorithm>:$algorithm);
  let results = (outs HLO_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` custom<DotDimensionNumbers>($dot_dimension_numbers)
      `` custom<PrecisionConfigAndAlgorithm>($precision_config, $algorithm)
      attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def HLO_DotOp : HLO_Op<"dot", [Pure, HLO_KernelStage]> {
  let summary = "Product of vectors and matrices";
  let description = [{
    (C1) Operands have rank 1 or 2; the last dimension of the left one is as
    large as the first of the right one.
  }];
  let arguments = (ins HLO_Tensor:$lhs, HLO_Tensor:$rhs,
                       OptionalAttr<HLO_PrecisionConfigAttr>:$precision_config);
  let results = (outs HLO_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `` custom<PrecisionConfig>($precision_config) attr-dict `:`
      functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def HLO_ConvolutionOp : HLO_Op<"convolution", [Pure, HLO_KernelStage]> {
  let summary = "Convolution";
  let description = [{
    (C1) Dimension numbers name each dimension once.
    (C2) Window attributes have one entry per spatial dimension.
    (C3) Features and batch divide into their groups, and the result's shape
    follows from the window.
  }];
  let arguments = (ins HLO_Tensor:$lhs, HLO_Tensor:$rhs,
                       OptionalAttr<DenseI64ArrayAttr>:$window_strides,
                       OptionalAttr<I64ElementsAttr>:$padding,
                       OptionalAttr<DenseI64ArrayAttr>:$lhs_dilation,
                       OptionalAttr<DenseI64ArrayAttr>:$rhs_dilation,
                       OptionalAttr<DenseBoolArrayAttr>:$window_reversal,
                       HLO_ConvDimensionNumbers:$dimension_numbers,
                       ConfinedAttr<I64Attr, [IntPositive]>:$feature_group_count,
                       ConfinedAttr<I64Attr, [IntPositive]>:$batch_group_count,
                       OptionalAttr<HLO_PrecisionConfigAttr>:$precision_config);
  let results = (outs HLO_Tensor:$result);
  let assemblyFormat = [{
    `(` operands `)` `dim_numbers` `=`
      custom<ConvolutionDimensions>($dimension_numbers) `,` `window` `=` `{`
      custom<WindowAttributes>($window_strides, $padding, $lhs_dilation,
                               $rhs_dilation, $window_reversal) `}`
      attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Calls to something outside the dialect
//===----------------------------------------------------------------------===//

def HLO_CustomCallOp : HLO_Op<"custom_call",
    [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Call of something the target provides";
  let description = [{
    Sharding annotations (`@Sharding`) and library calls are written so.
  }];
  let arguments = (ins Variadic<HLO_Value>:$inputs, StrAttr:$call_target_name,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$has_side_effect,
                       OptionalAttr<AnyAttrOf<[StrAttr, DictionaryAttr]>>:$backend_config,
                       DefaultValuedOptionalAttr<I32Attr, "1">:$api_version,
                       OptionalAttr<ArrayAttr>:$called_computations,
                       OptionalAttr<ArrayAttr>:$operand_layouts,
                       OptionalAttr<ArrayAttr>:$result_layouts,
                       OptionalAttr<TypedArrayAttrBase<HLO_OutputOperandAlias,
                           "aliases of results and operands">>:$output_operand_aliases);
  let results = (outs Variadic<HLO_Value>:$result);
  let assemblyFormat = [{
    custom<CustomCallTarget>($call_target_name) `(` $inputs `)` attr-dict `:`
      functional-type(operands, results)
  }];
}

def HLO_CompositeOp : HLO_Op<"composite",
    [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Named operation with its decomposition";
  let description = [{
    (C1) The decomposition is a function of the operands' and results' types.
  }];
  let arguments = (ins Variadic<HLO_Value>:$inputs, StrAttr:$name,
                       DefaultValuedOptionalAttr<DictionaryAttr, "{}">:$composite_attributes,
                       FlatSymbolRefAttr:$decomposition,
                       DefaultValuedOptionalAttr<ConfinedAttr<I32Attr, [IntNonNegative]>, "0">:$version);
  let results = (outs Variadic<HLO_Value>:$result);
  let assemblyFormat = [{
    $name $inputs attr-dict `:` functional-type(operands, results)
  }];
}

//===----------------------------------------------------------------------===//
// Exchanges between devices: always generic
//===----------------------------------------------------------------------===//

class HLO_Collective<string mnemonic, string theSummary> : HLO_Op<mnemonic> {
  let summary = theSummary;
  let description = "As `shard_map` writes it inside `sdy.manual_computation`.";
}

def HLO_AllReduceOp : HLO_Collective<"all_reduce", "Reduction over a group"> {
  let arguments = (ins Variadic<HLO_Tensor>:$operands, I64ElementsAttr:$replica_groups,
                       OptionalAttr<HLO_ChannelHandle>:$channel_handle,
                       UnitAttr:$use_global_device_ids);
  let results = (outs Variadic<HLO_Tensor>:$results);
  let regions = (region SizedRegion<1>:$computation);
}

def HLO_AllGatherOp : HLO_Collective<"all_gather",
    "Parts of a group, concatenated"> {
  let arguments = (ins Variadic<HLO_Tensor>:$operands,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$all_gather_dim,
                       I64ElementsAttr:$replica_groups,
                       OptionalAttr<HLO_ChannelHandle>:$channel_handle,
                       UnitAttr:$use_global_device_ids);
  let results = (outs Variadic<HLO_Tensor>:$results);
}

def HLO_AllToAllOp : HLO_Collective<"all_to_all",
    "Parts split along one dimension, exchanged and concatenated"> {
  let arguments = (ins Variadic<HLO_Tensor>:$operands,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$split_dimension,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$concat_dimension,
                       ConfinedAttr<I64Attr, [IntPositive]>:$split_count,
                       I64ElementsAttr:$replica_groups,
                       OptionalAttr<HLO_ChannelHandle>:$channel_handle);
  let results = (outs Variadic<HLO_Tensor>:$results);
}

def HLO_ReduceScatterOp : HLO_Collective<"reduce_scatter",
    "Reduction over a group of which each keeps a part"> {
  let arguments = (ins HLO_Tensor:$operand,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$scatter_dimension,
                       I64ElementsAttr:$replica_groups,
                       OptionalAttr<HLO_ChannelHandle>:$channel_handle,
                       UnitAttr:$use_global_device_ids);
  let results = (outs HLO_Tensor:$result);
  let regions = (region SizedRegion<1>:$computation);
}

def HLO_CollectivePermuteOp : HLO_Collective<"collective_permute",
    "Values sent from device to device"> {
  let arguments = (ins HLO_Tensor:$operand, I64ElementsAttr:$source_target_pairs,
                       OptionalAttr<HLO_ChannelHandle>:$channel_handle);
  let results = (outs HLO_Tensor:$result);
}

#endif // SP_STABLEHLO_CONTRACTION
