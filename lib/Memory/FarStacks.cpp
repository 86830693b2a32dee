//===- FarStacks.cpp - What scans keep, to far memory and back ------------===//

#include "FarStacks.h"

#include "sp/IR/Attributes.h"
#include "sp/IR/CarriedValues.h"
#include "sp/IR/Flops.h"
#include "sp/IR/LoopTurns.h"
#include "sp/IR/PlacedValues.h"
#include "sp/IR/Storage.h"
#include "sp/IR/Views.h"
#include "sp/StableHLO/StableHLO.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::sp;

/// Whether the turns put each row of the stack once.
static bool putsAll(PutOp put, scf::ForOp loop) {
  int64_t dim = put.getDim(), block = put.getBlock().getType().getDimSize(dim),
          length = put.getType().getDimSize(dim);
  std::optional<Turns> turns = turnsOf(loop);
  if (!turns || !isBy(put.getAt(), loop.getInductionVar()) ||
      turns->count * block != length)
    return false;
  DenseSet<int64_t> seen;
  for (int64_t turn = 0; turn < turns->count; ++turn) {
    int64_t row = indexAt(put.getAt(), loop, turns->first + turn);
    if (row < 0 || row + block > length || row % block != 0 ||
        !seen.insert(row / block).second)
      return false;
  }
  return true;
}

PutOp FarStacks::Stack::put() const {
  scf::ForOp loop = maker;
  return loop.getYieldedValues()[index].getDefiningOp<PutOp>();
}

int64_t FarStacks::Stack::blockBytes() const {
  return storageBytes(put().getBlock().getType());
}

bool FarStacks::isHidden(scf::ForOp loop, int64_t bytes) const {
  std::optional<Turns> turns = turnsOf(loop);
  return turns && flopsOf(loop) / double(turns->count) >=
                      kLeastWait * double(bytes) * flopsPerByte;
}

FarStacks::FarStacks(func::FuncOp func, const Places &places,
                     double flopsPerByte)
    : flopsPerByte(flopsPerByte) {
  for (scf::ForOp loop : func.getBody().front().getOps<scf::ForOp>())
    for (unsigned index = 0; index < loop.getNumResults(); ++index)
      find(loop, index, places);
  // What all stacks of a loop copy is hidden, or the smaller ones stay.
  llvm::sort(all, [](const Stack &a, const Stack &b) {
    return std::make_tuple(-a.blockBytes(), a.number) <
           std::make_tuple(-b.blockBytes(), b.number);
  });
  DenseMap<Operation *, int64_t> copied;
  llvm::erase_if(all, [&](const Stack &stack) {
    DenseMap<Operation *, int64_t> more = copied;
    more[stack.maker] += stack.blockBytes();
    for (TakeOp take : stack.takes)
      more[take->getParentOp()] += storageBytes(take.getType());
    for (auto [loop, bytes] : more)
      if (!isHidden(cast<scf::ForOp>(loop), bytes))
        return true;
    copied = std::move(more);
    return false;
  });
}

void FarStacks::find(scf::ForOp maker, unsigned index, const Places &places) {
  Stack stack{maker, index, all.size(), {}, {}};
  BlockArgument carried = maker.getRegionIterArg(index);
  Value result = maker.getResult(index);
  if (!isTensor(result))
    return;
  PutOp put = stack.put();
  if (!put || put->getBlock() != maker.getBody() || put.getWhole() != carried ||
      !carried.hasOneUse() || !put->hasOneUse() || !putsAll(put, maker))
    return;
  for (Operation *user : result.getUsers()) {
    auto take = dyn_cast<TakeOp>(user);
    auto reader =
        take ? dyn_cast<scf::ForOp>(take->getParentOp()) : scf::ForOp();
    if (!reader || reader->getBlock() != maker->getBlock() ||
        take.getDim() != put.getDim() || !turnsOf(reader) ||
        !isBy(take.getAt(), reader.getInductionVar()))
      return;
    stack.takes.push_back(take);
  }
  if (stack.takes.empty())
    return;
  const Place &place = places.of(result);
  stack.choice.bytes = storageBytes(result.getType());
  stack.choice.wait = flopsOf(maker);
  stack.choice.spared.push_back({place.begin, place.end, bytesOf(place)});
  for (TakeOp take : stack.takes) {
    auto [first, last] = places.pointsOf(take->getParentOp());
    int64_t rows = llvm::alignTo(storageBytes(take.getType()), kPlaceAlignment);
    stack.choice.spared.push_back({first, last, -2 * rows});
    stack.choice.wait += flopsOf(take->getParentOp());
  }
  all.push_back(std::move(stack));
}

SmallVector<FarChoice *> FarStacks::choices() {
  SmallVector<FarChoice *> choices;
  for (Stack &stack : all)
    choices.push_back(&stack.choice);
  return choices;
}

DenseSet<Value> FarStacks::values() const {
  DenseSet<Value> values;
  for (const Stack &stack : all)
    values.insert(stack.maker->getResult(stack.index));
  return values;
}

Operation *FarStacks::ahead(Operation *op, Operation *behind,
                            int64_t bytes) const {
  double left = double(bytes) * flopsPerByte;
  while (left > 0 && op->getPrevNode() != behind) {
    op = op->getPrevNode();
    left -= flopsOf(op);
  }
  return op;
}

