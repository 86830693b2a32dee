//===- LocalizeAttentions.cpp - What attentions have of their operands ----===//
//
// Batch, rows and heads of an attention are dealt as its plan and the mesh say;
// operands are brought so, and results given back as the program has them.
// Attention/ has what happens between.
//
//===----------------------------------------------------------------------===//

#include "Localizer.h"
#include "Sharding/Seeds.h"
#include "sp/StableHLO/TensorTypes.h"

using namespace mlir;
using namespace mlir::sp;

AttentionRows Localizer::dealAttention(Value query, Value key,
                                       std::optional<PlanAttr> plan,
                                       DimAttr batch, DimAttr rows) const {
  auto layoutOf = [&](DimAttr whole, DimAttr wish) {
    int64_t length = whole.getAtoms()[0].getSize();
    if (plan && plan->getRanks() > 1)
      return plan->getRows(length);
    if (wish && wish.getAtoms().size() == 1 && isDealt(wish))
      return wish.getAtoms()[0].getLayout();
    return LayoutAttr::getDense(builder.getContext(), length);
  };
  auto dimOf = [](LayoutAttr layout, DimAttr whole) {
    return layout.isDense() ? whole : dealtDim(layout);
  };
  SmallVector<DimAttr> queryDims = wholeDims(query), keyDims = wholeDims(key);
  AttentionRows dealt;
  dealt.queries = plan && plan->getTurns() > 1
                      ? plan->getRows(queryDims[1].getAtoms()[0].getSize())
                      : layoutOf(queryDims[1], rows);
  dealt.keys = layoutOf(keyDims[1], DimAttr());
  dealt.queryDim = dimOf(dealt.queries, queryDims[1]);
  dealt.keyDim = dimOf(dealt.keys, keyDims[1]);
  dealt.batch =
      sharesAxis(batch, {dealt.queryDim, dealt.keyDim}) ? queryDims[0] : batch;
  dealt.headPart =
      headPartOf(mesh, lengthOf(queryDims[2]), lengthOf(keyDims[2]));
  return dealt;
}

SmallVector<DimAttr> Localizer::rowDims(Value global,
                                        const AttentionRows &dealt,
                                        DimAttr rows, bool isOfKeys) const {
  SmallVector<DimAttr> dims = wholeDims(global);
  dims[0] = dealt.batch;
  dims[1] = rows;
  if (HeadPartAttr part = dealt.headPart)
    dims[2] = isOfKeys ? part.getKvDim() : part.getQueryDim();
  return dims;
}

/// Of what has elements for the whole batch, as queries have, or one for all.
static DimAttr batchOf(DimAttr whole, DimAttr wholeOfQueries,
                       const AttentionRows &dealt) {
  return whole == wholeOfQueries ? dealt.batch : whole;
}

void Localizer::localizeWhatStays(Operation *op) {
  DimAttr batch = op->getNumResults() > 0 ? assignedDims(op, 0)[0] : DimAttr();
  bool isAttention = isa<AttentionOp, AttentionBackwardOp>(op);
  // Sinks and tables, of which every sequence reads the same, have fewer
  // dimensions.
  auto dimsOf = [&](Value value) {
    SmallVector<DimAttr> dims = wholeDims(value);
    if (dims.size() >= 3 && dims[0] == wholeDim(batch))
      dims[0] = batch;
    return dims;
  };
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(isAttention ? require(operand, dimsOf(operand), op)
                                   : require(operand, assignedDims(op, 0), op));
  Operation *local = builder.clone(*op);
  local->setOperands(operands);
  local->removeAttr(kShardings);
  for (auto [index, result] : llvm::enumerate(op->getResults())) {
    SmallVector<DimAttr> assigned = assignedDims(op, index),
                         dims = isAttention ? dimsOf(result) : assigned;
    Value value = local->getResult(index);
    value.setType(localType(elementOf(value), dims));
    define(result, {reshard(value, dims, assigned, op), assigned});
  }
}

