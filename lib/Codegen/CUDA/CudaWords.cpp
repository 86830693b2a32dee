//===- CudaWords.cpp - What C++ calls types and operations ----------------===//

#include "CUDA/CudaWords.h"
#include "sp/StableHLO/ScalarForms.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::sp;
using namespace mlir::stablehlo;

std::optional<CppType> mlir::sp::cppType(Type type) {
  if (type.isBF16())
    return CppType{"sprt::ptx::BFloat16", "float", true};
  if (type.isF16())
    return CppType{"sprt::ptx::Half", "float", true};
  if (type.isF32())
    return CppType{"float", "float"};
  if (type.isF64())
    return CppType{"double", "double"};
  if (type.isInteger(1))
    return CppType{"uint8_t", "bool"};
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || !llvm::is_contained({8u, 16u, 32u, 64u}, integer.getWidth()))
    return std::nullopt;
  std::string name = (integer.isUnsigned() ? "uint" : "int") +
                     std::to_string(integer.getWidth()) + "_t";
  return CppType{name, name};
}

StringRef mlir::sp::wordOf(Operation *op) {
  if (const ScalarForm *form = scalarFormOf(op))
    return form->cudaWord;
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case([](ClampOp) { return "clamp"; })
      .Case([](SelectOp) { return "select"; })
      .Case([](AndOp) { return "bitAnd"; })
      .Case([](OrOp) { return "bitOr"; })
      .Case([](XorOp) { return "bitXor"; })
      .Case([](NotOp) { return "bitNot"; })
      .Case([](ShiftLeftOp) { return "shiftLeft"; })
      .Case([](ShiftRightLogicalOp) { return "shiftRightLogical"; })
      .Case([](ShiftRightArithmeticOp) { return "shiftRightArithmetic"; })
      .Case([](IsFiniteOp) { return "isFinite"; })
      .Default([](Operation *) { return StringRef(); });
}

StringRef mlir::sp::quickWordOf(Operation *op) {
  Type type = getElementTypeOrSelf(op->getResult(0));
  const ScalarForm *form = scalarFormOf(op);
  return form && isa<FloatType>(type) && !type.isF64() ? form->quickCudaWord
                                                       : StringRef();
}

StringRef mlir::sp::comparison(ComparisonDirection direction) {
  switch (direction) {
  case ComparisonDirection::EQ:
    return "==";
  case ComparisonDirection::NE:
    return "!=";
  case ComparisonDirection::LT:
    return "<";
  case ComparisonDirection::LE:
    return "<=";
  case ComparisonDirection::GT:
    return ">";
  case ComparisonDirection::GE:
    return ">=";
  }
  llvm_unreachable("every direction has a sign");
}
