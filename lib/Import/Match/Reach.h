/// The contractions around an exponential.
#ifndef SP_LIB_IMPORT_REACH_H
#define SP_LIB_IMPORT_REACH_H

#include "mlir/IR/Operation.h"

#include <utility>

namespace mlir::sp {

/// Whether every operand and result has a static shape without zeros.
bool isStatic(Operation *op);

/// Contractions of pairs with the number of the operand that is not made of
/// them.
using PairProducts = SmallVector<std::pair<Operation *, unsigned>>;

/// Whether something is divided by a sum of an exponential's elements, or that
/// sum's logarithm is taken, as softmaxes are made.
bool isNormalized(Operation *exponential);

/// What an exponential reaches without passing a contraction.
struct Reach {
  Reach(Operation *exponential, Operation *scores);
  /// Contractions with the number of the operand that is not reached.
  PairProducts products;
  /// Contractions of two operands that are reached, of which one has as many
  /// elements as the scores, with the number of the other: of cotangents that
  /// are divided by a sum.
  PairProducts closed;
  bool isSummed = false;
};

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_REACH_H
