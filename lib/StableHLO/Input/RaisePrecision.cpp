//===- RaisePrecision.cpp - Arithmetic in f64 -----------------------------===//
//
//   before   %y = stablehlo.add %x, %x : tensor<4xbf16>
//   after    %y = stablehlo.add %x, %x : tensor<4xf64>
//
// What is about bits keeps its type: bitcast_convert and reduce_precision work
// on a conversion to the program's own type.
//
//===----------------------------------------------------------------------===//

#include "sp/StableHLO/Passes.h"
#include "sp/StableHLO/StableHLO.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectResourceBlobManager.h"

namespace mlir::sp {
#define GEN_PASS_DEF_RAISEPRECISIONPASS
#include "sp/StableHLO/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;

namespace {

Type raised(Type type) {
  if (isa<FloatType>(type))
    return Float64Type::get(type.getContext());
  if (auto complexType = dyn_cast<ComplexType>(type))
    return ComplexType::get(raised(complexType.getElementType()));
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.clone(raised(tensor.getElementType()));
  return type;
}

APFloat toDouble(APFloat value) {
  bool losesInfo = false;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value;
}

/// The same values in f64; null for what is not dense.
DenseElementsAttr raisedValues(ElementsAttr attr) {
  auto type = cast<RankedTensorType>(attr.getShapedType());
  auto dense = dyn_cast<DenseElementsAttr>(attr);
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attr))
    if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
      dense = DenseElementsAttr::getFromRawBuffer(type, blob->getData());
  if (!dense || raised(type) == type)
    return dense;
  auto target = cast<RankedTensorType>(raised(type));
  if (isa<ComplexType>(type.getElementType())) {
    SmallVector<std::complex<APFloat>> values;
    for (std::complex<APFloat> value : dense.getValues<std::complex<APFloat>>())
      values.emplace_back(toDouble(value.real()), toDouble(value.imag()));
    return DenseElementsAttr::get(target, values);
  }
  return dense.mapValues(
      Float64Type::get(type.getContext()),
      [](const APFloat &value) { return toDouble(value).bitcastToAPInt(); });
}

/// Makes `op` work on its own types between conversions.
void keepTypes(Operation *op) {
  OpBuilder builder(op);
  for (OpOperand &operand : op->getOpOperands()) {
    Type own = operand.get().getType();
    if (raised(own) != own)
      operand.set(stablehlo::ConvertOp::create(builder, op->getLoc(), own,
                                               operand.get()));
  }
  builder.setInsertionPointAfter(op);
  for (Value result : op->getResults()) {
    Type wide = raised(result.getType());
    if (wide == result.getType())
      continue;
    auto convert =
        stablehlo::ConvertOp::create(builder, op->getLoc(), wide, result);
    result.replaceAllUsesExcept(convert, convert);
  }
}

struct RaisePrecisionPass
    : mlir::sp::impl::RaisePrecisionPassBase<RaisePrecisionPass> {
  void runOnOperation() override {
    SmallVector<Operation *> kept;
    getOperation().walk([&](Operation *op) {
      if (isa<stablehlo::BitcastConvertOp, stablehlo::ReducePrecisionOp>(op))
        kept.push_back(op);
    });
    for (Operation *op : kept)
      keepTypes(op);
    DenseSet<Operation *> keeps(kept.begin(), kept.end());
    auto isKept = [&](Operation *op) {
      // The conversion in front of a kept operation yields the narrow type.
      return keeps.contains(op) ||
             llvm::any_of(op->getUsers(), [&](Operation *user) {
               return keeps.contains(user);
             });
    };
    getOperation().walk([&](Operation *op) {
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (BlockArgument argument : block.getArguments())
            argument.setType(raised(argument.getType()));
      if (auto func = dyn_cast<func::FuncOp>(op)) {
        auto raiseAll = [](TypeRange types) {
          return llvm::to_vector(llvm::map_range(types, raised));
        };
        FunctionType type = func.getFunctionType();
        func.setFunctionType(FunctionType::get(&getContext(),
                                               raiseAll(type.getInputs()),
                                               raiseAll(type.getResults())));
        return;
      }
      if (auto constant = dyn_cast<stablehlo::ConstantOp>(op))
        if (DenseElementsAttr values = raisedValues(constant.getValue()))
          constant.setValueAttr(values);
      if (auto product = dyn_cast<stablehlo::DotGeneralOp>(op)) {
        product.removePrecisionConfigAttr();
        product.removeAlgorithmAttr();
      }
      bool isNarrowing = isa<stablehlo::ConvertOp>(op) && isKept(op);
      if (keeps.contains(op) || isNarrowing)
        return;
      for (Value result : op->getResults())
        result.setType(raised(result.getType()));
    });
  }
};

} // namespace
