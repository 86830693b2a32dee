/// The partial attentions that make up one attention's state, and the partial
/// gradients that make up the gradients of what stays on a rank: of its queries
/// or, where queries travel, of its keys.
#ifndef SP_LIB_VERIFY_COVERAGE_H
#define SP_LIB_VERIFY_COVERAGE_H

#include "Blocks.h"

#include "sp/IR/RankIndices.h"

#include "llvm/ADT/DenseSet.h"

namespace mlir::sp {

/// What a part has of queries or of keys.
struct Side {
  StringRef name, others; ///< the first operand, and what comes with it
  SmallVector<Value, 4> operands;
  ValueRange terms;
  Value source;
  LayoutAttr rows;
  int64_t turn = 0; ///< of rows that are dealt by turn
};

/// One `sp.attend` or `sp.attend_backward`.
struct Part {
  Part(AttendOp op);
  Part(AttendBackwardOp op);

  Operation *op;
  StringRef name; ///< of what grows
  Side staying, travelling;
  bool queriesTravel = false;
  ArrayAttr bands;
  DocumentsAttr documents;
  std::optional<SoftmaxForm> form; ///< of a state

  /// The bands as what stays sees them.
  ArrayAttr seen() const { return queriesTravel ? transposed(bands) : bands; }
  /// Whether documents keep pairs apart whose owners, of two groups, never
  /// meet.
  LogicalResult checkGroup() const;
  /// Who needs what travels.
  ReadersAttr readers() const;
};

/// One line of parts, each onto the one before it.
class Coverage {
public:
  /// `origins` is where the blocks of what travels began.
  Coverage(const Part &first, ArrayRef<Value> origins)
      : last(first), origins(origins) {}

  /// Adds a part to which blocks have come so far; an error where they were met
  /// before or belong to another attention.
  LogicalResult add(const Part &part, ArrayRef<Value> origins,
                    const Moves &moves);
  /// Whether what stays on these ranks met all that it shares pairs with, which
  /// are owners of a group where batches deal them.
  LogicalResult finish(MutableArrayRef<RankIndices> ranks) const;

private:
  Part last;
  SmallVector<Value> origins;
  SmallVector<Moves> met;
  /// The owners whose blocks the first owner met, one for each of `met`.
  DenseSet<int64_t> metByFirst;
};

} // namespace mlir::sp

#endif // SP_LIB_VERIFY_COVERAGE_H
