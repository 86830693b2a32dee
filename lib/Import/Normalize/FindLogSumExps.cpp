//===- FindLogSumExps.cpp - Logarithms of sums that are read --------------===//
//
//   %r = reduce add exponential(%s - %m)
//   %l = log(%r) + %m                     ->  %l = sp.log_sum_exp %s
//   %ds = %rest + (%c / %r) * exponential(%s - %m)
//                                         ->  %ds = sp.add_log_sum_exp_gradient
//                                                       %rest by %c of %s
//
//===----------------------------------------------------------------------===//

#include "Normalize/Softmaxes.h"

#include "sp/IR/SP.h"
#include "sp/Import/Passes.h"
#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/StableHLO.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "sp/StableHLO/TensorTypes.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::sp {
#define GEN_PASS_DEF_FINDLOGSUMEXPSPASS
#include "sp/Import/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

/// Whether an operation adds or drops dimensions of one element.
static bool keepsRows(Operation *op) {
  if (!isa<stablehlo::ReshapeOp, stablehlo::BroadcastInDimOp>(op))
    return false;
  auto sizes = [](Value value) {
    SmallVector<int64_t> sizes;
    for (int64_t size : typeOf(value).getShape())
      if (size != 1)
        sizes.push_back(size);
    return sizes;
  };
  auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op);
  return sizes(op->getOperand(0)) == sizes(op->getResult(0)) &&
         (!broadcast || llvm::is_sorted(broadcast.getBroadcastDimensions()));
}

/// Whether a sum is over dimensions of one element.
static bool sumsNothing(Operation *op) {
  return reducesBy<stablehlo::AddOp>(op) &&
         typeOf(op->getOperand(0)).getNumElements() ==
             typeOf(op->getResult(0)).getNumElements();
}

static Value rootOf(Value rows) {
  while (Operation *op = rows.getDefiningOp()) {
    if (!keepsRows(op))
      break;
    rows = op->getOperand(0);
  }
  return rows;
}

/// The size of a number that all elements are; nothing where they differ.
static std::optional<APFloat> magnitudeOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<stablehlo::NegOp, stablehlo::BroadcastInDimOp,
                      stablehlo::ReshapeOp>(op))
    return magnitudeOf(op->getOperand(0));
  auto constant = dyn_cast_or_null<stablehlo::ConstantOp>(op);
  auto numbers = constant ? dyn_cast<DenseFPElementsAttr>(constant.getValue())
                          : DenseFPElementsAttr();
  if (!numbers || !numbers.isSplat())
    return std::nullopt;
  return abs(numbers.getSplatValue<APFloat>());
}

static bool isZero(Value value) {
  std::optional<APFloat> number = magnitudeOf(value);
  return number && number->isZero();
}

namespace {

/// The sum over keys of exponentials of scores less a number of each row.
class SumOfPowers {
public:
  /// Nothing if the reduction is no such sum.
  static std::optional<SumOfPowers> read(stablehlo::ReduceOp reduce);
  void collectRows();
  void foldSigns();
  void findLogarithms();
  void findGradients(Softmaxes &softmaxes);

private:
  void findGradient(stablehlo::DivOp slope, Softmaxes &softmaxes);
  void replaceOutside(Value old, Value by);

  stablehlo::ExpOp powers;
  stablehlo::ReduceOp reduce;
  Value scores;
  /// Null where nothing is subtracted.
  Value shift;
  int64_t dim = 0;
  /// The sum in all forms.
  llvm::SetVector<Value> rows;
};

} // namespace

/// Whether rows are the maxima of scores, or where these are no number of use
/// another one, but never NaN where scores are not.
static bool areMaxima(Value rows, Value scores) {
  rows = rootOf(rows);
  Operation *op = rows.getDefiningOp();
  auto isNumber = [](Value other) {
    std::optional<APFloat> number = magnitudeOf(other);
    return number && !number->isNaN();
  };
  if (isa_and_present<stablehlo::MaxOp>(op) ||
      isa_and_present<stablehlo::SelectOp>(op)) {
    Value a = op->getOperand(op->getNumOperands() - 2),
          b = op->getOperand(op->getNumOperands() - 1);
    return (areMaxima(a, scores) && isNumber(b)) ||
           (areMaxima(b, scores) && isNumber(a));
  }
  return op && reducesBy<stablehlo::MaxOp>(op) && op->getOperand(0) == scores;
}