template <typename OpT>
AttentionTerms Localizer::localizeTerms(OpT op, const AttentionRows &dealt) {
  auto localize = [&](Value term, TermKind kind) -> Value {
    SmallVector<DimAttr> dims = wholeDims(term);
    if (kind == TermKind::Table)
      return require(term, dims, op);
    dims[0] = batchOf(dims[0], wholeDims(op.getQuery())[0], dealt);
    if (kind == TermKind::PerQuery)
      dims[1] = dealt.queryDim;
    if (kind == TermKind::PerKey)
      dims[1] = dealt.keyDim;
    if (kind == TermKind::Pair)
      dims = dimsOfPair(op.getPlan(), cast<RankedTensorType>(term.getType()),
                        dims[0], dealt.queries, dealt.headPart);
    Value local = require(term, dims, op);
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

void Localizer::localizeAttention(AttentionOp op) {
  SmallVector<DimAttr> assigned = assignedDims(op, 0);
  AttentionRows dealt = dealAttention(op.getQuery(), op.getKey(), op.getPlan(),
                                      assigned[0], assigned[1]);
  auto ofQueries = [&](Value value) {
    return require(value, rowDims(value, dealt, dealt.queryDim, false), op);
  };
  auto ofKeys = [&](Value value) {
    return require(value, rowDims(value, dealt, dealt.keyDim, true), op);
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
    SmallVector<DimAttr> dims = wholeDims(sink);
    if (dealt.headPart)
      dims[0] = dealt.headPart.getQueryDim();
    local.sink = require(sink, dims, op);
  }
  if (Value mean = op.getMean()) {
    SmallVector<DimAttr> dims = rowDims(mean, dealt, wholeDims(mean)[1], false);
    dims[0] = batchOf(wholeDims(mean)[0], wholeDims(op.getQuery())[0], dealt);
    local.mean = require(mean, dims, op);
  }
  SoftmaxState results = emitAttention(builder, local);
  auto defineRows = [&](OpResult global, Value value) {
    SmallVector<DimAttr> dims = rowDims(global, dealt, dealt.queryDim, false);
    assigned = assignedDims(op, global.getResultNumber());
    define(global, {reshard(value, dims, assigned, op), assigned});
  };
  defineRows(op->getResult(0), results.output);
  if (op.getLse())
    defineRows(op->getResult(1), results.lse);
}

void Localizer::localizeAttentionBackward(AttentionBackwardOp op) {
  // Without a plan every rank has all rows: of some queries gradients of keys
  // would be but parts.
  AttentionRows dealt = dealAttention(op.getQuery(), op.getKey(), op.getPlan(),
                                      assignedDims(op, 0)[0], DimAttr());
  auto ofQueries = [&](Value value) {
    return require(value, rowDims(value, dealt, dealt.queryDim, false), op);
  };
  auto ofKeys = [&](Value value) {
    return require(value, rowDims(value, dealt, dealt.keyDim, true), op);
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
  auto defineAs = [&](OpResult global, Value value, ArrayRef<DimAttr> dims) {
    SmallVector<DimAttr> assigned = assignedDims(op, global.getResultNumber());
    define(global, {reshard(value, dims, assigned, op), assigned});
  };
  OpResult query = op->getResult(0);
  defineAs(query, gradients.query,
           rowDims(query, dealt, dealt.queryDim, false));
  // Of kv heads that several tensor ranks have each has what its own queries
  // make of them.
  SmallVector<Value> ofKeyHeads = {gradients.key, gradients.value};
  if (dealt.headPart && !dealt.headPart.getEach().isDense())
    reduce(op, Reduction::Sum, dealt.headPart.getEach(), ofKeyHeads);
  for (OpResult key : op->getResults().slice(1, 2))
    defineAs(key, ofKeyHeads[key.getResultNumber() - 1],
             rowDims(key, dealt, dealt.keyDim, true));
  for (auto [global, value] :
       llvm::zip_equal(op->getResults().drop_front(3), gradients.terms)) {
    // One that is a sum over queries has none to deal.
    DimAttr own = wholeDims(global)[1];
    bool isSum = own != wholeDims(op.getQuery())[1];
    SmallVector<DimAttr> dims =
        rowDims(global, dealt, isSum ? own : dealt.queryDim, false);
    if (isSum)
      dims[2] = wholeDims(global)[2];
    defineAs(global, value, dims);
  }
}
