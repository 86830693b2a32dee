// What kernels touch, for the loader: from the operations that launch them, as
// the plan is, but trusted where the plan is not.

#include "Kernels/KernelTable.h"
#include "Plan/PlanTables.h"

#include "sp/IR/Storage.h"

#include <map>

namespace plan = sprt::plan;

namespace mlir::sp {

static plan::DType elementTypeOf(Value value) {
  return dtypeOf(getElementTypeOrSelf(value));
}

static void describe(LaunchOp op, plan::SignatureT &signature) {
  signature.kind = plan::KernelKind::launch;
  for (OpOperand &operand : op->getOpOperands())
    signature.operands.emplace_back(op.getOnto() == operand.getOperandNumber()
                                        ? 0
                                        : storageBytes(operand.get().getType()),
                                    false);
  for (Value value : op.getResults())
    signature.operands.emplace_back(storageBytes(value.getType()), true);
}

static plan::TermKind planned(TermKind kind) {
  switch (kind) {
  case TermKind::PerQuery:
    return plan::TermKind::query;
  case TermKind::PerKey:
    return plan::TermKind::key;
  case TermKind::PerHead:
    return plan::TermKind::head;
  case TermKind::Pair:
    return plan::TermKind::pair;
  case TermKind::Table:
    return plan::TermKind::table;
  }
}

/// What attention and its gradients say alike.
template <typename OpT>
static void describePairs(OpT op, plan::SignatureT &signature) {
  signature.type = elementTypeOf(op.getQuery());
  signature.head_size = op.getQuery().getType().getDimSize(3);
  signature.value_size = op.getValue().getType().getDimSize(3);
  signature.sums = cast<RankedTensorType>(op.getLse().getType()).getRank() == 4;
  signature.scored = op.getScore().has_value();
  for (auto [value, kind] :
       llvm::zip_equal(op.getTerms(), op.getTermKinds().getKinds()))
    signature.terms.emplace_back(
        planned(kind), elementTypeOf(value),
        cast<RankedTensorType>(value.getType()).getNumElements());
}

static void describe(Operation *op, plan::SignatureT &signature) {
  if (auto launch = dyn_cast<LaunchOp>(op))
    return describe(launch, signature);
  if (auto attend = dyn_cast<AttendOp>(op)) {
    signature.kind = plan::KernelKind::attend;
    signature.out_type = elementTypeOf(attend.getOutput());
    return describePairs(attend, signature);
  }
  auto backward = cast<AttendBackwardOp>(op);
  signature.kind = plan::KernelKind::attendBackward;
  describePairs(backward, signature);
  signature.term_gradients = backward.getDTerms().size();
}

std::vector<char> KernelTable::signatures() const {
  std::map<std::string, std::unique_ptr<plan::SignatureT>> bySymbol;
  for (const auto &[op, info] : infos)
    for (const std::string &symbol : {info.symbol, info.portable}) {
      if (symbol.empty() || bySymbol.count(symbol))
        continue;
      KernelInfo kernel = lookup(symbol);
      auto signature = std::make_unique<plan::SignatureT>();
      signature->symbol = symbol;
      signature->scratch_bytes = kernel.scratchBytes;
      signature->threads = kernel.threads;
      signature->shared_bytes = kernel.sharedBytes;
      signature->tiles = kernel.tiles;
      signature->query_block = kernel.queryBlock;
      signature->key_block = kernel.keyBlock;
      describe(op, *signature);
      bySymbol[symbol] = std::move(signature);
    }
  plan::SignaturesT table;
  for (auto &[symbol, signature] : bySymbol)
    table.kernels.push_back(std::move(signature));
  flatbuffers::FlatBufferBuilder builder;
  builder.FinishSizePrefixed(plan::Signatures::Pack(builder, &table));
  return {builder.GetBufferPointer(),
          builder.GetBufferPointer() + builder.GetSize()};
}

} // namespace mlir::sp