std::optional<SumOfPowers> SumOfPowers::read(stablehlo::ReduceOp reduce) {
  SumOfPowers sum;
  sum.reduce = reduce;
  if (!reducesBy<stablehlo::AddOp>(reduce) ||
      reduce.getDimensions().size() != 1 || !isZero(reduce.getInitValues()[0]))
    return std::nullopt;
  sum.powers = reduce.getInputs()[0].getDefiningOp<stablehlo::ExpOp>();
  if (!sum.powers || !findScores(sum.powers) ||
      sum.powers->getBlock() != reduce->getBlock())
    return std::nullopt;
  sum.dim = reduce.getDimensions()[0];
  sum.scores = sum.powers.getOperand();
  auto difference = sum.scores.getDefiningOp<stablehlo::SubtractOp>();
  if (!difference || varyingDims(difference.getRhs())[sum.dim])
    return sum;
  auto broadcast =
      difference.getRhs().getDefiningOp<stablehlo::BroadcastInDimOp>();
  if (!broadcast || !llvm::is_sorted(broadcast.getBroadcastDimensions()))
    return std::nullopt;
  sum.scores = difference.getLhs();
  sum.shift = rootOf(broadcast.getOperand());
  if (typeOf(sum.shift).getNumElements() !=
          typeOf(reduce.getResult(0)).getNumElements() ||
      !areMaxima(sum.shift, sum.scores))
    return std::nullopt;
  return sum;
}

/// A sum of exponentials is what its magnitude is.
void SumOfPowers::collectRows() {
  rows.insert(reduce.getResult(0));
  for (size_t i = 0; i < rows.size(); ++i)
    for (Operation *user : rows[i].getUsers())
      if (keepsRows(user) || isa<stablehlo::AbsOp>(user))
        rows.insert(user->getResult(0));
}

void SumOfPowers::foldSigns() {
  SmallVector<Operation *> selects;
  for (Value value : rows)
    for (Operation *user : value.getUsers()) {
      auto compare = dyn_cast<stablehlo::CompareOp>(user);
      if (compare &&
          compare.getComparisonDirection() ==
              stablehlo::ComparisonDirection::GE &&
          compare.getLhs() == value && isZero(compare.getRhs()))
        for (Operation *select : compare.getResult().getUsers())
          if (isa<stablehlo::SelectOp>(select) &&
              select->getOperand(0) == compare.getResult())
            selects.push_back(select);
    }
  for (Operation *select : selects)
    select->getResult(0).replaceAllUsesWith(select->getOperand(1));
}

/// Uses of `old` but for those that all keys of a row are told.
void SumOfPowers::replaceOutside(Value old, Value by) {
  for (OpOperand &use : llvm::make_early_inc_range(old.getUses())) {
    Operation *user = use.getOwner();
    if (keepsRows(user)) {
      OpBuilder builder(user);
      Operation *clone = builder.clone(*user);
      clone->setOperand(0, by);
      replaceOutside(user->getResult(0), clone->getResult(0));
      continue;
    }
    bool isTold = user->getNumResults() == 1 &&
                  isa<stablehlo::BroadcastInDimOp>(user) &&
                  typeOf(user->getResult(0)).getNumElements() ==
                      typeOf(scores).getNumElements();
    if (!isTold)
      use.set(by);
  }
}

void SumOfPowers::findLogarithms() {
  llvm::SetVector<Value> logs;
  for (Value value : rows)
    for (Operation *user : value.getUsers())
      if (isa<stablehlo::LogOp>(user))
        logs.insert(user->getResult(0));
  SmallVector<Value> found;
  for (size_t i = 0; i < logs.size(); ++i) {
    if (!shift)
      found.push_back(logs[i]);
    for (Operation *user : logs[i].getUsers()) {
      if (keepsRows(user))
        logs.insert(user->getResult(0));
      if (shift && isa<stablehlo::AddOp>(user) &&
          llvm::any_of(user->getOperands(), [&](Value operand) {
            return operand != logs[i] && rootOf(operand) == shift;
          }))
        found.push_back(user->getResult(0));
    }
  }
  for (Value old : found) {
    OpBuilder builder(old.getContext());
    builder.setInsertionPointAfterValue(old);
    Value by =
        LogSumExpOp::create(builder, old.getLoc(), typeOf(reduce.getResult(0)),
                            scores, uint64_t(dim));
    if (by.getType() != old.getType())
      by = stablehlo::ReshapeOp::create(builder, old.getLoc(), old.getType(),
                                        by);
    replaceOutside(old, by);
  }
}

