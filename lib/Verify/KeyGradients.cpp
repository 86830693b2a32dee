#include "KeyGradients.h"

using namespace mlir;
using namespace mlir::sp;

void KeyGradients::begin(Operation *op, Value result, const Group &group) {
  parts.push_back({op, group, Fate::lost});
  numbers[result] = static_cast<int64_t>(parts.size());
}

LogicalResult KeyGradients::join(Operation *op, ArrayRef<Value> gradients,
                                 Value result) {
  const Group group = parts[numberOf(gradients.front()) - 1].group;
  for (Value gradient : gradients) {
    Part &part = parts[numberOf(gradient) - 1];
    if (part.group != group)
      return op->emitOpError()
             << "adds up gradients of different keys or values";
    if (part.fate != Fate::lost)
      return op->emitOpError()
             << "goes on with a gradient of keys that was used before";
    part.fate = Fate::wentOn;
  }
  begin(op, result, group);
  return success();
}

LogicalResult KeyGradients::add(Operation *op, Value onto, Value result,
                                const Group &group) {
  if (!onto || numberOf(onto) == 0) {
    begin(op, result, group);
    return success();
  }
  const Part &before = parts[numberOf(onto) - 1];
  if (before.group != group) {
    InFlightDiagnostic error = op->emitOpError()
                               << "continues the gradient of other keys";
    error.attachNote(before.op->getLoc()) << "which is this one";
    return error;
  }
  return join(op, {onto}, result);
}

LogicalResult KeyGradients::handOn(Operation *op, Value input, Value result) {
  if (numberOf(input) != 0)
    return join(op, {input}, result);
  numbers.erase(result);
  return success();
}

LogicalResult KeyGradients::takeUp(Operation *op, Value gradient,
                                   const Moves &moves) {
  if (numberOf(gradient) == 0)
    return success();
  if (!moves.empty())
    return op->emitOpError()
           << "takes a gradient of keys to be the rank's own, which at owner 0 "
              "is that of owner "
           << moves.source(0);
  Part &part = parts[numberOf(gradient) - 1];
  if (part.fate == Fate::wentOn)
    return op->emitOpError() << "takes up a part of a gradient of keys";
  part.fate = Fate::takenUp;
  taken.insert(part.group);
  return success();
}

LogicalResult KeyGradients::finish() const {
  for (const Part &part : parts)
    if (part.fate == Fate::lost && taken.contains(part.group))
      return part.op->emitOpError()
             << "makes a part of a gradient of keys that is lost";
  return success();
}
