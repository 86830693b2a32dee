//===- AssignFactors.cpp - How one operation is dealt ---------------------===//
//
//   %dw = dot_general %x, %dy over tokens, which "sp" deals; %dw is wanted
//   dealt by "sp" as well
//
// Either operands are gathered, so that each rank makes its part of the result,
// or partial sums are: what sends fewer bytes.
//
//===----------------------------------------------------------------------===//

#include "LocalizePicks.h"
#include "Localizer.h"

#include "sp/IR/Storage.h"
#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/TensorTypes.h"

using namespace mlir;
using namespace mlir::sp;

namespace {

/// Deals the factors of one operation, so that no axis deals two dimensions of
/// a value.
class FactorAssignment {
public:
  FactorAssignment(Localizer &localizer, Operation *op,
                   ArrayRef<SmallVector<DimAttr>> wanted)
      : localizer(localizer), op(op), wanted(wanted) {
    for (Value operand : op->getOperands())
      made.operands.push_back(localizer.wholeDims(operand));
    for (Value result : op->getResults())
      made.results.push_back(localizer.wholeDims(result));
  }

  /// What results are wanted to be.
  void dealResults(ArrayRef<Factor> factors) {
    for (const Factor &factor : factors) {
      if (factor.results.empty() || factor.moves)
        continue;
      auto [result, index] = factor.results[0];
      DimAttr dim = wanted[result][index];
      bool clashes = llvm::any_of(factor.operands, [&](auto place) {
        return sharesAxis(dim, made.operands[place.first]);
      });
      clashes |= llvm::any_of(factor.results, [&](auto place) {
        return sharesAxis(dim, made.results[place.first]);
      });
      clashes |= llvm::any_of(made.reductions, [&](const auto &reduced) {
        return sharesAxis(dim, {reduced.second});
      });
      if (isDealt(dim) && !clashes && mayPick(factor, dim))
        apply(factor, dim);
    }
  }

  /// What operands are. Partial results may only be summed over an axis that
  /// deals nothing else.
  void dealReductions(ArrayRef<Factor> factors) {
    for (const Factor &factor : factors) {
      if (!factor.results.empty())
        continue;
      DimAttr dim;
      for (auto [operand, index] : factor.operands)
        if (DimAttr own = localizer.lookup(op->getOperand(operand)).dims[index];
            isDealt(own) && !dim)
          dim = own;
      auto clashes = [&](ArrayRef<DimAttr> dims) {
        return sharesAxis(dim, dims);
      };
      if (!dim || !factor.reduction || llvm::any_of(made.operands, clashes) ||
          llvm::any_of(made.results, clashes) || !mayPick(factor, dim))
        continue;
      apply(factor, dim);
      made.reductions.push_back({factor, dim});
    }
  }

  /// Bytes that a rank sends for it, about.
  int64_t bytes() const {
    int64_t sent = 0;
    for (auto [operand, dims] : llvm::zip(op->getOperands(), made.operands)) {
      if (isRecomputable(operand))
        continue;
      const LocalValue &local = localizer.lookup(operand);
      for (auto [index, own] : llvm::enumerate(local.dims))
        if (isDealt(own) && own != dims[index])
          sent += gatherBytes(local.value, local.dims, index);
    }
    for (auto [result, dims, ends] :
         llvm::zip(op->getResults(), made.results, wanted))
      sent += sumBytes(storageBytes(localType(elementOf(result), dims)), ends);
    return sent;
  }

  Assignment made;

private:
  /// Of partial sums of so many bytes that end as is wanted: scattered first,
  /// so that the other axes add up what is left.
  int64_t sumBytes(int64_t bytes, ArrayRef<DimAttr> wanted) const {
    int64_t sent = 0;
    for (bool isScattered : {true, false})
      for (const auto &[factor, dim] : made.reductions)
        for (AtomAttr atom : dim.getAtoms())
          if (LayoutAttr layout = atom.getLayout();
              layout && sharesAxis(DimAttr::get(dim.getContext(), {atom}),
                                   wanted) == isScattered) {
            int64_t part = llvm::divideCeil(bytes, layout.getRanks());
            sent += (isScattered ? 1 : 2) * (layout.getRanks() - 1) * part;
            bytes = isScattered ? part : bytes;
          }
    return sent;
  }

  /// Whether all ranks of `dim` have the indices that pick its positions.
  bool mayPick(const Factor &factor, DimAttr dim) const {
    return !factor.pickedBy ||
           (hasPicks(onlyLayout(dim)) &&
            !sharesAxis(dim, made.operands[*factor.pickedBy]));
  }

  void apply(const Factor &factor, DimAttr dim) {
    if (factor.pickedBy)
      made.picks.push_back({factor, dim});
    for (auto [operand, index] : factor.operands)
      made.operands[operand][index] = dim;
    for (auto [result, index] : factor.results)
      made.results[result][index] = dim;
  }

  Localizer &localizer;
  Operation *op;
  ArrayRef<SmallVector<DimAttr>> wanted;
};

} // namespace

Assignment Localizer::assign(Operation *op,
                             ArrayRef<SmallVector<DimAttr>> wanted) {
  SmallVector<Factor> factors = getFactors(op);
  FactorAssignment resultsFirst(*this, op, wanted),
      reductionsFirst(*this, op, wanted);
  resultsFirst.dealResults(factors);
  resultsFirst.dealReductions(factors);
  reductionsFirst.dealReductions(factors);
  reductionsFirst.dealResults(factors);
  int64_t reducing = reductionsFirst.bytes(), gathering = resultsFirst.bytes();
  FactorAssignment &best =
      reducing <= gathering ? reductionsFirst : resultsFirst;
  if (gathering != reducing)
    losses.choose(op);
  // Where activations are picked at many positions, gathering them sends less
  // than adding up what is picked; a table stays where it lies.
  if (best.made.picks.empty() ||
      isa<BlockArgument>(originOf(op->getOperand(0))))
    return best.made;
  FactorAssignment whole(*this, op, wanted);
  llvm::erase_if(factors, [](const Factor &each) { return each.pickedBy; });
  whole.dealResults(factors);
  whole.dealReductions(factors);
  return whole.bytes() < std::min(reducing, gathering) ? whole.made : best.made;
}
