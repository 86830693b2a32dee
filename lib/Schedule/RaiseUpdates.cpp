//===- RaiseUpdates.cpp - Updates as soon as gradients are there ----------===//
//
//   before   %dw1 = sp.gemm ...       after   %dw1 = sp.gemm ...
//            %dx = sp.gemm ...                %m1 = sp.launch(%dw1, %m)
//            %dw0 = sp.gemm ...               %dx = sp.gemm ...
//            %m1 = sp.launch(%dw1, %m)        %dw0 = sp.gemm ...
//
// What a gradient needs is then free while the others are made, and state in
// far memory comes and goes while there is something to compute.
//
//===----------------------------------------------------------------------===//

#include "sp/IR/Program.h"
#include "sp/IR/SP.h"
#include "sp/IR/Storage.h"
#include "sp/IR/Views.h"
#include "sp/Schedule/Passes.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"

#define DEBUG_TYPE "sp-raise-updates"

namespace mlir::sp {
#define GEN_PASS_DEF_RAISEUPDATESPASS
#include "sp/Schedule/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

/// What an operation may make beyond what it needs, to run early.
static constexpr int64_t kMoreBytes = 64 * 1024;

/// What computes in a kernel, gathers what ranks updated, or needs nothing, or
/// does nothing.
static bool isMovable(Operation *op) {
  bool needsNothing = op->getNumOperands() == 0 && isPure(op);
  bool isKnown = isa<LaunchOp, AllGatherOp>(op) || isView(op) || needsNothing;
  return isKnown &&
         llvm::all_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>) &&
         llvm::all_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
}

namespace {

class Updates {
public:
  explicit Updates(func::FuncOp func);
  /// How many updates moved.
  unsigned raise();

private:
  void findReaders(Operation *update, Value view);
  /// The last operation that an update, or what is made for one, cannot be in
  /// front of: none of those.
  Operation *anchorOf(Operation *op) const;

  Block &body;
  DenseSet<Operation *> updates;
  /// These, and what is made for them alone, in program order.
  llvm::SetVector<Operation *> known;
  /// Of an update, who reads what it replaces.
  DenseMap<Operation *, SmallVector<Operation *>> readers;
  /// Where each goes: behind that.
  DenseMap<Operation *, Operation *> anchors;
};

} // namespace

/// Of two operations of a block, either of which may be null, the later one.
static Operation *later(Operation *a, Operation *b) {
  return !b || (a && b->isBeforeInBlock(a)) ? a : b;
}

Updates::Updates(func::FuncOp func) : body(func.getBody().front()) {
  Operation *end = body.getTerminator();
  DenseSet<Operation *> found;
  for (BlockArgument argument : body.getArguments()) {
    std::optional<unsigned> result = donatedTo(func, argument.getArgNumber());
    if (!result)
      continue;
    Operation *op = viewedBy(end->getOperand(*result)).getDefiningOp();
    if (op && op->getBlock() == &body && isMovable(op)) {
      found.insert(op);
      updates.insert(op);
      findReaders(op, argument);
    }
  }
  for (Operation &op : llvm::reverse(body)) {
    bool isForThem =
        !op.use_empty() && llvm::all_of(op.getUsers(), [&](Operation *user) {
          return found.contains(user);
        });
    if (isForThem && isMovable(&op) &&
        storageBytes(op.getResultTypes()) <=
            storageBytes(op.getOperandTypes()) + kMoreBytes)
      found.insert(&op);
  }
  for (Operation &op : body)
    if (found.contains(&op))
      known.insert(&op);
}

void Updates::findReaders(Operation *update, Value view) {
  for (Operation *user : view.getUsers()) {
    if (isView(user))
      findReaders(update, user->getResult(0));
    else if (user != update)
      readers[update].push_back(body.findAncestorOpInBlock(*user));
  }
}

Operation *Updates::anchorOf(Operation *op) const {
  Operation *anchor = nullptr;
  auto isBehind = [&](Operation *other) {
    anchor =
        later(anchor, known.contains(other) ? anchors.lookup(other) : other);
  };
  for (Value operand : op->getOperands())
    if (Operation *def = operand.getDefiningOp())
      isBehind(def);
  for (Operation *reader : readers.lookup(op))
    isBehind(reader);
  return anchor;
}

unsigned Updates::raise() {
  for (Operation *op : known)
    anchors[op] = anchorOf(op);
  // What is made for an update is made where that is, not as early as it may.
  for (Operation *op : llvm::reverse(known)) {
    Operation *first = nullptr;
    for (Operation *user : op->getUsers())
      if (known.contains(user))
        if (Operation *anchor = anchors.lookup(user);
            anchor && (!first || anchor->isBeforeInBlock(first)))
          first = anchor;
    if (first)
      anchors[op] = first;
  }
  DenseMap<Operation *, Operation *> last;
  unsigned raised = 0;
  for (Operation *op : known) {
    Operation *anchor = anchors.lookup(op);
    if (!anchor || !anchor->isBeforeInBlock(op))
      continue;
    Operation *&before = last[anchor];
    op->moveAfter(before ? before : anchor);
    before = op;
    raised += updates.contains(op);
  }
  return raised;
}

namespace {

struct RaiseUpdatesPass
    : mlir::sp::impl::RaiseUpdatesPassBase<RaiseUpdatesPass> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> func = findProgram(getOperation());
    if (failed(func))
      return signalPassFailure();
    if (unsigned raised = Updates(*func).raise())
      remark::passed(func->getLoc(),
                     remark::RemarkOpts::name("Raised").category(DEBUG_TYPE))
          << remark::metric("updates", raised)
          << " updates of what is donated follow their gradients at once";
  }
};

} // namespace

#undef DEBUG_TYPE
