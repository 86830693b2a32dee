//===- BucketReductions.cpp - Sums of gradients that travel together ------===//
//
//   before   %a = sp.all_reduce %dw2      after   %dw1 = sp.gemm ...
//            %b = sp.launch(%a)                   %a, %c = sp.all_reduce %dw2,
//            %dw1 = sp.gemm ...                                          %dw1
//            %c = sp.all_reduce %dw1              %dx = sp.gemm ...
//            %dx = sp.gemm ...                    %b = sp.launch(%a)
//            return %b, %c                        return %b, %c
//
// Three steps in a block for each kind of sum, such as those that an axis deals
// to its ranks: what is made of sums moves to its first use, so that it does
// not keep sums from being joined; sums are joined; what is made of a bucket
// moves back in front of the next but one. Gathers that would start at one
// place, such as those of a layer's parameters, are one.
//
//===----------------------------------------------------------------------===//

#include "sp/IR/Storage.h"
#include "sp/Schedule/Passes.h"
#include "sp/StableHLO/StableHLO.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

#define DEBUG_TYPE "sp-bucket-reductions"

namespace mlir::sp {
#define GEN_PASS_DEF_BUCKETREDUCTIONSPASS
#include "sp/Schedule/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

/// Buckets of a kind that may wait to be used: one travels while another is
/// filled.
constexpr unsigned kWaiting = 2;

/// Below, a bucket costs more to start than it hides: the first bucket of
/// PyTorch's DistributedDataParallel.
constexpr int64_t kLeastBytes = 1024 * 1024;

/// Buckets that a block's sums make at least, if they are that large, so that
/// the last one, which little is left to hide, is small beside the others.
constexpr int64_t kParts = 8;

/// What an operation may keep by waiting beyond what it makes.
constexpr int64_t kKeptBytes = 64 * 1024;

/// Sums that can be joined: over the same axes, or dealt by the same axis, of
/// the same type.
using Kind = std::pair<Attribute, Type>;

std::optional<Kind> kindOf(Operation *op) {
  auto all = dyn_cast<AllReduceOp>(op);
  auto dealt = dyn_cast<ReduceScatterOp>(op);
  if (!all && !dealt)
    return std::nullopt;
  Type type = getElementTypeOrSelf(op->getOperand(0).getType());
  if ((all ? all.getKind() : dealt.getKind()) != Reduction::Sum)
    return std::nullopt;
  if (all)
    return Kind(all.getAxes(), type);
  return Kind(dealt.getAxis(), type);
}

int64_t bytesOf(Operation *sum) { return storageBytes(sum->getOperandTypes()); }

/// One operation of the values of several, where `place` is.
Operation *joinedAt(Operation *place, ArrayRef<Operation *> members) {
  SmallVector<Value> inputs;
  SmallVector<int64_t> dims;
  SmallVector<LayoutAttr> layouts;
  SmallVector<Location> locations;
  for (Operation *member : members) {
    locations.push_back(member->getLoc());
    llvm::TypeSwitch<Operation *>(member)
        .Case(
            [&](AllReduceOp op) { llvm::append_range(inputs, op.getInputs()); })
        .Case<ReduceScatterOp, AllGatherOp>([&](auto op) {
          llvm::append_range(inputs, op.getInputs());
          llvm::append_range(dims, op.getDims());
          llvm::append_range(layouts,
                             op.getLayouts().template getAsRange<LayoutAttr>());
        });
  }
  OpBuilder builder(place);
  Location loc = builder.getFusedLoc(locations);
  return llvm::TypeSwitch<Operation *, Operation *>(place)
      .Case([&](AllReduceOp op) {
        return AllReduceOp::create(builder, loc, ValueRange(inputs).getTypes(),
                                   inputs, op.getKind(), op.getAxes(),
                                   op.getRanks());
      })
      .Case([&](ReduceScatterOp op) {
        return ReduceScatterOp::create(builder, loc, inputs, op.getKind(), dims,
                                       layouts);
      })
      .Case([&](AllGatherOp op) {
        return AllGatherOp::create(builder, loc, inputs, dims, layouts,
                                   op.getAfter());
      });
}

/// Makes one operation of the members, where `place`, one of them, stands.
Operation *join(Operation *place, ArrayRef<Operation *> members,
                StringRef done) {
  if (members.size() == 1)
    return place;
  int64_t bytes = 0;
  for (Operation *member : members)
    bytes += bytesOf(member);
  Operation *bucket = joinedAt(place, members);
  remark::passed(place->getLoc(),
                 remark::RemarkOpts::name("Joined").category(DEBUG_TYPE))
      << remark::metric("values", bucket->getNumResults()) << " values of "
      << remark::metric("bytes", bytes) << " bytes are " << done << " at once";
  ResultRange results = bucket->getResults();
  for (Operation *member : members) {
    member->replaceAllUsesWith(results.take_front(member->getNumResults()));
    results = results.drop_front(member->getNumResults());
    member->erase();
  }
  return bucket;
}

/// The first operation of the block that uses a result of `op`, or the
/// terminator.
Operation *firstUse(Operation *op) {
  Block *block = op->getBlock();
  Operation *first = block->getTerminator();
  for (Operation *user : op->getUsers())
    if (Operation *own = block->findAncestorOpInBlock(*user);
        own && own->isBeforeInBlock(first))
      first = own;
  return first;
}

class BlockBuckets {
public:
  BlockBuckets(Block &block, int64_t mostBytes)
      : block(block), mostBytes(mostBytes) {}

