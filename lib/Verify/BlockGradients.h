/// Gradients of the blocks that travel, which go with them.
#ifndef SP_LIB_VERIFY_BLOCKGRADIENTS_H
#define SP_LIB_VERIFY_BLOCKGRADIENTS_H

#include "Blocks.h"

#include "llvm/ADT/DenseSet.h"

namespace mlir::sp {

/// Follows partial gradients from hand to hand: each goes on once, or ends
/// where an operation that is none of attention's takes it up. Whose rows they
/// hold is the walk's to know.
class BlockGradients {
public:
  enum Of : unsigned { keys, values, queries };
  /// The first operand of what stays, where the blocks began, and of which of
  /// them a gradient is.
  using Group = std::tuple<Value, Value, unsigned>;

  /// `result` goes on from `onto` where that is such a gradient, else it begins
  /// here.
  LogicalResult add(Operation *op, Value onto, Value result,
                    const Group &group);
  /// `result` is what a rank got where `input` was handed on.
  LogicalResult handOn(Operation *op, Value input, Value result);
  /// `result` is the sum of parts of one gradient.
  LogicalResult join(Operation *op, ArrayRef<Value> gradients, Value result);
  /// Whether they are parts of one gradient.
  bool areOfOne(ArrayRef<Value> gradients) const;
  /// As `join`, of parts that are home: these may be read once more.
  LogicalResult joinAtHome(Operation *op, ArrayRef<Value> gradients,
                           Value result);
  /// `op` takes up a gradient of rows that came by these moves: none are left.
  LogicalResult takeUp(Operation *op, Value gradient, const Moves &moves);
  /// Whether no part was lost of gradients of which others were taken up.
  LogicalResult finish() const;

  /// The number of a gradient, for what loops carry; 0 for another value.
  int64_t numberOf(Value value) const { return numbers.lookup(value); }
  void set(Value value, int64_t number) { numbers[value] = number; }

private:
  enum class Fate { lost, wentOn, takenUp };
  struct Part {
    Operation *op;
    Group group;
    Fate fate;
  };
  void begin(Operation *op, Value result, const Group &group);
  LogicalResult use(Operation *op, Value gradient);

  DenseMap<Value, int64_t> numbers;
  SmallVector<Part> parts; ///< number 1 first
  DenseSet<Group> taken;
};

} // namespace mlir::sp

#endif // SP_LIB_VERIFY_BLOCKGRADIENTS_H