/// The last operation of the block that reads `value`, or views of it.
static Operation *lastReader(Value value, Block &block, Operation *least) {
  Operation *last = least;
  for (Operation *user : value.getUsers()) {
    Operation *own = block.findAncestorOpInBlock(*user);
    if (!own || own == block.getTerminator())
      continue;
    if (isa<stablehlo::ReshapeOp>(own))
      own = lastReader(own->getResult(0), block, own);
    if (last->isBeforeInBlock(own))
      last = own;
  }
  return last;
}

/// Moves a view or an index behind what it is made of; returns the operation of
/// the block after which it is there, null where it is from the beginning.
static Operation *raise(Value value, Block &block) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != &block)
    return nullptr;
  if (auto start = dyn_cast<CommunicationOpInterface>(op))
    return *start.getToken().user_begin();
  if (!isa<stablehlo::ReshapeOp, affine::AffineApplyOp>(op))
    return op;
  Operation *latest = nullptr;
  for (Value operand : op->getOperands())
    if (Operation *def = raise(operand, block);
        def && (!latest || latest->isBeforeInBlock(def)))
      latest = def;
  if (latest)
    op->moveAfter(latest);
  else
    op->moveBefore(&block, block.begin());
  return op;
}

void FarStacks::makeFar(Stack &stack) {
  scf::ForOp maker = stack.maker;
  PutOp put = stack.put();
  Block &body = *maker.getBody();
  OpBuilder builder(maker);
  RankedTensorType far = toFar(put.getType());
  OpOperand &init = maker.getInitArgsMutable()[stack.index];
  Operation *before = init.get().getDefiningOp();
  init.set(EmptyOp::create(builder, put.getLoc(), far));
  if (before && before->use_empty() &&
      (isa<LaunchOp>(before) || isMemoryEffectFree(before)))
    before->erase();
  BlockArgument carried = maker.getRegionIterArg(stack.index);
  carried.setType(far);
  maker.getResult(stack.index).setType(far);

  // As soon as block and row are there.
  Operation *latest = nullptr;
  for (Value operand : {Value(put.getBlock()), Value(put.getAt())})
    if (Operation *def = raise(operand, body);
        def && (!latest || latest->isBeforeInBlock(def)))
      latest = def;
  if (latest)
    builder.setInsertionPointAfter(latest);
  else
    builder.setInsertionPointToStart(&body);
  auto evict = EvictRowsStartOp::create(
      builder, put.getLoc(), far, TokenType::get(builder.getContext()),
      put.getBlock(), carried, put.getAt(), put.getDim());
  Value block = put.getBlock();
  put.getResult().replaceAllUsesWith(evict.getResult());
  put.erase();

  // Not before the copy is over, nor before the block is free anyway.
  Operation *last = lastReader(viewedBy(block), body, evict);
  double left = double(storageBytes(block.getType())) * flopsPerByte;
  for (Operation *op = evict; op != body.getTerminator();
       op = op->getNextNode()) {
    left -= flopsOf(op);
    bool isBehind = op == last || last->isBeforeInBlock(op);
    builder.setInsertionPointAfter(op);
    if (isBehind && left <= 0)
      break;
  }
  if (builder.getInsertionPoint() == body.end())
    builder.setInsertionPoint(body.getTerminator());
  WaitOp::create(builder, evict.getLoc(), evict.getToken());
}

void FarStacks::fetch(TakeOp take, Operation *behind) {
  auto reader = cast<scf::ForOp>(take->getParentOp());
  IRRewriter builder(take.getContext());
  Location loc = take.getLoc();
  Turns turns = *turnsOf(reader);
  Value whole = take.getWhole();
  auto fetchAt = [&](Value at) {
    return FetchRowsStartOp::create(builder, loc, take.getType(),
                                    TokenType::get(builder.getContext()), whole,
                                    at, take.getDim());
  };
  builder.setInsertionPoint(
      ahead(reader, behind, storageBytes(take.getType())));
  auto first = fetchAt(arith::ConstantIndexOp::create(
      builder, loc, indexAt(take.getAt(), reader, turns.first)));
  builder.setInsertionPoint(reader);
  WaitOp::create(builder, loc, first.getToken());

  FetchRowsStartOp following;
  scf::ForOp wider =
      makeAhead(builder, reader, first.getResult(), [&](IRMapping &next) {
        following = fetchAt(cloneIndex(builder, take.getAt(), next));
        following->setAttr(kAhead, builder.getUnitAttr());
        return SmallVector<Value>{following.getResult()};
      });
  builder.setInsertionPoint(wider.getBody()->getTerminator());
  WaitOp::create(builder, loc, following.getToken());
  take.getResult().replaceAllUsesWith(wider.getRegionIterArgs().back());
  take.erase();
}

void FarStacks::write() {
  llvm::erase_if(all, [](const Stack &stack) { return !stack.choice.goes; });
  for (Stack &stack : all)
    makeFar(stack);
  // Loops that read are made anew, and may be those that make another one.
  for (Stack &stack : all)
    for (TakeOp take : stack.takes)
      fetch(take, take.getWhole().getDefiningOp());
}
