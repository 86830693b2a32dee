/// Rewrites one function from global to local shapes.
///
/// For every global value the localizer keeps the local value and how it is
/// dealt. An operation asks for its operands as it needs them; `require`
/// gathers, takes or recomputes where they are dealt otherwise.
#ifndef SP_LIB_PARTITION_LOCALIZER_H
#define SP_LIB_PARTITION_LOCALIZER_H

#include "Losses.h"
#include "Sharding/Resharding.h"

namespace mlir::sp {

struct LocalValue {
  Value value;
  SmallVector<DimAttr> dims;
};

/// How the operands and results of one operation are dealt so that it is
/// token-local up to the reductions.
struct Assignment {
  SmallVector<SmallVector<DimAttr>> operands, results;
  SmallVector<std::pair<Factor, DimAttr>> reductions, picks;
};

/// Whether a value is made of constants and iotas by cheap operations: ranks
/// make what they need of it.
bool isRecomputable(Value value, unsigned depth = 8);

class Localizer {
public:
  Localizer(OpBuilder &builder, MeshOp mesh, Losses &losses)
      : builder(builder), mesh(mesh), isOfTurns(mesh && mesh.getFolded()),
        losses(losses) {}
  /// Of a program that is local already: where `takesWhole` holds ranks do
  /// something of their own, with whole operands. These are gathered again
  /// behind an attention; elsewhere parameters of a layer that is far away are.
  Localizer(OpBuilder &builder, MeshOp mesh, Losses &losses,
            function_ref<bool(Operation *)> takesWhole)
      : builder(builder), mesh(mesh), isOfTurns(false), takesWhole(takesWhole),
        losses(losses) {}

  void define(Value global, LocalValue local) {
    locals[global] = std::move(local);
  }
  const LocalValue &lookup(Value global) const { return locals.at(global); }
  SmallVector<DimAttr> wholeDims(Value global) const;

  /// Localizes the operations of a block, without its terminator.
  LogicalResult localizeBody(Block &block);

  /// The local form of `global` dealt as `dims`; `user` is named where bytes
  /// move.
  Value require(Value global, ArrayRef<DimAttr> dims, Operation *user);

  /// Gathers and takes until `value`, dealt as `from`, is dealt as `to`: of
  /// `global`, or of what `user` makes.
  Value reshard(Value value, ArrayRef<DimAttr> from, ArrayRef<DimAttr> to,
                Operation *user, Value global = {});

  /// Combines partial results over the axes of all `layouts`, outermost first.
  void reduce(Operation *op, Reduction kind, ArrayRef<LayoutAttr> layouts,
              SmallVectorImpl<Value> &results);
  /// How a result is to be dealt.
  SmallVector<DimAttr> assignedDims(Operation *op, unsigned result) const;

private:
  LogicalResult localize(Operation *op);
  LogicalResult localizeRegions(Operation *op);
  void localizeWhole(Operation *op);
  /// A sum over ranks, of which each needs a part. Whether it is one.
  bool localizeSum(AllReduceOp op);
  LogicalResult localizeBranch(Operation *op, Region &region, Region &local,
                               ArrayRef<SmallVector<DimAttr>> dims);
  /// What ranks make of it is settled later: one that a turn has a part of the
  /// batch of, or a wish for its layout.
  void localizeWhatStays(Operation *op);
  /// Emits an operation so that its results are dealt as `dims`.
  SmallVector<Value> emit(Operation *op, ArrayRef<SmallVector<DimAttr>> dims);
  Value emitConstant(Operation *op, ArrayRef<DimAttr> dims);
  Value emitIota(stablehlo::IotaOp op, ArrayRef<DimAttr> dims);
  Value emitReshape(stablehlo::ReshapeOp op, ArrayRef<DimAttr> dims);
  Value emitUpdateSlice(stablehlo::DynamicUpdateSliceOp op,
                        ArrayRef<DimAttr> dims);
  SmallVector<Value> emitByFactors(Operation *op,
                                   ArrayRef<SmallVector<DimAttr>> dims);

  /// Which factors can be dealt so that results are dealt as `wanted`.
  Assignment assign(Operation *op, ArrayRef<SmallVector<DimAttr>> wanted);
  /// Values that a scalar region reads from outside are whole there.
  void mapCaptures(Operation *op, IRMapping &mapping);

  OpBuilder &builder;
  MeshOp mesh;
  bool isOfTurns;
  function_ref<bool(Operation *)> takesWhole; ///< null in global shapes
  DenseMap<Value, LocalValue> locals;
  /// A value dealt otherwise, and how many attentions came before its last use.
  struct Resharded {
    Value value;
    int64_t attentions = 0;
  };
  /// In the block at hand.
  using ReshardedValues = DenseMap<std::pair<Value, Attribute>, Resharded>;
  ReshardedValues resharded;
  int64_t attentions = 0; ///< so far
  Losses &losses;
};

} // namespace mlir::sp

#endif // SP_LIB_PARTITION_LOCALIZER_H
