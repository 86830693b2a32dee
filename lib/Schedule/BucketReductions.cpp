//===- BucketReductions.cpp - Sums of gradients that travel together ------===//
//
//   before   %a = sp.all_reduce %dw2      after   %dw1 = sp.gemm ...
//            %b = sp.launch(%a)                   %a, %c = sp.all_reduce %dw2,
//            %dw1 = sp.gemm ...                                          %dw1
//            %c = sp.all_reduce %dw1              %dx = sp.gemm ...
//            %dx = sp.gemm ...                    %b = sp.launch(%a)
//            return %b, %c                        return %b, %c
//
// Three steps in a block: what is made of sums moves to its first use, so that
// it does not keep sums from being joined; sums are joined; what is made of a
// bucket moves back in front of the next but one. So does what is made of sums
// that are dealt to the ranks, which are not joined.
//
//===----------------------------------------------------------------------===//

#include "sp/IR/Storage.h"
#include "sp/Schedule/Passes.h"
#include "sp/StableHLO/StableHLO.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"

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

/// Sums that can be joined: over the same axes, of the same type.
using Kind = std::pair<Attribute, Type>;

int64_t bytesOf(AllReduceOp op) {
  return storageBytes(op.getInputs().getTypes());
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
    for (AllReduceOp op : block.getOps<AllReduceOp>())
      if (op.getKind() == Reduction::Sum)
        sums[{op.getAxes(), getElementTypeOrSelf(op.getInputs()[0].getType())}]
            .push_back(op);
    for (ReduceScatterOp op : block.getOps<ReduceScatterOp>())
      dealt.push_back(op);
    if (sums.empty() && dealt.empty())
      return;
    sinkUsers();
    for (auto &[kind, ofKind] : sums)
      join(ofKind);
    limit(dealt);
    raiseUsers();
  }

private:
  void sinkUsers();
  void join(ArrayRef<AllReduceOp> ofKind);
  /// What is made of one is to be used before the next but one.
  void limit(ArrayRef<Operation *> buckets) {
    for (size_t i = 0; i + kWaiting < buckets.size(); ++i)
      limits[buckets[i]] = buckets[i + kWaiting];
  }
  Operation *joined(ArrayRef<AllReduceOp> members);
  void raiseUsers();

  Block &block;
  int64_t mostBytes;
  llvm::MapVector<Kind, SmallVector<AllReduceOp>> sums;
  /// Sums that are dealt, each on its own.
  SmallVector<Operation *> dealt;
  /// What is made of sums, in program order.
  SmallVector<Operation *> users;
  /// By bucket or user: before which bucket it is to be used.
  DenseMap<Operation *, Operation *> limits;
};

void BlockBuckets::sinkUsers() {
  DenseSet<Operation *> known;
  for (auto &[kind, ofKind] : sums)
    known.insert(ofKind.begin(), ofKind.end());
  known.insert(dealt.begin(), dealt.end());
  for (Operation &op : block) {
    if (!isa<LaunchOp, GemmOp>(op) && !op.hasTrait<stablehlo::Spread>())
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

/// Makes one operation of the members, where the last one stands.
Operation *BlockBuckets::joined(ArrayRef<AllReduceOp> members) {
  AllReduceOp last = members.back();
  if (members.size() == 1)
    return last;
  SmallVector<Value> inputs;
  SmallVector<Location> locations;
  int64_t bytes = 0;
  for (AllReduceOp member : members) {
    llvm::append_range(inputs, member.getInputs());
    locations.push_back(member.getLoc());
    bytes += bytesOf(member);
  }
  OpBuilder builder(last);
  auto bucket = AllReduceOp::create(
      builder, builder.getFusedLoc(locations), ValueRange(inputs).getTypes(),
      inputs, last.getKind(), last.getAxes(), last.getRanks());
  remark::passed(last.getLoc(),
                 remark::RemarkOpts::name("Joined").category(DEBUG_TYPE))
      << remark::metric("values", inputs.size()) << " values of "
      << remark::metric("bytes", bytes) << " bytes are summed at once";
  ResultRange results = bucket.getResults();
  for (AllReduceOp member : members) {
    member.replaceAllUsesWith(results.take_front(member.getNumResults()));
    results = results.drop_front(member.getNumResults());
    member.erase();
  }
  return bucket;
}

/// Joins sums of one kind, which are in program order.
void BlockBuckets::join(ArrayRef<AllReduceOp> ofKind) {
  int64_t allBytes = 0, openBytes = 0;
  for (AllReduceOp sum : ofKind)
    allBytes += bytesOf(sum);
  int64_t fullBytes =
      std::min(mostBytes, std::max(kLeastBytes, allBytes / kParts));
  SmallVector<Operation *> buckets;
  SmallVector<AllReduceOp> open;
  auto close = [&] {
    if (!open.empty())
      buckets.push_back(joined(open));
    open.clear();
    openBytes = 0;
  };
  for (size_t i = 0; i < ofKind.size(); ++i) {
    AllReduceOp sum = ofKind[i];
    // Who needs it at once neither waits for others nor keeps them waiting.
    if (i + 1 < ofKind.size() && firstUse(sum)->isBeforeInBlock(ofKind[i + 1]))
      continue;
    bool isLate = llvm::any_of(open, [&](AllReduceOp member) {
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
