//===- Continuations.cpp - Partial results that operations go on with -----===//

#include "sp/IR/SP.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::sp;

using AllContinued = SmallVector<Continued, 3>;

/// Where there is such an operand.
static void add(AllContinued &all, const MutableOperandRange &onto,
                Value result) {
  if (!onto.empty())
    all.push_back({&onto[0], cast<OpResult>(result)});
}

AllContinued AttendOp::getContinued() {
  AllContinued all;
  add(all, getStateMutable(), getOutput());
  add(all, getStateLseMutable(), getLse());
  return all;
}

StringRef AttendOp::nameContinued() { return "state"; }

AllContinued AttendBackwardOp::getContinued() {
  AllContinued all;
  add(all, getOntoQueryMutable(), getDQuery());
  add(all, getOntoKeyMutable(), getDKey());
  add(all, getOntoValueMutable(), getDValue());
  MutableOperandRange onto = getOntoTermsMutable();
  for (auto [number, term] : llvm::enumerate(getDTerms()))
    all.push_back({&onto[number], cast<OpResult>(term)});
  return all;
}

StringRef AttendBackwardOp::nameContinued() { return "gradient"; }

AllContinued GemmOp::getContinued() {
  AllContinued all;
  add(all, getOntoMutable(), getResult());
  return all;
}

StringRef GemmOp::nameContinued() { return "sum"; }

AllContinued LaunchOp::getContinued() {
  if (std::optional<uint64_t> number = getOnto())
    return {
        {&getOperation()->getOpOperand(*number), cast<OpResult>(getResult(0))}};
  return {};
}

StringRef LaunchOp::nameContinued() { return "operand"; }

AllContinued PutOp::getContinued() {
  return {{&getWholeMutable(), cast<OpResult>(getResult())}};
}

StringRef PutOp::nameContinued() { return "stack"; }

AllContinued EvictRowsStartOp::getContinued() {
  return {{&getWholeMutable(), cast<OpResult>(getResult())}};
}

StringRef EvictRowsStartOp::nameContinued() { return "stack"; }

AllContinued AllReduceStartOp::getContinued() {
  AllContinued all;
  for (OpOperand &operand : getInputsMutable())
    all.push_back({&operand, getResults()[operand.getOperandNumber()]});
  return all;
}

StringRef AllReduceStartOp::nameContinued() { return "value"; }
