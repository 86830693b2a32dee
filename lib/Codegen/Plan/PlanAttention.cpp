//===- PlanAttention.cpp - Attention as commands --------------------------===//

#include "Plan/PlanOperations.h"

#include "sp/IR/Storage.h"

using namespace mlir;
using namespace mlir::sp;
namespace plan = sprt::plan;

/// Strides of [batch, row, head] in elements, of a dense [batch, row, head,
/// ...].
static std::vector<int64_t> headStrides(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t head = type.getRank() == 4 ? type.getDimSize(3) : 1;
  int64_t row = head * type.getDimSize(2);
  return {row * type.getDimSize(1), row, head};
}

/// Strides of a term in elements over batch, head, query and key; `dims` says
/// which dimension each is, -1 for none. One element serves a whole dimension
/// of size 1.
static std::vector<int64_t> termStrides(Value value,
                                        std::array<int64_t, 4> dims) {
  auto type = cast<RankedTensorType>(value.getType());
  std::vector<int64_t> strides;
  for (int64_t dim : dims) {
    bool isShared = dim < 0 || type.getDimSize(dim) == 1;
    strides.push_back(isShared ? 0
                               : ShapedType::getNumElements(
                                     type.getShape().drop_front(dim + 1)));
  }
  return strides;
}

static std::unique_ptr<plan::ScoreTermT> termOf(Value value, ViewPtr view,
                                                std::array<int64_t, 4> dims) {
  auto term = std::make_unique<plan::ScoreTermT>();
  term->view = std::move(view);
  term->strides = termStrides(value, dims);
  return term;
}

/// Says of a term that all heads are there, whichever are the rank's.
static void keepHeads(plan::ScoreTermT &term, Value value) {
  term.head_bytes = term.strides[1] * elementBytes(getElementTypeOrSelf(value));
}

/// Which dimensions of a term are batch, heads, queries and keys; -1 for none.
static std::array<int64_t, 4> dimsOf(TermKind kind) {
  switch (kind) {
  case TermKind::PerQuery:
    return {0, -1, 1, -1};
  case TermKind::PerKey:
    return {0, -1, -1, 1};
  case TermKind::PerHead:
    return {0, 2, -1, -1};
  case TermKind::Pair:
    return {0, 1, 2, 3};
  case TermKind::Table:
    return {-1, -1, -1, -1};
  }
}

template <typename OpT, typename TableT>
static void writeTerms(OpT op, PlanExpressions &expressions, TableT &attend) {
  attend.scored = op.getScore().has_value();
  for (auto [value, kind] :
       llvm::zip_equal(op.getTerms(), op.getTermKinds().getKinds())) {
    attend.terms.push_back(
        termOf(value, expressions.view(value), dimsOf(kind)));
    if (kind == TermKind::PerHead ||
        (kind == TermKind::Pair && op.hasWholeHeads(value)))
      keepHeads(*attend.terms.back(), value);
  }
}

