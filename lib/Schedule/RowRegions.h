/// Regions of a program in which rows do not meet.
///
/// Between attentions every row of a sequence is computed by itself: norms,
/// projections, MLPs, the loss head, and all of their gradients. Such
/// operations can run in blocks of rows, so that only what enters and leaves
/// them is there for all rows at once. Which operations they are follows from
/// the factors (`sp/IR/ShardingRules.h`) of the local program, as if its rows
/// were dealt to blocks as a sequence is to ranks; sums over rows, such as
/// gradients of weights, end a region without leaving it.
///
///   %q = ... %x ...                  region 0: x to q, k, v
///   %o = sp.attend(%q, %k, %v)
///   %y, %dw = ... %x, %o ...         region 1: x, o to y; the sum dw
#ifndef SP_LIB_SCHEDULE_ROWREGIONS_H
#define SP_LIB_SCHEDULE_ROWREGIONS_H

#include "sp/IR/ShardingPropagation.h"

namespace mlir::sp {

/// Where the rows of a value are: `inner` indices of dimension `dim` are one
/// row.
struct RowPlace {
  LayoutAttr rows;
  unsigned dim = 0;
  int64_t inner = 1;
  /// Whether a block of rows lies in one piece.
  bool isDense = false;
};

struct RowRegion {
  LayoutAttr rows;
  /// In program order.
  SmallVector<Operation *> members;
  /// What is read outside of it: rows, and sums over them.
  SmallVector<OpResult> results, sums;

  /// Tokens of a row: more than one where a row is a whole sequence.
  int64_t tokens = 1;

  int64_t length() const { return rows.getLength(); }
  /// The results, then the sums: what a loop over blocks carries.
  SmallVector<OpResult> carried() const;
  /// Whether something is stored that does not leave the region: one kernel
  /// computes what is element-wise alone.
  bool storesInside() const;
};

class RowRegions {
public:
  /// Iotas along rows that have other dimensions become broadcasts.
  explicit RowRegions(func::FuncOp func);

  /// The regions of a block, in program order, apart from each other.
  std::vector<RowRegion> findIn(Block &block);

  /// Has regions, in program order, make again what they read of earlier ones
  /// where that keeps fewer bytes from there to here.
  void remake(MutableArrayRef<RowRegion> regions);
  /// Forgets what an operation reads. It goes last: what is known of it would
  /// be taken for what comes in its place.
  void discard(Operation *op);
  void eraseDiscarded();
  /// Finds what is read outside of a region.
  void findResults(RowRegion &region);

  /// Has every use of a value read another one.
  void replace(Value value, Value by);
  /// Has the rows of a new value be where those of `like` are.
  void dealAlike(Value value, Value like);

  /// Nothing for a value without rows.
  std::optional<RowPlace> rowsOf(Value value);
  /// The value's type for so many rows.
  RankedTensorType typeOfRows(Value value, int64_t rows);
  /// Whether the operation makes rows out of nothing but what all share, at no
  /// cost: it is repeated where it is read.
  bool isFree(Value value) {
    return value.getDefiningOp() && isFree(value.getDefiningOp());
  }
  bool isFree(Operation *op);

private:
  void seed(Operation *op);
  void splitIota(stablehlo::IotaOp op);
  /// The rows that an operation computes by itself, or sums; null for others.
  LayoutAttr memberRows(Operation *op);
  /// How many tokens a row of such rows is.
  int64_t tokensOf(LayoutAttr rows) const;
  bool isLocal(Operation *op, LayoutAttr rows);
  bool isSum(Operation *op);
  /// Has others read what a reshape of the region reads, in its own shape.
  void shareReshaped(const RowRegion &region);
  /// False where a result, or what a member reads, lies in pieces: that
  /// operation can be no member.
  bool settle(RowRegion &region);

  ShardingPropagation propagation;
  /// Of a row, by what attention deals the rows.
  DenseMap<LayoutAttr, int64_t> tokens;
  DenseSet<Operation *> excluded;
  SmallVector<Operation *> discarded;
  DenseMap<Operation *, bool> free;
};

/// The reduction by which a member's result is a sum over rows.
std::optional<Reduction> sumOf(Operation *op);

} // namespace mlir::sp

#endif // SP_LIB_SCHEDULE_ROWREGIONS_H
