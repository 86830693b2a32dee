//===- SimplifyScans.cpp - Rows that trips take and leave by numbers ------===//
//
//   %t = %arange[%i]; %x[%t * 128]         ->  %x[%i * 128]
//   %s = %s + (zeros with %r at %i * 128)  ->  %w = %w with %r at %i * 128
//
//===----------------------------------------------------------------------===//

#include "sp/IR/LocalForms.h"
#include "sp/Import/Passes.h"
#include "sp/StableHLO/Builders.h"
#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/ScanLoops.h"
#include "sp/StableHLO/TensorTypes.h"

#include "mlir/IR/Matchers.h"

namespace mlir::sp {
#define GEN_PASS_DEF_SIMPLIFYSCANSPASS
#include "sp/Import/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

/// A number that a trip of a loop computes of counters.
static std::optional<int64_t> numberIn(ScanLoop &scan, Value value,
                                       int64_t trip) {
  return evaluateScalar(value, [&](Value known) -> std::optional<int64_t> {
    if (auto argument = dyn_cast<BlockArgument>(known);
        argument && argument.getOwner() == &scan.body())
      if (std::optional<Induction> own =
              scan.carried[argument.getArgNumber()].induction)
        return own->at(trip);
    return std::nullopt;
  });
}

/// A number of `tensor<N>` that is made of constants.
static std::optional<int64_t> numberAt(Value stack, int64_t row) {
  return evaluateScalar(stack, [&](Value known) -> std::optional<int64_t> {
    DenseIntElementsAttr constant;
    if (matchPattern(known, m_Constant(&constant)) && !constant.isSplat() &&
        constant.getElementType().getIntOrFloatBitWidth() <= 64)
      return constant.getValues<APInt>()[row].getSExtValue();
    return known.getDefiningOp<stablehlo::IotaOp>() ? std::optional(row)
                                                    : std::nullopt;
  });
}

/// The arithmetic progression that so many numbers of a stack are, which
/// constants make or each trip of an earlier loop has written one of.
static std::optional<Induction> findProgression(Value stack, int64_t count) {
  auto loop = stack.getDefiningOp<stablehlo::WhileOp>();
  std::optional<ScanLoop> scan = loop ? ScanLoop::find(loop) : std::nullopt;
  ScanValue left;
  if (scan)
    left = scan->carried[cast<OpResult>(stack).getResultNumber()];
  bool isWritten =
      left.kind == ScanValue::Kind::Written && left.written.rows == 1;
  auto at = [&](int64_t row) {
    return isWritten ? numberIn(*scan, left.update.getUpdate(),
                                left.written.isReversed ? count - 1 - row : row)
                     : numberAt(stack, row);
  };
  std::optional<int64_t> first = at(0), second = at(1);
  if (!first || !second)
    return std::nullopt;
  Induction progression{*first, *second - *first};
  for (int64_t row = 2; row < count; ++row)
    if (at(row) != progression.at(row))
      return std::nullopt;
  return progression;
}

/// Computes a slice of one number of the row that it is taken at, where its
/// stack holds an arithmetic progression.
static void count(ScanLoop &scan, stablehlo::DynamicSliceOp slice) {
  auto type = cast<RankedTensorType>(slice.getType());
  bool isNumber = type.getRank() == 1 && type.getDimSize(0) == 1 &&
                  isa<IntegerType>(type.getElementType()) &&
                  !type.getElementType().isInteger(1);
  if (!isNumber || !scan.rowsOf(slice))
    return;
  std::optional<Induction> progression =
      findProgression(scan.outside(slice.getOperand()), scan.trips);
  if (!progression)
    return;
  OpBuilder builder(slice);
  Location loc = slice.getLoc();
  auto scalar = type.clone(ArrayRef<int64_t>());
  auto constant = [&](int64_t number) {
    return splat(builder, loc, scalar,
                 builder.getIntegerAttr(type.getElementType(), number));
  };
  Value number = convertTo(builder, loc, slice.getStartIndices()[0],
                           scalar.getElementType());
  if (progression->step != 1)
    number = stablehlo::MulOp::create(builder, loc, number,
                                      constant(progression->step));
  if (progression->first != 0)
    number = stablehlo::AddOp::create(builder, loc, number,
                                      constant(progression->first));
  for (Operation *user : llvm::make_early_inc_range(slice->getUsers()))
    if (isa<stablehlo::ReshapeOp>(user) &&
        user->getResult(0).getType() == scalar)
      user->replaceAllUsesWith(ValueRange{number});
  slice->replaceAllUsesWith(ValueRange{stablehlo::BroadcastInDimOp::create(
      builder, loc, type, number, ArrayRef<int64_t>())});
}

/// Sums of rows that each trip adds at a place of its own: they are written
/// there, and what they are added to follows.
static void writeSums(ScanLoop &scan) {
  for (auto [number, carried] : llvm::enumerate(scan.carried)) {
    if (carried.kind != ScanValue::Kind::Sum || carried.added.size() != 1 ||
        !carried.subtracted.empty())
      continue;
    auto update =
        carried.added[0].getDefiningOp<stablehlo::DynamicUpdateSliceOp>();
    if (!update || !isNeutral(update.getOperand(), Reduction::Sum) ||
        !update->hasOneUse() || !scan.rowsOf(update))
      continue;
    stablehlo::WhileOp loop = scan.loop;
    Operation *yield = scan.body().getTerminator();
    update.getOperandMutable().assign(scan.body().getArgument(number));
    yield->setOperand(number, update);
    Value init = loop->getOperand(number);
    if (isNeutral(init, Reduction::Sum))
      continue;
    OpBuilder builder(loop);
    auto type = cast<RankedTensorType>(init.getType());
    loop->setOperand(
        number, neutralBroadcast(builder, loop.getLoc(), type, Reduction::Sum));
    builder.setInsertionPointAfter(loop);
    Value result = loop->getResult(number);
    auto sum = stablehlo::AddOp::create(builder, loop.getLoc(), init, result);
    result.replaceAllUsesExcept(sum, sum);
  }
}

/// Rows that a trip writes are what it makes, which others may read: not that
/// once more with another dimension of 1.
static void reshapeRows(ScanLoop &scan) {
  for (ScanValue &carried : scan.carried) {
    auto rows = carried.update
                    ? carried.update.getUpdate()
                          .getDefiningOp<stablehlo::BroadcastInDimOp>()
                    : stablehlo::BroadcastInDimOp();
    if (!rows || !rows->hasOneUse() ||
        typeOf(rows).getNumElements() !=
            typeOf(rows.getOperand()).getNumElements() ||
        !llvm::is_sorted(rows.getBroadcastDimensions()))
      continue;
    OpBuilder builder(rows);
    rows->replaceAllUsesWith(ValueRange{stablehlo::ReshapeOp::create(
        builder, rows.getLoc(), rows.getType(), rows.getOperand())});
  }
}

namespace {

struct SimplifyScansPass : sp::impl::SimplifyScansPassBase<SimplifyScansPass> {
  void runOnOperation() override {
    getOperation().walk<WalkOrder::PreOrder>([](stablehlo::WhileOp loop) {
      std::optional<ScanLoop> scan = ScanLoop::find(loop);
      if (!scan)
        return;
      for (auto slice : llvm::make_early_inc_range(
               scan->body().getOps<stablehlo::DynamicSliceOp>()))
        count(*scan, slice);
      // By rows that are known now.
      scan = ScanLoop::find(loop);
      writeSums(*scan);
      reshapeRows(*scan);
    });
    eraseDead(getOperation());
  }
};

} // namespace
