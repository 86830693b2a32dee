/// Dimensions of values that must be dealt alike, or not at all.
///
///   n = dot(x, w1)   [T, D] x [D, F]      T, D and F are a class each; all
///   h = gelu(n)      [T, F]               of D are one where y is added to x
///   y = dot(h, w2)   [T, F] x [F, D]
///
/// What operations do to a class once it is dealt is counted: work that ranks
/// share, partial results that they combine, and values that they gather.
#ifndef SP_LIB_PARTITION_DIMENSIONCLASSES_H
#define SP_LIB_PARTITION_DIMENSIONCLASSES_H

#include "sp/IR/ShardingPropagation.h"

#include "llvm/ADT/IntEqClasses.h"

namespace mlir::sp {

/// A dimension of a value.
using Place = std::pair<Value, unsigned>;

struct DimensionClass {
  int64_t size = 0; ///< positions
  SmallVector<Place> places;
  /// Multiplications and additions of products with a loop over the class.
  double flops = 0;
  /// Of results that ranks combine and of operands that they need whole.
  int64_t reducedBytes = 0, gatheredBytes = 0;
  /// Whether reshapes take it apart: others that are part of it are dealt
  /// first.
  bool isJoint = false;
};

class DimensionClasses {
public:
  /// Of a program whose arguments and results are tied as in `propagation`.
  DimensionClasses(func::FuncOp func, const ShardingPropagation &propagation);

  ArrayRef<DimensionClass> all() const { return classes; }

private:
  unsigned nodeOf(Value value, unsigned dim);
  void join(Place a, Place b);
  void join(Value a, Value b);
  void joinReshape(Value from, Value to);
  void countReshape(Value from, Value to);
  bool isPassedOn(Value other, Place place);
  void joinRegions(Operation *op);
  void join(Operation *op);
  void count(Operation *op);
  DimensionClass &classOf(Value value, unsigned dim) {
    return classes[nodes[nodeOf(value, dim)]];
  }

  DenseMap<Value, unsigned> firstNodes;
  SmallVector<Place> places; ///< of the nodes
  llvm::IntEqClasses nodes;
  SmallVector<DimensionClass> classes;
};

} // namespace mlir::sp

#endif // SP_LIB_PARTITION_DIMENSIONCLASSES_H
