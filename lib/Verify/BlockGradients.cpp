#include "BlockGradients.h"

using namespace mlir;
using namespace mlir::sp;

static StringRef nameOf(const BlockGradients::Group &group) {
  return std::get<2>(group) == BlockGradients::queries ? "queries" : "keys";
}

void BlockGradients::begin(Operation *op, Value result, const Group &group) {
  parts.push_back({op, group, Fate::lost});
  numbers[result] = static_cast<int64_t>(parts.size());
}

LogicalResult BlockGradients::join(Operation *op, ArrayRef<Value> gradients,
                                   Value result) {
  const Group group = parts[numberOf(gradients.front()) - 1].group;
  for (Value gradient : gradients) {
    Part &part = parts[numberOf(gradient) - 1];
    if (part.group != group)
      return op->emitOpError()
             << "adds up gradients of different "
             << (nameOf(group) == "keys" ? "keys or values" : "queries");
    if (part.fate != Fate::lost)
      return op->emitOpError() << "goes on with a gradient of " << nameOf(group)
                               << " that was used before";
    part.fate = Fate::wentOn;
  }
  begin(op, result, group);
  return success();
}

bool BlockGradients::areOfOne(ArrayRef<Value> gradients) const {
  return llvm::all_of(gradients, [&](Value gradient) {
    return parts[numberOf(gradient) - 1].group ==
           parts[numberOf(gradients.front()) - 1].group;
  });
}

LogicalResult BlockGradients::joinAtHome(Operation *op,
                                         ArrayRef<Value> gradients,
                                         Value result) {
  for (Value gradient : gradients)
    if (failed(use(op, gradient)))
      return failure();
  begin(op, result, parts[numberOf(gradients.front()) - 1].group);
  return success();
}

LogicalResult BlockGradients::add(Operation *op, Value onto, Value result,
                                  const Group &group) {
  if (!onto || numberOf(onto) == 0) {
    begin(op, result, group);
    return success();
  }
  const Part &before = parts[numberOf(onto) - 1];
  if (before.group != group) {
    InFlightDiagnostic error = op->emitOpError()
                               << "continues the gradient of other "
                               << nameOf(group);
    error.attachNote(before.op->getLoc()) << "which is this one";
    return error;
  }
  return join(op, {onto}, result);
}

LogicalResult BlockGradients::handOn(Operation *op, Value input, Value result) {
  if (numberOf(input) != 0)
    return join(op, {input}, result);
  numbers.erase(result);
  return success();
}

LogicalResult BlockGradients::takeUp(Operation *op, Value gradient,
                                     const Moves &moves) {
  if (numberOf(gradient) == 0)
    return success();
  const Group group = parts[numberOf(gradient) - 1].group;
  if (!moves.empty())
    return op->emitOpError()
           << "takes a gradient of " << nameOf(group)
           << " to be the rank's own, which at owner 0 is that of owner "
           << moves.source(0);
  if (failed(use(op, gradient)))
    return failure();
  taken.insert(group);
  return success();
}

LogicalResult BlockGradients::use(Operation *op, Value gradient) {
  Part &part = parts[numberOf(gradient) - 1];
  if (part.fate == Fate::wentOn)
    return op->emitOpError()
           << "takes up a part of a gradient of " << nameOf(part.group);
  part.fate = Fate::takenUp;
  return success();
}

LogicalResult BlockGradients::finish() const {
  for (const Part &part : parts)
    if (part.fate == Fate::lost && taken.contains(part.group))
      return part.op->emitOpError() << "makes a part of a gradient of "
                                    << nameOf(part.group) << " that is lost";
  return success();
}
