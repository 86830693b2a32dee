//===- BlockRows.cpp - Loops over blocks of rows -----------------------===//
//
//   before   %h = dot_general %x, %w          [1, 4096, 256]
//            %z = dot_general tanh(%h), %v
//   after    %z = scf.for %turn = 0 to 4 iter_args(%rows = sp.empty) {
//              %a = sp.take %x at %turn * 1024 dim 1
//              ... [1, 1024, 256] ...
//              yield sp.put %b into %rows at %turn * 1024 dim 1
//            }
//
// Sums over rows are carried from block to block.
//
//===----------------------------------------------------------------------===//

#include "RowRegions.h"
#include "sp/IR/Attributes.h"
#include "sp/IR/LocalForms.h"
#include "sp/IR/Program.h"
#include "sp/Schedule/Passes.h"
#include "sp/StableHLO/Operations.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Remarks.h"

namespace mlir::sp {
#define GEN_PASS_DEF_BLOCKROWSPASS
#include "sp/Schedule/Passes.h.inc"
} // namespace mlir::sp

#define DEBUG_TYPE "sp-block-rows"

using namespace mlir;
using namespace mlir::sp;

namespace {

/// Which rows a block has.
struct TurnRows {
  Value turn; ///< null: the first row is a constant
  int64_t stride = 0, first = 0, rows = 0;
};

/// Emits the members of a region for one block.
class BlockBody {
public:
  BlockBody(RowRegions &regions, const RowRegion &region, OpBuilder &builder,
            TurnRows block, ValueRange carried)
      : regions(regions), region(region), builder(builder), block(block),
        carried(carried) {}

  /// What is carried to the next block.
  SmallVector<Value> emit();

private:
  Value get(Value value);
  Operation *emit(Operation *op);
  Value emitSum(Operation *op, Value before);
  Value firstOf(const RowPlace &place, Location loc);

  RowRegions &regions;
  const RowRegion &region;
  OpBuilder &builder;
  TurnRows block;
  ValueRange carried;
  IRMapping mapping;
};

} // namespace

Value BlockBody::firstOf(const RowPlace &place, Location loc) {
  if (!block.turn)
    return arith::ConstantIndexOp::create(builder, loc,
                                          block.first * place.inner);
  AffineExpr number =
      builder.getAffineDimExpr(0) * (block.stride * place.inner);
  return affine::AffineApplyOp::create(
      builder, loc, AffineMap::get(1, 0, number), block.turn);
}

/// A value for the block's rows; what all rows share is what it was.
Value BlockBody::get(Value value) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  std::optional<RowPlace> place = regions.rowsOf(value);
  if (!place)
    return value;
  if (regions.isFree(value))
    return emit(value.getDefiningOp())->getResult(0);
  Location loc = value.getLoc();
  Value part =
      TakeOp::create(builder, loc, regions.typeOfRows(value, block.rows), value,
                     firstOf(*place, loc), place->dim);
  mapping.map(value, part);
  return part;
}

Operation *BlockBody::emit(Operation *op) {
  for (Value operand : op->getOperands())
    mapping.map(operand, get(operand));
  if (auto constant = dyn_cast<stablehlo::ConstantOp>(op)) {
    Value part = splat(builder, op->getLoc(),
                       regions.typeOfRows(op->getResult(0), block.rows),
                       constant.getValue().getSplatValue<Attribute>());
    mapping.map(op->getResult(0), part);
    return part.getDefiningOp();
  }
  Operation *part = builder.clone(*op, mapping);
  for (auto [global, local] :
       llvm::zip_equal(op->getResults(), part->getResults())) {
    local.setType(regions.typeOfRows(global, block.rows));
    mapping.map(global, local);
  }
  fitAttributes(part);
  return part;
}

/// The sum over the rows up to the block's last.
Value BlockBody::emitSum(Operation *op, Value before) {
  Operation *part = emit(op);
  Value own = part->getResult(0);
  if (isNarrow(own.getType()))
    addInF32(builder, part);
  return combine(builder, op->getLoc(), before, own, *sumOf(op));
}

SmallVector<Value> BlockBody::emit() {
  DenseMap<Value, Value> next;
  for (auto [result, value] : llvm::zip_equal(region.carried(), carried))
    next[result] = value;
  for (Operation *op : region.members) {
    if (!regions.rowsOf(op->getResult(0))) {
      Value &sum = next.find(op->getResult(0))->second;
      sum = emitSum(op, sum);
      continue;
    }
    emit(op);
    for (OpResult result : op->getResults())
      if (auto whole = next.find(result); whole != next.end()) {
        RowPlace place = *regions.rowsOf(result);
        whole->second = PutOp::create(builder, op->getLoc(), result.getType(),
                                      mapping.lookup(result), whole->second,
                                      firstOf(place, op->getLoc()), place.dim);
      }
  }
  return llvm::map_to_vector(region.carried(),
                             [&](Value result) { return next.at(result); });
}

/// Moves what needs results of the region, and stands between its members,
/// behind the last one.
static void moveBehind(const RowRegion &region) {
  DenseSet<Operation *> inside(region.members.begin(), region.members.end());
  Operation *last = region.members.back(), *behind = last;
  DenseSet<Value> late;
  for (Operation *op : region.members)
    late.insert_range(op->getResults());
  SmallVector<Operation *> moved;
  for (Operation *op = region.members.front(); op != last;
       op = op->getNextNode()) {
    if (inside.contains(op))
      continue;
    bool isLate = false;
    forEachRead(op, [&](Value value) { isLate |= late.contains(value); });
    if (!isLate)
      continue;
    late.insert_range(op->getResults());
    moved.push_back(op);
  }
  for (Operation *op : moved) {
    op->moveAfter(behind);
    behind = op;
  }
}

