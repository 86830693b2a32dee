// Greedy clustering: each operation joins the kernels that make its operands as
// long as the rows agree and no path leaves the kernel and comes back.

#include "KernelClusters.h"

#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/StableHLO.h"
#include "sp/StableHLO/TensorTypes.h"

#include "llvm/ADT/BitVector.h"

namespace mlir::sp {

using namespace stablehlo;

/// Larger kernels would save nothing and compile slowly.
static constexpr size_t kMaxMembers = 96;
/// Work of one row that is small enough to be one tile, and that is small
/// enough if there are several rows.
static constexpr int64_t kSmallRow = 1 << 15, kLongRow = 1 << 18, kFewRows = 8;

KernelClusters::KernelClusters(Block &block) : block(block) {
  findFreeOps();
  findNeededOutside();
  findNodes();
  for (unsigned node = 0; node < nodes.size(); ++node) {
    // The nearest producer first: it is the likeliest to share rows.
    SmallVector<unsigned> producers;
    for (const Edge &edge : edgesInto[node])
      producers.push_back(edge.producer);
    llvm::sort(producers, std::greater<>());
    for (unsigned producer : producers)
      tryMerge(group[producer], group[node]);
  }
}

void KernelClusters::findFreeOps() {
  // What depends on no input is made again wherever it is read.
  llvm::DenseSet<Operation *> generated;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto barrier = dyn_cast<OptimizationBarrierOp>(op)) {
      passFreeAround(barrier);
      continue;
    }
    if (!isLocal(&op) || op.getNumRegions() != 0)
      continue;
    bool fromNothing = llvm::all_of(op.getOperands(), [&](Value operand) {
      return generated.contains(operand.getDefiningOp());
    });
    bool moves = op.hasTrait<Spread>();
    bool makes = fromNothing && !isStoredInKernel(&op);
    if (moves || makes)
      freeOps.insert(&op);
    if (makes)
      generated.insert(&op);
  }
}

/// What kernels make themselves is not saved: no checkpoint keeps it.
void KernelClusters::passFreeAround(OptimizationBarrierOp barrier) {
  SmallVector<Value> operands, results;
  for (auto [operand, result] :
       llvm::zip_equal(barrier->getOperands(), barrier->getResults())) {
    Operation *def = operand.getDefiningOp();
    if (freeOps.contains(def) && !isa<ReshapeOp>(def)) {
      result.replaceAllUsesWith(operand);
      continue;
    }
    operands.push_back(operand);
    results.push_back(result);
  }
  if (operands.size() == barrier->getNumOperands())
    return;
  OpBuilder builder(barrier);
  auto smaller = OptimizationBarrierOp::create(
      builder, barrier->getLoc(), ValueRange(operands).getTypes(), operands);
  for (auto [old, own] : llvm::zip_equal(results, smaller->getResults()))
    old.replaceAllUsesWith(own);
  barrier->erase();
}

void KernelClusters::findNeededOutside() {
  for (Operation &op : llvm::reverse(block)) {
    bool passesOn = isa<ReshapeOp>(op) && isLocal(&op) &&
                    neededOutside.contains(op.getResult(0));
    if (!isLocal(&op) || passesOn)
      forEachRead(&op, [&](Value value) { neededOutside.insert(value); });
  }
}

void KernelClusters::findNodes() {
  for (Operation &op : block) {
    bool isRoot = llvm::any_of(op.getResults(), [&](Value result) {
      return neededOutside.contains(result);
    });
    if (freeOps.contains(&op) && (!isRoot || isa<ReshapeOp, ConstantOp>(op)))
      continue;
    nodeOf[&op] = nodes.size();
    nodes.push_back(&op);
    isBarrier.push_back(!isLocal(&op));
  }
  edgesInto.resize(nodes.size());
  successors.resize(nodes.size());
  for (unsigned node = 0; node < nodes.size(); ++node) {
    group.push_back(node);
    members.push_back({node});
    if (isBarrier[node])
      forEachRead(nodes[node], [&](Value value) { addEdges(node, value, {}); });
    if (!isBarrier[node])
      for (unsigned i = 0; i < nodes[node]->getNumOperands(); ++i)
        addEdges(node, nodes[node]->getOperand(i),
                 preservedRows(nodes[node], i));
  }
}

