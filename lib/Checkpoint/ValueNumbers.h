#ifndef SP_LIB_CHECKPOINT_VALUENUMBERS_H
#define SP_LIB_CHECKPOINT_VALUENUMBERS_H

#include "sp/StableHLO/LoopPairs.h"

#include <map>

namespace mlir::sp {

/// Numbers that are equal only for values that are: made by the same operations
/// of the same inputs. In a loop and its reverse, those of one trip: what was
/// saved has the number of what is read, and rows of an array the number of the
/// row of their trip, and a reshape back that of what was reshaped.
class ValueNumbers {
public:
  /// `loops` may be null. `throughBarriers`: barriers keep numbers.
  ValueNumbers(const LoopPair *loops, bool throughBarriers)
      : loops(loops), throughBarriers(throughBarriers) {}

  unsigned number(Value value);

private:
  using Key = std::vector<const void *>;
  unsigned numberOf(OpResult value);
  /// Nothing where nothing is known of an operation but that it is itself.
  std::optional<Key> keyOf(OpResult value);
  /// What the forward saved of a value that the backward reads, or null.
  Value savedAs(Value value) const;
  /// What a value is before all its reshapes.
  Value unshaped(Value value) const;
  unsigned fresh() { return next++; }

  const LoopPair *loops;
  bool throughBarriers;
  unsigned next = 1, depth = 0;
  DenseMap<Value, unsigned> known;
  std::map<Key, unsigned> numbers;
};

} // namespace mlir::sp

#endif // SP_LIB_CHECKPOINT_VALUENUMBERS_H
