/// A loop over chunks of tokens as one pass over all of them.
#ifndef SP_LIB_PARTITION_JOINEDTRIPS_H
#define SP_LIB_PARTITION_JOINEDTRIPS_H

#include "sp/IR/ShardingRules.h"
#include "sp/StableHLO/ScanLoops.h"

#include "mlir/IR/Builders.h"

namespace mlir::sp {

/// A loop whose trips each take a chunk of tokens and carry nothing but sums:
/// its body over all tokens at once, where no operation of it mixes them.
/// However ranks hold the tokens, they then share the work; blocks of rows
/// (Schedule) keep the memory small that chunks were for.
class JoinedTrips {
public:
  /// `tokens`: of a chunk.
  JoinedTrips(ScanLoop &scan, int64_t tokens);
  /// Replaces the loop; fails, and leaves it, where its body does more.
  LogicalResult replace();

private:
  /// What a value of the body is in all trips.
  struct Joined {
    enum class Role {
      Same, ///< what it is in each
      Rows, ///< the chunks behind each other along `dim`
      Part, ///< the sum of what it is in each
    };
    Value value;
    Role role = Role::Same;
    unsigned dim = 0;
  };
  using Role = Joined::Role;

  /// Tries one choice of the dimensions of what trips take, which are tokens.
  LogicalResult emitWith(ArrayRef<std::pair<Operation *, unsigned>> tokenDims);
  LogicalResult emit(Operation *op);
  LogicalResult emitRows(Operation *op);
  LogicalResult emitParts(Operation *op);
  LogicalResult emitReshape(stablehlo::ReshapeOp op);
  LogicalResult emitBarrier(Operation *op);
  LogicalResult emitResults();
  Value stackOf(unsigned number);

  Joined joinedOf(Value value);
  /// The type of all tokens along a dimension of those of a chunk.
  RankedTensorType grown(Type type, unsigned dim);
  /// A value that is alike for all tokens, for all of them along `dim`; null
  /// where it is not.
  Value spread(Value value, unsigned dim, unsigned depth = 8);
  ScanLoop &scan;
  int64_t tokens;
  OpBuilder builder;
  Location loc;
  DenseMap<Value, Joined> made;
  SmallVector<Value> results;
};

} // namespace mlir::sp

#endif // SP_LIB_PARTITION_JOINEDTRIPS_H
