//===- CountLoops.cpp - Loops of a constant count -------------------------===//
//
//   before   while(%i = 0, %x = %x0, %w = %stack) cond { %i < 24 } do {
//              %l = dynamic_slice %w, %i, 0, 0
//              ...
//              return %i + 1, %next, %w
//            }
//   after    scf.for %i = 0 to 24 iter_args(%x = %x0) {
//              %l = sp.take %stack at %i dim 0
//              ...
//              yield %next
//            }
//
// What a loop does not change is not carried; nor is its counter, where it only
// says which rows of a stack are read or written.
//
//===----------------------------------------------------------------------===//

#include "sp/IR/Attributes.h"
#include "sp/IR/SP.h"
#include "sp/Schedule/Passes.h"
#include "sp/StableHLO/Loops.h"
#include "sp/StableHLO/Operations.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace mlir::sp {
#define GEN_PASS_DEF_COUNTLOOPSPASS
#include "sp/Schedule/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

/// What runs more often, loops around it counted, stays a `while` whose count
/// is said: proofs and predictions go through an `scf.for` turn by turn.
static constexpr int64_t kMostTurns = 1 << 16;

namespace {

/// Row `scale * turn + first` in every turn of a loop.
struct RowOfTurn {
  int64_t scale = 0, first = 0;
};

/// Rows of one dimension of a stack, by turn.
struct RowsOfTurn {
  int64_t dim = 0;
  RowOfTurn row;
};

/// A counted `while` that becomes an `scf.for`.
class LoopConversion {
public:
  LoopConversion(stablehlo::WhileOp loop, CountedLoop count)
      : loop(loop), count(count), body(loop.getBody().front()) {}

  void run() {
    for (unsigned number = 0; number < loop->getNumOperands(); ++number)
      if (std::optional<Induction> known = findInduction(loop, number))
        inductions[body.getArgument(number)] = *known;
    useWhatStays();
    eraseDead(loop);
    findRows();
    eraseDead(loop);
    replace();
  }

private:
  template <typename OpT>
  std::optional<RowsOfTurn> rowsOf(OpT op, Value whole, RankedTensorType part);
  std::optional<RowOfTurn> rowOf(Value start, int64_t last);
  void useWhatStays();
  void findRows();
  bool isCarried(unsigned number) const;
  void replace();
  Value index(OpBuilder &builder, Location loc, const RowOfTurn &row,
              Value turn);

  stablehlo::WhileOp loop;
  CountedLoop count;
  Block &body;
  DenseMap<Value, Induction> inductions;
  SmallVector<std::pair<Operation *, RowsOfTurn>> reads, writes;
};

} // namespace

/// Where a start is an affine function of the turn, once it is clamped.
std::optional<RowOfTurn> LoopConversion::rowOf(Value start, int64_t last) {
  auto at = [&](int64_t turn) -> std::optional<int64_t> {
    std::optional<int64_t> row =
        evaluateScalar(start, [&](Value value) -> std::optional<int64_t> {
          auto found = inductions.find(value);
          return found == inductions.end()
                     ? std::nullopt
                     : std::optional(found->second.at(turn));
        });
    return row ? std::optional(std::clamp<int64_t>(*row, 0, last))
               : std::nullopt;
  };
  std::optional<int64_t> first = at(0), second = at(1);
  if (!first || !second)
    return std::nullopt;
  RowOfTurn row{count.trips > 1 ? *second - *first : 0, *first};
  for (int64_t turn = 2; turn < count.trips; ++turn)
    if (at(turn) != row.scale * turn + row.first)
      return std::nullopt;
  return row;
}

/// The dense rows of `whole` that `part` is, if its starts say such.
template <typename OpT>
std::optional<RowsOfTurn> LoopConversion::rowsOf(OpT op, Value whole,
                                                 RankedTensorType part) {
  auto type = cast<RankedTensorType>(whole.getType());
  std::optional<RowsOfTurn> rows;
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    if (part.getDimSize(dim) == size)
      continue;
    bool isDense = llvm::all_of(type.getShape().take_front(dim),
                                [](int64_t before) { return before == 1; });
    std::optional<RowOfTurn> row =
        rows || !isDense
            ? std::nullopt
            : rowOf(op.getStartIndices()[dim], size - part.getDimSize(dim));
    if (!row)
      return std::nullopt;
    rows = {static_cast<int64_t>(dim), *row};
  }
  return rows;
}

/// What no turn changes is read where it was before the loop.
void LoopConversion::useWhatStays() {
  for (auto [argument, next, init] :
       llvm::zip_equal(body.getArguments(), body.getTerminator()->getOperands(),
                       loop->getOperands()))
    if (next == argument)
      argument.replaceUsesWithIf(init, [&](OpOperand &use) {
        return use.getOwner() != body.getTerminator();
      });
}

/// Stacks are there before a turn: what it makes itself needs no place for one.
void LoopConversion::findRows() {
  for (auto slice : body.getOps<stablehlo::DynamicSliceOp>()) {
    Operation *def = slice.getOperand().getDefiningOp();
    if (def && def->getBlock() == &body)
      continue;
    if (std::optional<RowsOfTurn> rows = rowsOf(
            slice, slice.getOperand(), cast<RankedTensorType>(slice.getType())))
      reads.emplace_back(slice, *rows);
  }
  for (auto update : body.getOps<stablehlo::DynamicUpdateSliceOp>()) {
    auto argument = dyn_cast<BlockArgument>(update.getOperand());
    if (!argument || argument.getOwner() != &body)
      continue;
    if (std::optional<RowsOfTurn> rows =
            rowsOf(update, update.getOperand(),
                   cast<RankedTensorType>(update.getUpdate().getType())))
      writes.emplace_back(update, *rows);
  }
  // They no more read what says where.
  for (auto &[op, rows] : reads)
    op->setOperands(op->getOperand(0));
  for (auto &[op, rows] : writes)
    op->setOperands({op->getOperand(0), op->getOperand(1)});
}

