//===- ShardingRules.cpp - Dimensions that go together --------------------===//

#include "FactorRules.h"
#include "sp/IR/LocalForms.h"

#include "sp/StableHLO/TensorTypes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::sp;

std::optional<Reduction> mlir::sp::reductionBy(Operation *op) {
  if (op->getNumOperands() != 2 || op->getNumResults() != 1)
    return std::nullopt;
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  if (isa<ComplexType>(element) && !isa<stablehlo::AddOp>(op))
    return std::nullopt;
  bool isBool = element.isInteger(1);
  auto either = [&](Reduction ofBools, Reduction ofNumbers) {
    return isBool ? ofBools : ofNumbers;
  };
  return llvm::TypeSwitch<Operation *, std::optional<Reduction>>(op)
      .Case([&](stablehlo::AddOp) {
        return either(Reduction::Or, Reduction::Sum);
      })
      .Case([&](stablehlo::MulOp) {
        return either(Reduction::And, Reduction::Mul);
      })
      .Case([&](stablehlo::MaxOp) {
        return either(Reduction::Or, Reduction::Max);
      })
      .Case([&](stablehlo::MinOp) {
        return either(Reduction::And, Reduction::Min);
      })
      .Case([&](stablehlo::AndOp) {
        return isBool ? std::optional(Reduction::And) : std::nullopt;
      })
      .Case([&](stablehlo::OrOp) {
        return isBool ? std::optional(Reduction::Or) : std::nullopt;
      })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<Reduction> mlir::sp::reductionOf(Region &body) {
  Block &block = body.front();
  if (!llvm::hasNItems(block, 2) || block.getNumArguments() != 2)
    return std::nullopt;
  Operation &op = block.front();
  bool combinesArguments =
      op.getNumOperands() == 2 && op.getNumResults() == 1 &&
      op.getOperand(0) != op.getOperand(1) &&
      llvm::all_of(
          op.getOperands(),
          [&](Value operand) { return operand.getParentBlock() == &block; }) &&
      block.getTerminator()->getOperand(0) == op.getResult(0);
  if (!combinesArguments)
    return std::nullopt;
  return reductionBy(&op);
}

namespace {

ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

bool isElementwise(Operation *op) {
  return op->hasTrait<stablehlo::Elementwise>() ||
         isa<stablehlo::MapOp, CopyOp>(op) || isShardingAnnotation(op);
}

/// One factor a dimension of the results; operands of rank 0 have none.
SmallVector<Factor> elementwise(Operation *op) {
  SmallVector<Factor> factors(rankOf(op->getResult(0)));
  for (auto [dim, factor] : llvm::enumerate(factors)) {
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      if (rankOf(op->getOperand(i)) == static_cast<int64_t>(factors.size()))
        factor.operands.push_back({i, dim});
    for (unsigned i = 0; i < op->getNumResults(); ++i)
      factor.results.push_back({i, dim});
  }
  return factors;
}

/// Keeps the dimensions of operand 0 and the results for which `keep` holds.
template <typename KeepT>
SmallVector<Factor> keepDims(Operation *op, unsigned operands, KeepT keep) {
  SmallVector<Factor> factors;
  for (int64_t dim = 0; dim < rankOf(op->getResult(0)); ++dim) {
    if (!keep(dim))
      continue;
    Factor &factor = factors.emplace_back();
    for (unsigned i = 0; i < operands; ++i)
      factor.operands.push_back({i, static_cast<unsigned>(dim)});
    for (unsigned i = 0; i < op->getNumResults(); ++i)
      factor.results.push_back({i, static_cast<unsigned>(dim)});
  }
  return factors;
}

SmallVector<Factor> ofBroadcast(stablehlo::BroadcastInDimOp op) {
  SmallVector<Factor> factors(rankOf(op));
  for (auto [dim, factor] : llvm::enumerate(factors))
    factor.results.push_back({0, dim});
  for (auto [dim, target] : llvm::enumerate(op.getBroadcastDimensions()))
    if (shapeOf(op.getOperand())[dim] == shapeOf(op)[target])
      factors[target].operands.push_back({0, dim});
  return factors;
}

SmallVector<Factor> ofTranspose(stablehlo::TransposeOp op) {
  SmallVector<Factor> factors;
  for (auto [dim, source] : llvm::enumerate(op.getPermutation()))
    factors.push_back({{{0, static_cast<unsigned>(source)}}, {{0, dim}}, {}});
  return factors;
}

SmallVector<Factor> ofReduce(stablehlo::ReduceOp op) {
  SmallVector<Factor> factors;
  unsigned inputs = op.getInputs().size(), result = 0;
  std::optional<Reduction> reduction;
  if (inputs == 1)
    reduction = reductionOf(op.getBody());
  for (int64_t dim = 0; dim < rankOf(op.getInputs()[0]); ++dim) {
    bool reduced = llvm::is_contained(op.getDimensions(), dim);
    if (reduced && !reduction)
      continue;
    Factor &factor = factors.emplace_back();
    for (unsigned i = 0; i < inputs; ++i)
      factor.operands.push_back({i, static_cast<unsigned>(dim)});
    if (reduced) {
      factor.reduction = reduction;
      continue;
    }
    for (unsigned i = 0; i < inputs; ++i)
      factor.results.push_back({i, result});
    ++result;
  }
  return factors;
}

SmallVector<Factor> ofReduceWindow(stablehlo::ReduceWindowOp op) {
  auto isTrivial = [](std::optional<ArrayRef<int64_t>> values, int64_t dim) {
    return !values || (*values)[dim] == 1;
  };
  return keepDims(op, op.getInputs().size(), [&](int64_t dim) {
    bool padded = false;
    if (std::optional<DenseIntElementsAttr> padding = op.getPadding())
      for (int64_t side : {2 * dim, 2 * dim + 1})
        padded |= (*padding->value_begin<int64_t>().operator+(side)) != 0;
    return op.getWindowDimensions()[dim] == 1 &&
           isTrivial(op.getWindowStrides(), dim) &&
           isTrivial(op.getBaseDilations(), dim) && !padded;
  });
}

/// Rows are updated where they are; the update is dealt where it covers all.
/// Where it does not, where it goes says which rows change.
SmallVector<Factor> ofUpdate(stablehlo::DynamicUpdateSliceOp op) {
  SmallVector<Factor> factors;
  for (unsigned dim = 0; dim < rankOf(op); ++dim) {
    Factor &factor = factors.emplace_back();
    factor.operands.push_back({0, dim});
    factor.moves = shapeOf(op.getUpdate())[dim] != shapeOf(op)[dim];
    if (!factor.moves)
      factor.operands.push_back({1, dim});
    factor.results.push_back({0, dim});
  }
  return factors;
}

SmallVector<Factor> ofSlice(stablehlo::SliceOp op) {
  SmallVector<Factor> factors =
      keepDims(op, 1, [&](int64_t dim) { return op.getStrides()[dim] == 1; });
  for (Factor &factor : factors) {
    unsigned dim = factor.results[0].second;
    factor.moves = shapeOf(op)[dim] != shapeOf(op.getOperand())[dim];
  }
  return factors;
}

SmallVector<Factor> ofPad(stablehlo::PadOp op) {
  SmallVector<Factor> factors = keepDims(
      op, 1, [&](int64_t dim) { return op.getInteriorPadding()[dim] == 0; });
  for (Factor &factor : factors) {
    unsigned dim = factor.results[0].second;
    factor.moves =
        op.getEdgePaddingLow()[dim] != 0 || op.getEdgePaddingHigh()[dim] != 0;
  }
  return factors;
}

SmallVector<Factor> ofConcatenate(stablehlo::ConcatenateOp op) {
  SmallVector<Factor> factors =
      keepDims(op, op.getInputs().size(), [](int64_t) { return true; });
  factors[op.getDimension()].moves = true;
  return factors;
}

/// All dimensions but that of the rows.
template <typename OpT>
SmallVector<Factor> ofRows(OpT op, ArrayRef<unsigned> stacks) {
  SmallVector<Factor> factors;
  for (unsigned dim = 0; dim < rankOf(op); ++dim) {
    if (dim == op.getDim())
      continue;
    Factor &factor = factors.emplace_back();
    for (unsigned number : stacks)
      factor.operands.push_back({number, dim});
    factor.results.push_back({0, dim});
  }
  return factors;
}

/// Of one width, or with a last dimension more on the narrower side.
SmallVector<Factor> ofBitcast(stablehlo::BitcastConvertOp op) {
  SmallVector<Factor> factors;
  unsigned rank = std::min(rankOf(op.getOperand()), rankOf(op));
  for (unsigned dim = 0; dim < rank; ++dim)
    factors.push_back({{{0, dim}}, {{0, dim}}, {}});
  return factors;
}

SmallVector<Factor> ofBroadcast(stablehlo::BroadcastOp op) {
  SmallVector<Factor> factors;
  unsigned added = op.getBroadcastSizes().size();
  for (unsigned dim = 0; dim < rankOf(op); ++dim) {
    Factor &factor = factors.emplace_back();
    factor.results.push_back({0, dim});
    if (dim >= added)
      factor.operands.push_back({0, dim - added});
  }
  return factors;
}

/// Heads and features stay whole between attentions: strategies deal heads
/// themselves, and only inside.
struct AttentionFactors {
  Factor batch, queries, keys;
};

/// Adds the terms of a score function. How those over pairs are dealt follows
/// from the plan.
template <typename OpT> void addTerms(OpT op, AttentionFactors &factors) {
  for (auto [term, kind] :
       llvm::zip_equal(op.getTermsMutable(), op.getTermKinds().getKinds())) {
    if (kind == TermKind::Table)
      continue;
    unsigned number = term.getOperandNumber();
    if (shapeOf(term.get())[0] == shapeOf(op.getQuery())[0])
      factors.batch.operands.push_back({number, 0});
    if (kind == TermKind::PerQuery)
      factors.queries.operands.push_back({number, 1});
    if (kind == TermKind::PerKey)
      factors.keys.operands.push_back({number, 1});
  }
}

SmallVector<Factor> ofAttention(AttentionOp op) {
  AttentionFactors factors = {{{{0, 0}, {1, 0}, {2, 0}}, {{0, 0}}, {}},
                              {{{0, 1}}, {{0, 1}}, {}},
                              {{{1, 1}, {2, 1}}, {}, std::nullopt}};
  addTerms(op, factors);
  for (OpOperand &mean : op.getMeanMutable())
    factors.batch.operands.push_back({mean.getOperandNumber(), 0});
  if (op.getLse()) {
    factors.batch.results.push_back({1, 0});
    factors.queries.results.push_back({1, 1});
  }
  return {factors.batch, factors.queries, factors.keys};
}

SmallVector<Factor> ofAttentionBackward(AttentionBackwardOp op) {
  auto factor = [&](unsigned dim, ArrayRef<unsigned> operands,
                    ArrayRef<unsigned> results) {
    Factor factor;
    for (unsigned number : operands)
      factor.operands.push_back({number, dim});
    for (unsigned number : results)
      factor.results.push_back({number, dim});
    return factor;
  };
  // Queries, keys, values, the result, lse and the cotangent.
  AttentionFactors factors = {factor(0, {0, 1, 2, 3, 4, 5}, {0, 1, 2}),
                              factor(1, {0, 3, 4, 5}, {0}),
                              factor(1, {1, 2}, {1, 2})};
  addTerms(op, factors);
  for (OpOperand &cotangent : op.getDLseMutable()) {
    factors.batch.operands.push_back({cotangent.getOperandNumber(), 0});
    factors.queries.operands.push_back({cotangent.getOperandNumber(), 1});
  }
  for (OpResult term : op->getResults().take_back(op.getDTerms().size())) {
    factors.batch.results.push_back({term.getResultNumber(), 0});
    if (shapeOf(term)[1] == shapeOf(op.getQuery())[1])
      factors.queries.results.push_back({term.getResultNumber(), 1});
  }
  return {factors.batch, factors.queries, factors.keys};
}

} // namespace

SmallVector<Factor> mlir::sp::getFactors(Operation *op) {
  return llvm::TypeSwitch<Operation *, SmallVector<Factor>>(op)
      .Case([](AttentionOp op) { return ofAttention(op); })
      .Case([](AttentionBackwardOp op) { return ofAttentionBackward(op); })
      .Case([](stablehlo::BroadcastInDimOp op) { return ofBroadcast(op); })
      .Case([](stablehlo::TransposeOp op) { return ofTranspose(op); })
      .Case([](stablehlo::BroadcastOp op) { return ofBroadcast(op); })
      .Case([](stablehlo::BitcastConvertOp op) { return ofBitcast(op); })
      .Case<stablehlo::DotGeneralOp, stablehlo::DotOp, stablehlo::GatherOp,
            stablehlo::ScatterOp, stablehlo::ConvolutionOp>(
          [](auto op) { return factorsOf(op); })
      .Case([](stablehlo::ReduceOp op) { return ofReduce(op); })
      .Case([](stablehlo::ReduceWindowOp op) { return ofReduceWindow(op); })
      .Case([](stablehlo::SliceOp op) { return ofSlice(op); })
      .Case([](stablehlo::PadOp op) { return ofPad(op); })
      .Case([](stablehlo::ConcatenateOp op) { return ofConcatenate(op); })
      .Case([](stablehlo::ReverseOp op) {
        return keepDims(op, 1, [&](int64_t dim) {
          return !llvm::is_contained(op.getDimensions(), dim);
        });
      })
      .Case([](stablehlo::SortOp op) {
        return keepDims(op, op.getInputs().size(), [&](int64_t dim) {
          return dim != static_cast<int64_t>(op.getDimension());
        });
      })
      .Case([](chlo::TopKOp op) {
        return keepDims(op, 1, [&](int64_t dim) {
          return dim + 1 < rankOf(op.getOperand());
        });
      })
      .Case([](stablehlo::DynamicSliceOp op) {
        return keepDims(op, 1, [&](int64_t dim) {
          return shapeOf(op)[dim] == shapeOf(op.getOperand())[dim];
        });
      })
      .Case([](stablehlo::DynamicUpdateSliceOp op) { return ofUpdate(op); })
      .Case([](TakeOp op) { return ofRows(op, {0}); })
      .Case([](PutOp op) { return ofRows(op, {0, 1}); })
      .Case<stablehlo::ConstantOp, sdy::ConstantOp, stablehlo::IotaOp>(
          [](Operation *op) { return elementwise(op); })
      .Default([](Operation *op) {
        return isElementwise(op) ? elementwise(op) : SmallVector<Factor>();
      });
}

bool mlir::sp::isShardingAnnotation(Operation *op) {
  return isa<sdy::ShardingConstraintOp, sdy::ReshardOp,
             sdy::PropagationBarrierOp>(op);
}
