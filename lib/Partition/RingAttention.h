/// The ring of one attention: blocks of keys that ranks hand on.
#ifndef SP_LIB_PARTITION_RINGATTENTION_H
#define SP_LIB_PARTITION_RINGATTENTION_H

#include "AttentionState.h"

namespace mlir::sp {

/// Keys and values that travel together, and what terms say of each key.
struct KeyBlock {
  Value key, value;
  SmallVector<Value> perKey;
};

class RingAttention {
public:
  /// How keys are dealt to the ring, and which of their heads a rank holds
  /// (null: all of them).
  struct Dealt {
    PlanAttr plan;
    LayoutAttr keys, heads;
    IntegerAttr kvHeads;
  };
  /// Attends the block of a ring owner onto a state.
  using Attend =
      function_ref<SoftmaxState(SoftmaxState, const KeyBlock &, Value owner)>;

  RingAttention(OpBuilder &builder, Location loc, const Dealt &dealt,
                Attend attend);

  /// Attends every block of the ring, a rank's own first.
  SoftmaxState emit(SoftmaxState state, const KeyBlock &own);

private:
  /// The block that travels on and, where the ring turns both ways, the one
  /// that travels back.
  struct Blocks {
    KeyBlock on;
    std::optional<KeyBlock> back;
  };
  using Step = std::pair<SoftmaxState, Blocks>;

  SoftmaxState turn(SoftmaxState state, const KeyBlock &first,
                    OpFoldResult window);
  Step step(SoftmaxState state, const Blocks &here, OpFoldResult window,
            OpFoldResult number);
  /// Steps 1 to `end`, exclusive.
  Step loop(int64_t end, SoftmaxState state, const Blocks &blocks,
            function_ref<Step(Value, SoftmaxState, const Blocks &)> body);
  Value source(OpFoldResult window, OpFoldResult step, int64_t way);
  KeyBlock shift(const KeyBlock &block, Value source, StringRef axis,
                 int64_t distance = 1, int64_t hops = 0);

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
