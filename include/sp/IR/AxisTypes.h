/// What each value of a rank's program is along each axis of the mesh.
///
/// Of the ranks that differ along one axis alone a value is
///
///   equal     the same on all of them
///   dealt     on each the rows that a layout gives it
///   partial   on each a part, of which the value is the sum, or the maximum
///   counted   equal, but made by adding up rows that are all alike, of which
///             nobody knows whether they were a rank's or all
///   varying   anything
///
/// Examples, with x dealt by its rows along "sp", and w equal:
///
///   dot_general x, w                      dealt
///   dot_general x, dy over the rows       partial
///   multiply of that by 2                 partial
///   sp.all_reduce of that over "sp"       equal
///   sp.all_reduce of that over "sp"       an error: the sum of equal values
///   exponential of what is partial        an error
///
/// Types are by axis and do not grow with the ranks. Loops are gone through
/// until their types are those of every turn. What attention makes is typed by
/// its layouts, which `sp-verify-coverage` proves.
#ifndef SP_IR_AXISTYPES_H
#define SP_IR_AXISTYPES_H

#include "sp/IR/SP.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sp {

/// A bit for each factor of the mesh's axes.
using AxisSet = uint64_t;

/// The finest factors of axes that a program names. Those that do not divide
/// one another are one factor together.
class MeshFactors {
public:
  MeshFactors(MeshOp mesh, func::FuncOp func);

  /// The factors along which ranks differ that differ along the axis.
  AxisSet of(AxisAttr axis) const;
  AxisSet of(AxisListAttr axes) const;
  /// None for a layout that gives one rank all.
  AxisSet of(LayoutAttr layout) const;
  /// Those that lie in the axis.
  AxisSet within(AxisAttr axis) const;
  AxisSet all() const { return (AxisSet(1) << factors.size()) - 1; }

  /// The first factor of a set that is not empty: its axis, and its ranks.
  AxisAttr axisOf(AxisSet set) const;
  int64_t ranksOf(AxisSet set) const;

private:
  struct Part {
    AxisAttr axis;
    int64_t above, size; ///< as AxisAttr has them, of a whole axis as well
  };
  template <typename FitsT> AxisSet collect(AxisAttr axis, FitsT fits) const;
  const Part &first(AxisSet set) const;

  SmallVector<Part> factors;
};

/// Rows of a layout along a dimension: index i there is local row
/// (i / inner) mod size. A reshape may leave rows in several dimensions.
struct DealtRows {
  LayoutAttr layout;
  unsigned dim;
  int64_t inner, size;

  /// Whether the same positions are with the same ranks along the same
  /// dimension; of parts of the rows, as those of one turn or block, in some
  /// order.
  bool agreesWith(const DealtRows &other) const;
  bool isInPlaceOf(const DealtRows &other) const {
    return dim == other.dim && inner == other.inner && size == other.size;
  }
  bool operator==(const DealtRows &other) const {
    return isInPlaceOf(other) && agreesWith(other);
  }
};

/// Along factors in no set a value is equal.
struct AxisType {
  AxisSet dealt = 0, partial = 0, counted = 0, varying = 0;
  Reduction kind = Reduction::Sum; ///< of what is partial
  /// 0 in every element, which is whatever it is added to.
  bool isZero = false;
  /// Dimensions, a bit each, along which all rows are alike.
  uint64_t uniform = 0;
  SmallVector<DealtRows, 2> rows;

  AxisSet unequal() const { return dealt | partial | varying; }
  bool operator==(const AxisType &other) const;
};

/// What both may be, as a loop's value before its first turn and after one.
AxisType join(const AxisType &a, const AxisType &b, const MeshFactors &mesh);

/// The type of what is cut so.
AxisType typeOfDims(ArrayRef<DimAttr> dims, const MeshFactors &mesh);

/// Types of all values of a program that Localize has left, from those that its
/// arguments promise.
class AxisTypes {
public:
  AxisTypes(func::FuncOp func, MeshOp mesh);

  const AxisType &of(Value value) const;
  /// Whether every rank of the mesh has the same value.
  bool isAlike(Value value) const { return of(value).unequal() == 0; }
  /// Whether ranks that differ along the axis alone do.
  bool isAlike(Value value, AxisAttr axis) const {
    return (of(value).unequal() & mesh.of(axis)) == 0;
  }
  /// Of an operation that is about to be erased; what is made from now on is
  /// taken to vary.
  void forget(Operation *op) {
    for (Value result : op->getResults())
      types.erase(result);
  }
  /// Reports, at their operations, reductions of what is no part, parts that
  /// are used as if they were whole, and results that are not what they
  /// promise.
  LogicalResult check();

private:
  void visit(Block &block);
  void visit(Operation *op);
  void visitLoop(Operation *loop);
  void visitBranches(Operation *op);
  void set(Value value, AxisType type) { types[value] = std::move(type); }
  LogicalResult checkResult(unsigned number);

  func::FuncOp func;
  MeshFactors mesh;
  AxisType unknown;
  DenseMap<Value, AxisType> types;
  bool reports = false, changed = false, faulty = false;
};

} // namespace mlir::sp

#endif // SP_IR_AXISTYPES_H
