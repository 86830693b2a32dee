//===- ScoredPairs.cpp - Exponents of an attention's pairs ----------------===//
#include "ScoredPairs.h"
#include "Ranks.h"
#include "ScalarProgram.h"

using namespace mlir;
using namespace mlir::interpreter;
using sprt::algebra::Band;
using sprt::algebra::Interval;

Tensor OperandValues::operator()(Value operand) const {
  for (OpOperand &each : op->getOpOperands())
    if (operand && each.get() == operand)
      return values[each.getOperandNumber()];
  return Tensor();
}

int64_t interpreter::offsetAt(const Tensor &tensor, const Place &place) {
  ArrayRef<int64_t> shape = tensor.getShape();
  int64_t inner = shape.size() > 3 ? shape[3] : 1;
  return ((place.batch * shape[1] + place.row) * shape[2] + place.head) *
             inner +
         place.feature;
}

//===----------------------------------------------------------------------===//
// Operations as pairs
//===----------------------------------------------------------------------===//

void ScoredPairs::addTerm(Tensor values, ArrayRef<int64_t> dims) {
  Term term{std::move(values), {0, 0, 0, 0}};
  SmallVector<int64_t> strides = stridesOf(term.values.getShape());
  for (auto [i, dim] : llvm::enumerate(dims))
    if (dim >= 0 && term.values.getShape()[dim] != 1)
      term.strides[i] = strides[dim];
  terms.push_back(std::move(term));
}

template <typename OpT>
FailureOr<ScoredPairs> ScoredPairs::common(OpT op, const Tensors &operands) {
  OperandValues valueOf(op, operands);
  ScoredPairs pairs;
  pairs.op = op;
  pairs.query = valueOf(op.getQuery());
  pairs.key = valueOf(op.getKey());
  for (const Tensor &operand : {pairs.query, pairs.key})
    if (operand.getStorage() != Storage::Float)
      return op.emitOpError() << "cannot be evaluated on elements of type "
                              << operand.getElementType();
  pairs.bands = sp::toAlgebra(op.getBands());
  pairs.scale = op.getScale().convertToDouble();
  pairs.score = op.getScoreAttr();
  for (auto [term, kind] :
       llvm::zip_equal(op.getTerms(), op.getTermKinds().getKinds())) {
    switch (kind) {
    case sp::TermKind::PerQuery:
      pairs.addTerm(valueOf(term), {0, -1, 1, -1});
      break;
    case sp::TermKind::PerKey:
      pairs.addTerm(valueOf(term), {0, -1, -1, 1});
      break;
    case sp::TermKind::PerHead:
      pairs.addTerm(valueOf(term), {0, 2, -1, -1});
      pairs.terms.back().hasWholeHeads = true;
      break;
    case sp::TermKind::Pair:
      pairs.addTerm(valueOf(term), {0, 1, 2, 3});
      pairs.terms.back().hasKeyPositions = true;
      if constexpr (std::is_same_v<OpT, sp::AttendOp> ||
                    std::is_same_v<OpT, sp::AttendBackwardOp>)
        pairs.terms.back().hasWholeHeads = op.hasWholeHeads(term);
      break;
    case sp::TermKind::Table:
      pairs.tables.push_back(valueOf(term));
      break;
    }
  }
  if constexpr (std::is_same_v<OpT, sp::AttentionBackwardOp> ||
                std::is_same_v<OpT, sp::AttendBackwardOp>) {
    pairs.hasSlope = true;
    pairs.derivatives = op.getDTerms().size();
  }
  return pairs;
}

template <typename OpT>
FailureOr<ScoredPairs> ScoredPairs::whole(OpT op, const Tensors &operands) {
  FailureOr<ScoredPairs> pairs = common(op, operands);
  if (failed(pairs))
    return failure();
  ArrayRef<int64_t> q = pairs->query.getShape(), k = pairs->key.getShape();
  llvm::append_range(pairs->queries, llvm::seq(q[1]));
  llvm::append_range(pairs->keys, llvm::seq(k[1]));
  for (int64_t head = 0; head < q[2]; ++head)
    pairs->kvHeads.push_back(sprt::algebra::kvHeadOf(head, q[2], k[2]));
  return pairs;
}

