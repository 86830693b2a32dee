/// The ring of one attention: blocks of keys that ranks hand on.
#ifndef SP_LIB_PARTITION_RINGATTENTION_H
#define SP_LIB_PARTITION_RINGATTENTION_H

#include "sp/IR/SP.h"

#include "mlir/IR/Builders.h"

namespace mlir::sp {

/// Keys and values that travel together, what terms say of each key, and what
/// has come together of their gradients, which may be nothing.
struct KeyBlock {
  Value key, value;
  SmallVector<Value> perKey, gradients;
};

class RingAttention {
public:
  /// How keys are dealt to the ring, and which of their heads a rank holds
  /// (null: all of them).
  struct Dealt {
    PlanAttr plan;
    LayoutAttr keys, heads;
    IntegerAttr kvHeads;
    bool isBackward = false;
  };
  /// What stays on a rank while blocks pass. Values may be null before the
  /// first.
  using State = SmallVector<Value, 2>;
  /// Attends the block of a ring owner onto a state, and onto the gradients of
  /// the block, where it makes any.
  using Attend = function_ref<State(State, KeyBlock &, Value owner)>;
  struct Result {
    State state;
    /// Of the rank's own keys, from all ranks.
    SmallVector<Value> gradients;
  };

  RingAttention(OpBuilder &builder, Location loc, const Dealt &dealt,
                Attend attend);

  /// Attends every block of the ring, a rank's own first.
  Result emit(const State &state, const KeyBlock &own);

private:
  /// The block that travels on and, where the ring turns both ways, the one
  /// that travels back.
  struct Blocks {
    KeyBlock on;
    std::optional<KeyBlock> back;
  };
  using Step = std::pair<State, Blocks>;

  Result turn(State state, KeyBlock own, OpFoldResult window);
  Result turnBothWays(Step here, OpFoldResult window,
                      ArrayRef<Value> ownGradients);
  Step step(OpFoldResult number, State state, Blocks here, OpFoldResult window);
  /// Steps `first` to `end`, exclusive.
  Step loop(int64_t first, int64_t end, const Step &start,
            function_ref<Step(Value, const State &, const Blocks &)> body);
  Value source(OpFoldResult window, OpFoldResult step, int64_t way);
  KeyBlock shift(const KeyBlock &block, Value source, StringRef axis,
                 int64_t distance = 1, int64_t hops = 0);
  SmallVector<Value> shiftGradients(ValueRange gradients, Value source,
                                    StringRef axis, int64_t distance = 1);
  SmallVector<Value> shiftHeads(ValueRange values, Value source, StringRef axis,
                                int64_t distance, IntegerAttr hops,
                                LayoutAttr heads, IntegerAttr kvHeads);

  OpBuilder &builder;
  Location loc;
  Dealt dealt;
  PlanAttr plan;
  Attend attend;
  /// Coordinate in the ring.
  Value rank;
};

} // namespace mlir::sp

#endif // SP_LIB_PARTITION_RINGATTENTION_H
