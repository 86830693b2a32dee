//===- StableHLOOps.cpp - Operations of stablehlo and chlo ----------------===//

#include "sp/StableHLO/StableHLO.h"

#include "Syntax/Syntax.h"

using namespace mlir;
using namespace mlir::stablehlo;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

void ConstantOp::getAsmResultNames(
    llvm::function_ref<void(Value, StringRef)> setName) {
  bool isInteger = getType().getElementType().isIntOrIndex();
  setName(getResult(), isInteger ? "c" : "cst");
}

ParseResult ConstantOp::parse(OpAsmParser &parser, OperationState &result) {
  // Someone may have written the generic form without the quotes.
  if (succeeded(parser.parseOptionalLParen())) {
    DictionaryAttr properties;
    FunctionType type;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseRParen() || parser.parseLess() ||
        parser.parseAttribute(properties) || parser.parseGreater() ||
        parser.parseOptionalAttrDict(result.attributes) ||
        parser.parseColonType(type))
      return failure();
    auto value = properties.getAs<ElementsAttr>("value");
    if (!value || type.getNumInputs() != 0 || type.getNumResults() != 1)
      return parser.emitError(loc)
             << "expected <{value = ...}> : () -> type of the value";
    result.getOrAddProperties<Properties>().setValue(value);
    result.addTypes(type.getResults());
    return success();
  }
  ElementsAttr value;
  if (parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseAttribute(value))
    return failure();
  result.getOrAddProperties<Properties>().setValue(value);
  result.addTypes(value.getType());
  return success();
}

void ConstantOp::print(OpAsmPrinter &printer) {
  printer.printOptionalAttrDict(
      (*this)->getDiscardableAttrDictionary().getValue());
  printer << ' ' << getValueAttr();
}

//===----------------------------------------------------------------------===//
// Builders and names
//===----------------------------------------------------------------------===//

void CompareOp::build(OpBuilder &builder, OperationState &state, Value lhs,
                      Value rhs, ComparisonDirection direction,
                      ComparisonType type) {
  auto shaped = cast<RankedTensorType>(lhs.getType());
  build(builder, state, shaped.clone(builder.getI1Type()), lhs, rhs,
        ComparisonDirectionAttr::get(builder.getContext(), direction),
        type == ComparisonType::NOTYPE
            ? ComparisonTypeAttr()
            : ComparisonTypeAttr::get(builder.getContext(), type));
}

void RngBitGeneratorOp::getAsmResultNames(
    llvm::function_ref<void(Value, StringRef)> setName) {
  setName(getOutputState(), "output_state");
  setName(getOutput(), "output");
}

void WhileOp::getAsmBlockArgumentNames(
    Region &region, llvm::function_ref<void(Value, StringRef)> setName) {
  for (BlockArgument argument : region.getArguments())
    setName(argument, "iterArg");
}

void chlo::TopKOp::getAsmResultNames(
    llvm::function_ref<void(Value, StringRef)> setName) {
  setName(getValues(), "values");
  setName(getIndices(), "indices");
}

void CustomCallOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  if (!getHasSideEffect())
    return;
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
}

#define GET_OP_CLASSES
#include "sp/StableHLO/StableHLOOps.cpp.inc"

#define GET_OP_CLASSES
#include "sp/StableHLO/CHLO.cpp.inc"
