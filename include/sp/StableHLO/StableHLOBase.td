//===- StableHLOBase.td - The dialect, its types and small attributes -----===//
//
// The subset of StableHLO that JAX and torch print. Textual names, operand
// order and attributes follow the public specification, so that their text
// parses unchanged and prints back unchanged.
//
//===----------------------------------------------------------------------===//

#ifndef SP_STABLEHLO_BASE
#define SP_STABLEHLO_BASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "sp/StableHLO/Traits.td"
include "sp/StableHLO/Types.td"

def Stablehlo_Dialect : Dialect {
  let name = "stablehlo";
  let cppNamespace = "::mlir::stablehlo";
  let summary = "The subset of StableHLO that the compiler reads";
  let description = [{
    Tensor programs as JAX and torch print them, pretty or generic. What is not
    in the subset (quantized types, tokens, infeed, fft, ...) ends in a
    diagnostic that names it. Dynamic shapes parse and are refused by
    `sp-verify-input`.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    /// Refuses every type by name: the subset has none of its own.
    Type parseType(DialectAsmParser &parser) const override;
    void printType(Type type, DialectAsmPrinter &printer) const override;
    /// Refuses an operation outside of the subset, with the way out.
    std::optional<ParseOpHook>
    getParseOperationHook(StringRef name) const override;
  }];
}

//===----------------------------------------------------------------------===//
// Enumerations: printed as `#stablehlo<comparison_direction LT>`
//===----------------------------------------------------------------------===//

class HLO_EnumAttr<EnumAttrInfo info, string mnemonic>
    : EnumAttr<Stablehlo_Dialect, info, mnemonic>;

class HLO_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::mlir::stablehlo";
}

def HLO_ComparisonDirection : HLO_Enum<"ComparisonDirection",
    "Which comparison is made", [
      I32EnumAttrCase<"EQ", 0>, I32EnumAttrCase<"NE", 1>,
      I32EnumAttrCase<"GE", 2>, I32EnumAttrCase<"GT", 3>,
      I32EnumAttrCase<"LE", 4>, I32EnumAttrCase<"LT", 5>]>;
def HLO_ComparisonDirectionAttr
    : HLO_EnumAttr<HLO_ComparisonDirection, "comparison_direction">;

def HLO_ComparisonType : HLO_Enum<"ComparisonType", "How elements compare", [
      I32EnumAttrCase<"NOTYPE", 0>, I32EnumAttrCase<"FLOAT", 1>,
      I32EnumAttrCase<"TOTALORDER", 2>, I32EnumAttrCase<"SIGNED", 3>,
      I32EnumAttrCase<"UNSIGNED", 4>]>;
def HLO_ComparisonTypeAttr
    : HLO_EnumAttr<HLO_ComparisonType, "comparison_type">;

def HLO_Precision : HLO_Enum<"Precision", "Precision of a contraction", [
      I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"HIGH", 1>,
      I32EnumAttrCase<"HIGHEST", 2>]>;
def HLO_PrecisionAttr : HLO_EnumAttr<HLO_Precision, "precision">;
def HLO_PrecisionConfigAttr
    : TypedArrayAttrBase<HLO_PrecisionAttr, "precision of each operand">;

def HLO_RngAlgorithm : HLO_Enum<"RngAlgorithm", "Random bit generator", [
      I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"THREE_FRY", 1>,
      I32EnumAttrCase<"PHILOX", 2>]>;
def HLO_RngAlgorithmAttr : HLO_EnumAttr<HLO_RngAlgorithm, "rng_algorithm">;

def HLO_RngDistribution : HLO_Enum<"RngDistribution", "Random distribution", [
      I32EnumAttrCase<"UNIFORM", 1>, I32EnumAttrCase<"NORMAL", 2>]>;
def HLO_RngDistributionAttr
    : HLO_EnumAttr<HLO_RngDistribution, "rng_distribution">;

def HLO_ResultAccuracyMode : HLO_Enum<"ResultAccuracyMode",
    "How accurate a result must be", [
      I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"HIGHEST", 1>,
      I32EnumAttrCase<"TOLERANCE", 2>]>;
def HLO_ResultAccuracyModeAttr
    : HLO_EnumAttr<HLO_ResultAccuracyMode, "result_accuracy_mode"> {
  let assemblyFormat = "`<` $value `>`";
}

#endif // SP_STABLEHLO_BASE
