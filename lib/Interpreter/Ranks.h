//===- Ranks.h - Ranks of a mesh as owners of rows -------------*- C++ -*-===//
#ifndef SP_LIB_INTERPRETER_RANKS_H
#define SP_LIB_INTERPRETER_RANKS_H

#include "sp/IR/SP.h"
#include "sp/Interpreter/Tensor.h"

namespace mlir::interpreter {

/// An axis of the mesh around an operation, or a factor of one.
class Axis {
public:
  /// A diagnostic at the operation where there is no such axis.
  static FailureOr<Axis> find(Operation *op, sp::AxisAttr axis);
  /// Of one rank: every rank is on one of its own.
  Axis() = default;

  int64_t size() const { return factor.size; }
  int64_t coordinate(int64_t rank) const {
    return rank / factor.stride % factor.size;
  }
  /// The rank that differs from `rank` in this coordinate only.
  int64_t rankAt(int64_t rank, int64_t coordinate) const {
    return rank + (coordinate - this->coordinate(rank)) * factor.stride;
  }
  /// The rank `distance` further, cyclically.
  int64_t moved(int64_t rank, int64_t distance) const {
    int64_t to = (coordinate(rank) + distance) % factor.size;
    return rankAt(rank, to < 0 ? to + factor.size : to);
  }

private:
  explicit Axis(sp::MeshOp::Factor factor) : factor(factor) {}
  sp::MeshOp::Factor factor;
};

/// What each rank owns of what a layout deals.
class Owners {
public:
  /// A diagnostic at the operation where the layout deals to other ranks than
  /// its axis has.
  static FailureOr<Owners> find(Operation *op, sp::LayoutAttr layout);

  const sprt::algebra::Layout &rows() const { return layout; }
  int64_t ownerAt(int64_t rank) const { return axis.coordinate(rank); }
  /// The rank with the rows of `owner`, among those that differ from `rank` on
  /// the layout's axis only.
  int64_t rankOf(int64_t rank, int64_t owner) const {
    return axis.rankAt(rank, owner);
  }
  int64_t countAt(int64_t rank) const { return layout.count(ownerAt(rank)); }

private:
  Owners(sprt::algebra::Layout layout, Axis axis)
      : layout(std::move(layout)), axis(axis) {}
  sprt::algebra::Layout layout;
  Axis axis;
};

/// A tensor nobody has written to, as padding is: NaN, or the greatest integer,
/// so that whatever reads it shows.
Tensor unwritten(RankedTensorType type);
Tensor zeroed(RankedTensorType type);

/// Copies `count` places of dimension `dim` from `fromFirst` on.
struct RowCopy {
  int64_t dim, from, to, count = 1;
};
void copyRows(const Tensor &source, Tensor &target, const RowCopy &rows);

} // namespace mlir::interpreter

#endif // SP_LIB_INTERPRETER_RANKS_H
