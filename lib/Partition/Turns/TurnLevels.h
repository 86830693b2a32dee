/// In which loop over turns each operation of a program stands.
///
/// The ranks of a folded mesh are turns: what differs from rank to rank runs in
/// a loop over them, and what combines the values of all ranks ends one. So an
/// operation stands in the loop behind that of what it needs of all turns, and
/// as late as what reads it allows: a forward goes into the loop of its
/// gradients, even where these need a sum over all turns, such as the number of
/// tokens.
///
///   %n = all_reduce (count %labels)      loop 0: count
///   %y = f %x, %w                        loop 1: f, g
///   %p = g %y, %n
///   %dw = all_reduce %p                  behind it: the update
///   %next = update %w, %dw
#ifndef SP_LIB_PARTITION_TURNLEVELS_H
#define SP_LIB_PARTITION_TURNLEVELS_H

#include "sp/IR/SP.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sp {

class TurnLevels {
public:
  /// Of a program that Localize has left; fails where all turns meet within a
  /// loop or a branch, or exchange rows.
  static FailureOr<TurnLevels> find(func::FuncOp func);

  /// Whether turns have values of their own.
  bool varies(Value value) const { return varying.contains(value); }
  /// Whether it is made of the turn's number alone.
  static bool isSource(Operation *op) {
    return isa<PositionsOp, RowCountOp>(op);
  }
  /// Whether every turn runs it.
  bool isInLoop(Operation *op) const { return inLoop.contains(op); }
  static bool combinesTurns(Operation *op) {
    return isa<AllReduceOp, AllGatherOp>(op);
  }
  unsigned loops() const { return count; }
  /// The loop in which an operation stands; of one that no turn runs the loop
  /// before which it does.
  unsigned placeOf(Operation *op) const { return places.lookup(op); }
  /// Where a loop over turns is written: where its first attention is, whose
  /// batch it cuts, or else its first operation.
  Location locOf(unsigned number) const;

private:
  LogicalResult classify(Operation *op);
  void placeLate(Operation *op);

  func::FuncOp func;
  DenseSet<Value> varying;
  DenseSet<Operation *> inLoop;
  /// The first loop in which, or before which, an operation could stand.
  DenseMap<Operation *, unsigned> early;
  DenseMap<Operation *, unsigned> places;
  unsigned count = 0;
};

} // namespace mlir::sp

#endif // SP_LIB_PARTITION_TURNLEVELS_H
