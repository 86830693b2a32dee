/// How the next state of a loop depends on the one before it.
#ifndef SP_LIB_PARTITION_STATESLOPE_H
#define SP_LIB_PARTITION_STATESLOPE_H

#include "sp/StableHLO/Batching.h"
#include "sp/StableHLO/ScanLoops.h"

namespace mlir::sp {

/// `next = slope * state + rest`, element by element, where neither the slope
/// nor the rest depends on any state of the loop.
class StateSlope {
public:
  StateSlope(ScanLoop &scan, unsigned number);

  /// Why there is no slope, or "".
  std::string check();
  /// Whether it is 1 in every trip.
  bool isSum() {
    return find(scan.next(number), nullptr)->kind == Slope::Kind::One;
  }
  /// Whether a selection may take no part of the state on, whatever it is: then
  /// the slope is 0.
  bool isSelected();
  /// Emits the slope of a trip for a batch, which has what the next state needs
  /// emitted; null where it is 1.
  Value emit(Batcher &batcher, OpBuilder &builder);

private:
  /// 0, 1 or a value, which is null as long as nothing is emitted.
  struct Slope {
    enum class Kind { Zero, One, Other } kind;
    Value value = {};
  };
  std::optional<Slope> find(Value value, Batcher *batcher);
  std::optional<Slope> findOf(Operation *op, Batcher *batcher);
  /// A slope of that type as a value.
  Value valueOf(Slope slope, Type type, Batcher &batcher);

  ScanLoop &scan;
  unsigned number;
  OpBuilder *builder = nullptr;
  /// What depends on this state, and on others.
  DenseSet<Value> own, others;
  DenseMap<Value, std::optional<Slope>> found;
};

/// `slope * state`; where the slope `isSelected` and 0, it is 0 for infinity
/// and NaN as well.
Value passOn(OpBuilder &builder, Location loc, Value slope, Value state,
             bool isSelected);

} // namespace mlir::sp

#endif // SP_LIB_PARTITION_STATESLOPE_H
