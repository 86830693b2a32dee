/// The ring of one attention: blocks of rows that ranks hand on.
#ifndef SP_LIB_PARTITION_RINGATTENTION_H
#define SP_LIB_PARTITION_RINGATTENTION_H

#include "sp/IR/SP.h"

#include "mlir/IR/Builders.h"

namespace mlir::sp {

/// What belongs to the same rows, of keys or of queries, and travels together:
/// operands with heads, what terms say of each row, and what has come together
/// of gradients, which may be nothing.
struct RingBlock {
  SmallVector<Value> operands, terms, gradients;
};

class RingAttention {
public:
  /// How the rows of blocks are dealt to the ring, which of their heads a rank
  /// holds (null: all of them), and whose rows need them.
  struct Dealt {
    PlanAttr plan;
    LayoutAttr rows, heads;
    IntegerAttr headCount;
    ReadersAttr readers;
    bool isBackward = false;
  };
  /// What stays on a rank while blocks pass. Values may be null before the
  /// first.
  using State = SmallVector<Value>;
  /// Attends the block of a ring owner onto a state, and onto the gradients of
  /// the block, where it makes any.
  using Attend = function_ref<State(State, RingBlock &, Value owner)>;
  struct Result {
    State state;
    /// Of the rank's own block, from all ranks.
    SmallVector<Value> gradients;
  };

  RingAttention(OpBuilder &builder, Location loc, const Dealt &dealt,
                Attend attend);

  /// Attends every block of the ring, a rank's own first.
  Result emit(const State &state, const RingBlock &own);

private:
  /// The block that travels on and, where the ring turns both ways, the one
  /// that travels back.
  struct Blocks {
    RingBlock on;
    std::optional<RingBlock> back;
  };
  using Step = std::pair<State, Blocks>;

  Result turn(State state, RingBlock own, OpFoldResult window);
  Result turnBothWays(Step here, OpFoldResult window,
                      ArrayRef<Value> ownGradients);
  Result turnInGroup(State state, RingBlock own);
  Result goStraight(State state, RingBlock own);
  Step step(OpFoldResult number, State state, Blocks here, OpFoldResult window);
  using Body = function_ref<Step(Value, const State &, const Blocks &)>;
  /// Steps `first` to `end`, exclusive.
  Step loop(int64_t first, int64_t end, const Step &start, Body body);
  Step loop(int64_t first, Value end, const Step &start, Body body);
  Value index(int64_t number);
  Value source(OpFoldResult window, OpFoldResult step, int64_t way);
  RingBlock shift(const RingBlock &block, Value source, AxisAttr axis,
                  int64_t distance = 1, int64_t hops = 0);
  SmallVector<Value> shiftGradients(ValueRange gradients, Value source,
                                    AxisAttr axis, int64_t distance = 1);
  SmallVector<Value> shiftHeads(ValueRange values, Value source, AxisAttr axis,
                                int64_t distance, IntegerAttr hops,
                                ReadersAttr readers, bool haveHeads = true);

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
