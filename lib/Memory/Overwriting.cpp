//===- Overwriting.cpp - When a place may be written over -----------------===//

#include "Overwriting.h"

#include "sp/IR/Program.h"

using namespace mlir;
using namespace mlir::sp;

namespace {

/// The first value in the place of `value`.
Value rootOf(Value value) {
  if (auto reshape = value.getDefiningOp<stablehlo::ReshapeOp>())
    return rootOf(reshape.getOperand());
  std::optional<Carried> carried = carriedBy(value);
  if (carried && carried->isUnchanged())
    return rootOf(carried->init());
  // Arguments of the condition lie where those of the body lie.
  if (carried && isa<BlockArgument>(value))
    return carried->argument();
  return value;
}

/// Calls `visit` for every use of what lies at `root` or in rows of it.
void forEachUse(Value root, function_ref<void(OpOperand &)> visit) {
  SmallVector<Value> aliases = {root};
  while (!aliases.empty()) {
    Value value = aliases.pop_back_val();
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (isa<stablehlo::ReshapeOp, TakeOp>(user)) {
        aliases.push_back(user->getResult(0));
        continue;
      }
      std::optional<Carried> carried = startedBy(use);
      if (carried && carried->isUnchanged()) {
        aliases.push_back(carried->argument());
        aliases.push_back(carried->result());
        if (auto loop = dyn_cast<stablehlo::WhileOp>(user))
          aliases.push_back(loop.getCond().getArgument(carried->index));
        continue;
      }
      visit(use);
    }
  }
}

/// Calls `visit` for every operation that reads what lies at `root`, but for
/// the uses `except`; for a communication also for its wait, until which it
/// reads. A loop's condition reads before the body does.
void forEachRead(Value root, ArrayRef<OpOperand *> except,
                 function_ref<void(Operation *)> visit) {
  forEachUse(root, [&](OpOperand &use) {
    Operation *user = use.getOwner();
    bool isOwnYield =
        user->hasTrait<OpTrait::IsTerminator>() &&
        isLoop(user->getParentOp()) && !changesCarried(use) &&
        user->getParentRegion() == &user->getParentOp()->getRegions().back();
    if (isOwnYield || llvm::is_contained(except, &use))
      return;
    visit(user);
    for (Value result : user->getResults())
      if (isa<TokenType>(result.getType()))
        for (Operation *wait : result.getUsers())
          visit(wait);
  });
}

/// Whether every read of what lies at `root`, but by `except`, comes before
/// `op` in its block.
bool isReadBefore(Value root, Operation *op,
                  ArrayRef<OpOperand *> except = {}) {
  bool isBefore = true;
  forEachRead(root, except, [&](Operation *reader) {
    Operation *own = op->getBlock()->findAncestorOpInBlock(*reader);
    isBefore &= own && own != op && own->isBeforeInBlock(op);
  });
  return isBefore;
}

/// The result that takes the place of an overwritten operand.
Value successorOf(OpOperand &operand) {
  for (auto [onto, result] : continuedBy(operand.getOwner()))
    if (onto == &operand)
      return result;
  return startedBy(operand)->result();
}

/// The overwritten operand whose place a value took, or null.
OpOperand *predecessorOf(Value value) {
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return nullptr;
  for (OpOperand &operand : result.getOwner()->getOpOperands())
    if (isOverwritten(operand) && successorOf(operand) == value)
      return &operand;
  return nullptr;
}

/// What lay first where `value` lies, before it was overwritten to become it.
Value originOf(Value value) {
  value = rootOf(value);
  while (OpOperand *before = predecessorOf(value))
    value = rootOf(before->get());
  return value;
}

/// Whether what lies at `start` becomes `value` by being overwritten, step by
/// step.
bool continues(Value value, Value start) {
  value = rootOf(value);
  while (value != start) {
    OpOperand *before = predecessorOf(value);
    if (!before)
      return false;
    value = rootOf(before->get());
  }
  return true;
}

/// Whether what is put into a stack are rows of it, changed where they lie.
bool isPutBack(PutOp put, TakeOp take) {
  return put->getBlock() == take->getBlock() &&
         put.getWhole() == take.getWhole() && put.getAt() == take.getAt() &&
         put.getDim() == take.getDim() &&
         put.getBlock().getType() == take.getType() &&
         continues(put.getBlock(), take);
}

/// The put of rows that have become others where they lie, which `take` took of
/// the same stack; null where there is none.
PutOp putOf(TakeOp take) {
  for (Operation *user : take.getWhole().getUsers())
    if (auto put = dyn_cast<PutOp>(user); put && isPutBack(put, take))
      return put;
  return nullptr;
}

