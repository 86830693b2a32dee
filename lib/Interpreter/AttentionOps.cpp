//===- AttentionOps.cpp - Attention, whole and by blocks of keys ----------===//
#include "Ranks.h"
#include "ScoredPairs.h"
#include "sp/StableHLO/TensorTypes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::interpreter;
using sp::typeOf;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

namespace {
/// The softmax state of one query: the greatest exponent, in base e, the sum of
/// powers relative to it and that of values times powers.
struct RowState {
  double greatest = -kInfinity, sum = 0;
  std::vector<double> values;
  /// Whether a pair was visible, be it with an exponent of -inf.
  bool hasPairs = false;

  bool isEmpty() const { return sum == 0; }

  void scaleTo(double exponent) {
    double factor = isEmpty() ? 1 : std::exp(greatest - exponent);
    sum *= factor;
    for (double &value : values)
      value *= factor;
    greatest = exponent;
  }

  /// Sees the pairs of one query; `value(pair, i)` is element i of its value.
  template <typename Fn> void attend(ArrayRef<Pair> pairs, Fn value) {
    if (pairs.empty())
      return;
    hasPairs = true;
    double most = isEmpty() ? -kInfinity : greatest;
    // A NaN stays, so that it reaches the row instead of disappearing.
    for (const Pair &pair : pairs)
      if (pair.exponent > most || std::isnan(pair.exponent))
        most = pair.exponent;
    bool isHidden = most == -kInfinity;
    if (!isHidden)
      scaleTo(most);
    for (const Pair &pair : pairs) {
      // A key that its score hides has a power of 0, which its value is
      // multiplied by all the same: what is no number reaches the row.
      double power = isHidden ? 0 : std::exp(pair.exponent - most);
      sum += power;
      for (auto [i, number] : llvm::enumerate(values))
        number += power * pair.weight * value(pair, i);
    }
  }
};

/// The queries of one batch element and head.
struct HeadStates {
  int64_t batch, head;
  std::vector<RowState> rows;
};
} // namespace

/// Calls `fn` with the states of each batch element and head, which `begin`
/// fills before their pairs are seen.
template <typename Begin, typename Fn>
static LogicalResult forEachHead(const ScoredPairs &pairs, const Tensor &value,
                                 Evaluator &evaluator, Begin begin, Fn fn) {
  ArrayRef<double> v = value.elements<double>();
  int64_t size = value.getShape()[3];
  for (int64_t b = 0; b < value.getShape()[0]; ++b)
    for (int64_t h = 0; h < pairs.headCount(); ++h) {
      HeadStates states{b, h, std::vector<RowState>(pairs.queryCount())};
      for (RowState &row : states.rows)
        row.values.assign(size, 0);
      begin(states);
      FailureOr<std::vector<Pair>> scored = pairs.scoresOf(b, h, evaluator);
      if (failed(scored))
        return failure();
      std::vector<std::vector<Pair>> byQuery(pairs.queryCount());
      for (Pair &pair : *scored)
        byQuery[pair.query].push_back(pair);
      for (auto [row, seen] : llvm::zip_equal(states.rows, byQuery))
        row.attend(seen, [&](const Pair &pair, int64_t i) {
          return v[offsetAt(value, {b, pair.key, pairs.kvHead(h), i})];
        });
      fn(states);
    }
  return success();
}

//===----------------------------------------------------------------------===//
// Whole attention
//===----------------------------------------------------------------------===//

/// Element i of what a query gives.
static double resultOf(sp::AttentionOp op, const RowState &row, int64_t i,
                       double mean) {
  // Without a score function, keys whose scores are -inf are seen all the same,
  // and 0 / 0 of them is NaN.
  bool sawNothing = row.isEmpty() && (op.getScore() || !row.hasPairs);
  if (!sawNothing)
    return row.values[i] / row.sum;
  switch (op.getEmpty()) {
  case sp::Empty::Nan:
    return std::numeric_limits<double>::quiet_NaN();
  case sp::Empty::Zero:
    return row.values[i];
  case sp::Empty::Mean:
    return mean;
  }
  llvm_unreachable("a row is empty in one of three ways");
}

/// A row's logarithm of its sum or, with a score function, its greatest
/// exponent and its sum, as the attention's second result has them.
static std::pair<double, double> logarithmOf(sp::AttentionOp op,
                                             const RowState &row) {
  double nan = std::numeric_limits<double>::quiet_NaN();
  if (!op.getScore()) {
    if (row.isEmpty())
      return {row.hasPairs ? nan : -kInfinity, 0};
    return {row.greatest + std::log(row.sum), 0};
  }
  bool isNan = row.isEmpty() && op.getEmpty() == sp::Empty::Nan;
  return {isNan ? nan : row.greatest, row.sum};
}