  void run() {
    llvm::SetVector<Kind> kinds;
    for (Operation &op : block)
      if (std::optional<Kind> kind = kindOf(&op))
        kinds.insert(*kind);
    for (const Kind &kind : kinds) {
      SmallVector<Operation *> ofKind;
      for (Operation &op : block)
        if (kindOf(&op) == kind)
          ofKind.push_back(&op);
      users.clear();
      limits.clear();
      sinkUsers(ofKind);
      join(ofKind);
      raiseUsers();
    }
    joinGathers();
  }

private:
  void sinkUsers(ArrayRef<Operation *> ofKind);
  DenseSet<Operation *> needed(ArrayRef<Operation *> ofKind);
  void join(ArrayRef<Operation *> ofKind);
  /// What is made of one is to be used before the next but one.
  void limit(ArrayRef<Operation *> buckets) {
    for (size_t i = 0; i + kWaiting < buckets.size(); ++i)
      limits[buckets[i]] = buckets[i + kWaiting];
  }
  void raiseUsers();
  Operation *startOf(Operation *gather, Operation *previous);
  void joinGathers();

  Block &block;
  int64_t mostBytes;
  /// What is made of sums of a kind, in program order.
  SmallVector<Operation *> users;
  /// By bucket or user: before which bucket it is to be used.
  DenseMap<Operation *, Operation *> limits;
};

void BlockBuckets::sinkUsers(ArrayRef<Operation *> ofKind) {
  DenseSet<Operation *> known(ofKind.begin(), ofKind.end());
  for (Operation &op : block) {
    // What is summed over one axis may be summed over the next.
    bool isOther = kindOf(&op) && !known.contains(&op);
    if (!isOther && !isa<LaunchOp, GemmOp>(op) &&
        !op.hasTrait<stablehlo::Spread>())
      continue;
    SmallVector<Type> others;
    for (Value operand : op.getOperands())
      if (!known.contains(operand.getDefiningOp()))
        others.push_back(operand.getType());
    bool usesSum = others.size() < op.getNumOperands();
    if (!usesSum || storageBytes(TypeRange(others)) >
                        storageBytes(op.getResultTypes()) + kKeptBytes)
      continue;
    known.insert(&op);
    users.push_back(&op);
  }
  // Those with one place keep their order.
  DenseMap<Operation *, Operation *> firstBefore;
  for (Operation *user : llvm::reverse(users)) {
    Operation *&first = firstBefore[firstUse(user)];
    user->moveBefore(first ? first : firstUse(user));
    first = user;
  }
}

/// Those of a kind that a later one needs.
DenseSet<Operation *> BlockBuckets::needed(ArrayRef<Operation *> ofKind) {
  DenseSet<Operation *> leading(ofKind.begin(), ofKind.end()), found;
  for (Operation &op : llvm::reverse(block)) {
    bool isNeeded = llvm::any_of(op.getUsers(), [&](Operation *user) {
      return leading.contains(block.findAncestorOpInBlock(*user));
    });
    if (isNeeded)
      (leading.contains(&op) ? found : leading).insert(&op);
  }
  return found;
}

/// Joins sums of one kind, which are in program order.
void BlockBuckets::join(ArrayRef<Operation *> ofKind) {
  int64_t allBytes = 0, openBytes = 0;
  for (Operation *sum : ofKind)
    allBytes += bytesOf(sum);
  int64_t fullBytes =
      std::min(mostBytes, std::max(kLeastBytes, allBytes / kParts));
  DenseSet<Operation *> needed = this->needed(ofKind);
  SmallVector<Operation *> buckets, open;
  auto close = [&] {
    if (!open.empty())
      buckets.push_back(::join(open.back(), open, "summed"));
    open.clear();
    openBytes = 0;
  };
  for (size_t i = 0; i < ofKind.size(); ++i) {
    Operation *sum = ofKind[i];
    // Who needs it at once neither waits for others nor keeps them waiting.
    if (needed.contains(sum) || (i + 1 < ofKind.size() &&
                                 firstUse(sum)->isBeforeInBlock(ofKind[i + 1])))
      continue;
    bool isLate = llvm::any_of(open, [&](Operation *member) {
      return !sum->isBeforeInBlock(firstUse(member));
    });
    int64_t bytes = bytesOf(sum);
    if (isLate || openBytes + bytes > mostBytes)
      close();
    open.push_back(sum);
    openBytes += bytes;
    if (openBytes >= fullBytes)
      close();
  }
  close();
  limit(buckets);
}

void BlockBuckets::raiseUsers() {
  for (Operation *user : users) {
    Operation *limit = nullptr;
    for (Value operand : user->getOperands())
      if (Operation *own = limits.lookup(operand.getDefiningOp());
          own && (!limit || own->isBeforeInBlock(limit)))
        limit = own;
    if (!limit)
      continue;
    limits[user] = limit;
    auto isThere = [&](Value operand) {
      Operation *def = operand.getDefiningOp();
      return !def || def->getBlock() != &block || def->isBeforeInBlock(limit);
    };
    if (limit->isBeforeInBlock(user) &&
        llvm::all_of(user->getOperands(), isThere))
      user->moveBefore(limit);
  }
}

/// Behind which operation of the block a gather may start: that which makes the
/// last of its operands, or the communication before it. Null: at once.
Operation *BlockBuckets::startOf(Operation *gather, Operation *previous) {
  Operation *last = previous;
  for (Value operand : gather->getOperands()) {
    Operation *def = operand.getDefiningOp();
    if (def && def->getBlock() == &block &&
        (!last || last->isBeforeInBlock(def)))
      last = def;
  }
  return last;
}

/// Joins gathers that start at one place, one behind the other.
void BlockBuckets::joinGathers() {
  SmallVector<Operation *> open;
  Operation *previous = nullptr, *start = nullptr;
  int64_t openBytes = 0;
  auto close = [&] {
    if (!open.empty())
      previous = ::join(open.front(), open, "gathered");
    open.clear();
  };
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto gather = dyn_cast<AllGatherOp>(op);
    if (!gather) {
      // Loops and branches may communicate: nothing starts across them.
      if (op.getNumRegions() != 0 || isa<CommunicationOpInterface>(op)) {
        close();
        previous = &op;
      }
      continue;
    }
    int64_t bytes = storageBytes(gather.getResultTypes());
    auto first = open.empty() ? AllGatherOp() : cast<AllGatherOp>(open.front());
    bool isOne = first && first.getAxis() == gather.getAxis() &&
                 first.getAfter() == gather.getAfter() &&
                 startOf(gather, previous) == start &&
                 openBytes + bytes <= mostBytes;
    if (!isOne) {
      close();
      start = startOf(gather, previous);
      openBytes = 0;
    }
    open.push_back(gather);
    openBytes += bytes;
  }
  close();
}

struct BucketReductionsPass
    : mlir::sp::impl::BucketReductionsPassBase<BucketReductionsPass> {
  using BucketReductionsPassBase::BucketReductionsPassBase;

  void runOnOperation() override {
    getOperation().walk([&](Operation *op) {
      for (Region &region : op->getRegions())
        for (Block &block : region)
          if (op != getOperation())
            BlockBuckets(block, bucketBytes).run();
    });
  }
};

} // namespace

#undef DEBUG_TYPE
