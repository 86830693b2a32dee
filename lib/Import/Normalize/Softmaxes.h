#ifndef SP_LIB_IMPORT_SOFTMAXES_H
#define SP_LIB_IMPORT_SOFTMAXES_H

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/SmallBitVector.h"

#include <map>
#include <optional>

namespace mlir::sp {

/// The contraction with the fewest operations between it and an exponential, or
/// null.
Operation *findScores(Operation *exponential);

/// Which softmaxes of scores values are made of, with no contraction between.
/// An exponential of what a contraction gives begins one if it is summed over
/// one dimension, that of keys.
class Softmaxes {
public:
  /// The exponentials that a value is made of.
  ArrayRef<Operation *> of(Value value);
  /// The dimension of keys of a value of pairs; none for other values.
  std::optional<int64_t> keys(Value value);
  /// Whether pairs are made of more than their scores: gradients of them.
  bool isGradient(Value pairs);

private:
  void enter(Operation *op, ArrayRef<Operation *> exponentials);
  std::optional<int64_t> readKeys(Operation *op, Operation *exponential);

  /// What `of` refers to stays where it is.
  std::map<Operation *, SmallVector<Operation *, 2>> known;
  llvm::DenseMap<Operation *, std::optional<int64_t>> knownKeys;
};

/// The dimensions along which a value may differ.
llvm::SmallBitVector varyingDims(Value value);
/// A value that differs along `dims` only, over them alone.
Value narrowTo(ImplicitLocOpBuilder &b, Value value, ArrayRef<int64_t> dims);
/// `value` multiplied or divided by `factor`, which is over `dims` of it, in
/// the wider of the two types.
Value scale(ImplicitLocOpBuilder &b, Value value, Value factor,
            ArrayRef<int64_t> dims, bool divides);
/// The dimension that a reshape makes of one, if it keeps it.
std::optional<int64_t> reshapedDim(RankedTensorType from, RankedTensorType to,
                                   int64_t dim);

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_SOFTMAXES_H