static FailureOr<Tensors> attentionOp(sp::AttentionOp op, Tensors &operands,
                                      Evaluator &evaluator) {
  FailureOr<ScoredPairs> pairs = ScoredPairs::of(op, operands);
  if (failed(pairs))
    return failure();
  OperandValues valueOf(op, operands);
  Tensor sink = valueOf(op.getSink()), mean = valueOf(op.getMean());
  Tensors results{Tensor(typeOf(op.getResult()))};
  if (op.getLse())
    results.emplace_back(typeOf(op.getLse()));
  MutableArrayRef<double> out = results[0].mutableElements<double>();
  auto begin = [&](HeadStates &states) {
    if (!sink)
      return;
    for (RowState &row : states.rows) {
      row.greatest = sink.at<double>(states.head);
      row.sum = row.greatest == -kInfinity ? 0 : 1;
    }
  };
  auto finish = [&](const HeadStates &states) {
    auto [b, h, rows] = states;
    for (auto [i, row] : llvm::enumerate(rows)) {
      Place place{b, int64_t(i), h};
      int64_t first = offsetAt(results[0], place);
      for (size_t f = 0; f < row.values.size(); ++f)
        out[first + f] = resultOf(
            op, row, f,
            mean ? mean.at<double>(offsetAt(mean, {b, 0, h, int64_t(f)})) : 0);
      if (!op.getLse())
        continue;
      auto [greatest, sum] = logarithmOf(op, row);
      MutableArrayRef<double> lse = results[1].mutableElements<double>();
      int64_t at = offsetAt(results[1], place);
      lse[at] = greatest;
      if (op.getScore())
        lse[at + 1] = sum;
    }
  };
  if (failed(forEachHead(*pairs, valueOf(op.getValue()), evaluator, begin,
                         finish)))
    return failure();
  for (Tensor &result : results)
    evaluator.rounderFor(result.getElementType()).apply(result);
  return results;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

namespace {
/// How the numbers of a state stand in `sp.attend`.
struct StateForm {
  bool isSums, isScored;
  double lowest; ///< number of its type

  /// Greatest exponents of sums are in base 2 without a score function.
  double unit() const { return isSums && !isScored ? llvm::numbers::ln2 : 1; }

  RowState read(const Tensor &output, const Tensor &lse, Place place) const {
    RowState row;
    int64_t at = offsetAt(lse, place), first = offsetAt(output, place);
    row.greatest = lse.at<double>(at) * unit();
    row.sum = row.greatest == -kInfinity ? 0 : 1;
    if (isSums)
      row.sum = lse.at<double>(at + 1);
    for (int64_t i = 0; i < output.getShape()[3]; ++i)
      row.values.push_back(output.at<double>(first + i));
    return row;
  }

  void write(const RowState &row, Tensor &output, Tensor &lse,
             Place place) const {
    MutableArrayRef<double> out = output.mutableElements<double>();
    MutableArrayRef<double> numbers = lse.mutableElements<double>();
    int64_t at = offsetAt(lse, place), first = offsetAt(output, place);
    double greatest = row.greatest / unit(), divisor = 1;
    // Who saw scores of -inf only has a greatest one all the same, the lowest
    // number, and no sum, which a division makes NaN of.
    bool sawOnlyHidden = row.isEmpty() && row.hasPairs,
         hasGreatest = sawOnlyHidden || row.greatest > -kInfinity;
    if (hasGreatest && isSums && !isScored)
      greatest = std::max(greatest, lowest);
    if (!isSums && (!row.isEmpty() || sawOnlyHidden)) {
      divisor = row.sum;
      greatest += std::log(row.sum);
    }
    numbers[at] = greatest;
    if (isSums)
      numbers[at + 1] = row.sum;
    for (auto [i, value] : llvm::enumerate(row.values))
      out[first + i] = value / divisor;
  }
};
} // namespace

static FailureOr<Tensors> attendOp(sp::AttendOp op, Tensors &operands,
                                   Evaluator &evaluator) {
  FailureOr<ScoredPairs> pairs =
      ScoredPairs::of(op, operands, evaluator.getDevice());
  if (failed(pairs))
    return failure();
  OperandValues valueOf(op, operands);
  bool isRounded = evaluator.getOptions().precision == Precision::Program &&
                   getElementTypeOrSelf(op.getLse()).isF32();
  StateForm form{op.keepsSums(), pairs->isScored(),
                 isRounded ? std::numeric_limits<float>::lowest()
                           : std::numeric_limits<double>::lowest()};
  Tensor output = valueOf(op.getState()), lse = valueOf(op.getStateLse());
  // Padding stays what it was.
  bool isContinued = bool(output);
  if (!isContinued) {
    output = unwritten(typeOf(op.getOutput()));
    lse = unwritten(typeOf(op.getLse()));
  }
  Tensor newOutput = output, newLse = lse;
  auto begin = [&](HeadStates &states) {
    for (auto [i, row] : llvm::enumerate(states.rows))
      if (isContinued)
        row = form.read(output, lse, {states.batch, int64_t(i), states.head});
  };
  auto finish = [&](const HeadStates &states) {
    for (auto [i, row] : llvm::enumerate(states.rows))
      form.write(row, newOutput, newLse,
                 {states.batch, int64_t(i), states.head});
  };
  if (failed(forEachHead(*pairs, valueOf(op.getValue()), evaluator, begin,
                         finish)))
    return failure();
  Tensors results{std::move(newOutput), std::move(newLse)};
  for (Tensor &result : results)
    evaluator.rounderFor(result.getElementType()).apply(result);
  return results;
}

void interpreter::addAttentionOps(Handlers &handlers) {
  handlers.add<sp::AttentionOp>(attentionOp);
  handlers.add<sp::AttendOp>(attendOp);
}
