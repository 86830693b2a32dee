//===- VerifyCoverage.cpp - Each visible pair exactly once ----------------===//

#include "Coverage.h"
#include "KeyGradients.h"

#include "sp/Verify/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/MapVector.h"

namespace mlir::sp {
#define GEN_PASS_DEF_VERIFYCOVERAGEPASS
#include "sp/Verify/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

/// As many ranks are looked at one by one, and as many turns of a loop.
static constexpr int64_t kMostRanks = 64;
static constexpr int64_t kTurns = 2; ///< at each end of a longer loop

static SmallVector<int64_t> sampleRanks(int64_t ranks) {
  if (ranks <= kMostRanks)
    return llvm::to_vector(llvm::seq<int64_t>(ranks));
  return {0, 1, ranks / 2 - 1, ranks / 2, ranks - 2, ranks - 1};
}

namespace {

/// Walks the program of all ranks at once.
class Walk {
public:
  explicit Walk(MeshOp mesh)
      : mesh(mesh), isWhole(mesh.getRanks() <= kMostRanks) {
    for (int64_t rank : sampleRanks(mesh.getRanks()))
      ranks.emplace_back(mesh, rank);
  }

  LogicalResult run(Block &block) {
    if (failed(visit(block)))
      return failure();
    for (auto &[state, coverage] : open)
      if (failed(coverage.finish(ranks)))
        return failure();
    return keyGradients.finish();
  }

private:
  LogicalResult visit(Block &block) {
    for (Operation &op : block)
      if (failed(visit(&op)))
        return failure();
    return success();
  }

  LogicalResult visit(Operation *op) {
    if (auto shift = dyn_cast<ShiftStartOp>(op))
      return handOn(shift);
    if (auto attend = dyn_cast<AttendOp>(op))
      return attendTo(attend);
    if (auto backward = dyn_cast<AttendBackwardOp>(op))
      return attendTo(backward);
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return turn(loop);
    if (!isa<scf::YieldOp>(op) && failed(compute(op)))
      return failure();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (failed(visit(block)))
          return failure();
    return success();
  }

  /// What is none of attention's: it joins parts that are away from home, of
  /// one owner's keys, and takes up gradients that are there.
  LogicalResult compute(Operation *op) {
    SmallVector<Value> gradients;
    for (Value operand : op->getOperands())
      if (keyGradients.numberOf(operand) != 0)
        gradients.push_back(operand);
    if (gradients.empty())
      return success();
    RowBlock block = blockOf(gradients.front());
    bool isAway = op->getNumResults() == 1 && !block.moves.empty();
    bool areAlike = llvm::all_of(gradients, [&](Value gradient) {
      return blockOf(gradient).moves == block.moves;
    });
    if (isAway && areAlike && gradients.size() > 1) {
      blocks[op->getResult(0)] = {op->getResult(0), block.moves};
      return keyGradients.join(op, gradients, op->getResult(0));
    }
    for (Value gradient : gradients)
      if (failed(keyGradients.takeUp(op, gradient, blockOf(gradient).moves)))
        return failure();
    return success();
  }

  RowBlock blockOf(Value value) const {
    auto known = blocks.find(value);
    return known != blocks.end() ? known->second : RowBlock{value, {}};
  }

  /// Checks that the block holds the rows that `source` names, by default the
  /// rank's own.
  LogicalResult checkSource(Operation *op, const Moves &moves, Value source,
                            LayoutAttr layout) {
    if (!isLookedAt)
      return success();
    for (RankIndices &rank : ranks) {
      int64_t own = rank.owner(layout), held = moves.source(own);
      int64_t named = source ? rank.evaluate(source) : own;
      if (held != named)
        return op->emitOpError()
               << "takes rows to be those of owner " << named
               << " which are those of owner " << held << ", at owner " << own;
    }
    return success();
  }

  LogicalResult handOn(ShiftStartOp op) {
    for (auto [input, result] : llvm::zip(op.getInputs(), op.getResults())) {
      RowBlock block = blockOf(input);
      if (failed(checkSource(op, block.moves, op.getSource(), op.getLayout())))
        return failure();
      block.moves.add(wayOf(op, mesh));
      blocks[result] = block;
      if (failed(keyGradients.handOn(op, input, result)))
        return failure();
    }
    return success();
  }

  LogicalResult attendTo(AttendOp op) {
    if (failed(meet(op)))
      return failure();
    if (op.getState() && stateOf(op.getState()) != stateOf(op.getStateLse()))
      return op.emitOpError() << "continues a state that was continued before";
    return grow(op, op.getState(), {op.getOutput(), op.getLse()});
  }

