/// Loops whose trips take rows of stacks in turn, as `jax.lax.scan` has them.
#ifndef SP_STABLEHLO_SCANLOOPS_H
#define SP_STABLEHLO_SCANLOOPS_H

#include "sp/StableHLO/Loops.h"

namespace mlir::sp {

/// The rows of a stack that a trip takes or leaves: `rows` along a dimension,
/// from the first on, or from the last.
struct StackRows {
  unsigned dim = 0;
  int64_t rows = 0;
  bool isReversed = false;
};

/// What goes on from one trip to the next.
struct ScanValue {
  enum class Kind {
    Number,  ///< `induction`
    Same,    ///< what goes in
    Written, ///< a stack, of which each trip writes its `written`
    Sum,     ///< of what trips add or subtract, which none reads
    State,   ///< anything else
  };
  Kind kind = Kind::State;
  std::optional<Induction> induction = {};
  stablehlo::DynamicUpdateSliceOp update = {};
  StackRows written = {};
  SmallVector<Value, 2> added = {}, subtracted = {}; ///< to and from a sum

  /// All that goes into a sum.
  SmallVector<Value, 2> terms() const {
    SmallVector<Value, 2> all(added);
    llvm::append_range(all, subtracted);
    return all;
  }
};

/// A loop of known length, of two trips or more.
class ScanLoop {
public:
  /// Nothing where how often it runs is not known.
  static std::optional<ScanLoop> find(stablehlo::WhileOp loop);

  stablehlo::WhileOp loop;
  int64_t trips = 0;
  SmallVector<ScanValue> carried;

  Block &body() { return loop.getBody().front(); }
  /// What the next trip gets for a carried value.
  Value next(unsigned number) {
    return body().getTerminator()->getOperand(number);
  }
  /// The value outside that an operand of the body stands for, or null.
  Value outside(Value value);
  /// The rows of a stack that each trip takes, if `slice` takes any.
  std::optional<StackRows> rowsOf(stablehlo::DynamicSliceOp slice);
  /// The rows of a stack that each trip leaves, if `update` leaves any.
  std::optional<StackRows> rowsOf(stablehlo::DynamicUpdateSliceOp update);

private:
  explicit ScanLoop(stablehlo::WhileOp loop) : loop(loop) {}
  std::optional<StackRows> rowsAt(OperandRange starts, ArrayRef<int64_t> part,
                                  ArrayRef<int64_t> whole);
  ScanValue classify(unsigned number);
};

} // namespace mlir::sp

#endif // SP_STABLEHLO_SCANLOOPS_H
