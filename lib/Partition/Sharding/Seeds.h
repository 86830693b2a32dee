/// Where shardings start: attentions, then what the user wrote.
///
///   attention        its plan deals queries and keys, the batch axis the
///                    batch, the tensor axis heads
///   --shard, sp.sharding, sdy.sharding on arguments
///                    decide an argument; first that one of the three is there.
///                    How an axis deals a dimension they do not say: as the
///                    attentions have it dealt over that axis, such as whole
///                    heads of 5 x 8 features, or contiguous
///   sdy.sharding on results, sdy.sharding_constraint
///                    wishes for values that nothing else deals
#ifndef SP_LIB_PARTITION_SEEDS_H
#define SP_LIB_PARTITION_SEEDS_H

#include "Sharding/NamedParts.h"
#include "sp/IR/ShardingPropagation.h"

namespace mlir::sp {

class Seeds {
public:
  Seeds(func::FuncOp func, MeshOp mesh) : func(func), mesh(mesh), parts(mesh) {}

  /// Deals all that attentions and the user say, and what follows from it.
  LogicalResult spread(ArrayRef<std::string> shard,
                       ShardingPropagation &propagation);

  /// Whether turns are dealt to: users say what ranks have.
  bool areOfTurns() { return mesh.getFolded(); }

  /// Deals what the attentions' plans say.
  void seedAttentions(ShardingPropagation &propagation);

  /// Pins the arguments that the user decided; `derived` has what follows from
  /// attentions alone.
  LogicalResult pinArguments(ArrayRef<std::string> shard,
                             ShardingPropagation &derived,
                             ShardingPropagation &propagation);

  /// Deals what constraints and results wish for.
  LogicalResult seedWishes(ShardingPropagation &propagation);

private:
  void seedAttention(Value queries, Value keys, std::optional<PlanAttr> plan,
                     ShardingPropagation &propagation);
  /// Heads, in dimension 2 of what queries and what keys have.
  void seedHeads(HeadPartAttr part, ValueRange ofQueries, ValueRange ofKeys,
                 ShardingPropagation &propagation);
  /// Terms over pairs, as the plan needs them.
  template <typename OpT>
  void seedPairs(OpT op, ShardingPropagation &propagation);
  /// The layout of a sequence: one for each axis and length.
  LayoutAttr layoutFor(AxisAttr axis, int64_t length);
  /// The axes that deal a dimension, outermost first; factors that make up an
  /// axis are that axis.
  SmallVector<AxisAttr> axesOf(DimAttr dim);
  /// A dimension over axes: `known` where that is, too. An error where they do
  /// not divide it.
  FailureOr<DimAttr> dimOver(ArrayRef<AxisAttr> axes, int64_t size,
                             DimAttr known,
                             function_ref<InFlightDiagnostic()> emitError);
  /// Axes of one dimension of a --shard: "_", "sp", "dp*sp" or, part of an
  /// axis, "sp:(2)4". None of `others`, which get those of more than one rank.
  FailureOr<SmallVector<AxisAttr>> parseAxes(StringRef text,
                                             StringRef dimension,
                                             SmallVectorImpl<AxisAttr> &others);
  FailureOr<SmallVector<DimAttr>> parseShard(StringRef text,
                                             ShardingPropagation &derived,
                                             BlockArgument &argument);
  LogicalResult checkSharding(BlockArgument argument, ShardingAttr sharding);
  /// `known` are dimensions that open ones, and those over several axes, take.
  FailureOr<SmallVector<DimAttr>>
  fromShardy(sdy::TensorShardingAttr sharding, RankedTensorType type,
             ArrayRef<DimAttr> known,
             function_ref<InFlightDiagnostic()> emitError);
  FailureOr<DimAttr> fromShardy(sdy::DimensionShardingAttr sharding,
                                sdy::MeshAttr own, int64_t size, DimAttr known,
                                function_ref<InFlightDiagnostic()> emitError);
  std::string listAxes();

  func::FuncOp func;
  MeshOp mesh;
  NamedParts parts;
  DenseMap<std::pair<AxisAttr, int64_t>, LayoutAttr> layouts;
  /// Arguments that --shard has named.
  DenseSet<unsigned> sharded;
};

/// Gives each use of constants and iotas one of its own: what needs no operand
/// is cheaper made twice than dealt or gathered, and connects nothing.
void separateUses(func::FuncOp func);

/// Ties donated arguments to the results that feed them.
void tieDonated(func::FuncOp func, ShardingPropagation &propagation);

/// How a term over pairs is dealt so that it meets the heads and rows that a
/// rank attends with: [batch, heads, queries, keys]. Keys stay whole, and so do
/// queries where every rank has all, the heads of one that all queries share,
/// and of any where heads come in groups or a tensor axis deals them.
SmallVector<DimAttr> dimsOfPair(std::optional<PlanAttr> plan,
                                RankedTensorType pair, DimAttr batch,
                                LayoutAttr queries, HeadPartAttr part);

} // namespace mlir::sp

#endif // SP_LIB_PARTITION_SEEDS_H