/// What the tables of an attention step and of its gradients share: operands,
/// rows, heads and what a score function reads.
template <typename OpT, typename TableT>
static void writePairs(OpT op, const KernelInfo &info,
                       PlanExpressions &expressions, TableT &attend) {
  attend.kernel = expressions.getTables().kernelNumber(info);
  attend.scratch_bytes = info.scratchBytes;
  attend.q = expressions.view(op.getQuery());
  attend.k = expressions.view(op.getKey());
  attend.v = expressions.view(op.getValue());
  attend.q_strides = headStrides(op.getQuery());
  attend.k_strides = headStrides(op.getKey());
  attend.v_strides = headStrides(op.getValue());
  ArrayRef<int64_t> q = op.getQuery().getType().getShape(),
                    v = op.getValue().getType().getShape();
  attend.batch = constant(q[0]);
  int64_t headsBefore = op.getFirstHead(), kvBefore = op.getFirstKvHead();
  attend.heads_total = headsBefore + op.getHeadCount();
  attend.kv_total = kvBefore + op.getKvHeadCount();
  attend.heads = constant(q[2]);
  attend.head_first = constant(headsBefore);
  attend.kv_first = constant(kvBefore);
  if (std::optional<LayoutAttr> heads = op.getHeads()) {
    attend.heads = expressions.rowCount(*heads, expressions.owner(*heads));
    attend.head_first = behind(headsBefore, expressions.firstOf(*heads));
    attend.kv_first =
        behind(kvBefore, expressions.firstKvHead(*heads, op.getKvHeadCount()));
  }
  if (std::optional<HeadPartAttr> part = op.getHeadPart()) {
    attend.heads_total = part->getWholeHeads();
    attend.kv_total = part->getWholeKvHeads();
    using Op = plan::ExprOp;
    ExprPtr heads =
        combine(combine(expressions.firstOf(part->getKv()),
                        constant(part->getEach().getLength()), Op::mul),
                expressions.firstOf(part->getEach()), Op::add);
    attend.head_first =
        combine(std::move(heads), std::move(attend.head_first), Op::add);
    attend.kv_first = combine(expressions.firstOf(part->getKv()),
                              std::move(attend.kv_first), Op::add);
  }
  auto rowsOf = [&](LayoutAttr layout, Value source) {
    return expressions.rows(layout, source ? expressions.expression(source)
                                           : expressions.owner(layout));
  };
  attend.queries = rowsOf(op.getQueries(), op.getQuerySource());
  attend.keys = rowsOf(op.getKeys(), op.getSource());
  attend.bands = bandList(op.getBands());
  attend.documents =
      expressions.getTables().documentsNumber(op.getDocumentsAttr());
  if (op.getQueries().isOfBatch())
    expressions.getTables().dealBy(op.getDocumentsAttr());
  attend.scale = op.getScale().convertToDouble();
  attend.head_size = q[3];
  attend.value_size = v[3];
  writeTerms(op, expressions, attend);
}

plan::AttendT mlir::sp::writeAttend(AttendOp op, PlanExpressions &expressions,
                                    KernelLookup lookup) {
  KernelInfo info = lookup.of(op);
  plan::AttendT attend;
  writePairs(op, info, expressions, attend);
  attend.out = expressions.view(op.getOutput());
  attend.lse = expressions.view(op.getLse());
  attend.init = !op.getState();
  attend.o_strides = headStrides(op.getOutput());
  attend.lse_strides = headStrides(op.getLse());
  attend.query_block = info.queryBlock;
  attend.key_block = info.keyBlock;
  attend.order = info.order;
  if (!info.portable.empty()) {
    KernelInfo portable = lookup.named(info.portable);
    attend.portable = std::make_unique<plan::PortableKernelT>();
    attend.portable->kernel = expressions.getTables().kernelNumber(portable);
    attend.portable->query_block = portable.queryBlock;
  }
  return attend;
}

plan::AttendBackwardT
mlir::sp::writeAttendBackward(AttendBackwardOp op, PlanExpressions &expressions,
                              KernelLookup lookup) {
  plan::AttendBackwardT backward;
  writePairs(op, lookup.of(op), expressions, backward);
  backward.kv_heads = constant(op.getKey().getType().getDimSize(2));
  if (std::optional<LayoutAttr> heads = op.getHeads())
    backward.kv_heads = expressions.kvHeadCount(*heads, op.getKvHeadCount());
  backward.type = dtypeOf(op.getQuery().getType().getElementType());
  backward.d_out = expressions.view(op.getDOutput());
  backward.lse = expressions.view(op.getLse());
  backward.delta = expressions.view(op.getDelta());
  backward.dq = expressions.view(op.getDQuery());
  backward.dk = expressions.view(op.getDKey());
  backward.dv = expressions.view(op.getDValue());
  backward.init_queries = !op.getOntoQuery();
  backward.init_keys = !op.getOntoKey();
  backward.d_out_strides = headStrides(op.getDOutput());
  backward.lse_strides = headStrides(op.getLse());
  backward.delta_strides = headStrides(op.getDelta());
  backward.dq_strides = headStrides(op.getDQuery());
  backward.dk_strides = headStrides(op.getDKey());
  backward.dv_strides = headStrides(op.getDValue());
  for (Value value : op.getDTerms()) {
    backward.term_gradients.push_back(
        termOf(value, expressions.view(value), {0, 2, 1, 3}));
    if (!op.hasRows(value))
      keepHeads(*backward.term_gradients.back(), value);
  }
  return backward;
}
