#ifndef SP_LIB_IMPORT_REARRANGER_H
#define SP_LIB_IMPORT_REARRANGER_H

#include "Expression/Component.h"

#include "mlir/IR/Builders.h"
#include "sp/StableHLO/TensorTypes.h"

namespace mlir::sp {

/// A tensor with one dimension an axis (in the order of `axes`), or any
/// grouping of them: what reshapes and transposes lead from and to.
class Rearranger {
public:
  Rearranger(OpBuilder &builder, Location location, const AxisLabels &labels)
      : builder(builder), location(location), labels(labels) {}

  /// Reshapes, transposes, repeats over axes that `from` lacks, and reshapes.
  Value rearrange(Value value, ArrayRef<Axes> from, ArrayRef<Axes> to);
  Value reshape(Value value, ArrayRef<int64_t> shape);
  Value convert(Value value, Type element);

  SmallVector<int64_t> shapeOf(ArrayRef<Axes> dims) const;
  int64_t product(ArrayRef<AxisId> dim) const;

private:
  SmallVector<int64_t> sizes(ArrayRef<AxisId> axes) const;

  OpBuilder &builder;
  Location location;
  const AxisLabels &labels;
};

/// Whether axes that both have come in another order.
bool isPermuted(const AxisLabels &labels, ArrayRef<Axes> from,
                ArrayRef<Axes> to);

/// The link of a chain to start from, with that element type: as few transposes
/// as possible between the root and the canonical order, then in canonical
/// shape, and then as near to the contraction as possible, so that sharding
/// constraints on the way stay. Null where no link has the type.
const SourceChain::Link *chooseSource(const AxisLabels &labels,
                                      const SourceChain &chain,
                                      ArrayRef<Axes> canonical,
                                      ArrayRef<int64_t> shape, Type element);

/// The values of a chain in canonical form and that element type.
Value takeSource(Rearranger &rearranger, const AxisLabels &labels,
                 const SourceChain &chain, ArrayRef<Axes> canonical,
                 Type element);

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_REARRANGER_H
