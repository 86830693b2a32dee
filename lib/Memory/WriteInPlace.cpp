//===- WriteInPlace.cpp - Kernels that change some rows of a value --------===//
//
//   before   %next = sp.launch @update(%cache, %new, %at)     copies the cache
//   after    %next = sp.launch @update(%cache, %new, %at) onto 0
//
//===----------------------------------------------------------------------===//

#include "Overwriting.h"

#include "sp/IR/Attributes.h"
#include "sp/IR/Program.h"
#include "sp/Memory/Passes.h"
#include "sp/StableHLO/TensorTypes.h"

#include "llvm/ADT/MapVector.h"

namespace mlir::sp {
#define GEN_PASS_DEF_WRITEINPLACEPASS
#include "sp/Memory/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

/// Whether a mask has whole rows alike, so that what stays is skipped in runs.
static bool isOfRows(Value mask) {
  Operation *op = mask.getDefiningOp();
  if (op && op->hasTrait<stablehlo::Elementwise>())
    return llvm::all_of(op->getOperands(), isOfRows);
  auto broadcast = dyn_cast_or_null<stablehlo::BroadcastInDimOp>(op);
  if (!broadcast)
    return false;
  int64_t last = typeOf(mask).getRank() - 1;
  while (last > 0 && typeOf(mask).getDimSize(last) == 1)
    --last;
  ArrayRef<int64_t> dims = broadcast.getBroadcastDimensions();
  const auto *dim = llvm::find(dims, last);
  return dim == dims.end() ||
         typeOf(broadcast.getOperand()).getDimSize(dim - dims.begin()) == 1;
}

/// What `op` copies but for what it changes; null where it is no such
/// operation.
static Value keptBy(Operation *op) {
  if (auto scatter = dyn_cast<stablehlo::ScatterOp>(op))
    return scatter.getInputs().size() == 1 ? scatter.getInputs()[0] : Value();
  if (auto update = dyn_cast<stablehlo::DynamicUpdateSliceOp>(op)) {
    bool isPart = typeOf(update.getUpdate()).getNumElements() <
                  typeOf(update.getOperand()).getNumElements();
    return isPart ? update.getOperand() : Value();
  }
  auto select = dyn_cast<stablehlo::SelectOp>(op);
  if (!select || !isOfRows(select.getPred()))
    return Value();
  return isa<BlockArgument>(select.getOnFalse()) ? select.getOnFalse()
                                                 : select.getOnTrue();
}

/// The argument that a kernel copies but for what it changes, and reads for
/// nothing else; null where it does more.
static BlockArgument keptArgument(func::FuncOp kernel) {
  if (kernel.isExternal())
    return nullptr;
  Operation *terminator = kernel.getBody().front().getTerminator();
  if (terminator->getNumOperands() != 1)
    return nullptr;
  Value result = terminator->getOperand(0);
  Operation *op = result.getDefiningOp();
  if (!op || !result.hasOneUse())
    return nullptr;
  auto kept = dyn_cast_or_null<BlockArgument>(keptBy(op));
  bool isOwn = kept && kept.getOwner() == &kernel.getBody().front();
  return isOwn && kept.hasOneUse() ? kept : nullptr;
}

namespace {

struct WriteInPlacePass
    : mlir::sp::impl::WriteInPlacePassBase<WriteInPlacePass> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> func = findProgram(getOperation());
    if (failed(func))
      return signalPassFailure();
    SymbolTable symbols(getOperation());
    llvm::MapVector<func::FuncOp, SmallVector<LaunchOp>> launches;
    func->walk([&](LaunchOp launch) {
      launches[symbols.lookup<func::FuncOp>(launch.getKernel())].push_back(
          launch);
    });
    for (auto &[kernel, calls] : launches)
      if (BlockArgument kept = keptArgument(kernel))
        writeOnto(kernel, kept.getArgNumber(), calls);
  }

private:
  /// All calls of a kernel, where none needs the operand any more.
  void writeOnto(func::FuncOp kernel, unsigned number,
                 ArrayRef<LaunchOp> calls) {
    for (LaunchOp call : calls)
      call.setOnto(number);
    if (llvm::all_of(calls, [&](LaunchOp call) {
          return mayOverwrite(call->getOpOperand(number));
        })) {
      kernel.setArgAttr(number, kOnto, UnitAttr::get(&getContext()));
      return;
    }
    for (LaunchOp call : calls)
      call.removeOntoAttr();
  }
};

} // namespace