/// Takes a cotangent divided by the sum out of what multiplies the powers.
void SumOfPowers::findGradient(stablehlo::DivOp slope, Softmaxes &softmaxes) {
  if (slope->use_empty() || !softmaxes.of(slope.getLhs()).empty())
    return;
  Value value = slope.getResult();
  Operation *joins = nullptr;
  Value others;
  static constexpr unsigned maxSteps = 16;
  for (unsigned step = 0; step < maxSteps; ++step) {
    if (!value.hasOneUse())
      return;
    Operation *user = *value.getUsers().begin();
    if (isa<stablehlo::MulOp>(user))
      break;
    if (isa<stablehlo::AddOp>(user)) {
      Value other = user->getOperand(user->getOperand(0) == value);
      if (!joins && !isZero(other)) {
        joins = user;
        others = other;
      }
    } else if (!isa<stablehlo::BroadcastInDimOp, stablehlo::ReshapeOp>(user) &&
               !sumsNothing(user)) {
      return;
    }
    value = user->getResult(0);
  }
  Operation *product = *value.getUsers().begin();
  if (!isa<stablehlo::MulOp>(product) ||
      product->getOperand(product->getOperand(0) == value) !=
          powers.getResult())
    return;
  Value gradient = product->getResult(0), rest = gradient;
  if (!joins) {
    // The powers get nothing else: the gradients of scores are added later.
    if (!gradient.hasOneUse())
      return;
    Operation *sum = *gradient.getUsers().begin();
    if (!isa<stablehlo::AddOp>(sum))
      return;
    rest = sum->getOperand(sum->getOperand(0) == gradient);
    gradient = sum->getResult(0);
  }
  OpBuilder builder(gradient.getContext());
  builder.setInsertionPointAfterValue(gradient);
  Location location = slope.getLoc();
  Value cotangent = slope.getLhs();
  RankedTensorType type = typeOf(reduce.getResult(0));
  if (cotangent.getType() != type)
    cotangent =
        stablehlo::ReshapeOp::create(builder, location, type, cotangent);
  auto added = AddLogSumExpGradientOp::create(builder, location, rest,
                                              cotangent, scores, uint64_t(dim));
  gradient.replaceAllUsesExcept(added.getResult(), added);
  if (joins)
    joins->getResult(0).replaceAllUsesWith(others);
}

void SumOfPowers::findGradients(Softmaxes &softmaxes) {
  auto slopesOf = [&]() {
    SmallVector<stablehlo::DivOp> slopes;
    for (Value value : rows)
      for (Operation *user : value.getUsers())
        if (auto slope = dyn_cast<stablehlo::DivOp>(user);
            slope && slope.getRhs() == value && slope.getLhs() != value)
          slopes.push_back(slope);
    return slopes;
  };
  // What a loss gives lse, and what weights give it, one by one.
  for (stablehlo::DivOp slope : slopesOf()) {
    auto sum = slope.getLhs().getDefiningOp<stablehlo::AddOp>();
    if (!sum || softmaxes.of(sum.getLhs()).empty() ==
                    softmaxes.of(sum.getRhs()).empty())
      continue;
    OpBuilder builder(slope);
    auto part = [&](Value cotangent) -> Value {
      return stablehlo::DivOp::create(builder, slope.getLoc(), cotangent,
                                      slope.getRhs());
    };
    slope.replaceAllUsesWith(stablehlo::AddOp::create(builder, slope.getLoc(),
                                                      part(sum.getLhs()),
                                                      part(sum.getRhs()))
                                 .getResult());
  }
  for (stablehlo::DivOp slope : slopesOf())
    findGradient(slope, softmaxes);
}

namespace {

struct FindLogSumExpsPass
    : sp::impl::FindLogSumExpsPassBase<FindLogSumExpsPass> {
  SmallVector<SumOfPowers> sums() {
    eraseDead(getOperation());
    SmallVector<SumOfPowers> found;
    getOperation().walk([&](stablehlo::ReduceOp op) {
      if (std::optional<SumOfPowers> sum = SumOfPowers::read(op)) {
        found.push_back(*sum);
        found.back().collectRows();
      }
    });
    return found;
  }
  void runOnOperation() override {
    for (SumOfPowers &sum : sums()) {
      sum.foldSigns();
      sum.findLogarithms();
    }
    // Cotangents are made of logarithms, which now are softmaxes no longer.
    Softmaxes softmaxes;
    for (SumOfPowers &sum : sums())
      sum.findGradients(softmaxes);
    eraseDead(getOperation());
  }
};

} // namespace
