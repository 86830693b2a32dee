#ifndef SP_LIB_IMPORT_AXISLABELS_H
#define SP_LIB_IMPORT_AXISLABELS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace mlir::sp {

using AxisId = unsigned;
/// A dimension as the row-major product of axes; a dimension of size 1 has
/// none, unless unit axes are kept.
using Axes = SmallVector<AxisId, 2>;
/// The labels of a tensor, one entry a dimension.
using Labels = SmallVector<Axes, 6>;

/// Names for what the dimensions of a component run over.
///
/// Labels go from a use to its operands: whoever asks for a value says over
/// which axes it wants it. So the one `arange` behind a causal mask is asked
/// for once over queries and once over keys, and nothing confuses the two.
/// Where two names turn out to mean the same they are unified, and where a
/// reshape cuts a dimension its axis is split:
///
///     [2, 6, 8] over  b, h, d     reshaped from [12, 8] over  b*h, d
///     [2, 12]   over  b, s        reshaped from [2, 3, 4]: s splits into s0*s1
///
/// A derived axis reads another one at `start + stride * position`, held inside
/// its own size: what slices, reversals and concatenations ask of an operand.
class AxisLabels {
public:
  struct Derivation {
    Axes base;
    int64_t start;
    int64_t stride;
  };

  /// Gives dimensions of size 1 an axis too: where a sequence has one position,
  /// only an axis says which dimension it is.
  void keepUnits() { unitAxes = true; }

  AxisId create(int64_t size);
  AxisId derive(ArrayRef<AxisId> base, int64_t start, int64_t stride,
                int64_t size);

  size_t count() const { return axes.size(); }
  int64_t size(AxisId axis) const { return axes[axis].size; }
  const Derivation *derivation(AxisId axis) const;

  /// The axes these names stand for now, unions and splits followed.
  Axes resolve(ArrayRef<AxisId> names) const;
  Labels resolveDims(ArrayRef<Axes> labels) const;

  /// Makes two products of equal size the same, where unit axes that one lacks
  /// do not count; fails where no common factorisation exists, and for derived
  /// axes.
  LogicalResult unify(ArrayRef<AxisId> a, ArrayRef<AxisId> b);

  /// Cuts a row-major sequence of axes into dimensions of the given sizes;
  /// nothing if a dimension would have to mix parts of axes.
  std::optional<Labels> regroup(ArrayRef<AxisId> sequence,
                                ArrayRef<int64_t> sizes);

  /// One fresh axis for every dimension that has one.
  Labels fresh(ArrayRef<int64_t> shape);

private:
  struct Axis {
    int64_t size;
    /// Empty: stands for itself. One: unified. More: split.
    SmallVector<AxisId, 2> parts;
    std::optional<Derivation> derivation;
  };
  /// Splits a root axis into `outer` and the rest.
  void split(AxisId axis, int64_t outer);

  SmallVector<Axis> axes;
  bool unitAxes = false;
};

/// All axes of all dimensions, in row-major order.
Axes flatten(ArrayRef<Axes> labels);

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_AXISLABELS_H