/// What a sum over rows is added to, and nothing else is done with it, if that
/// is there before the region: the sum starts from it.
static Operation *findAddition(OpResult sum, const RowRegion &region) {
  Operation *op = sum.getOwner();
  if (!sum.hasOneUse() || isNarrow(sum.getType()))
    return nullptr;
  Operation *user = *sum.user_begin();
  if (user->getBlock() != op->getBlock() || !combinesBy(user, *sumOf(op)) ||
      user->getOperand(0) == user->getOperand(1))
    return nullptr;
  Operation *start = otherOperand(user, sum).getDefiningOp();
  bool isThere = !start || start->getBlock() != op->getBlock() ||
                 start->isBeforeInBlock(region.members.front());
  return isThere ? user : nullptr;
}

/// Replaces a region by blocks of so many rows.
static void blockRows(RowRegions &regions, const RowRegion &region,
                      int64_t number, int64_t rows) {
  moveBehind(region);
  Operation *last = region.members.back();
  Location loc = region.members.front()->getLoc();
  OpBuilder builder(last);
  SmallVector<Value> carried;
  for (OpResult result : region.results)
    carried.push_back(EmptyOp::create(builder, loc, result.getType()));
  DenseMap<OpResult, Operation *> additions;
  for (OpResult result : region.sums) {
    if (Operation *addition = findAddition(result, region)) {
      additions[result] = addition;
      carried.push_back(otherOperand(addition, result));
      continue;
    }
    auto type = cast<RankedTensorType>(inF32(result.getType()));
    carried.push_back(
        neutralBroadcast(builder, loc, type, *sumOf(result.getOwner())));
  }
  int64_t whole = region.length() / rows, rest = region.length() % rows;
  auto bound = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, number);
  };
  auto loop = scf::ForOp::create(
      builder, loc, bound(0), bound(whole), bound(1), carried,
      [&](OpBuilder &inside, Location, Value turn, ValueRange values) {
        BlockBody body(regions, region, inside, {turn, rows, 0, rows}, values);
        scf::YieldOp::create(inside, loc, body.emit());
      });
  loop->setAttr(kRowBlocks, builder.getDenseI64ArrayAttr(
                                {number, region.length() * region.tokens,
                                 rows * region.tokens}));
  carried.assign(loop.getResults().begin(), loop.getResults().end());
  if (rest != 0)
    carried = BlockBody(regions, region, builder,
                        {Value(), 0, whole * rows, rest}, carried)
                  .emit();
  for (auto [old, value] : llvm::zip_equal(region.carried(), carried)) {
    if (Operation *addition = additions.lookup(old)) {
      regions.replace(addition->getResult(0), value);
      regions.discard(addition);
      continue;
    }
    regions.replace(old, convertType(builder, loc, value, old.getType()));
  }
  for (Operation *op : llvm::reverse(region.members))
    regions.discard(op);
}

namespace {

struct BlockRowsPass : mlir::sp::impl::BlockRowsPassBase<BlockRowsPass> {
  using Base::Base;

  void runOnOperation() override {
    if (blocks <= 1 && rows.empty())
      return;
    FailureOr<func::FuncOp> func = findProgram(getOperation());
    if (failed(func))
      return signalPassFailure();
    RowRegions regions(*func);
    std::vector<RowRegion> found;
    func->walk([&](Operation *op) {
      if (op != *func && !isa<scf::ForOp>(op) &&
          !op->hasTrait<stablehlo::ControlFlow>())
        return;
      for (Region &region : op->getRegions()) {
        std::vector<RowRegion> inBlock = regions.findIn(region.front());
        regions.remake(inBlock);
        llvm::append_range(found, inBlock);
      }
    });
    int64_t cut = 0, fewest = 0, most = 0;
    for (auto [number, region] : llvm::enumerate(found)) {
      if (region.carried().empty() || !region.storesInside())
        continue;
      int64_t count = rowsOf(number, region);
      blockRows(regions, region, number, count);
      if (count == region.length())
        continue;
      fewest = std::min(cut++ == 0 ? count : fewest, count);
      most = std::max(most, count);
    }
    regions.eraseDiscarded();
    // What blocks make again may be made for nobody else.
    func->walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
      if (isOpTriviallyDead(op))
        op->erase();
    });
    if (cut != 0)
      remark::passed(
          func->getLoc(),
          remark::RemarkOpts::name("RowsBlocked").category(DEBUG_TYPE))
          << remark::metric("regions", cut) << " of "
          << remark::metric("all", found.size())
          << " regions between attentions run in blocks of "
          << remark::metric("fewest", fewest) << " to "
          << remark::metric("most", most) << " rows";
  }

private:
  /// Rows of a block. One block of all rows is a loop too: what is made again
  /// in it is then not what others keep.
  int64_t rowsOf(size_t number, const RowRegion &region) const {
    if (rows.empty())
      return llvm::divideCeil(region.length(), std::max<int64_t>(blocks, 1));
    int64_t tokens = rows[std::min(number, rows.size() - 1)];
    return std::clamp<int64_t>(tokens / region.tokens, 1, region.length());
  }
};

} // namespace

#undef DEBUG_TYPE
