/// A loop over rows as loops over parts of them, all at once.
#ifndef SP_LIB_PARTITION_DEALTLOOP_H
#define SP_LIB_PARTITION_DEALTLOOP_H

#include "Loops/StateSlope.h"
#include "sp/IR/SP.h"

namespace mlir::sp {

/// A loop of `parts` times as many trips, cut into that many consecutive parts,
/// which are a batch. A state is carried from part to part: each finds what it
/// makes of any state, `slope * state + rest`, these are put together in
/// log2(parts) steps, and then each runs from the state that comes to it.
/// (Blelloch, Prefix sums and their applications, 1990; for linear attention
/// LASP-2, arXiv:2502.07563.)
class DealtLoop {
public:
  DealtLoop(ScanLoop &scan, int64_t parts);

  /// What keeps the loop from being cut, or an empty string.
  std::string check();
  /// Replaces the loop; fails, and leaves it, where an operation of its body
  /// has no form for a batch.
  LogicalResult replace();
  /// The operation of the body that was emitted last, or that has no form.
  Operation *getLast() const { return last; }

private:
  using Operations = DenseSet<Operation *>;
  SmallVector<unsigned> numbersOf(ScanValue::Kind kind);
  /// What these values of the body are computed by.
  Operations sourcesOf(ValueRange values);
  /// Along the dimension of `rows` those of each part, [parts, ...].
  Value inParts(Value stack, StackRows rows);
  Value fromParts(Value stack, StackRows rows, Type whole);
  /// The first row of a part that a trip has, as starts of a slice.
  SmallVector<Value> startsOf(Value stack, StackRows rows, Value trip);
  /// By part, what a slice takes rows of.
  Value &stackOf(Operation *slice) {
    return stacks[{scan.outside(slice->getOperand(0)), taken.at(slice).dim}];
  }
  Value rowsAt(Value stack, StackRows rows, Value trip);
  Value putRows(Value stack, Value update, StackRows rows, Value trip);
  /// The number that a carried one is, in each part.
  Value numberAt(const Induction &number, Type type, Value trip);
  /// A trip of all parts; its number within them is null where they are of one.
  LogicalResult emitTrip(Batcher &batcher, Value number,
                         const Operations &needed);
  /// A loop over the trips of a part; `emit` gets the trip and what is carried
  /// and makes what is carried on.
  using EmitTrip = llvm::function_ref<FailureOr<SmallVector<Value>>(
      Value trip, ValueRange carried)>;
  FailureOr<SmallVector<Value>> emitLoop(ValueRange inits, EmitTrip emit);

  /// The state that each part starts from.
  FailureOr<SmallVector<Value>> emitStarts();
  Value before(Value value, int64_t by, Reduction kind);
  LogicalResult emitParts(ValueRange starts);

  ScanLoop &scan;
  Operation *last = nullptr;
  int64_t parts, trips;
  bool isReversed = false;
  OpBuilder builder;
  Location loc;
  SmallVector<unsigned> states;
  /// Rows that trips take, and the stacks they take them of, by part.
  DenseMap<Operation *, StackRows> taken;
  DenseMap<std::pair<Value, unsigned>, Value> stacks;
  SmallVector<Value> results;
};

} // namespace mlir::sp

#endif // SP_LIB_PARTITION_DEALTLOOP_H
