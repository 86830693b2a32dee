/// Attention in turns: of one block of queries after another.
#ifndef SP_LIB_PARTITION_QUERYTURNS_H
#define SP_LIB_PARTITION_QUERYTURNS_H

#include "sp/IR/SP.h"

#include "mlir/IR/Builders.h"

namespace mlir::sp {

/// A value of which each turn has its rows: those of blocks of one size, in
/// dimension `dim`.
struct RowsOfTurns {
  Value whole;
  unsigned dim = 1;
};

/// A loop over turns.
///
///     %o = scf.for %t = 0 to turns iter_args(%s = sp.empty) {
///       %q = sp.take %queries at %t * rows
///       ...
///       yield sp.put %part into %s at %t * rows
///     }
class QueryTurns {
public:
  /// Of queries that are dealt by turn.
  QueryTurns(OpBuilder &builder, Location loc, LayoutAttr queries)
      : builder(builder), loc(loc), queries(queries),
        turns(queries.getTurns()) {}

  /// Rows, in dimension 1, that turns make; and what each hands on to the next.
  struct Made {
    SmallVector<Value> rows, carried;
  };
  /// What a turn makes of its parts of rows and of what it is handed.
  using Body =
      function_ref<Made(Value turn, ArrayRef<Value> parts, ValueRange carried)>;

  /// All rows together, and what the last turn leaves.
  Made run(ArrayRef<RowsOfTurns> rows, ArrayRef<Value> carried, Body body);

  /// The terms that have rows of queries, and such terms with others in order.
  SmallVector<RowsOfTurns> rowsOf(const AttentionTerms &terms);
  static void replaceRows(AttentionTerms &terms, ArrayRef<Value> parts);

  /// Which owner of queries this rank is in a turn.
  Value owner(Value turn);

private:
  /// Rows of a value with those of a turn in dimension 0, and the other way.
  Value turnsFirst(Value whole, unsigned dim);
  Value turnsBack(Value stack, RankedTensorType type);
  Value take(Value stack, unsigned dim, Value turn);
  Value firstRow(OpBuilder &at, Value turn, int64_t rows);
  Value padded(Value whole, unsigned dim, int64_t length);
  Value firstRows(Value rows, int64_t count);

  OpBuilder &builder;
  Location loc;
  LayoutAttr queries;
  int64_t turns;
};

} // namespace mlir::sp

#endif // SP_LIB_PARTITION_QUERYTURNS_H
