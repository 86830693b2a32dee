//===- RankExchanges.cpp - What ranks of a mesh hand each other -----------===//
//
// Only valid rows and heads travel, and what is started only as far as somebody
// reads it: all else of a result is unwritten.
//
//===----------------------------------------------------------------------===//
#include "MeshProgram.h"
#include "Ranks.h"
#include "ShiftNeeds.h"
#include "StackRows.h"
#include "Strided.h"
#include "sprt/algebra/Ring.h"

using namespace mlir;
using namespace mlir::interpreter;
using sprt::algebra::heldHeads;
using sprt::algebra::Interval;
using sprt::algebra::Layout;

static RankedTensorType resultType(Operation *op, unsigned number) {
  return cast<RankedTensorType>(op->getResult(number).getType());
}

//===----------------------------------------------------------------------===//
// Shifts
//===----------------------------------------------------------------------===//

/// The owner whose block arrives where the own one is `owner`'s: the sender's
/// digit along the way is `distance` less.
static FailureOr<int64_t> arriving(Operation *op, sp::LayoutAttr layout,
                                   const Axis &along, int64_t owner,
                                   int64_t distance) {
  FailureOr<Axis> ring = Axis::find(op, layout.getAxis());
  if (failed(ring))
    return failure();
  // Numbers of owners are coordinates on the layout's axis.
  int64_t rank = along.moved(ring->rankAt(0, owner), -distance);
  return ring->coordinate(rank);
}