/// The first operation of `block` that writes the place of `value`, or null
/// where the place comes from elsewhere.
Operation *firstWrite(Value value, Block *block) {
  Value root = rootOf(value);
  Operation *def = root.getDefiningOp();
  if (!def || def->getBlock() != block ||
      isa<stablehlo::ConstantOp, TakeOp>(def))
    return nullptr;
  // Where blocks handed on end up depends on the number of steps.
  std::optional<Carried> carried = carriedBy(root);
  if (carried && isHandedOn(carried->yielded()))
    return nullptr;
  if (OpOperand *before = predecessorOf(root))
    return firstWrite(before->get(), block);
  return def;
}

/// Whether the value lies in the slot in which a loop of `block` left a block
/// that it handed on.
bool liesWhereLeft(Value value, Block *block) {
  for (;;) {
    value = rootOf(value);
    std::optional<Carried> carried = carriedBy(value);
    if (carried && isHandedOn(carried->yielded()))
      return value.getDefiningOp() && carried->loop->getBlock() == block;
    OpOperand *before = predecessorOf(value);
    if (!before || isLoop(before->getOwner()))
      return false;
    value = before->get();
  }
}

} // namespace

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

bool mlir::sp::mayOverwrite(OpOperand &operand) {
  Operation *op = operand.getOwner();
  Value root = rootOf(operand.get()), origin = originOf(root);
  if (auto argument = dyn_cast<BlockArgument>(origin)) {
    // What the caller gives becomes what it takes.
    if (auto func = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()))
      return donatedTo(func, argument.getArgNumber()) &&
             isReadBefore(root, op, {&operand});
    // A loop that hands blocks on begins in the first slot.
    std::optional<Carried> started = startedBy(operand);
    if (started && isHandedOn(started->yielded()))
      return false;
    // A carried state is continued, once or more often, to become the next one.
    // What comes in place of a block that is handed on lies in the other slot.
    std::optional<Carried> carried = carriedBy(origin);
    return carried && argument.getOwner() == op->getBlock() &&
           (isHandedOn(carried->yielded()) ||
            continues(carried->yielded().get(), successorOf(operand))) &&
           isReadBefore(root, op, {&operand});
  }
  // Rows of a stack become those that are put back there.
  if (auto take = root.getDefiningOp<TakeOp>()) {
    PutOp put = take->getBlock() == op->getBlock() ? putOf(take) : PutOp();
    return put && isReadBefore(rootOf(take.getWhole()), op,
                               {&operand, &put.getWholeMutable()});
  }
  bool isOwn = firstWrite(root, op->getBlock()) ||
               (!isLoop(op) && liesWhereLeft(root, op->getBlock()));
  return isOwn && isReadBefore(root, op, {&operand});
}

bool mlir::sp::carriesArgumentOf(Value value, Block &body) {
  auto argument = dyn_cast<BlockArgument>(rootOf(value));
  return argument && argument.getOwner() == &body;
}

bool mlir::sp::isHandedOn(OpOperand &yielded) {
  Operation *loop = yielded.getOwner()->getParentOp();
  Carried carried{loop, yielded.getOperandNumber()};
  auto counted = dyn_cast<scf::ForOp>(loop);
  if (!counted || carried.isUnchanged())
    return false;
  // Which of two slots it ends in must be known.
  if (!counted.getStaticTripCount() && !carried.result().use_empty())
    return false;
  return !continues(yielded.get(), carried.argument());
}

bool mlir::sp::mayYieldInPlace(OpOperand &yielded) {
  Operation *yield = yielded.getOwner(), *parent = yield->getParentOp();
  Value root = rootOf(yielded.get());
  for (OpOperand &other : yield->getOpOperands())
    if (&other != &yielded && rootOf(other.get()) == root)
      return false;
  // What continues the argument lies where it lies.
  Carried carried{parent, yielded.getOperandNumber()};
  if (isLoop(parent) && continues(root, carried.argument()))
    return true;
  Operation *first = firstWrite(root, yield->getBlock());
  if (!first || !isLoop(parent) || isHandedOn(yielded))
    return first != nullptr;
  return isReadBefore(carried.argument(), first);
}

bool mlir::sp::mayPutInPlace(PutOp put) {
  for (Operation *user : put.getWhole().getUsers())
    if (auto take = dyn_cast<TakeOp>(user); take && isPutBack(put, take))
      return true;
  Value root = rootOf(put.getBlock()), whole = rootOf(put.getWhole());
  Operation *first = firstWrite(root, put->getBlock());
  if (!first || !isReadBefore(whole, first, {&put.getWholeMutable()}))
    return false;
  // What made the stack, such as another put, has read what was there before.
  Operation *made = whole.getDefiningOp();
  if (made && made->getBlock() == put->getBlock() &&
      !made->isBeforeInBlock(first))
    return false;
  // Nothing else says where the rows lie, nor changes them there.
  bool isOnly = true;
  forEachUse(root, [&](OpOperand &use) {
    Operation *user = use.getOwner();
    auto other = dyn_cast<PutOp>(user);
    isOnly &= !user->hasTrait<OpTrait::IsTerminator>() && !isOverwritten(use) &&
              (!other || other == put || use.get() != other.getBlock());
  });
  return isOnly;
}