/// The positions of an owner's rows, in local order.
static std::vector<int64_t> positionsOf(const sprt::algebra::Layout &rows,
                                        int64_t owner) {
  std::vector<int64_t> positions;
  for (int64_t row = 0; row < rows.count(owner); ++row)
    positions.push_back(rows.toGlobal(owner, row));
  return positions;
}

template <typename OpT>
FailureOr<ScoredPairs> ScoredPairs::local(OpT op, const Tensors &operands,
                                          int64_t rank) {
  FailureOr<ScoredPairs> pairs = common(op, operands);
  FailureOr<Owners> queries = Owners::find(op, op.getQueries()),
                    keys = Owners::find(op, op.getKeys());
  if (failed(pairs) || failed(queries) || failed(keys))
    return failure();
  OperandValues valueOf(op, operands);
  auto ownerOf = [&](const Owners &owners, Value source) {
    return source ? valueOf(source).template at<int64_t>()
                  : owners.ownerAt(rank);
  };
  pairs->queries =
      positionsOf(queries->rows(), ownerOf(*queries, op.getQuerySource()));
  pairs->keys = positionsOf(keys->rows(), ownerOf(*keys, op.getSource()));
  // Heads of the group, of which the rank holds [own.begin, own.end).
  int64_t heads = op.getHeadCount(), kvHeads = op.getKvHeadCount();
  Interval own{0, heads};
  if (std::optional<sp::LayoutAttr> dealt = op.getHeads()) {
    FailureOr<Owners> owners = Owners::find(op, *dealt);
    if (failed(owners))
      return failure();
    own = heldHeads(owners->rows(), owners->ownerAt(rank), heads);
  }
  Interval held = kvHeadsOf(own, heads, kvHeads);
  for (int64_t head = own.begin; head < own.end; ++head)
    pairs->kvHeads.push_back(sprt::algebra::kvHeadOf(head, heads, kvHeads) -
                             held.begin);
  pairs->firstHead = int64_t(op.getFirstHead()) + own.begin;
  if (std::optional<sp::HeadPartAttr> part = op.getHeadPart()) {
    FailureOr<Owners> kv = Owners::find(op, part->getKv()),
                      each = Owners::find(op, part->getEach());
    if (failed(kv) || failed(each))
      return failure();
    pairs->firstHead +=
        part->getFirstHead(kv->ownerAt(rank), each->ownerAt(rank));
  }
  return pairs;
}

