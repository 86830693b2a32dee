//===- LocalizeAttentions.cpp - What attentions have of their operands ----===//
//
// Batch, rows and heads of an attention are dealt as its plan and the mesh say;
// operands are brought so, and results given back as the program has them.
// Attention/ has what happens between.
//
//===----------------------------------------------------------------------===//

#include "LocalizeAttentions.h"

#include "Attention/LocalAttention.h"
#include "Sharding/Seeds.h"
#include "sp/StableHLO/TensorTypes.h"

using namespace mlir;
using namespace mlir::sp;

namespace {

/// How batch, queries, keys and heads of an attention are dealt.
struct AttentionRows {
  LayoutAttr queries, keys;
  DimAttr batch, queryDim, keyDim;
  /// Null where no tensor axis deals heads.
  HeadPartAttr headPart;
};

class AttentionLocalizer {
public:
  AttentionLocalizer(Localizer &localizer, OpBuilder &builder, MeshOp mesh)
      : localizer(localizer), builder(builder), mesh(mesh) {}

  void localize(AttentionOp op);
  void localize(AttentionBackwardOp op);

private:
  /// By the plan; without one as is wished where that can be.
  AttentionRows dealAttention(Value query, Value key,
                              std::optional<PlanAttr> plan, DimAttr batch,
                              DimAttr rows) const;
  /// What the score function of an attention or of its gradients reads.
  template <typename OpT>
  AttentionTerms localizeTerms(OpT op, const AttentionRows &dealt);
  /// Dimensions of a value with batch, rows and heads first.
  SmallVector<DimAttr> rowDims(Value global, const AttentionRows &dealt,
                               DimAttr rows, bool isOfKeys) const;
  /// What a rank has of queries, or of keys and values.
  Value requireRows(Value global, const AttentionRows &dealt, bool isOfKeys,
                    Operation *user);
  /// Gives a result that is dealt so back as the program has it.
  void define(OpResult global, Value value, ArrayRef<DimAttr> dims);

  Localizer &localizer;
  OpBuilder &builder;
  MeshOp mesh;
};

} // namespace

AttentionRows AttentionLocalizer::dealAttention(Value query, Value key,
                                                std::optional<PlanAttr> plan,
                                                DimAttr batch,
                                                DimAttr rows) const {
  auto layoutOf = [&](DimAttr whole, DimAttr wish, bool isOfKeys) {
    int64_t length = whole.getAtoms()[0].getSize();
    if (plan && plan->getRanks() > 1)
      return isOfKeys ? plan->getRows(length) : plan->getQueryRows(length);
    if (wish && wish.getAtoms().size() == 1 && isDealt(wish))
      return wish.getAtoms()[0].getLayout();
    return LayoutAttr::getDense(builder.getContext(), length);
  };
  auto dimOf = [](LayoutAttr layout, DimAttr whole) {
    return layout.isDense() ? whole : dealtDim(layout);
  };
  SmallVector<DimAttr> queryDims = localizer.wholeDims(query),
                       keyDims = localizer.wholeDims(key);
  AttentionRows dealt;
  dealt.queries = plan && plan->getTurns() > 1
                      ? plan->getRows(queryDims[1].getAtoms()[0].getSize())
                      : layoutOf(queryDims[1], rows, /*isOfKeys=*/false);
  dealt.keys = layoutOf(keyDims[1], DimAttr(), /*isOfKeys=*/true);
  dealt.queryDim = dimOf(dealt.queries, queryDims[1]);
  dealt.keyDim = dimOf(dealt.keys, keyDims[1]);
  dealt.batch =
      sharesAxis(batch, {dealt.queryDim, dealt.keyDim}) ? queryDims[0] : batch;
  dealt.headPart =
      headPartOf(mesh, lengthOf(queryDims[2]), lengthOf(keyDims[2]));
  return dealt;
}

SmallVector<DimAttr> AttentionLocalizer::rowDims(Value global,
                                                 const AttentionRows &dealt,
                                                 DimAttr rows,
                                                 bool isOfKeys) const {
  SmallVector<DimAttr> dims = localizer.wholeDims(global);
  dims[0] = dealt.batch;
  dims[1] = rows;
  if (HeadPartAttr part = dealt.headPart)
    dims[2] = isOfKeys ? part.getKvDim() : part.getQueryDim();
  return dims;
}

Value AttentionLocalizer::requireRows(Value global, const AttentionRows &dealt,
                                      bool isOfKeys, Operation *user) {
  DimAttr rows = isOfKeys ? dealt.keyDim : dealt.queryDim;
  return localizer.require(global, rowDims(global, dealt, rows, isOfKeys),
                           user);
}

void AttentionLocalizer::define(OpResult global, Value value,
                                ArrayRef<DimAttr> dims) {
  Operation *op = global.getOwner();
  SmallVector<DimAttr> assigned =
      localizer.assignedDims(op, global.getResultNumber());
  localizer.define(global,
                   {localizer.reshard(value, dims, assigned, op), assigned});
}

/// Of what has elements for the whole batch, as queries have, or one for all.
static DimAttr batchOf(DimAttr whole, DimAttr wholeOfQueries,
                       const AttentionRows &dealt) {
  return whole == wholeOfQueries ? dealt.batch : whole;
}

