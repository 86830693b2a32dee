/// The partial attentions that make up one attention's state, and the partial
/// gradients that make up the gradient of its queries.
#ifndef SP_LIB_VERIFY_COVERAGE_H
#define SP_LIB_VERIFY_COVERAGE_H

#include "Blocks.h"

#include "sp/IR/RankIndices.h"

#include "llvm/ADT/DenseSet.h"

namespace mlir::sp {

/// One `sp.attend` or `sp.attend_backward`.
struct Part {
  Part(AttendOp op) : Part(op, "state", {op.getQuery()}) {}
  Part(AttendBackwardOp op)
      : Part(op, "gradient",
             {op.getQuery(), op.getDOutput(), op.getLse(), op.getDelta()}) {}

  Operation *op;
  StringRef name; ///< of what grows
  /// What a rank has of its queries; the same in all parts.
  SmallVector<Value, 4> ofQueries;
  Value key, value, source;
  SmallVector<Value, 2> ofKeys; ///< what comes with keys
  LayoutAttr queries, keys;
  ArrayAttr bands;

private:
  template <typename OpT>
  Part(OpT op, StringRef name, ArrayRef<Value> ofQueries)
      : op(op), name(name), ofQueries(ofQueries), key(op.getKey()),
        value(op.getValue()), source(op.getSource()), ofKeys({op.getValue()}),
        queries(op.getQueries()), keys(op.getKeys()), bands(op.getBands()) {
    llvm::append_range(ofKeys, op.getPerKey());
  }
};

/// One line of parts, each onto the one before it.
class Coverage {
public:
  Coverage(const Part &first, Value keys, Value values)
      : last(first), keys(keys), values(values) {}

  /// Adds a part with keys that have come so far; an error where they were met
  /// before or belong to another attention.
  LogicalResult add(const Part &part, const RowBlock &keys,
                    const RowBlock &values);
  /// Whether the queries of these ranks met all keys that they see.
  LogicalResult finish(MutableArrayRef<RankIndices> ranks) const;

private:
  Part last;
  Value keys, values; ///< where their blocks began
  SmallVector<Moves> met;
  /// The owners whose keys the first owner met, one for each of `met`.
  DenseSet<int64_t> metByFirst;
};

} // namespace mlir::sp

#endif // SP_LIB_VERIFY_COVERAGE_H
