/// Operations of a block by number, and when they run: by the FLOPs that are
/// computed before.
#ifndef SP_LIB_MEMORY_TIMELINE_H
#define SP_LIB_MEMORY_TIMELINE_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::sp {

class Timeline {
public:
  explicit Timeline(Block &block);

  Operation *operator[](int number) const { return operations[number]; }
  ArrayRef<Operation *> all() const { return operations; }
  /// Of the operation of the block that `op` is or that holds it.
  int numberOf(Operation *op) const;
  /// When what `op` has started is over, if it starts something.
  int endOf(Operation *op) const;
  /// Calls `visit` for uses of what lies where `value` lies, at their numbers.
  void forEachUse(Value value,
                  function_ref<void(OpOperand &, int)> visit) const;

  /// A value in another one's place for all that comes from operation `first`
  /// on, and views of it that have been made.
  struct Views {
    Value before, after;
    int first;
    DenseMap<Value, Value> made = DenseMap<Value, Value>();
  };
  /// The view of the one that `view` is of the other, made where `builder`
  /// stands, or behind, where it was.
  Value viewOf(Value view, Views &views, OpBuilder &builder) const;

  double timeOf(int number) const { return times[number]; }
  /// Lets that operation take so much longer.
  void delay(int number, double time);
  /// The first operation from `least` on that runs no earlier than that, but
  /// none behind `most`.
  int firstAfter(double time, int least, int most) const;
  /// The last operation that runs no later than that.
  int lastBefore(double time) const;

private:
  Block &block;
  DenseMap<Operation *, int> numbers;
  SmallVector<Operation *> operations;
  SmallVector<double> times;
};

} // namespace mlir::sp

#endif // SP_LIB_MEMORY_TIMELINE_H