FailureOr<ScoredPairs> ScoredPairs::of(sp::AttentionOp op,
                                       const Tensors &operands) {
  return whole(op, operands);
}
FailureOr<ScoredPairs> ScoredPairs::of(sp::AttentionBackwardOp op,
                                       const Tensors &operands) {
  return whole(op, operands);
}
FailureOr<ScoredPairs> ScoredPairs::of(sp::AttendOp op, const Tensors &operands,
                                       int64_t rank) {
  return local(op, operands, rank);
}
FailureOr<ScoredPairs> ScoredPairs::of(sp::AttendBackwardOp op,
                                       const Tensors &operands, int64_t rank) {
  return local(op, operands, rank);
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

Tensor ScoredPairs::columnOf(const Term &term, int64_t batch, int64_t head,
                             ArrayRef<Pair> pairs) const {
  int64_t first =
      batch * term.strides[0] +
      (term.hasWholeHeads ? headNumber(head) : head) * term.strides[1];
  SmallVector<int64_t> places;
  for (const Pair &pair : pairs)
    places.push_back(first + pair.query * term.strides[2] +
                     (term.hasKeyPositions ? keys[pair.key] : pair.key) *
                         term.strides[3]);
  return collect(term.values, places);
}

/// The function's results for each pair, as columns.
static FailureOr<Tensors> callOnColumns(func::FuncOp function, Tensors columns,
                                        ArrayRef<Tensor> tables, Operation *op,
                                        Evaluator &evaluator) {
  int64_t count = columns.front().size();
  bool isTogether = tables.empty() && isElementwise(function.getBody().front());
  if (isTogether) {
    FailureOr<Tensors> results =
        evaluator.call(function, std::move(columns), op);
    if (failed(results))
      return failure();
    for (Tensor &result : *results)
      if (result.getRank() == 0)
        result = repeatScalar(result, count);
    return results;
  }
  Tensors results;
  for (Type type : function.getResultTypes())
    results.emplace_back(
        RankedTensorType::get({count}, getElementTypeOrSelf(type)));
  for (int64_t i = 0; i < count; ++i) {
    Tensors scalars;
    for (const Tensor &column : columns)
      scalars.push_back(scalarAt(column, i));
    llvm::append_range(scalars, tables);
    FailureOr<Tensors> values =
        evaluator.call(function, std::move(scalars), op);
    if (failed(values))
      return failure();
    for (auto [result, value] : llvm::zip_equal(results, *values))
      result.mutableElements<double>()[i] = value.at<double>();
  }
  return results;
}

LogicalResult ScoredPairs::applyScore(int64_t batch, int64_t head,
                                      MutableArrayRef<Pair> pairs,
                                      Evaluator &evaluator) const {
  auto function = evaluator.lookup<func::FuncOp>(op, score);
  unsigned least = 1 + hasSlope + derivatives;
  bool fits = function && !function.isExternal() &&
              function.getNumResults() >= least &&
              function.getNumResults() <= least + 1 &&
              llvm::all_of(function.getResultTypes(), [](Type type) {
                return isa<FloatType>(getElementTypeOrSelf(type));
              });
  if (!fits)
    return op->emitOpError()
           << "cannot be evaluated: expected a function " << score << " with "
           << least << " or " << least + 1 << " numbers as results";
  if (pairs.empty())
    return success();
  auto count = int64_t(pairs.size());
  Type scoreType = getElementTypeOrSelf(function.getArgumentTypes().front());
  Tensor scores(RankedTensorType::get({count}, scoreType));
  auto integers =
      RankedTensorType::get({count}, IntegerType::get(op->getContext(), 32));
  Tensor heads = Tensor::splat<int64_t>(integers, headNumber(head)),
         queryNumbers(integers), keyNumbers(integers);
  for (auto [i, pair] : llvm::enumerate(pairs)) {
    scores.mutableElements<double>()[i] = pair.exponent;
    queryNumbers.mutableElements<int64_t>()[i] = queries[pair.query];
    keyNumbers.mutableElements<int64_t>()[i] = keys[pair.key];
  }
  evaluator.rounderFor(scoreType).apply(scores);
  Tensors columns{scores, heads, queryNumbers, keyNumbers};
  for (const Term &term : terms)
    columns.push_back(columnOf(term, batch, head, pairs));
  FailureOr<Tensors> results =
      callOnColumns(function, std::move(columns), tables, op, evaluator);
  if (failed(results))
    return failure();
  bool isWeighted = results->size() > least;
  for (int64_t i = 0; i < count; ++i) {
    Pair &pair = pairs[i];
    auto number = [&](unsigned result) {
      return (*results)[result].at<double>(i);
    };
    pair.exponent = number(0);
    if (hasSlope)
      pair.slope = number(1);
    if (isWeighted)
      pair.weight = number(1 + hasSlope);
    for (unsigned d = 0; d < derivatives; ++d)
      pair.derivatives.push_back(number(1 + hasSlope + isWeighted + d));
  }
  return success();
}

FailureOr<std::vector<Pair>> ScoredPairs::scoresOf(int64_t batch, int64_t head,
                                                   Evaluator &evaluator) const {
  std::vector<Pair> pairs, uniform;
  ArrayRef<double> q = query.elements<double>(), k = key.elements<double>();
  int64_t size = query.getShape()[3];
  for (int64_t i = 0; i < queryCount(); ++i)
    for (int64_t j = 0; j < keyCount(); ++j) {
      auto band = llvm::find_if(bands.bands(), [&](const Band &band) {
        return visible(band, queries[i], keys[j]);
      });
      if (band == bands.bands().end())
        continue;
      if (band->uniform) {
        uniform.push_back({i, j, 0});
        continue;
      }
      int64_t a = offsetAt(query, {batch, i, head}),
              b = offsetAt(key, {batch, j, kvHead(head)});
      double dot = 0;
      for (int64_t f = 0; f < size; ++f)
        dot += q[a + f] * k[b + f];
      pairs.push_back({i, j, dot * scale});
    }
  if (score && failed(applyScore(batch, head, pairs, evaluator)))
    return failure();
  llvm::append_range(pairs, uniform);
  return pairs;
}
