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

class CHLO_Unary<string mnemonic, string theSummary, Type tensor,
                 list<Trait> traits = []>
    : CHLO_Op<mnemonic, [HLO_Elementwise, SameOperandsAndResultType]
                        # traits> {
  let summary = theSummary;
  let description = "Example: `%1 = chlo." # mnemonic #
                    " %0 : tensor<8xf32> -> tensor<8xf32>`.";
  let arguments = (ins tensor:$operand);
  let results = (outs tensor:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` type($operand) `->` type($result)
  }];
}

class CHLO_UnaryMath<string mnemonic, string theSummary>
    : CHLO_Unary<mnemonic, theSummary, HLO_FloatTensor, [HLO_Costly]>;

def CHLO_ErfOp : CHLO_UnaryMath<"erf", "Error function">;
def CHLO_ErfcOp : CHLO_UnaryMath<"erfc", "1 - erf(x)">;
def CHLO_ErfInvOp : CHLO_UnaryMath<"erf_inv", "Inverse error function">;
def CHLO_SquareOp : CHLO_Unary<"square", "Square", HLO_Tensor>;
def CHLO_AsinOp : CHLO_UnaryMath<"asin", "Arc sine">;
def CHLO_AcosOp : CHLO_UnaryMath<"acos", "Arc cosine">;
def CHLO_AtanOp : CHLO_UnaryMath<"atan", "Arc tangent">;
def CHLO_SinhOp : CHLO_UnaryMath<"sinh", "Hyperbolic sine">;
def CHLO_CoshOp : CHLO_UnaryMath<"cosh", "Hyperbolic cosine">;

def CHLO_TopKOp : CHLO_Op<"top_k",
    [HLO_KernelStage, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
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
