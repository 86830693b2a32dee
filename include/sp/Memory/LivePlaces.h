/// What lies in memory over a program, and when.
#ifndef SP_MEMORY_LIVEPLACES_H
#define SP_MEMORY_LIVEPLACES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "sp/IR/SP.h"

namespace mlir::sp {

/// Bytes, with those of a second slot, that some values share in turn, from a
/// first point of the program to a last one.
struct LivePlace {
  Space space;
  int64_t bytes, first, last;
  SmallVector<Value> values; ///< in the program's order
};

/// The places of a program that has passed Memory. Points are numbered from 0,
/// where arguments arrive: one before and one after each operation, a loop's
/// body once.
class LivePlaces {
public:
  explicit LivePlaces(func::FuncOp placed);

  ArrayRef<LivePlace> all() const { return places; }
  /// How many points there are.
  int64_t points() const { return count; }
  /// The point at which an operation runs.
  int64_t pointOf(Operation *op) const { return pointsBefore.at(op); }
  /// What is in use of a space at each point.
  std::vector<int64_t> bytesOf(Space space) const;

private:
  SmallVector<LivePlace> places;
  DenseMap<Operation *, int64_t> pointsBefore;
  int64_t count = 1;
};

} // namespace mlir::sp

#endif // SP_MEMORY_LIVEPLACES_H
