//===- ProgramOps.cpp - Verification of what a whole program says ---------===//

#include "sp/IR/SP.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::sp;

std::optional<MeshOp::Factor> MeshOp::findFactor(AxisAttr part) {
  int64_t stride = getRanks();
  for (MeshAxisAttr axis : getMesh().getAxes()) {
    stride /= axis.getSize();
    if (axis.getName() != part.getName())
      continue;
    if (part.isWhole())
      return Factor{axis.getSize(), stride};
    int64_t below = axis.getSize() / part.getAbove();
    if (axis.getSize() % part.getAbove() == 0 && below % part.getSize() == 0)
      return Factor{part.getSize(), stride * (below / part.getSize())};
  }
  return std::nullopt;
}

bool MeshOp::hasAxis(StringRef name) {
  return llvm::any_of(getMesh().getAxes(), [&](MeshAxisAttr axis) {
    return axis.getName() == name;
  });
}

AxisAttr MeshOp::simplify(AxisAttr part) {
  AxisAttr whole = AxisAttr::get(part.getContext(), part.getName());
  return part.isWhole() ? part
                        : AxisAttr::getFactor(whole, getAxisSize(whole),
                                              part.getAbove(), part.getSize());
}

AxisAttr MeshOp::parseAxis(StringRef text) {
  AxisAttr axis = AxisAttr::fromText(getContext(), text);
  if (!axis || !findFactor(axis))
    return AxisAttr();
  return simplify(axis);
}

AxisAttr MeshOp::joinFactors(AxisAttr outer, AxisAttr inner) {
  if (outer.isWhole() || outer.getName() != inner.getName() ||
      outer.getAbove() * outer.getSize() != inner.getAbove())
    return AxisAttr();
  AxisAttr whole = AxisAttr::get(outer.getContext(), outer.getName());
  return AxisAttr::getFactor(whole, getAxisSize(whole), outer.getAbove(),
                             outer.getSize() * inner.getSize());
}

int64_t MeshOp::getAxisSize(std::optional<AxisAttr> axis) {
  std::optional<Factor> factor = axis ? findFactor(*axis) : std::nullopt;
  return factor ? factor->size : 1;
}

int64_t MeshOp::getRanks() {
  int64_t ranks = 1;
  for (MeshAxisAttr axis : getMesh().getAxes())
    ranks *= axis.getSize();
  return ranks;
}

LogicalResult DocumentsOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto main = symbols.lookupSymbolIn<func::FuncOp>(
      (*this)->getParentOp(), StringAttr::get(getContext(), "main"));
  if (!main)
    return success();
  // (C1)
  for (int64_t argument : getArguments())
    if (argument < 0 || argument >= main.getNumArguments())
      return emitOpError() << "expected one of " << main.getNumArguments()
                           << " arguments but got argument " << argument;
  // (C2)
  if (isComputed())
    return success();
  if (getArguments().size() != 1)
    return emitOpError() << "expected one argument, or a body, but got "
                         << getArguments().size() << " arguments";
  Type type = main.getArgumentTypes()[getArguments()[0]];
  if (!getElementTypeOrSelf(type).isInteger())
    return emitOpError() << "expected whole numbers in argument "
                         << getArguments()[0] << " but got " << type;
  return success();
}

LogicalResult DocumentsOp::verifyRegions() {
  // (C3)
  if (!isComputed())
    return success();
  Block &body = getBody().front();
  if (body.getNumArguments() != getArguments().size())
    return emitOpError() << "expected a body that takes "
                         << getArguments().size() << " values but got "
                         << body.getNumArguments();
  if (!isa<YieldOp>(body.back()))
    return emitOpError() << "expected a body that yields numbers";
  auto type = cast<RankedTensorType>(getNumbers().getType());
  if (!type.getElementType().isInteger() || !type.hasStaticShape() ||
      type.getNumElements() % int64_t(getLength()) != 0)
    return emitOpError() << "expected whole numbers, " << getLength()
                         << " for each row of a batch, but got " << type;
  return success();
}

LogicalResult MeshOp::verify() {
  // (C1)
  for (std::optional<AxisAttr> role : {getSequence(), getBatch(), getTensor()})
    if (role && !(role->isWhole() && hasAxis(role->getName())))
      return emitOpError() << "expected an axis of the mesh but got \""
                           << role->getText() << "\"";
  // (C2)
  for (Operation &other : *(*this)->getBlock()) {
    if (&other == getOperation())
      break;
    if (!isa<MeshOp>(other))
      continue;
    InFlightDiagnostic diagnostic = emitOpError()
                                    << "expected one mesh in a module";
    diagnostic.attachNote(other.getLoc()) << "the other mesh";
    return diagnostic;
  }
  // (C3)
  if (!getProcesses())
    return success();
  std::vector<bool> counted(getRanks());
  std::vector<int64_t> ranks = {0};
  for (AxisAttr axis : getProcesses()->getAxes()) {
    std::optional<Factor> factor = findFactor(axis);
    if (!factor || ranks.size() * factor->size > counted.size())
      return emitOpError() << "expected processes to count factors of the axes "
                              "once but got \""
                           << axis.getText() << "\"";
    std::vector<int64_t> finer;
    for (int64_t rank : ranks)
      for (int64_t digit = 0; digit < factor->size; ++digit)
        finer.push_back(rank + digit * factor->stride);
    ranks = std::move(finer);
  }
  for (int64_t rank : ranks)
    if (rank < static_cast<int64_t>(counted.size()))
      counted[rank] = true;
  if (llvm::is_contained(counted, false))
    return emitOpError() << "expected processes to count every rank once but "
                            "got "
                         << getProcesses()->getText();
  return success();
}