template <typename OpT>
AttentionTerms AttentionLocalizer::localizeTerms(OpT op,
                                                 const AttentionRows &dealt) {
  auto localize = [&](Value term, TermKind kind) -> Value {
    SmallVector<DimAttr> dims = localizer.wholeDims(term);
    if (kind == TermKind::Table)
      return localizer.require(term, dims, op);
    dims[0] = batchOf(dims[0], localizer.wholeDims(op.getQuery())[0], dealt);
    if (kind == TermKind::PerQuery)
      dims[1] = dealt.queryDim;
    if (kind == TermKind::PerKey)
      dims[1] = dealt.keyDim;
    if (kind == TermKind::Pair)
      dims = dimsOfPair(op.getPlan(), cast<RankedTensorType>(term.getType()),
                        dims[0], dealt.queries, dealt.headPart);
    Value local = localizer.require(term, dims, op);
    // Whole heads reach to the padding of the last rank's.
    int64_t heads = kind == TermKind::Pair      ? 1
                    : kind == TermKind::PerHead ? 2
                                                : -1;
    if (!dealt.headPart || heads < 0 || lengthOf(dims[heads]) == 1)
      return local;
    return resizeRows(builder, op.getLoc(), local, heads,
                      dealt.headPart.getWholeHeads());
  };
  AttentionTerms terms = op.getScoreTerms();
  for (auto [term, kind] : llvm::zip_equal(terms.values, terms.kinds))
    term = localize(term, kind);
  return terms;
}

void AttentionLocalizer::localize(AttentionOp op) {
  SmallVector<DimAttr> assigned = localizer.assignedDims(op, 0);
  AttentionRows dealt = dealAttention(op.getQuery(), op.getKey(), op.getPlan(),
                                      assigned[0], assigned[1]);
  auto ofQueries = [&](Value value) {
    return requireRows(value, dealt, /*isOfKeys=*/false, op);
  };
  auto ofKeys = [&](Value value) {
    return requireRows(value, dealt, /*isOfKeys=*/true, op);
  };
  LocalAttention local;
  local.op = op;
  local.headPart = dealt.headPart;
  local.query = ofQueries(op.getQuery());
  local.key = ofKeys(op.getKey());
  local.value = ofKeys(op.getValue());
  local.queries = dealt.queries;
  local.keys = dealt.keys;
  local.terms = localizeTerms(op, dealt);
  if (Value sink = op.getSink()) {
    SmallVector<DimAttr> dims = localizer.wholeDims(sink);
    if (dealt.headPart)
      dims[0] = dealt.headPart.getQueryDim();
    local.sink = localizer.require(sink, dims, op);
  }
  if (Value mean = op.getMean()) {
    SmallVector<DimAttr> dims =
        rowDims(mean, dealt, localizer.wholeDims(mean)[1], false);
    dims[0] = batchOf(localizer.wholeDims(mean)[0],
                      localizer.wholeDims(op.getQuery())[0], dealt);
    local.mean = localizer.require(mean, dims, op);
  }
  SoftmaxState results = emitAttention(builder, local);
  auto defineRows = [&](OpResult global, Value value) {
    define(global, value, rowDims(global, dealt, dealt.queryDim, false));
  };
  defineRows(op->getResult(0), results.output);
  if (op.getLse())
    defineRows(op->getResult(1), results.lse);
}

void AttentionLocalizer::localize(AttentionBackwardOp op) {
  // Without a plan every rank has all rows: of some queries gradients of keys
  // would be but parts.
  AttentionRows dealt =
      dealAttention(op.getQuery(), op.getKey(), op.getPlan(),
                    localizer.assignedDims(op, 0)[0], DimAttr());
  auto ofQueries = [&](Value value) {
    return requireRows(value, dealt, /*isOfKeys=*/false, op);
  };
  auto ofKeys = [&](Value value) {
    return requireRows(value, dealt, /*isOfKeys=*/true, op);
  };
  LocalBackward local;
  local.op = op;
  local.headPart = dealt.headPart;
  local.query = ofQueries(op.getQuery());
  local.key = ofKeys(op.getKey());
  local.value = ofKeys(op.getValue());
  local.output = ofQueries(op.getOutput());
  local.lse = ofQueries(op.getLse());
  local.cotangent = ofQueries(op.getDOutput());
  if (op.getDLse())
    local.lseCotangent = ofQueries(op.getDLse());
  local.terms = localizeTerms(op, dealt);
  local.queries = dealt.queries;
  local.keys = dealt.keys;
  AttentionGradients gradients = emitAttentionBackward(builder, local);
  OpResult query = op->getResult(0);
  define(query, gradients.query, rowDims(query, dealt, dealt.queryDim, false));
  // Of kv heads that several tensor ranks have each has what its own queries
  // make of them.
  SmallVector<Value> ofKeyHeads = {gradients.key, gradients.value};
  if (dealt.headPart && !dealt.headPart.getEach().isDense())
    localizer.reduce(op, Reduction::Sum, dealt.headPart.getEach(), ofKeyHeads);
  for (OpResult key : op->getResults().slice(1, 2))
    define(key, ofKeyHeads[key.getResultNumber() - 1],
           rowDims(key, dealt, dealt.keyDim, true));
  for (auto [global, value] :
       llvm::zip_equal(op->getResults().drop_front(3), gradients.terms)) {
    // One that is a sum over queries has none to deal.
    DimAttr own = localizer.wholeDims(global)[1];
    bool isSum = own != localizer.wholeDims(op.getQuery())[1];
    SmallVector<DimAttr> dims =
        rowDims(global, dealt, isSum ? own : dealt.queryDim, false);
    if (isSum)
      dims[2] = localizer.wholeDims(global)[2];
    define(global, value, dims);
  }
}

void mlir::sp::localizeAttention(Localizer &localizer, OpBuilder &builder,
                                 MeshOp mesh, AttentionOp op) {
  AttentionLocalizer(localizer, builder, mesh).localize(op);
}

void mlir::sp::localizeAttention(Localizer &localizer, OpBuilder &builder,
                                 MeshOp mesh, AttentionBackwardOp op) {
  AttentionLocalizer(localizer, builder, mesh).localize(op);
}
