//===- ShardingRules.cpp - Dimensions that go together --------------------===//

#include "ShardingRules.h"

#include "sp/StableHLO/StableHLO.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::sp;

namespace {

int64_t rankOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getRank();
}

ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

bool isElementwise(Operation *op) {
  if (isa<stablehlo::SelectOp, stablehlo::ClampOp, stablehlo::CompareOp,
          stablehlo::ConvertOp, sdy::ShardingConstraintOp>(op))
    return true;
  if (isa<stablehlo::CollectivePermuteOp, stablehlo::ReshapeOp>(op) ||
      op->getNumResults() != 1 || op->getNumOperands() == 0 ||
      op->getNumRegions() != 0)
    return false;
  return op->hasTrait<OpTrait::Elementwise>() ||
         op->hasTrait<OpTrait::SameOperandsAndResultType>() ||
         op->hasTrait<OpTrait::SameOperandsAndResultShape>();
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

SmallVector<Factor> ofDotGeneral(stablehlo::DotGeneralOp op) {
  stablehlo::DotDimensionNumbersAttr dims = op.getDotDimensionNumbers();
  SmallVector<Factor> factors;
  unsigned result = 0;
  for (auto [lhs, rhs] : llvm::zip_equal(dims.getLhsBatchingDimensions(),
                                         dims.getRhsBatchingDimensions()))
    factors.push_back(
        {{{0, static_cast<unsigned>(lhs)}, {1, static_cast<unsigned>(rhs)}},
         {{0, result++}},
         {}});
  auto addFree = [&](unsigned operand, ArrayRef<int64_t> batching,
                     ArrayRef<int64_t> contracting) {
    for (int64_t dim = 0; dim < rankOf(op->getOperand(operand)); ++dim)
      if (!llvm::is_contained(batching, dim) &&
          !llvm::is_contained(contracting, dim))
        factors.push_back(
            {{{operand, static_cast<unsigned>(dim)}}, {{0, result++}}, {}});
  };
  addFree(0, dims.getLhsBatchingDimensions(),
          dims.getLhsContractingDimensions());
  addFree(1, dims.getRhsBatchingDimensions(),
          dims.getRhsContractingDimensions());
  for (auto [lhs, rhs] : llvm::zip_equal(dims.getLhsContractingDimensions(),
                                         dims.getRhsContractingDimensions()))
    factors.push_back(
        {{{0, static_cast<unsigned>(lhs)}, {1, static_cast<unsigned>(rhs)}},
         {},
         Reduction::Sum});
  return factors;
}

/// The combination that a reducer of one operation on its two arguments is.
std::optional<Reduction> reductionOf(Region &body) {
  Block &block = body.front();
  if (!llvm::hasNItems(block, 2) || block.getNumArguments() != 2)
    return std::nullopt;
  Operation &op = block.front();
  bool isBool = op.getNumResults() == 1 &&
                getElementTypeOrSelf(op.getResult(0).getType()).isInteger(1);
  return llvm::TypeSwitch<Operation *, std::optional<Reduction>>(&op)
      .Case([&](stablehlo::AddOp) {
        return isBool ? Reduction::Or : Reduction::Sum;
      })
      .Case([&](stablehlo::MulOp) {
        return isBool ? Reduction::And : Reduction::Mul;
      })
      .Case([](stablehlo::MaxOp) { return Reduction::Max; })
      .Case([](stablehlo::MinOp) { return Reduction::Min; })
      .Case([&](stablehlo::AndOp) {
        return isBool ? std::optional(Reduction::And) : std::nullopt;
      })
      .Case([&](stablehlo::OrOp) {
        return isBool ? std::optional(Reduction::Or) : std::nullopt;
      })
      .Default([](Operation *) { return std::nullopt; });
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

/// Batch dimensions come from the indices, window dimensions that are taken
/// whole from the operand.
SmallVector<Factor> ofGather(stablehlo::GatherOp op) {
  stablehlo::GatherDimensionNumbersAttr dims = op.getDimensionNumbers();
  SmallVector<int64_t> windowDims, indexDims;
  for (int64_t dim = 0; dim < rankOf(op.getOperand()); ++dim)
    if (!llvm::is_contained(dims.getCollapsedSliceDims(), dim) &&
        !llvm::is_contained(dims.getOperandBatchingDims(), dim))
      windowDims.push_back(dim);
  for (int64_t dim = 0; dim < rankOf(op.getStartIndices()); ++dim)
    if (dim != dims.getIndexVectorDim())
      indexDims.push_back(dim);
  SmallVector<Factor> factors;
  unsigned window = 0, batch = 0;
  for (unsigned dim = 0; dim < rankOf(op); ++dim) {
    if (llvm::is_contained(dims.getOffsetDims(), dim)) {
      unsigned source = windowDims[window++];
      if (op.getSliceSizes()[source] == shapeOf(op.getOperand())[source])
        factors.push_back({{{0, source}}, {{0, dim}}, {}});
      continue;
    }
    unsigned source = indexDims[batch++];
    Factor &factor = factors.emplace_back();
    factor.operands.push_back({1, source});
    factor.results.push_back({0, dim});
    for (auto [operandDim, indexDim] : llvm::zip_equal(
             dims.getOperandBatchingDims(), dims.getStartIndicesBatchingDims()))
      if (indexDim == source)
        factor.operands.push_back({0, static_cast<unsigned>(operandDim)});
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

SmallVector<Factor> ofAttention() {
  // Heads and features stay whole between attentions: strategies deal heads
  // themselves, and only inside.
  return {{{{0, 0}, {1, 0}, {2, 0}}, {{0, 0}}, {}},
          {{{0, 1}}, {{0, 1}}, {}},
          {{{1, 1}, {2, 1}}, {}, std::nullopt}};
}

} // namespace

SmallVector<Factor> mlir::sp::getFactors(Operation *op) {
  return llvm::TypeSwitch<Operation *, SmallVector<Factor>>(op)
      .Case([](AttentionOp) { return ofAttention(); })
      .Case([](stablehlo::BroadcastInDimOp op) { return ofBroadcast(op); })
      .Case([](stablehlo::TransposeOp op) { return ofTranspose(op); })
      .Case([](stablehlo::DotGeneralOp op) { return ofDotGeneral(op); })
      .Case([](stablehlo::ReduceOp op) { return ofReduce(op); })
      .Case([](stablehlo::GatherOp op) { return ofGather(op); })
      .Case([](stablehlo::ReduceWindowOp op) { return ofReduceWindow(op); })
      .Case([](stablehlo::SliceOp op) {
        return keepDims(op, 1, [&](int64_t dim) {
          return shapeOf(op)[dim] == shapeOf(op.getOperand())[dim];
        });
      })
      .Case([](stablehlo::PadOp op) {
        return keepDims(op, 1, [&](int64_t dim) {
          return op.getEdgePaddingLow()[dim] == 0 &&
                 op.getEdgePaddingHigh()[dim] == 0 &&
                 op.getInteriorPadding()[dim] == 0;
        });
      })
      .Case([](stablehlo::ConcatenateOp op) {
        return keepDims(op, op.getInputs().size(), [&](int64_t dim) {
          return dim != static_cast<int64_t>(op.getDimension());
        });
      })
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
      .Case([](stablehlo::DynamicSliceOp op) {
        return keepDims(op, 1, [&](int64_t dim) {
          return shapeOf(op)[dim] == shapeOf(op.getOperand())[dim];
        });
      })
      .Case([](stablehlo::DynamicUpdateSliceOp op) {
        return keepDims(op, 2, [&](int64_t dim) {
          return shapeOf(op.getUpdate())[dim] == shapeOf(op.getOperand())[dim];
        });
      })
      .Case<stablehlo::ConstantOp, stablehlo::IotaOp>(
          [](Operation *op) { return elementwise(op); })
      .Default([](Operation *op) {
        return isElementwise(op) ? elementwise(op) : SmallVector<Factor>();
      });
}

bool mlir::sp::isDealt(DimAttr dim) {
  return llvm::any_of(dim.getAtoms(),
                      [](AtomAttr atom) { return bool(atom.getLayout()); });
}

FailureOr<SmallVector<DimAttr>> mlir::sp::reshapeDims(ArrayRef<DimAttr> dims,
                                                      ArrayRef<int64_t> shape) {
  MLIRContext *context = nullptr;
  SmallVector<AtomAttr> atoms;
  for (DimAttr dim : dims) {
    context = dim.getContext();
    for (AtomAttr atom : dim.getAtoms()) {
      bool joins =
          !atoms.empty() && !atoms.back().getLayout() && !atom.getLayout();
      if (joins)
        atoms.back() = AtomAttr::get(
            context, atoms.back().getSize() * atom.getSize(), LayoutAttr());
      if (!joins)
        atoms.push_back(atom);
    }
  }
  SmallVector<DimAttr> result;
  // Atoms are consumed in row-major order; a whole atom may be cut, and pieces
  // of whole atoms join again.
  size_t next = 0;
  int64_t left = atoms.empty() ? 1 : atoms[0].getSize();
  auto advance = [&] {
    ++next;
    left = next < atoms.size() ? atoms[next].getSize() : 1;
  };
  for (int64_t size : shape) {
    SmallVector<AtomAttr> parts;
    int64_t need = size, whole = 1;
    auto flushWhole = [&] {
      if (whole != 1)
        parts.push_back(AtomAttr::get(context, whole, LayoutAttr()));
      whole = 1;
    };
    while (need != 1) {
      if (next >= atoms.size())
        return failure();
      AtomAttr atom = atoms[next];
      if (left == 1 && !atom.getLayout()) {
        advance();
        continue;
      }
      if (atom.getLayout()) {
        if (atom.getSize() == 0 || need % atom.getSize() != 0)
          return failure();
        flushWhole();
        parts.push_back(atom);
        need /= atom.getSize();
        advance();
        continue;
      }
      int64_t piece = std::gcd(need, left);
      if (piece == 1)
        return failure();
      whole *= piece;
      need /= piece;
      left /= piece;
      if (left == 1)
        advance();
    }
    flushWhole();
    if (parts.empty()) {
      if (!context)
        return failure();
      parts.push_back(AtomAttr::get(context, size, LayoutAttr()));
    }
    result.push_back(DimAttr::get(context, parts));
  }
  for (; next < atoms.size(); ++next)
    if (atoms[next].getLayout())
      return failure();
  return result;
}
