#ifndef SP_LIB_SIMULATOR_COUNTER_H
#define SP_LIB_SIMULATOR_COUNTER_H

#include "TouchedMemory.h"

#include "sp/IR/RankIndices.h"
#include "sp/Simulator/Promise.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/DenseMap.h"

namespace mlir::sp {

/// How far each block of a ring travels, the same for all ranks.
class Reaches {
public:
  int64_t of(ShiftStartOp shift, const RingReader &reader,
             const sprt::algebra::RingWay &way, int64_t source, int64_t above);

private:
  using Ring = std::tuple<Attribute, Attribute, Attribute, int64_t, int64_t>;
  using Block = std::tuple<int64_t, int64_t, int64_t, int64_t>;
  DenseMap<std::pair<Ring, Block>, int64_t> known;
};

/// Walks a program as one rank does, and counts.
class Counter {
public:
  Counter(func::FuncOp main, MeshOp mesh, int64_t rank, Reaches &reaches);
  Promise run();

private:
  void count(Block &block, int64_t times);
  void count(Operation *op, int64_t times);
  /// Counts what an AttendOp or AttendBackwardOp does with its visible pairs:
  /// products of keys' and of values' rows.
  template <typename OpT>
  void countPairs(OpT op, int64_t keyProducts, int64_t valueProducts,
                  int64_t times) {
    ArrayRef<int64_t> q = op.getQuery().getType().getShape(),
                      v = op.getValue().getType().getShape();
    auto area = static_cast<int64_t>(sprt::algebra::area(slicesOf(op)));
    promise.flops += times * 2 * area * q[0] * headsOf(op) *
                     (keyProducts * q[3] + valueProducts * v[3]);
  }
  int64_t bytesOf(Operation *op);
  int64_t shiftBytes(ShiftStartOp op);
  int64_t allToAllBytes(AllToAllStartOp op);

  /// What the rank touches of its arena; see CountMemory.cpp.
  void touch(Operation *op);
  void touch(Value value);
  /// The first `rows` of dimension `dim`.
  void touchRows(Value value, int64_t dim, int64_t rows);
  void touchAttend(AttendOp op);
  void touchAttend(AttendBackwardOp op);
  int64_t offsetOf(Value value);

  /// The visible part of an attention step, in this rank's rows.
  template <typename OpT> std::vector<sprt::algebra::Slice> slicesOf(OpT op) {
    return toAlgebra(op.getBands())
        .restrict(toAlgebra(op.getQueries()), queryOwnerOf(op),
                  toAlgebra(op.getKeys()), keyOwnerOf(op));
  }
  /// Whose queries and whose keys meet in an attention step.
  template <typename OpT> int64_t queryOwnerOf(OpT op) {
    return op.getQuerySource() ? indices.evaluate(op.getQuerySource())
                               : owner(op.getQueries());
  }
  template <typename OpT> int64_t keyOwnerOf(OpT op) {
    return op.getSource() ? indices.evaluate(op.getSource())
                          : owner(op.getKeys());
  }
  /// Heads that the rank computes in an attention step.
  template <typename OpT> int64_t headsOf(OpT op) {
    return op.getHeads()
               ? toAlgebra(*op.getHeads()).count(owner(*op.getHeads()))
               : op.getQuery().getType().getDimSize(2);
  }
  /// Whether ring rank `taker` is sent the block of `source`.
  bool takesBlock(ShiftStartOp op, int64_t source, int64_t taker);
  /// Kv heads of a shift's blocks that the rank has, if heads are dealt.
  std::optional<int64_t> dealtHeads(ShiftStartOp op);
  /// The ring owner whose block a shift brings.
  int64_t sourceBehind(ShiftStartOp op);
  int64_t owner(LayoutAttr layout) { return indices.owner(layout); }

  func::FuncOp main;
  MeshOp mesh;
  RankIndices indices;
  Reaches &reaches;
  Promise promise;
  TouchedMemory memory;
};

} // namespace mlir::sp

#endif // SP_LIB_SIMULATOR_COUNTER_H
