/// Which values share a place, and how long a place is in use.
///
/// A place is a range of bytes, or two that loop iterations use in turn. Values
/// that must be in one place:
///
///   op                          shares
///   reshape                     result with operand
///   sp.attend onto              new state with old, in its slot; gradients of
///                               sp.attend_backward, and what
///                               sp.all_reduce combines, likewise
///   while, case                 carried or yielded values with the results
///   scf.for, state carried      initial, argument, yielded and result
///   scf.for, blocks handed on   the same, in two slots: the argument in slot
///                               (t - lower) mod 2, the yielded in the other
///   sp.take                     result with some rows of the operand
///   sp.put                      new stack with old, block with rows of it
#ifndef SP_LIB_MEMORY_PLACES_H
#define SP_LIB_MEMORY_PLACES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "sp/IR/SP.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace mlir::sp {

/// A value's slot in its place: slot (counter - first) mod 2 for a counter of a
/// loop, else 0.
struct Slot {
  scf::ForOp loop;
  int64_t shift = 0;
  /// A slot that does not depend on a counter.
  int64_t fixed = 0;
};

/// Rows of another value, in its place: what a `sp.take` gives, or what a
/// `sp.put` puts.
struct Rows {
  Value whole, at;
  int64_t rowBytes = 0;
};

struct Place {
  SmallVector<Value> values;
  int64_t bytes = 0;
  unsigned slots = 1;
  /// First and last point at which the place holds something needed.
  int64_t begin = INT64_MAX, end = -1;
  int64_t offset = 0;
  Space space = Space::Arena;
};

/// With all its slots.
int64_t bytesOf(const Place &place);

class Places {
public:
  explicit Places(func::FuncOp func);

  MutableArrayRef<Place> all() { return places; }
  ArrayRef<Place> all() const { return places; }
  const Place &of(Value value) const { return places[numbers.at(value)]; }
  /// The points before and after an operation.
  std::pair<int64_t, int64_t> pointsOf(Operation *op) const {
    return points.at(op);
  }
  /// The value's place by the counters of the `scf.for` loops around `at`.
  PlaceAttr placeOf(Value value, Operation *at) const;

private:
  void number(Operation *op);
  void join(Value a, Value b) {
    classes.unionSets(a.getAsOpaquePointer(), b.getAsOpaquePointer());
  }
  /// Joins values that are in the same slot, too.
  void joinSlots(Value a, Value b) {
    join(a, b);
    inOneSlot.unionSets(a.getAsOpaquePointer(), b.getAsOpaquePointer());
  }
  /// What is known of a value, or of one that lies exactly where it does.
  template <typename T>
  T lookup(const DenseMap<Value, T> &known, Value value) const;
  /// Where it lies in its place, by the counters of the loops.
  AffineExpr offsetIn(const Place &place, Value value,
                      ArrayRef<Operation *> loops) const;
  void joinRows(Value part, Value whole, Value at, int64_t dim);
  void joinValues(Operation *op);
  void joinFor(scf::ForOp loop);
  void collect();
  void extendTo(Value value, int64_t point);
  void measure(Operation *op);

  func::FuncOp func;
  llvm::EquivalenceClasses<void *> classes, inOneSlot;
  DenseMap<Value, Slot> slots;
  DenseMap<Value, Rows> rows;
  DenseMap<Value, unsigned> numbers;
  SmallVector<Value> values;
  DenseMap<Operation *, std::pair<int64_t, int64_t>>
      points; ///< before and after
  int64_t lastPoint = 0;
  SmallVector<Place> places;
};

} // namespace mlir::sp

#endif // SP_LIB_MEMORY_PLACES_H
