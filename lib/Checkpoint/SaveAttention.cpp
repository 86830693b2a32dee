//===- SaveAttention.cpp - Results that gradients take from the forward ---===//
//
//   forward, trip i                     backward, trip i of N
//     %o = sp.attention(%q, %k, %v)       %o, %lse = sp.attention(%q, %k, %v)
//
//   becomes
//     %o, %lse = sp.attention(...)        %o, %lse = row N - 1 - i of %os,
//     %lses row i of %os, %lses = %o, %lse
//
//===----------------------------------------------------------------------===//

#include "ValueNumbers.h"

#include "sp/Checkpoint/Passes.h"
#include "sp/IR/SP.h"

#include "mlir/IR/Remarks.h"

#define DEBUG_TYPE "sp-save-attention"

namespace mlir::sp {
#define GEN_PASS_DEF_SAVEATTENTIONPASS
#include "sp/Checkpoint/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

/// The same attention with the logarithms of its sums.
static AttentionOp withSums(AttentionOp op, Type lse) {
  if (op.getLse())
    return op;
  OpBuilder builder(op);
  OperationState state(op.getLoc(), op->getName());
  state.addOperands(op->getOperands());
  state.addTypes({op.getResult().getType(), lse});
  state.addAttributes(op->getDiscardableAttrDictionary().getValue());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  auto larger = cast<AttentionOp>(builder.create(state));
  op.getResult().replaceAllUsesWith(larger.getResult());
  op.erase();
  return larger;
}

/// The number that every element of a value is, if it is one.
static std::optional<double> uniformNumber(Value value) {
  Operation *op = value.getDefiningOp();
  while (isa_and_nonnull<stablehlo::BroadcastInDimOp, stablehlo::ReshapeOp>(op))
    op = op->getOperand(0).getDefiningOp();
  auto constant = dyn_cast_or_null<stablehlo::ConstantOp>(op);
  auto elements = constant ? dyn_cast<DenseFPElementsAttr>(constant.getValue())
                           : DenseFPElementsAttr();
  if (!elements || !(elements.isSplat() || elements.getNumElements() == 1))
    return std::nullopt;
  return (*elements.value_begin<APFloat>()).convertToDouble();
}

/// What `scaled` multiplies a value of number `plain` with: 1 for itself.
static std::optional<double> factorOf(ValueNumbers &numbers, Value scaled,
                                      unsigned plain) {
  if (numbers.number(scaled) == plain)
    return 1;
  auto product = scaled.getDefiningOp<stablehlo::MulOp>();
  if (!product || numbers.number(product.getLhs()) != plain)
    return std::nullopt;
  return uniformNumber(product.getRhs());
}

static void report(AttentionOp again, AttentionOp first) {
  remark::passed(
      again.getLoc(),
      remark::RemarkOpts::name("AttentionSaved").category(DEBUG_TYPE))
      << "attention " << remark::metric("name", again.getName().str())
      << " is that of " << remark::metric("of", first.getName().str())
      << ", whose result is saved";
}

namespace {

struct SaveAttentionPass : sp::impl::SaveAttentionPassBase<SaveAttentionPass> {
  using SaveAttentionPassBase::SaveAttentionPassBase;

  void runOnOperation() override {
    bool any = false;
    while (changeLoopPair(getOperation(),
                          [&](LoopPair &loops) { return save(loops); }))
      any = true;
    if (!throughBarriers)
      return;
    getOperation().walk([&](Block *block) { any |= reuse(*block); });
    if (!any && !getOperation().isPrivate())
      remark::missed(
          getOperation()->getParentOp()->getLoc(),
          remark::RemarkOpts::name("NothingSaved").category(DEBUG_TYPE))
          << "no attention is computed again for gradients, so "
             "--checkpoint=attention-out saves none; write jax.checkpoint "
             "around layers";
  }

private:
  /// Whether two attentions of one trip are the same, whichever of their
  /// queries and scale has a constant factor.
  static bool isSame(const LoopPair &loops, ValueNumbers &numbers,
                     AttentionOp first, AttentionOp again) {
    if (numbers.number(first.getResult()) == numbers.number(again.getResult()))
      return true;
    bool isAlike =
        first.getOperands().size() == 3 && again.getOperands().size() == 3 &&
        first.getBands() == again.getBands() &&
        first.getEmpty() == again.getEmpty() &&
        first.getResult().getType() == again.getResult().getType() &&
        numbers.number(first.getKey()) == numbers.number(again.getKey()) &&
        numbers.number(first.getValue()) == numbers.number(again.getValue());
    if (!isAlike)
      return false;
    unsigned query = numbers.number(first.getQuery()),
             own = numbers.number(again.getQuery());
    for (const Residual &residual : loops.residuals) {
      if (numbers.number(residual.saved) != own)
        continue;
      std::optional<double> factor = factorOf(numbers, residual.saved, query);
      double scale = again.getScale().convertToDouble();
      if (factor &&
          std::fabs(*factor * scale - first.getScale().convertToDouble()) <=
              1e-12 * std::fabs(*factor * scale))
        return true;
    }
    return false;
  }

  /// Saves the results of one attention.
  bool save(LoopPair &loops) {
    ValueNumbers numbers(&loops, throughBarriers);
    for (AttentionOp again : loops.behind().getOps<AttentionOp>()) {
      AttentionOp saved;
      for (AttentionOp op : loops.ahead().getOps<AttentionOp>())
        if (!saved && isSame(loops, numbers, op, again))
          saved = op;
      bool readsFirst = loops.residuals.front().read->isBeforeInBlock(again);
      if (!saved || !again.getLse() || !readsFirst)
        continue;
      report(again, saved);
      saved = withSums(saved, again.getLse().getType());
      for (auto [made, old] :
           {std::pair<Value, Value>(saved.getResult(), again.getResult()),
            {saved.getLse(), again.getLse()}})
        old.replaceAllUsesWith(
            loops.handOver(made, loops.residuals.front(), again));
      again.erase();
      return true;
    }
    return false;
  }

  /// Takes attention of a checkpoint from the forward in one block; whether
  /// there was any.
  bool reuse(Block &block) {
    bool any = false;
    ValueNumbers numbers(nullptr, /*throughBarriers=*/true);
    DenseMap<unsigned, AttentionOp> first;
    for (AttentionOp op :
         llvm::make_early_inc_range(block.getOps<AttentionOp>())) {
      auto [entry, isFirst] =
          first.try_emplace(numbers.number(op.getResult()), op);
      if (isFirst)
        continue;
      any = true;
      report(op, entry->second);
      AttentionOp saved = entry->second;
      if (op.getLse())
        saved = entry->second = withSums(saved, op.getLse().getType());
      op.getResult().replaceAllUsesWith(saved.getResult());
      if (op.getLse())
        op.getLse().replaceAllUsesWith(saved.getLse());
      op.erase();
    }
    return any;
  }
};

} // namespace

#undef DEBUG_TYPE
