//===- MergeDuplicates.cpp - One operation for equal ones -----------------===//
//
// Per block, unlike MLIR's pass: a loop body keeps its own constants and reads
// nothing from outside, which is what later stages expect of loops.
//
//===----------------------------------------------------------------------===//

#include "sp/StableHLO/Passes.h"
#include "sp/StableHLO/StableHLO.h"

#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::sp {
#define GEN_PASS_DEF_MERGEDUPLICATESPASS
#include "sp/StableHLO/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

/// Operations are equal if name, attributes, operands and types are.
struct EqualOperations : DenseMapInfo<Operation *> {
  static unsigned getHashValue(Operation *op) {
    return OperationEquivalence::computeHash(
        op, OperationEquivalence::directHashValue,
        OperationEquivalence::ignoreHashValue,
        OperationEquivalence::IgnoreLocations);
  }
  static bool isEqual(Operation *a, Operation *b) {
    if (a == b)
      return true;
    if (a == getTombstoneKey() || a == getEmptyKey() ||
        b == getTombstoneKey() || b == getEmptyKey())
      return false;
    return OperationEquivalence::isEquivalentTo(
        a, b, OperationEquivalence::IgnoreLocations);
  }
};

class MergeDuplicatesPass
    : public sp::impl::MergeDuplicatesPassBase<MergeDuplicatesPass> {
public:
  void runOnOperation() override {
    getOperation()->walk([](Block *block) { merge(*block); });
  }

private:
  static void merge(Block &block) {
    DenseSet<Operation *, EqualOperations> known;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      // What a barrier separates stays separate: recomputation is wanted there.
      if (!isMemoryEffectFree(&op) || op.hasTrait<OpTrait::IsTerminator>() ||
          isa<stablehlo::OptimizationBarrierOp>(op))
        continue;
      auto [first, added] = known.insert(&op);
      if (added)
        continue;
      op.replaceAllUsesWith(*first);
      op.erase();
    }
  }
};

} // namespace