void KernelClusters::addEdges(unsigned node, Value value,
                              const RowCounts &rows) {
  Operation *def = value.getDefiningOp();
  if (!def || def->getBlock() != &block)
    return;
  if (freeOps.contains(def)) {
    for (unsigned i = 0; i < def->getNumOperands(); ++i)
      addEdges(node, def->getOperand(i),
               commonRows(rows, preservedRows(def, i)));
    return;
  }
  unsigned producer = nodeOf[def];
  successors[producer].push_back(node);
  if (!isBarrier[producer] && !isBarrier[node])
    edgesInto[node].push_back({producer, rows});
}

/// Whether a path leads from group `from` through others into group `to`.
bool KernelClusters::reachesAround(unsigned from, unsigned to) const {
  llvm::BitVector seen(nodes.size());
  SmallVector<unsigned> pending;
  auto pushSuccessors = [&](unsigned node) {
    for (unsigned next : successors[node])
      if (group[next] != from && !seen.test(next)) {
        seen.set(next);
        pending.push_back(next);
      }
  };
  for (unsigned member : members[from])
    for (unsigned next : successors[member])
      if (group[next] != from && group[next] != to && !seen.test(next)) {
        seen.set(next);
        pending.push_back(next);
      }
  while (!pending.empty()) {
    unsigned node = pending.pop_back_val();
    if (group[node] == to)
      return true;
    for (unsigned member : members[group[node]])
      pushSuccessors(member);
  }
  return false;
}

bool KernelClusters::fitsOneKernel(ArrayRef<unsigned> candidates) const {
  llvm::DenseSet<unsigned> inside(candidates.begin(), candidates.end());
  llvm::DenseSet<unsigned> carries; ///< depends on something stored
  std::optional<RowCounts> rows;
  int64_t work = 1;
  auto restrict = [&](const RowCounts &allowed) {
    rows = rows ? commonRows(*rows, allowed) : allowed;
  };
  for (unsigned node : candidates) {
    Operation *op = nodes[node];
    bool isStored = isStoredInKernel(op);
    for (Value result : op->getResults()) {
      isStored |= neededOutside.contains(result);
      work = std::max(work, countOf(shapeOf(result)));
    }
    for (Value operand : op->getOperands())
      if (isStoredInKernel(op))
        work = std::max(work, countOf(shapeOf(operand)));
    for (unsigned next : successors[node])
      isStored |= !inside.contains(next);
    if (isStored) {
      restrict(rowCounts(shapeOf(op->getResult(0))));
      carries.insert(node);
    }
    for (const Edge &edge : edgesInto[node]) {
      if (!inside.contains(edge.producer))
        continue;
      if (edge.rows.empty())
        return false;
      if (!carries.contains(edge.producer))
        continue;
      restrict(edge.rows);
      carries.insert(node);
    }
  }
  int64_t count = rows && !rows->empty() ? *rows->rbegin() : 1;
  int64_t perRow = work / std::max<int64_t>(count, 1);
  return perRow <= kSmallRow || (count >= kFewRows && perRow <= kLongRow);
}

bool KernelClusters::tryMerge(unsigned producer, unsigned consumer) {
  if (producer == consumer ||
      members[producer].size() + members[consumer].size() > kMaxMembers)
    return false;
  SmallVector<unsigned> both(members[producer]);
  both.append(members[consumer]);
  llvm::sort(both);
  if (!fitsOneKernel(both) || reachesAround(producer, consumer))
    return false;
  for (unsigned node : members[producer])
    group[node] = consumer;
  members[producer].clear();
  members[consumer] = std::move(both);
  return true;
}

std::vector<SmallVector<Operation *>> KernelClusters::clusters() const {
  std::vector<SmallVector<Operation *>> result;
  for (unsigned node = 0; node < nodes.size(); ++node) {
    const auto &group = members[this->group[node]];
    if (isBarrier[node] || group.back() != node)
      continue;
    SmallVector<Operation *> ops;
    for (unsigned member : group)
      ops.push_back(nodes[member]);
    result.push_back(std::move(ops));
  }
  return result;
}

} // namespace mlir::sp
