//===- Subjects.cpp - What of a model a command is about ------------------===//

#include "Plan/Subjects.h"

#include "sp/IR/CarriedValues.h"
#include "sp/IR/SP.h"
#include "sp/IR/Views.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::sp;

/// The name of an attention that `op` is a step of, or "".
static StringRef attentionOf(Operation *op) {
  if (auto attend = dyn_cast<AttendOp>(op))
    return attend.getName();
  auto backward = dyn_cast<AttendBackwardOp>(op);
  return backward ? backward.getName() : StringRef();
}

/// The name of an attention that reads or makes one of the values.
static StringRef attentionAt(ValueRange values) {
  for (Value value : values) {
    if (Operation *made = value.getDefiningOp())
      if (StringRef name = attentionOf(made); !name.empty())
        return name;
    for (Operation *user : value.getUsers())
      if (StringRef name = attentionOf(user); !name.empty())
        return name;
  }
  return "";
}

/// What a value is a view, a copy or a part of, through loops that do not
/// change it.
static Value sourceOf(Value value) {
  // No program nests as deep.
  for (int depth = 0; depth < 64; ++depth) {
    if (std::optional<Carried> carried = carriedBy(value)) {
      if (!carried->isUnchanged())
        return value;
      value = carried->init();
      continue;
    }
    Operation *op = value.getDefiningOp();
    bool passesOn = op && op->getNumOperands() > 0 &&
                    (isView(op) || isa<CopyOp, CommunicationOpInterface>(op));
    if (!passesOn)
      return value;
    auto result = cast<OpResult>(value).getResultNumber();
    bool isOwn =
        isa<CommunicationOpInterface>(op) && result < op->getNumOperands();
    value = op->getOperand(isOwn ? result : 0);
  }
  return value;
}

/// The model's name of an argument, or "arg3"; "" of another value.
static std::string nameOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || !isa<func::FuncOp>(argument.getOwner()->getParentOp()))
    return "";
  auto named = dyn_cast<NameLoc>(argument.getLoc());
  return named ? named.getName().str()
               : "arg" + std::to_string(argument.getArgNumber());
}

std::string mlir::sp::subjectOf(Operation *op) {
  if (op->getNumRegions() > 0 || !attentionOf(op).empty())
    return "";
  if (isa<CommunicationOpInterface>(op))
    for (ValueRange values :
         {ValueRange(op->getOperands()), ValueRange(op->getResults())})
      if (StringRef name = attentionAt(values); !name.empty())
        return name.str();
  for (Value operand : op->getOperands())
    if (isTensor(operand))
      if (std::string name = nameOf(sourceOf(operand)); !name.empty())
        return name;
  return "";
}
