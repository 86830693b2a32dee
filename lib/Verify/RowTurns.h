/// Whose turn the rows of values are, in loops over turns of queries.
#ifndef SP_LIB_VERIFY_ROWTURNS_H
#define SP_LIB_VERIFY_ROWTURNS_H

#include "Coverage.h"

#include "sp/StableHLO/TensorTypes.h"

#include "llvm/ADT/DenseMap.h"

namespace mlir::sp {

/// Follows rows from where a turn takes them out of a stack to where it puts
/// what it made of them. Rows stay those of their turn whatever is made of
/// them; of attention, queries say whose they are.
class RowTurns {
public:
  /// Of values that have rows of several turns.
  static constexpr int64_t kSeveral = -1;

  /// Of an operation that reads rows of a stack, near or far.
  template <typename OpT> void take(OpT op, RankIndices &rank) {
    turns[op.getResult()] = turnOf(op, op.getResult(), rank);
  }
  /// Whether a stack has rows of all turns of the loop: it is there before the
  /// loop, or goes from turn to turn. Others have rows of one turn, of which
  /// blocks are made.
  static bool hasAllTurns(Value stack, Operation *loop);
  /// An error where the rows are not those of the turn that puts them.
  template <typename OpT> LogicalResult put(OpT op, RankIndices &rank) {
    return checkPut(op, of(op.getBlock()), turnOf(op, op.getBlock(), rank));
  }
  /// What any other operation makes.
  void join(Operation *op);
  /// Says whose turn the queries of `part` are, which stay; an error where they
  /// are of several, or another owner's on one of `ranks`.
  LogicalResult meet(Part &part, MutableArrayRef<RankIndices> ranks);

  /// The turn of a value, for what loops carry.
  std::optional<int64_t> of(Value value) const;
  void set(Value value, std::optional<int64_t> turn);

private:
  /// The turn whose rows an operation takes from a stack or puts into it.
  template <typename OpT>
  static int64_t turnOf(OpT op, Value rows, RankIndices &rank) {
    int64_t first = rank.evaluate(op.getAt()),
            count = typeOf(rows).getDimSize(op.getDim());
    return first % count == 0 ? first / count : kSeveral;
  }
  static LogicalResult checkPut(Operation *op, std::optional<int64_t> own,
                                int64_t named);

  DenseMap<Value, int64_t> turns;
};

} // namespace mlir::sp

#endif // SP_LIB_VERIFY_ROWTURNS_H