template <typename OpT>
static FailureOr<PerDevice> shift(OpT op, const PerDevice &operands) {
  sp::LayoutAttr layout = op.getLayout();
  FailureOr<Owners> owners = Owners::find(op, layout);
  FailureOr<Axis> along =
      Axis::find(op, op.getAlong().value_or(layout.getAxis()));
  if (failed(owners) || failed(along))
    return failure();
  std::optional<Owners> heads;
  if (std::optional<sp::LayoutAttr> dealt = op.getHeads()) {
    FailureOr<Owners> found = Owners::find(op, *dealt);
    if (failed(found))
      return failure();
    heads = *found;
  }
  ShiftNeeds needs(op);
  auto distance = int64_t(op.getDistance());
  size_t count = op.getInputs().size();
  PerDevice results(operands.size());
  for (size_t rank = 0; rank < operands.size(); ++rank) {
    const Tensors &sent = operands[along->moved(rank, -distance)];
    int64_t source = sent[count].template at<int64_t>();
    FailureOr<int64_t> awaited =
        arriving(op, layout, *along,
                 operands[rank][count].template at<int64_t>(), distance);
    if (failed(awaited))
      return failure();
    if (source != *awaited)
      return op.emitOpError() << "cannot be evaluated: rank " << rank
                              << " awaits the block of rank " << *awaited
                              << " but is sent that of rank " << source;
    auto owner = [&](int64_t of) { return owners->ownerAt(of); };
    std::vector<Interval> rows = needs.arriving(
        source, owner(along->moved(rank, -distance)), owner(int64_t(rank)));
    for (size_t i = 0; i < count; ++i) {
      Tensor result = needs.areOthersZero() ? zeroed(sent[i].getType())
                                            : unwritten(sent[i].getType());
      SmallVector<int64_t> shape(result.getShape());
      if (heads)
        shape[2] = heldHeads(heads->rows(), heads->ownerAt(rank),
                             int64_t(*op.getKvHeads()))
                       .size();
      View from = wholeView(result.getShape());
      for (Interval each : rows) {
        shape[1] = each.size();
        from.offset = each.begin * from.strides[1];
        copyView(shape, sent[i], from, result, from);
      }
      results[rank].push_back(std::move(result));
    }
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Gathers and exchanges of rows for heads
//===----------------------------------------------------------------------===//

template <typename OpT>
static FailureOr<PerDevice> allGather(OpT op, const PerDevice &operands) {
  PerDevice results(operands.size());
  for (unsigned i = 0; i < op.getInputs().size(); ++i) {
    FailureOr<Owners> owners = Owners::find(op, op.getLayout(i));
    if (failed(owners))
      return failure();
    const Layout &rows = owners->rows();
    for (size_t rank = 0; rank < operands.size(); ++rank) {
      Tensor result = unwritten(resultType(op, i));
      for (int64_t position = 0; position < rows.length(); ++position) {
        Layout::Place place = rows.toLocal(position);
        copyRows(operands[owners->rankOf(rank, place.owner)][i], result,
                 {op.getDims()[i], place.row, position});
      }
      results[rank].push_back(std::move(result));
    }
  }
  return results;
}

template <typename OpT>
static FailureOr<PerDevice> redeal(OpT op, const PerDevice &operands) {
  FailureOr<Owners> from = Owners::find(op, op.getFrom());
  if (failed(from))
    return failure();
  Layout to = sp::toAlgebra(op.getTo());
  PerDevice results(operands.size());
  for (size_t rank = 0; rank < operands.size(); ++rank) {
    Tensor result = unwritten(resultType(op, 0));
    int64_t owner = to.isDense() ? 0 : from->ownerAt(rank);
    for (int64_t row = 0; row < to.count(owner); ++row) {
      int64_t position = to.toGlobal(owner, row) + int64_t(op.getBy());
      if (position < 0 || position >= from->rows().length())
        continue;
      Layout::Place place = from->rows().toLocal(position);
      copyRows(operands[from->rankOf(rank, place.owner)][0], result,
               {int64_t(op.getDim()), place.row, row});
    }
    results[rank].push_back(std::move(result));
  }
  return results;
}

namespace {
/// Who holds which rows and heads around an exchange of rows for heads.
struct Exchange {
  Owners rows, heads;
  int64_t headCount;
  /// Whether the parts of one ring owner are joined, instead of all rows.
  bool joinsParts;

  /// Where row `row` of the rank lies among the rows that it shares with the
  /// others of its group.
  int64_t placeOf(int64_t rank, int64_t row) const {
    int64_t position = rows.rows().toGlobal(rows.ownerAt(rank), row);
    return joinsParts ? joined(rows.rows()).toLocal(position).row : position;
  }
  Interval headsAt(int64_t rank) const {
    return heldHeads(heads.rows(), heads.ownerAt(rank), headCount);
  }
  /// The heads that a rank passes on: those that no earlier one also holds.
  Interval passedOn(int64_t rank) const {
    Interval own = headsAt(rank);
    for (int64_t earlier = 0; earlier < heads.ownerAt(rank); ++earlier)
      own.begin = std::max(own.begin, headsAt(heads.rankOf(rank, earlier)).end);
    return own;
  }
};
} // namespace

/// Copies one row of some heads: [batch, row, heads, feature].
static void copyHeads(const Tensor &source, int64_t fromRow, int64_t fromHead,
                      Tensor &target, int64_t toRow, int64_t toHead,
                      int64_t heads) {
  SmallVector<int64_t> shape(source.getShape());
  shape[1] = 1;
  shape[2] = heads;
  View from = wholeView(source.getShape()), to = wholeView(target.getShape());
  from.offset = fromRow * from.strides[1] + fromHead * from.strides[2];
  to.offset = toRow * to.strides[1] + toHead * to.strides[2];
  if (heads > 0)
    copyView(shape, source, from, target, to);
}

template <typename OpT>
static FailureOr<PerDevice> allToAll(OpT op, const PerDevice &operands) {
  FailureOr<Owners> rows = Owners::find(op, op.getRows());
  FailureOr<Owners> heads = Owners::find(op, op.getHeads());
  if (failed(rows) || failed(heads))
    return failure();
  Exchange exchange{*rows, *heads, int64_t(op.getHeadCount()),
                    op.getOnto().has_value()};
  PerDevice results(operands.size());
  for (size_t rank = 0; rank < operands.size(); ++rank) {
    Tensor result = unwritten(resultType(op, 0));
    for (int64_t member = 0; member < heads->rows().ranks(); ++member) {
      int64_t other = heads->rankOf(rank, member);
      const Tensor &theirs = operands[other][0];
      if (op.getToRows()) {
        Interval held = exchange.headsAt(other),
                 passed = exchange.passedOn(other);
        for (int64_t row = 0; row < rows->countAt(rank); ++row)
          copyHeads(theirs, exchange.placeOf(rank, row),
                    passed.begin - held.begin, result, row, passed.begin,
                    passed.size());
        continue;
      }
      Interval held = exchange.headsAt(rank);
      for (int64_t row = 0; row < rows->countAt(other); ++row)
        copyHeads(theirs, row, held.begin, result, exchange.placeOf(other, row),
                  0, held.size());
    }
    results[rank].push_back(std::move(result));
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

template <typename T>
static FailureOr<T> combine(sp::Reduction kind, T x, T y) {
  constexpr bool isOrdered = !std::is_same_v<T, std::complex<double>>;
  constexpr bool isInteger = std::is_integral_v<T>;
  switch (kind) {
  case sp::Reduction::Sum:
    return T(x + y);
  case sp::Reduction::Mul:
    return T(x * y);
  case sp::Reduction::Max:
    if constexpr (isOrdered)
      return x != x || x > y ? x : y;
    return failure();
  case sp::Reduction::Min:
    if constexpr (isOrdered)
      return x != x || x < y ? x : y;
    return failure();
  case sp::Reduction::And:
    if constexpr (isInteger)
      return T(x & y);
    return failure();
  case sp::Reduction::Or:
    if constexpr (isInteger)
      return T(x | y);
    return failure();
  }
  llvm_unreachable("a reduction is one of six");
}

/// Adds `more` to `sum`, element by element.
static LogicalResult combineInto(Operation *op, sp::Reduction kind, Tensor &sum,
                                 const Tensor &more, Evaluator &evaluator) {
  bool isKnown = dispatch(sum.getStorage(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (auto [x, y] :
         llvm::zip_equal(sum.mutableElements<T>(), more.elements<T>())) {
      FailureOr<T> combined = combine<T>(kind, x, y);
      if (failed(combined))
        return false;
      x = *combined;
    }
    return true;
  });
  if (!isKnown)
    return op->emitOpError() << "cannot be evaluated on elements of type "
                             << sum.getElementType();
  evaluator.rounderFor(sum.getElementType()).apply(sum);
  return success();
}

template <typename OpT>
static FailureOr<PerDevice> allReduce(OpT op, const PerDevice &operands,
                                      Evaluator &evaluator) {
  SmallVector<Axis> axes;
  for (sp::AxisAttr part : op.getAxes().getAxes()) {
    FailureOr<Axis> axis = Axis::find(op, part);
    if (failed(axis))
      return failure();
    axes.push_back(*axis);
  }
  PerDevice results(operands.size());
  for (size_t rank = 0; rank < operands.size(); ++rank) {
    SmallVector<int64_t> group = {int64_t(rank)};
    for (const Axis &axis : axes) {
      SmallVector<int64_t> wider;
      for (int64_t member : group)
        for (int64_t at = 0; at < axis.size(); ++at)
          wider.push_back(axis.rankAt(member, at));
      group = std::move(wider);
    }
    llvm::sort(group);
    results[rank] = operands[group.front()];
    for (int64_t member : ArrayRef(group).drop_front())
      for (auto [sum, more] : llvm::zip_equal(results[rank], operands[member]))
        if (failed(combineInto(op, op.getKind(), sum, more, evaluator)))
          return failure();
  }
  return results;
}

template <typename OpT>
static FailureOr<PerDevice> reduceScatter(OpT op, const PerDevice &operands,
                                          Evaluator &evaluator) {
  PerDevice results(operands.size());
  for (unsigned i = 0; i < op.getInputs().size(); ++i) {
    FailureOr<Owners> owners = Owners::find(op, op.getLayout(i));
    if (failed(owners))
      return failure();
    const Layout &rows = owners->rows();
    for (size_t rank = 0; rank < operands.size(); ++rank) {
      Tensor sum = operands[owners->rankOf(rank, 0)][i];
      for (int64_t owner = 1; owner < rows.ranks(); ++owner)
        if (failed(combineInto(op, op.getKind(), sum,
                               operands[owners->rankOf(rank, owner)][i],
                               evaluator)))
          return failure();
      Tensor result = unwritten(resultType(op, i));
      for (int64_t row = 0; row < owners->countAt(rank); ++row)
        copyRows(
            sum, result,
            {op.getDims()[i], rows.toGlobal(owners->ownerAt(rank), row), row});
      results[rank].push_back(std::move(result));
    }
  }
  return results;
}

/// What every rank does for itself.
template <typename Work>
static FailureOr<PerDevice> onEach(const PerDevice &operands,
                                   const Work &work) {
  PerDevice results;
  for (const Tensors &own : operands) {
    FailureOr<Tensor> result = work(own);
    if (failed(result))
      return failure();
    results.emplace_back().push_back(std::move(*result));
  }
  return results;
}

FailureOr<PerDevice> interpreter::evaluateExchange(Operation *op,
                                                   const PerDevice &operands,
                                                   Evaluator &evaluator) {
  return TypeSwitch<Operation *, FailureOr<PerDevice>>(op)
      .Case<sp::ShiftOp, sp::ShiftStartOp>(
          [&](auto op) { return shift(op, operands); })
      .Case<sp::AllGatherOp, sp::AllGatherStartOp>(
          [&](auto op) { return allGather(op, operands); })
      .Case<sp::RedealOp, sp::RedealStartOp>(
          [&](auto op) { return redeal(op, operands); })
      .Case<sp::AllToAllOp, sp::AllToAllStartOp>(
          [&](auto op) { return allToAll(op, operands); })
      .Case<sp::AllReduceOp, sp::AllReduceStartOp>(
          [&](auto op) { return allReduce(op, operands, evaluator); })
      .Case<sp::EvictStartOp, sp::FetchStartOp>([&](auto) { return operands; })
      .Case([&](sp::EvictRowsStartOp op) {
        return onEach(operands,
                      [&](const Tensors &own) { return putRows(op, own); });
      })
      .Case([&](sp::FetchRowsStartOp op) {
        return onEach(operands,
                      [&](const Tensors &own) { return takeRows(op, own); });
      })
      .Case<sp::ReduceScatterOp, sp::ReduceScatterStartOp>(
          [&](auto op) { return reduceScatter(op, operands, evaluator); })
      .Default([](Operation *op) {
        return op->emitOpError() << "cannot be evaluated";
      });
}
