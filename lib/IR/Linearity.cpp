//===- Linearity.cpp - Operations that keep parts of sums -----------------===//

#include "sp/IR/Linearity.h"
#include "FactorRules.h"
#include "sp/IR/LocalForms.h"

#include "sp/StableHLO/Operations.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::sp;

static SmallVector<unsigned> firstOperands(unsigned count) {
  return llvm::to_vector(llvm::seq<unsigned>(0, count));
}

static bool isOfFloats(Value value) {
  return isa<FloatType, ComplexType>(getElementTypeOrSelf(value.getType()));
}

/// Initial values and inputs alike.
static std::optional<Linearity> ofReduce(stablehlo::ReduceOp op) {
  if (op.getInputs().size() != 1 || reductionOf(op.getBody()) != Reduction::Sum)
    return std::nullopt;
  return Linearity{firstOperands(2)};
}

static std::optional<Linearity> ofScatter(stablehlo::ScatterOp op) {
  unsigned inputs = op.getInputs().size();
  if (inputs != 1 || reductionOf(op.getUpdateComputation()) != Reduction::Sum)
    return std::nullopt;
  return Linearity{{0, inputs + 1}};
}

/// Rounding to fewer bits aside; to whole numbers is no rounding.
static std::optional<Linearity> ofConvert(stablehlo::ConvertOp op) {
  if (isOfFloats(op.getOperand()) && !isOfFloats(op.getResult()))
    return std::nullopt;
  return Linearity{{0}, /*together=*/true, /*moves=*/true};
}

std::optional<Linearity> mlir::sp::linearityOf(Operation *op) {
  using Result = std::optional<Linearity>;
  auto moved = [](unsigned count) {
    return Linearity{firstOperands(count), /*together=*/true, /*moves=*/true};
  };
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([](stablehlo::ReduceOp op) { return ofReduce(op); })
      .Case([](stablehlo::ScatterOp op) { return ofScatter(op); })
      .Case([](stablehlo::ConvertOp op) { return ofConvert(op); })
      .Case<stablehlo::DynamicSliceOp, stablehlo::GatherOp, TakeOp>(
          [&](auto) -> Result { return moved(1); })
      .Case<stablehlo::DynamicUpdateSliceOp, PutOp>(
          [&](auto) -> Result { return moved(2); })
      .Case([](stablehlo::SelectOp) -> Result {
        return Linearity{{1, 2}, /*together=*/true, /*moves=*/true};
      })
      .Case<stablehlo::MulOp, stablehlo::DotGeneralOp, stablehlo::DotOp>(
          [](auto) -> Result { return Linearity{{0, 1}, /*together=*/false}; })
      .Case([](stablehlo::DivOp) -> Result {
        return Linearity{{0}, /*together=*/false};
      })
      .Default([&](Operation *op) -> Result {
        if (isMove(op) || isa<CopyOp>(op))
          return moved(op->getNumOperands());
        if (isAdditive(op))
          return Linearity{firstOperands(op->getNumOperands())};
        return std::nullopt;
      });
}
