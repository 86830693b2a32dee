//===- CHLO.td - Functions above StableHLO that JAX prints ----------------===//

#ifndef SP_CHLO
#define SP_CHLO

include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "sp/StableHLO/StableHLOBase.td"

def Chlo_Dialect : Dialect {
  let name = "chlo";
  let cppNamespace = "::mlir::chlo";
  let summary = "The functions above StableHLO that JAX prints";
  let extraClassDeclaration = [{
    /// Refuses an operation outside of the subset.
    std::optional<ParseOpHook>
    getParseOperationHook(StringRef name) const override;
  }];
  let dependentDialects = ["::mlir::stablehlo::StablehloDialect"];
}

class CHLO_Op<string mnemonic, list<Trait> traits = []>
    : Op<Chlo_Dialect, mnemonic, [Pure] # traits>;

class CHLO_Unary<string mnemonic, string theSummary, Type tensor>
    : CHLO_Op<mnemonic, [SameOperandsAndResultType]> {
  let summary = theSummary;
  let description = "Example: `%1 = chlo." # mnemonic #
                    " %0 : tensor<8xf32> -> tensor<8xf32>`.";
  let arguments = (ins tensor:$operand);
  let results = (outs tensor:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` type($operand) `->` type($result)
  }];
}

def CHLO_ErfOp : CHLO_Unary<"erf", "Error function", HLO_FloatTensor>;
def CHLO_ErfcOp : CHLO_Unary<"erfc", "1 - erf(x)", HLO_FloatTensor>;
def CHLO_ErfInvOp : CHLO_Unary<"erf_inv", "Inverse error function",
    HLO_FloatTensor>;
def CHLO_SquareOp : CHLO_Unary<"square", "Square", HLO_Tensor>;
def CHLO_AsinOp : CHLO_Unary<"asin", "Arc sine", HLO_FloatTensor>;
def CHLO_AcosOp : CHLO_Unary<"acos", "Arc cosine", HLO_FloatTensor>;
def CHLO_AtanOp : CHLO_Unary<"atan", "Arc tangent", HLO_FloatTensor>;
def CHLO_SinhOp : CHLO_Unary<"sinh", "Hyperbolic sine", HLO_FloatTensor>;
def CHLO_CoshOp : CHLO_Unary<"cosh", "Hyperbolic cosine", HLO_FloatTensor>;

def CHLO_TopKOp : CHLO_Op<"top_k",
    [DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "Largest elements of the last dimension, and their places";
  let description = [{
    Example: `%values, %indices = chlo.top_k(%x, k = 2) : tensor<8x4xf32> ->
    (tensor<8x2xf32>, tensor<8x2xi32>)`.

    (C1) `k` is at most the size of the last dimension.
    (C2) Values have the operand's element type.
    (C3) Results have the operand's shape with `k` in its last dimension.
  }];
  let arguments = (ins HLO_Tensor:$operand,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$k);
  let results = (outs HLO_Tensor:$values, HLO_IntTensor:$indices);
  let assemblyFormat = [{
    `(` $operand `,` `k` `=` $k `)` attr-dict `:` type($operand) `->`
      `(` type($values) `,` type($indices) `)`
  }];
  let hasVerifier = 1;
}

#endif // SP_CHLO
