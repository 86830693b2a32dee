//===- StableHLOControl.td - Operations that hold programs ----------------===//

#ifndef SP_STABLEHLO_CONTROL
#define SP_STABLEHLO_CONTROL

include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "sp/StableHLO/StableHLOElementwise.td"

def HLO_ReturnOp : HLO_Op<"return", [Pure, ReturnLike, Terminator]> {
  let summary = "Values of a region";
  let arguments = (ins Variadic<HLO_Value>:$results);
  let assemblyFormat = "$results attr-dict (`:` type($results)^)?";
}

//===----------------------------------------------------------------------===//
// Scalar programs applied to tensors. Their bodies decide their effects.
//===----------------------------------------------------------------------===//

class HLO_RegionOp<string mnemonic, list<Trait> traits = []>
    : HLO_Op<mnemonic, [RecursiveMemoryEffects, RecursivelySpeculatable] # traits>;

def HLO_ReduceOp : HLO_RegionOp<"reduce", [HLO_KernelStage,
                                              SameVariadicOperandSize]> {
  let summary = "Reduction along dimensions";
  let description = [{
    Compact when the body is one commutative operation:
    `stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [1]`.

    (C1) As many initial values as inputs, all inputs of one shape.
    (C2) Dimensions are different and within rank; results have the others.
    (C3) The body takes a scalar per initial value and a scalar per input, and
    returns one per result.
  }];
  let arguments = (ins Variadic<HLO_Tensor>:$inputs,
                       Variadic<HLO_Scalar>:$init_values,
                       DenseI64ArrayAttr:$dimensions);
  let results = (outs Variadic<HLO_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def HLO_ReduceWindowOp : HLO_RegionOp<"reduce_window",
    [HLO_KernelStage, SameVariadicOperandSize]> {
  let summary = "Reduction over a sliding window";
  let description = [{
    A cumulative sum is a window as long as the dimension.

    (C1) As many initial values as inputs, all inputs of one shape.
    (C2) Window attributes have one entry per dimension.
    (C3) The results' shape follows from the window.
    (C4) The body is that of `reduce`.
  }];
  let arguments = (ins Variadic<HLO_Tensor>:$inputs,
                       Variadic<HLO_Scalar>:$init_values,
                       DenseI64ArrayAttr:$window_dimensions,
                       OptionalAttr<DenseI64ArrayAttr>:$window_strides,
                       OptionalAttr<DenseI64ArrayAttr>:$base_dilations,
                       OptionalAttr<DenseI64ArrayAttr>:$window_dilations,
                       OptionalAttr<I64ElementsAttr>:$padding);
  let results = (outs Variadic<HLO_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
}

def HLO_ScatterOp : HLO_RegionOp<"scatter", [HLO_KernelStage,
                                                SameVariadicOperandSize]> {
  let summary = "Updates combined into computed places";
  let description = [{
    A place outside the operand is skipped. The body combines the old element
    and the update.

    (C1) As many updates as inputs; inputs have one shape, updates have one.
    (C2) Dimension numbers are sorted, different and within their ranks.
    (C3) The updates' shape follows from indices and windows.
    (C4) The body takes a scalar per input and a scalar per update.
  }];
  let arguments = (ins Variadic<HLO_Tensor>:$inputs,
                       HLO_IntTensor:$scatter_indices,
                       Variadic<HLO_Tensor>:$updates,
                       HLO_ScatterDimensionNumbers:$scatter_dimension_numbers,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$unique_indices);
  let results = (outs Variadic<HLO_Tensor>:$results);
  let regions = (region SizedRegion<1>:$update_computation);
  let hasVerifier = 1;
}

def HLO_SortOp : HLO_RegionOp<"sort", [HLO_KernelStage]> {
  let summary = "Sorting along a dimension";
  let description = [{
    (C1) Inputs and results have the same shape; the dimension is within rank.
    (C2) The comparator takes two scalars per input and returns an i1.
  }];
  let arguments = (ins Variadic<HLO_Tensor>:$inputs,
                       DefaultValuedOptionalAttr<I64Attr, "-1">:$dimension,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$is_stable);
  let results = (outs Variadic<HLO_Tensor>:$results);
  let regions = (region SizedRegion<1>:$comparator);
  let hasVerifier = 1;
}

def HLO_MapOp : HLO_RegionOp<"map", [HLO_Costly, SameOperandsAndResultShape]> {
  let summary = "A scalar program applied to each element";
  let description = [{
    (C1) `dimensions` are all dimensions in order.
    (C2) The body takes a scalar per input and returns a scalar of the result.
  }];
  let arguments = (ins Variadic<HLO_Tensor>:$inputs,
                       DenseI64ArrayAttr:$dimensions);
  let results = (outs HLO_Tensor:$result);
  let regions = (region SizedRegion<1>:$computation);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

def HLO_WhileOp : HLO_RegionOp<"while", [HLO_ControlFlow,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "Loop";
  let description = [{
    `jax.lax.scan` becomes one that counts up to a constant.

    (C1) Operands, results, arguments of both regions and what the body returns
    have the same types.
    (C2) The condition returns one scalar i1.
  }];
  let arguments = (ins Variadic<HLO_Value>:$operand);
  let results = (outs Variadic<HLO_Value>:$results);
  let regions = (region SizedRegion<1>:$cond, SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def HLO_IfOp : HLO_RegionOp<"if", [HLO_ControlFlow]> {
  let summary = "Choice between two programs";
  let description = "(C1) Branches take nothing and return the results' types.";
  let arguments = (ins HLO_PredTensor:$pred);
  let results = (outs Variadic<HLO_Value>:$results);
  let regions = (region SizedRegion<1>:$true_branch, SizedRegion<1>:$false_branch);
  let hasVerifier = 1;
}

def HLO_CaseOp : HLO_RegionOp<"case", [HLO_ControlFlow]> {
  let summary = "Choice among programs; the last one for an index out of range";
  let description = [{
    (C1) There is a branch; branches take nothing and return the results' types.
  }];
  let arguments = (ins 0DTensorOf<[I32]>:$index);
  let results = (outs Variadic<HLO_Value>:$results);
  let regions = (region VariadicRegion<SizedRegion<1>>:$branches);
  let hasVerifier = 1;
}

#endif // SP_STABLEHLO_CONTROL
