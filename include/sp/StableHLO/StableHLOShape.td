//===- StableHLOShape.td - Constants and movement of data -----------------===//

#ifndef SP_STABLEHLO_SHAPE
#define SP_STABLEHLO_SHAPE

include "mlir/IR/OpAsmInterface.td"
include "sp/StableHLO/StableHLOElementwise.td"

//===----------------------------------------------------------------------===//
// Without operands
//===----------------------------------------------------------------------===//

def HLO_ConstantOp : HLO_Op<"constant", [Pure, ConstantLike,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "Constant";
  let description = [{
    Example: `stablehlo.constant dense<1.0> : tensor<2xf32>`; also of
    `dense_resource`. The generic form may stand in place of the value:
    `stablehlo.constant() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32>`.

    (C1) The value has the type of the result.
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs HLO_Tensor:$output);
  let builders = [OpBuilder<(ins "ElementsAttr":$value), [{
    build($_builder, $_state, value.getType(), value);
  }]>];
  let hasCustomAssemblyFormat = 1;
  let hasFolder = 1;
  let hasVerifier = 1;
}

def HLO_IotaOp : HLO_Op<"iota", [Pure]> {
  let summary = "Positions along one dimension";
  let description = [{
    Example: `%0 = stablehlo.iota dim = 1 : tensor<4x8xi32>` counts columns.

    (C1) The dimension is within rank.
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$iota_dimension);
  let results = (outs HLO_Tensor:$output);
  let assemblyFormat = "`dim` `=` $iota_dimension attr-dict `:` type($output)";
  let hasVerifier = 1;
}

class HLO_DeviceId<string mnemonic, string theSummary> : HLO_Op<mnemonic, [Pure]> {
  let summary = theSummary;
  let results = (outs HLO_ScalarInt:$result);
  let assemblyFormat = "attr-dict `:` type(results)";
}
def HLO_PartitionIdOp : HLO_DeviceId<"partition_id", "Number of the partition">;
def HLO_ReplicaIdOp : HLO_DeviceId<"replica_id", "Number of the replica">;

def HLO_RngOp : HLO_Op<"rng"> {
  let summary = "Random numbers of a distribution";
  let arguments = (ins HLO_Scalar:$a, HLO_Scalar:$b, HLO_IntTensor:$shape,
                       HLO_RngDistributionAttr:$rng_distribution);
  let results = (outs HLO_Tensor:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $shape `,` `distribution` `=` custom<Word>($rng_distribution) attr-dict
      `:` functional-type(operands, results)
  }];
}

def HLO_RngBitGeneratorOp : HLO_Op<"rng_bit_generator", [Pure,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "Random bits and the generator's next state";
  let arguments = (ins HLO_RngAlgorithmAttr:$rng_algorithm,
                       HLO_IntTensor:$initial_state);
  let results = (outs HLO_IntTensor:$output_state, HLO_IntTensor:$output);
  let assemblyFormat = [{
    $initial_state `,` `algorithm` `=` custom<Word>($rng_algorithm) attr-dict `:`
      functional-type(operands, results)
  }];
}

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

def HLO_BroadcastInDimOp : HLO_Op<"broadcast_in_dim", [Pure, HLO_Spread,
                                                       SameOperandsAndResultElementType]> {
  let summary = "Dimensions added, and those of size one expanded";
  let description = [{
    (C1) One result dimension per operand dimension, all different, each of the
    operand's size or from size one.
  }];
  let arguments = (ins HLO_Tensor:$operand,
                       DenseI64ArrayAttr:$broadcast_dimensions);
  let results = (outs HLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` `dims` `=` $broadcast_dimensions attr-dict `:`
      functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def HLO_BroadcastOp : HLO_Op<"broadcast", [Pure, HLO_Spread,
                                           SameOperandsAndResultElementType]> {
  let summary = "Leading dimensions added";
  let description = "(C1) The result's shape is the sizes, then the operand's.";
  let arguments = (ins HLO_Tensor:$operand, DenseI64ArrayAttr:$broadcast_sizes);
  let results = (outs HLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` `sizes` `=` $broadcast_sizes attr-dict `:`
      functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def HLO_ReshapeOp : HLO_Op<"reshape", [Pure, HLO_Spread, SameOperandsAndResultElementType]> {
  let summary = "Another shape over the same row-major elements";
  let description = "(C1) Operand and result have as many elements.";
  let arguments = (ins HLO_Tensor:$operand);
  let results = (outs HLO_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def HLO_TransposeOp : HLO_Op<"transpose", [Pure,
                                           SameOperandsAndResultElementType]> {
  let summary = "Permutation of dimensions";
  let description = [{
    (C1) Result dimension i is operand dimension `permutation[i]`.
  }];
  let arguments = (ins HLO_Tensor:$operand, DenseI64ArrayAttr:$permutation);
  let results = (outs HLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` `dims` `=` $permutation attr-dict `:`
      functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def HLO_ReverseOp : HLO_Op<"reverse", [Pure, SameOperandsAndResultType]> {
  let summary = "Order turned round along dimensions";
  let arguments = (ins HLO_Tensor:$operand, DenseI64ArrayAttr:$dimensions);
  let results = (outs HLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` `dims` `=` $dimensions attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def HLO_GetDimensionSizeOp : HLO_Op<"get_dimension_size", [Pure]> {
  let summary = "Size of a dimension";
  let arguments = (ins HLO_Tensor:$operand,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$dimension);
  let results = (outs HLO_ScalarInt:$result);
  let assemblyFormat = [{
    $operand `,` `dim` `=` $dimension attr-dict `:`
      functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

def HLO_SliceOp : HLO_Op<"slice", [Pure, SameOperandsAndResultElementType]> {
  let summary = "Strided part with bounds known at compile time";
  let description = [{
    (C1) `0 <= start <= limit <= size` and `stride >= 1` in each dimension.
    (C2) The result has `ceil((limit - start) / stride)` elements in each.
  }];
  let arguments = (ins HLO_Tensor:$operand, DenseI64ArrayAttr:$start_indices,
                       DenseI64ArrayAttr:$limit_indices,
                       DenseI64ArrayAttr:$strides);
  let results = (outs HLO_Tensor:$result);
  let assemblyFormat = [{
    $operand custom<SliceRanges>($start_indices, $limit_indices, $strides)
      attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def HLO_DynamicSliceOp : HLO_Op<"dynamic_slice", [Pure,
    AllElementTypesMatch<["operand", "result"]>]> {
  let summary = "Part of a known size at a computed place";
  let description = [{
    Start indices are clamped so that the part lies inside.

    (C1) One scalar start index and one size per dimension.
    (C2) Sizes lie within the operand and are the shape of the result.
  }];
  let arguments = (ins HLO_Tensor:$operand, Variadic<HLO_ScalarInt>:$start_indices,
                       DenseI64ArrayAttr:$slice_sizes);
  let results = (outs HLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` custom<VariadicOperandWithAttribute>($start_indices) `sizes`
      `=` $slice_sizes attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def HLO_DynamicUpdateSliceOp : HLO_Op<"dynamic_update_slice", [Pure,
    AllTypesMatch<["operand", "result"]>,
    AllElementTypesMatch<["operand", "update"]>]> {
  let summary = "Operand with a part replaced at a computed place";
  let description = [{
    Start indices are clamped so that the part lies inside.

    (C1) One scalar start index per dimension; the update fits the operand.
  }];
  let arguments = (ins HLO_Tensor:$operand, HLO_Tensor:$update,
                       Variadic<HLO_ScalarInt>:$start_indices);
  let results = (outs HLO_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def HLO_ConcatenateOp : HLO_Op<"concatenate", [Pure,
                                               SameOperandsAndResultElementType]> {
  let summary = "Operands one after another along a dimension";
  let description = [{
    (C1) Shapes agree but for that dimension, whose sizes add up.
  }];
  let arguments = (ins Variadic<HLO_Tensor>:$inputs,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$dimension);
  let results = (outs HLO_Tensor:$result);
  let assemblyFormat = [{
    custom<VariadicOperandWithAttribute>($inputs) `dim` `=` $dimension attr-dict
      `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def HLO_PadOp : HLO_Op<"pad", [Pure, SameOperandsAndResultElementType]> {
  let summary = "Padding around and between elements";
  let description = [{
    Negative edges cut elements off.

    (C1) One low, high and interior value per dimension, interior not negative.
    (C2) A result dimension is `low + size + max(size - 1, 0) * interior + high`.
  }];
  let arguments = (ins HLO_Tensor:$operand, HLO_Scalar:$padding_value,
                       DenseI64ArrayAttr:$edge_padding_low,
                       DenseI64ArrayAttr:$edge_padding_high,
                       DenseI64ArrayAttr:$interior_padding);
  let results = (outs HLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` $padding_value `,` `low` `=` $edge_padding_low `,` `high` `=`
      $edge_padding_high `,` `interior` `=` $interior_padding attr-dict `:`
      functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def HLO_GatherOp : HLO_Op<"gather", [Pure,
    AllElementTypesMatch<["operand", "result"]>]> {
  let summary = "Slices collected at computed places";
  let description = [{
    Start indices are clamped. Always generic:
    `"stablehlo.gather"(%table, %ids) <{dimension_numbers = ..., slice_sizes = ...}>`.

    (C1) Dimension numbers are sorted, different and within their ranks.
    (C2) Slice sizes lie within the operand, and are 1 (or 0) where collapsed or
    batching.
    (C3) The result has the batch dimensions of the indices and the remaining
    slice sizes at `offset_dims`.
  }];
  let arguments = (ins HLO_Tensor:$operand, HLO_IntTensor:$start_indices,
                       HLO_GatherDimensionNumbers:$dimension_numbers,
                       DenseI64ArrayAttr:$slice_sizes,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted);
  let results = (outs HLO_Tensor:$result);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Bundles
//===----------------------------------------------------------------------===//

def HLO_OptimizationBarrierOp : HLO_Op<"optimization_barrier", [Pure, HLO_Identity]> {
  let summary = "Values that no optimisation may look through";
  let description = [{
    The identity; `jax.checkpoint` marks recomputation with it.

    (C1) Results have the types of the operands.
  }];
  let arguments = (ins Variadic<HLO_Value>:$operand);
  let results = (outs Variadic<HLO_Value>:$result);
  let assemblyFormat = [{
    attr-dict ($operand^ `:` custom<PairwiseOpType>(type($operand), type($result))):(`(` `)`)?
  }];
  let hasVerifier = 1;
}

def HLO_TupleOp : HLO_Op<"tuple", [Pure]> {
  let summary = "Tuple of values";
  let arguments = (ins Variadic<HLO_Value>:$val);
  let results = (outs AnyTuple:$result);
  let assemblyFormat = [{
    $val attr-dict `:` custom<TupleOpType>(type($val), type($result))
  }];
  let hasVerifier = 1;
}

def HLO_GetTupleElementOp : HLO_Op<"get_tuple_element", [Pure]> {
  let summary = "Element of a tuple";
  let arguments = (ins AnyTuple:$operand,
                       ConfinedAttr<I32Attr, [IntNonNegative]>:$index);
  let results = (outs HLO_Value:$result);
  let assemblyFormat = [{
    $operand `[` $index `]` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // SP_STABLEHLO_SHAPE