  LogicalResult attendTo(AttendBackwardOp op) {
    if (failed(meet(op)) ||
        failed(grow(op, op.getOntoQuery(), {op.getDQuery()})))
      return failure();
    const RowBlock keys = blockOf(op.getKey()), values = blockOf(op.getValue());
    for (const auto &[onto, gradient, block] :
         {std::tuple(Value(op.getOntoKey()), Value(op.getDKey()), keys),
          {Value(op.getOntoValue()), Value(op.getDValue()), values}}) {
      if (onto && blockOf(onto).moves != block.moves)
        return op.emitOpError()
               << "adds gradients of keys of owner " << block.moves.source(0)
               << " to those of owner " << blockOf(onto).moves.source(0)
               << ", at owner 0";
      unsigned isOfValues = gradient == op.getDValue();
      if (failed(keyGradients.add(op, onto, gradient,
                                  {op.getQuery(), block.origin, isOfValues})))
        return failure();
      blocks[gradient] = {gradient, block.moves};
    }
    return success();
  }

  /// Checks that a part has the queries of its rank and the keys that it names.
  LogicalResult meet(const Part &part) {
    Moves keys = blockOf(part.key).moves;
    for (Value value : part.ofQueries)
      if (!blockOf(value).moves.empty())
        return part.op->emitOpError()
               << "attends with the queries of another rank";
    for (Value value : part.ofKeys)
      if (blockOf(value).moves != keys)
        return part.op->emitOpError() << "attends to keys of one rank with "
                                         "values or terms of another";
    return checkSource(part.op, keys, part.source, part.keys);
  }

  /// What grows from `onto`, if anything, to `results`.
  LogicalResult grow(const Part &part, Value onto, ValueRange results) {
    RowBlock keys = blockOf(part.key), values = blockOf(part.value);
    Coverage coverage(part, keys.origin, values.origin);
    // What no attention left is where a state begins: sinks.
    if (int64_t number = onto ? stateOf(onto) : 0) {
      auto before = open.find(number);
      if (before == open.end())
        return part.op->emitOpError()
               << "continues a " << part.name << " that was continued before";
      coverage = std::move(before->second);
      open.erase(before);
    }
    if (failed(coverage.add(part, keys, values)))
      return failure();
    // A loop comes to the same operation in each of its turns.
    ++lastState;
    for (Value result : results)
      states[result] = lastState;
    open.insert({lastState, std::move(coverage)});
    return success();
  }

  /// The number of the state that a value is part of, or 0.
  int64_t stateOf(Value value) const { return states.lookup(value); }

  void carry(ValueRange from, ValueRange to) {
    SmallVector<std::tuple<RowBlock, int64_t, int64_t>> held;
    for (Value value : from)
      held.emplace_back(blockOf(value), stateOf(value),
                        keyGradients.numberOf(value));
    for (auto [value, parts] : llvm::zip_equal(to, held)) {
      auto [block, state, gradient] = parts;
      blocks[value] = block;
      states[value] = state;
      keyGradients.set(value, gradient);
    }
  }

  LogicalResult turn(scf::ForOp loop) {
    int64_t lower = ranks.front().evaluate(loop.getLowerBound()),
            upper = ranks.front().evaluate(loop.getUpperBound()),
            step = ranks.front().evaluate(loop.getStep());
    bool wasLookedAt = isLookedAt;
    carry(loop.getInitArgs(), loop.getRegionIterArgs());
    for (int64_t i = lower; i < upper; i += step) {
      for (RankIndices &rank : ranks)
        rank.setCounter(loop.getInductionVar(), i);
      bool isAtEnd = i < lower + kTurns * step || i >= upper - kTurns * step;
      isLookedAt = wasLookedAt && (isWhole || isAtEnd);
      if (failed(visit(*loop.getBody())))
        return failure();
      carry(loop.getBody()->getTerminator()->getOperands(),
            loop.getRegionIterArgs());
    }
    isLookedAt = wasLookedAt;
    carry(loop.getRegionIterArgs(), loop.getResults());
    return success();
  }

  MeshOp mesh;
  bool isWhole; ///< every rank is looked at
  bool isLookedAt = true;
  SmallVector<RankIndices> ranks;
  DenseMap<Value, RowBlock> blocks;
  /// Of outputs and sums, and of gradients of queries, by number.
  DenseMap<Value, int64_t> states;
  int64_t lastState = 0;
  /// States that nothing has continued yet.
  llvm::MapVector<int64_t, Coverage> open;
  KeyGradients keyGradients;
};

struct VerifyCoveragePass
    : mlir::sp::impl::VerifyCoveragePassBase<VerifyCoveragePass> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    MeshOp mesh = getMesh(getOperation());
    if (main && mesh && failed(Walk(mesh).run(main.getBody().front())))
      signalPassFailure();
  }
};

} // namespace