/// Whether a turn hands the value on to the next one. An integer that nothing
/// else reads than its own sum is not.
bool LoopConversion::isCarried(unsigned number) const {
  Value own = body.getArgument(number),
        next = body.getTerminator()->getOperand(number);
  if (next == own)
    return false;
  return !inductions.contains(own) ||
         !(own.hasOneUse() && next.hasOneUse() &&
           *own.user_begin() == next.getDefiningOp());
}

Value LoopConversion::index(OpBuilder &builder, Location loc,
                            const RowOfTurn &row, Value turn) {
  if (row.scale == 0)
    return arith::ConstantIndexOp::create(builder, loc, row.first);
  if (row.scale == 1 && row.first == 0)
    return turn;
  AffineExpr number = builder.getAffineDimExpr(0) * row.scale + row.first;
  return affine::AffineApplyOp::create(builder, loc,
                                       AffineMap::get(1, 0, number), turn);
}

void LoopConversion::replace() {
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  Operation *yield = body.getTerminator();
  SmallVector<Value> inits;
  SmallVector<unsigned> carried;
  for (unsigned number = 0; number < loop->getNumOperands(); ++number)
    if (isCarried(number)) {
      carried.push_back(number);
      inits.push_back(loop->getOperand(number));
    }
  auto bound = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, number);
  };
  auto counted = scf::ForOp::create(builder, loc, bound(0), bound(count.trips),
                                    bound(1), inits);
  if (Attribute rows = loop->getAttr(kRowsOfBatch))
    counted->setAttr(kRowsOfBatch, rows);
  Block *inside = counted.getBody();
  inside->clear();
  // What is not carried is what it was before the loop.
  unsigned next = 0;
  for (unsigned number = 0; number < loop->getNumOperands(); ++number) {
    bool isNext = next < carried.size() && carried[next] == number;
    Value inBody = isNext ? Value(counted.getRegionIterArg(next))
                          : loop->getOperand(number);
    Value after =
        isNext ? Value(counted.getResult(next)) : loop->getOperand(number);
    next += isNext;
    auto known = inductions.find(body.getArgument(number));
    if (!isNext && known != inductions.end()) {
      auto type = cast<RankedTensorType>(inBody.getType());
      APInt last(64, static_cast<uint64_t>(known->second.at(count.trips)));
      after = stablehlo::ConstantOp::create(
          builder, loc,
          DenseElementsAttr::get(type,
                                 last.trunc(type.getElementTypeBitWidth())));
    }
    body.getArgument(number).replaceAllUsesWith(inBody);
    loop->getResult(number).replaceAllUsesWith(after);
  }
  builder.setInsertionPointToEnd(inside);
  SmallVector<Value> yielded;
  for (unsigned number : carried)
    yielded.push_back(yield->getOperand(number));
  scf::YieldOp::create(builder, loc, yielded);
  yield->erase();
  inside->getOperations().splice(inside->begin(), body.getOperations());
  Value turn = counted.getInductionVar();
  for (auto &[op, rows] : reads) {
    builder.setInsertionPoint(op);
    Value at = index(builder, op->getLoc(), rows.row, turn);
    op->getResult(0).replaceAllUsesWith(
        TakeOp::create(builder, op->getLoc(), op->getResult(0).getType(),
                       op->getOperand(0), at, rows.dim));
    op->erase();
  }
  for (auto &[op, rows] : writes) {
    builder.setInsertionPoint(op);
    Value at = index(builder, op->getLoc(), rows.row, turn);
    op->getResult(0).replaceAllUsesWith(
        PutOp::create(builder, op->getLoc(), op->getResult(0).getType(),
                      op->getOperand(1), op->getOperand(0), at, rows.dim));
    op->erase();
  }
  loop->erase();
  // Such as the sum of a counter that is not carried.
  eraseDead(counted);
}

namespace {

/// How often the body runs, as far as that is known of the loops around it.
int64_t turnsOf(stablehlo::WhileOp loop, const CountedLoop &count) {
  int64_t turns = count.trips;
  for (auto around = loop->getParentOfType<stablehlo::WhileOp>(); around;
       around = around->getParentOfType<stablehlo::WhileOp>())
    if (std::optional<int64_t> trips = countTrips(around))
      if (llvm::MulOverflow(turns, *trips, turns))
        return INT64_MAX;
  return turns;
}

struct CountLoopsPass : mlir::sp::impl::CountLoopsPassBase<CountLoopsPass> {
  void runOnOperation() override {
    // Inner loops first, which are then known to be counted.
    SmallVector<std::pair<stablehlo::WhileOp, CountedLoop>> loops;
    getOperation().walk([&](stablehlo::WhileOp loop) {
      if (std::optional<CountedLoop> count = countLoop(loop))
        loops.emplace_back(loop, *count);
    });
    Builder builder(&getContext());
    for (auto &[loop, count] : loops)
      if (turnsOf(loop, count) <= kMostTurns)
        LoopConversion(loop, count).run();
      else
        loop->setAttr(kTrips, builder.getI64IntegerAttr(count.trips));
  }
};

} // namespace
