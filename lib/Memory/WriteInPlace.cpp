//===- WriteInPlace.cpp - Kernels that change some rows of a value --------===//
//
//   before   %next = sp.launch @update(%cache, %new, %at)     copies the cache
//   after    %next = sp.launch @update(%cache, %new, %at) onto 0
//
//   before   for %i iter_args(%made = %zeros)     makes a stack of a stack
//              %row = take %stack at %i
//              put @update(%row, %new, %at) into %made at %i
//   after    for %i iter_args(%all = %stack)
//              %row = take %all at %i
//              put @update(%row, %new, %at) into %all at %i
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

/// What a value was before it had another shape.
static Value beforeReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<stablehlo::ReshapeOp>())
    value = reshape.getOperand();
  return value;
}

/// Whether all that reads rows comes before `op`, or is it.
static bool isReadUpTo(Value rows, Operation *op) {
  return llvm::all_of(rows.getUsers(), [&](Operation *user) {
    if (isa<stablehlo::ReshapeOp>(user))
      return isReadUpTo(user->getResult(0), op);
    Operation *own = op->getBlock()->findAncestorOpInBlock(*user);
    return own == op || own->isBeforeInBlock(op);
  });
}

/// Whether nothing needs a stack but `take` and others of the same rows, up to
/// what changes them.
static bool isReadByRows(TakeOp take, Operation *update) {
  if (auto argument = dyn_cast<BlockArgument>(take.getWhole()))
    if (auto func = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
        func && !donatedTo(func, argument.getArgNumber()))
      return false;
  return llvm::all_of(take.getWhole().getUsers(), [&](Operation *user) {
    auto other = dyn_cast<TakeOp>(user);
    return other && other->getBlock() == take->getBlock() &&
           other.getAt() == take.getAt() && other.getDim() == take.getDim() &&
           isReadUpTo(other, update);
  });
}

/// The put of all rows of a stack that a loop makes, each in a trip, or null.
static PutOp putOfAll(scf::ForOp loop, unsigned number) {
  Value made = loop.getRegionIterArg(number);
  auto put = loop.getYieldedValues()[number].getDefiningOp<PutOp>();
  bool isOne = put && put.getWhole() == made && made.hasOneUse() &&
               put.getAt() == loop.getInductionVar() &&
               getConstantIntValue(loop.getLowerBound()) == 0;
  return isOne && loop.getStaticTripCount() ==
                      typeOf(made).getDimSize(put.getDim()) *
                          (typeOf(put.getBlock()).getDimSize(put.getDim()) == 1)
             ? put
             : PutOp();
}

namespace {

struct WriteInPlacePass
    : mlir::sp::impl::WriteInPlacePassBase<WriteInPlacePass> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> func = findProgram(getOperation());
    if (failed(func))
      return signalPassFailure();
    SymbolTable symbols(getOperation());
    func->walk([&](scf::ForOp loop) { shareStacks(loop, symbols); });
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
  /// Stacks that are made of rows of others, which nothing needs any more.
  static void shareStacks(scf::ForOp loop, SymbolTable &symbols) {
    for (unsigned number = 0; number < loop.getNumResults(); ++number) {
      PutOp put = putOfAll(loop, number);
      auto launch =
          put ? beforeReshapes(put.getBlock()).getDefiningOp<LaunchOp>()
              : LaunchOp();
      BlockArgument kept =
          launch
              ? keptArgument(symbols.lookup<func::FuncOp>(launch.getKernel()))
              : BlockArgument();
      TakeOp take =
          kept ? beforeReshapes(launch->getOperand(kept.getArgNumber()))
                     .getDefiningOp<TakeOp>()
               : TakeOp();
      bool isOfStack =
          take && take.getAt() == put.getAt() &&
          take.getDim() == put.getDim() &&
          take.getType() == put.getBlock().getType() &&
          take.getWhole().getType() == put.getType() &&
          take.getWhole().getParentRegion() != &loop.getBodyRegion();
      if (!isOfStack || !isReadByRows(take, launch))
        continue;
      Value stack = take.getWhole();
      auto zeros = loop.getInitArgs()[number].getDefiningOp<LaunchOp>();
      stack.replaceAllUsesWith(loop.getRegionIterArg(number));
      loop.getInitArgsMutable()[number].assign(stack);
      if (!zeros || !zeros->use_empty())
        continue;
      auto kernel = symbols.lookup<func::FuncOp>(zeros.getKernel());
      zeros.erase();
      if (SymbolTable::symbolKnownUseEmpty(kernel, kernel->getParentOp()))
        symbols.erase(kernel);
    }
  }

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
