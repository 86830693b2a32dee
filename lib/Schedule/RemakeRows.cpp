//===- RemakeRows.cpp - Rows made again where they are read ------------===//
//
//   region 0     %g = dot_general %x, %w
//                %s = logistic(%g)               kept: %g, %s, %m
//                %m = multiply %g, %s
//   region 4     ... %m, %s, ...
//   after        region 4 makes %s and %m of %g again, which alone is kept
//
// What is cheap between regions is cut where the fewest bytes are kept; what
// others read later anyway costs nothing.
//
//===----------------------------------------------------------------------===//

#include "RowRegions.h"
#include "VertexCut.h"

#include "sp/IR/LocalForms.h"
#include "sp/IR/Storage.h"
#include "sp/StableHLO/Operations.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::sp;

/// Whether what follows decides by the value: equal to the greatest of its
/// column, say.
static bool isCompared(Value value, unsigned depth = 8) {
  return depth > 0 && llvm::any_of(value.getUsers(), [&](Operation *user) {
           return isa<stablehlo::CompareOp>(user) ||
                  ((isMove(user) || isa<stablehlo::ConvertOp>(user)) &&
                   isCompared(user->getResult(0), depth - 1));
         });
}

/// Whether an operation that rows compute by themselves takes no longer than
/// reading what it makes would.
static bool isCheap(Operation *op) {
  return op->getNumResults() == 1 &&
         (op->hasTrait<stablehlo::Elementwise>() || isMove(op) ||
          isa<stablehlo::GatherOp, stablehlo::ReduceOp>(op));
}

/// So many values are looked at on the way to what others could be made of.
static constexpr size_t kMostValues = 1024;

namespace {

/// What one region reads of others, and what that could be made of.
class Remake {
public:
  Remake(RowRegions &regions, RowRegion &region,
         const DenseMap<Operation *, size_t> &regionOf, size_t number)
      : regions(regions), region(region), regionOf(regionOf), number(number),
        inside(region.members.begin(), region.members.end()) {}

  void run();

private:
  bool canRemake(Value value) const;
  bool isKeptAnyway(Value value) const;
  unsigned vertexOf(Value value);

  RowRegions &regions;
  RowRegion &region;
  const DenseMap<Operation *, size_t> &regionOf;
  size_t number;
  DenseSet<Operation *> inside;
  VertexCut cut;
  llvm::SetVector<Value> values; ///< by vertex
};

} // namespace

bool Remake::canRemake(Value value) const {
  Operation *op = value.getDefiningOp();
  // A narrow number that is computed again, with others beside it, may not have
  // been rounded where the one that was kept was.
  if (isNarrow(value.getType()) && isCompared(value))
    return false;
  return op && op->getBlock() == region.members.front()->getBlock() &&
         regionOf.contains(op) && isCheap(op) &&
         regions.rowsOf(value)->rows == region.rows;
}

/// Whether a value is there whatever this region reads.
bool Remake::isKeptAnyway(Value value) const {
  Operation *first = region.members.front();
  Block *block = first->getBlock();
  if (value.getParentBlock() != block || isa<BlockArgument>(value))
    return true;
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    Operation *own = block->findAncestorOpInBlock(*user);
    auto found = regionOf.find(own);
    // Another name for the same rows.
    if (auto reshape = dyn_cast<stablehlo::ReshapeOp>(user);
        reshape && found == regionOf.end())
      return isKeptAnyway(reshape.getResult());
    return found != regionOf.end() ? found->second > number
                                   : first->isBeforeInBlock(own);
  });
}

/// The vertex of a value, connected to those of what it is made of.
unsigned Remake::vertexOf(Value value) {
  if (auto found = llvm::find(values, value); found != values.end())
    return found - values.begin();
  bool canRead = regions.rowsOf(value)->isDense;
  unsigned vertex =
      cut.add(!canRead              ? VertexCut::kNever
              : isKeptAnyway(value) ? 0
                                    : storageBytes(value.getType()));
  values.insert(value);
  if (!canRemake(value) || values.size() > kMostValues) {
    cut.setSource(vertex);
    return vertex;
  }
  for (Value operand : value.getDefiningOp()->getOperands())
    if (regions.rowsOf(operand) && !regions.isFree(operand))
      cut.connect(vertexOf(operand), vertex);
  return vertex;
}

void Remake::run() {
  llvm::SetVector<Value> inputs;
  for (Operation *op : region.members)
    for (Value operand : op->getOperands())
      if (regions.rowsOf(operand) && !regions.isFree(operand) &&
          !inside.contains(operand.getDefiningOp()))
        inputs.insert(operand);
  for (Value input : inputs)
    cut.setTarget(vertexOf(input));
  DenseSet<Value> kept;
  for (unsigned vertex : cut.find())
    kept.insert(values[vertex]);
  // Every input is one, where nothing better is known.
  if (kept.empty())
    return;
  SmallVector<Value> open(inputs.getArrayRef());
  llvm::SetVector<Operation *> again;
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (kept.contains(value) || !values.contains(value) ||
        !again.insert(value.getDefiningOp()))
      continue;
    llvm::append_range(open, value.getDefiningOp()->getOperands());
  }
  SmallVector<Operation *> ordered = again.takeVector();
  llvm::sort(ordered,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  OpBuilder builder(region.members.front());
  IRMapping mapping;
  SmallVector<Operation *> members;
  for (Operation *op : ordered) {
    Operation *copy = builder.clone(*op, mapping);
    regions.dealAlike(copy->getResult(0), op->getResult(0));
    members.push_back(copy);
  }
  for (Operation *op : region.members)
    for (OpOperand &operand : op->getOpOperands())
      if (Value copy = mapping.lookupOrNull(operand.get()))
        operand.set(copy);
  llvm::append_range(members, region.members);
  region.members = std::move(members);
}

void RowRegions::remake(MutableArrayRef<RowRegion> found) {
  DenseMap<Operation *, size_t> regionOf;
  for (auto [number, region] : llvm::enumerate(found))
    for (Operation *op : region.members)
      regionOf[op] = number;
  for (size_t number = found.size(); number-- > 0;) {
    Remake(*this, found[number], regionOf, number).run();
    for (Operation *op : found[number].members)
      regionOf[op] = number;
  }
  for (RowRegion &region : llvm::reverse(found)) {
    for (Operation *op : llvm::reverse(region.members))
      if (op->use_empty())
        discard(op);
    llvm::erase_if(region.members,
                   [](Operation *op) { return op->use_empty(); });
  }
  for (RowRegion &region : found)
    findResults(region);
}
