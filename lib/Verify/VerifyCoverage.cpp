//===- VerifyCoverage.cpp - Each visible pair exactly once ----------------===//

#include "BatchRows.h"
#include "BlockGradients.h"
#include "RowTurns.h"

#include "sp/IR/Attributes.h"
#include "sp/IR/Program.h"
#include "sp/Verify/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
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
static constexpr int64_t kEndTurns = 2; ///< at each end of a longer loop
/// As many sizes of groups are looked at, and the largest.
static constexpr int64_t kMostGroup = 16;

static SmallVector<int64_t> sampleRanks(int64_t ranks) {
  if (ranks <= kMostRanks)
    return llvm::to_vector(llvm::seq<int64_t>(ranks));
  return {0, 1, ranks / 2 - 1, ranks / 2, ranks - 2, ranks - 1};
}

namespace {

/// Walks the program of all ranks at once, or of those of one group.
class Walk {
public:
  Walk(MeshOp mesh, int64_t groupSize)
      : mesh(mesh), isWhole(mesh.getRanks() <= kMostRanks) {
    for (int64_t rank : sampleRanks(mesh.getRanks()))
      ranks.emplace_back(mesh, rank, groupSize);
  }

  LogicalResult run(Block &block) {
    if (failed(visit(block)))
      return failure();
    for (auto &[state, coverage] : open)
      if (failed(coverage.finish(ranks)))
        return failure();
    return blockGradients.finish();
  }

private:
  LogicalResult visit(Block &block) {
    for (Operation &op : block)
      if (failed(visit(&op)))
        return failure();
    return success();
  }

  LogicalResult visit(Operation *op) {
    rowTurns.join(op);
    if (auto fetch = dyn_cast<FetchRowsStartOp>(op))
      rowTurns.take(fetch, ranks.front());
    if (Operation *loop = op->getParentOp(); loop->hasAttr(kTurns)) {
      auto take = dyn_cast<TakeOp>(op);
      if (take && RowTurns::hasAllTurns(take.getWhole(), loop))
        rowTurns.take(take, ranks.front());
      auto put = dyn_cast<PutOp>(op);
      if (put && RowTurns::hasAllTurns(put.getWhole(), loop))
        return rowTurns.put(put, ranks.front());
      if (auto evict = dyn_cast<EvictRowsStartOp>(op))
        return rowTurns.put(evict, ranks.front());
    }
    if (auto shift = dyn_cast<ShiftStartOp>(op))
      return handOn(shift);
    if (auto attend = dyn_cast<AttendOp>(op))
      return attendTo(attend);
    if (auto backward = dyn_cast<AttendBackwardOp>(op))
      return attendTo(backward);
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return turn(loop);
    if (isa<CopyOp, EvictStartOp, FetchStartOp>(op)) {
      carry(op->getOperand(0), op->getResult(0));
      return success();
    }
    if (!isa<scf::YieldOp>(op) && failed(compute(op)))
      return failure();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (failed(visit(block)))
          return failure();
    return success();
  }

  /// What is none of attention's: it joins parts of one owner's keys, or takes
  /// up gradients that are home.
  LogicalResult compute(Operation *op) {
    SmallVector<Value> gradients;
    for (Value operand : op->getOperands())
      if (blockGradients.numberOf(operand) != 0)
        gradients.push_back(operand);
    if (gradients.empty())
      return success();
    RowBlock block = blockOf(gradients.front());
    bool areAlike = llvm::all_of(gradients, [&](Value gradient) {
      return blockOf(gradient).moves == block.moves;
    });
    if (op->getNumResults() == 1 && areAlike && gradients.size() > 1) {
      Value result = op->getResult(0);
      if (!block.moves.empty()) {
        blocks[result] = {result, block.moves};
        return blockGradients.join(op, gradients, result);
      }
      // A later step may still send the sum around.
      if (blockGradients.areOfOne(gradients))
        return blockGradients.joinAtHome(op, gradients, result);
    }
    for (Value gradient : gradients)
      if (failed(blockGradients.takeUp(op, gradient, blockOf(gradient).moves)))
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
      if (own >= rank.groupOf(layout))
        continue;
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
      sprt::algebra::RingWay way = op.getWay(mesh);
      if (op.getLayout().isOfBatch())
        way.size = ranks.front().groupOf(op.getLayout());
      if (failed(block.handOn(op, way, blockGradients.numberOf(input) != 0)))
        return failure();
      blocks[result] = block;
      if (failed(blockGradients.handOn(op, input, result)))
        return failure();
    }
    return success();
  }

  LogicalResult attendTo(AttendOp op) {
    Part part(op);
    if (failed(meetTurn(part)) || failed(meet(part)))
      return failure();
    return grow(part, {op.getState(), op.getStateLse()},
                {op.getOutput(), op.getLse()});
  }

  LogicalResult attendTo(AttendBackwardOp op) {
    Part part(op);
    if (failed(meetTurn(part)) || failed(meet(part)))
      return failure();
    using Of = BlockGradients::Of;
    struct Gradient {
      Value operand, onto, result;
      Of of;
    };
    const Gradient queries[] = {
        {op.getQuery(), op.getOntoQuery(), op.getDQuery(), Of::queries}};
    const Gradient keys[] = {
        {op.getKey(), op.getOntoKey(), op.getDKey(), Of::keys},
        {op.getValue(), op.getOntoValue(), op.getDValue(), Of::values}};
    ArrayRef<Gradient> staying = queries, travelling = keys;
    if (part.queriesTravel)
      std::swap(staying, travelling);
    SmallVector<Value> onto, results;
    for (const Gradient &gradient : staying) {
      onto.push_back(gradient.onto);
      results.push_back(gradient.result);
    }
    // Sums over queries go on from one group of heads, or one turn, to the
    // next; so may a single row, which is its own sum.
    if (!part.queriesTravel && op.getQuery().getType().getDimSize(1) > 1)
      for (auto [before, term] :
           llvm::zip_equal(op.getOntoTerms(), op.getDTerms()))
        if (op.hasRows(term)) {
          onto.push_back(before);
          results.push_back(term);
        }
    if (failed(grow(part, onto, results)))
      return failure();
    for (const auto &[operand, onto, result, of] : travelling) {
      const RowBlock block = blockOf(operand);
      if (onto && blockOf(onto).moves != block.moves)
        return op.emitOpError()
               << "adds gradients of " << part.travelling.name << " of owner "
               << block.moves.source(0) << " to those of owner "
               << blockOf(onto).moves.source(0) << ", at owner 0";
      if (failed(blockGradients.add(
              op, onto, result,
              {part.staying.operands.front(), block.origin, of})))
        return failure();
      blocks[result] = {result, block.moves, part.readers(),
                        onto && blockOf(onto).isPartial};
    }
    return success();
  }

  LogicalResult meetTurn(Part &part) {
    return rowTurns.meet(part, isLookedAt ? MutableArrayRef(ranks)
                                          : MutableArrayRef<RankIndices>());
  }

  /// Checks that a part has what stays of its rank, and of what travels the
  /// rows that it names.
  LogicalResult meet(const Part &part) {
    const auto &[name, others, operands, terms, source, rows, turn] =
        part.travelling;
    Moves moves = blockOf(operands.front()).moves;
    auto areAll = [&](const Side &side, const Moves &moves) {
      auto came = [&](Value value) { return blockOf(value).moves == moves; };
      return llvm::all_of(side.operands, came) &&
             llvm::all_of(side.terms, came);
    };
    if (!areAll(part.staying, Moves()))
      return part.op->emitOpError()
             << "attends with the " << part.staying.name << " of another rank";
    if (!areAll(part.travelling, moves))
      return part.op->emitOpError()
             << "attends to " << name << " of one rank with " << others
             << " of another";
    if (failed(part.checkGroup()))
      return failure();
    // Of what travels first only: the rest goes the same way.
    ReadersAttr neededBy = blockOf(operands.front()).neededBy;
    if (neededBy && neededBy != part.readers())
      return part.op->emitOpError()
             << "attends to " << name << " that came for others, " << neededBy;
    return checkSource(part.op, moves, source, rows);
  }

  /// What grows from `onto`, all of one state if any, to `results`.
  LogicalResult grow(const Part &part, ArrayRef<Value> onto,
                     ArrayRef<Value> results) {
    SmallVector<Value> origins;
    for (Value value : part.travelling.operands)
      origins.push_back(blockOf(value).origin);
    Coverage coverage(part, origins);
    // What no attention left is where a state begins: sinks.
    int64_t number = onto.front() ? stateOf(onto.front()) : 0;
    auto before = open.find(number);
    bool isOne = llvm::all_of(onto, [&](Value value) {
      return (value ? stateOf(value) : 0) == number;
    });
    if (!isOne || (number != 0 && before == open.end()))
      return part.op->emitOpError()
             << "continues a " << part.name << " that was continued before";
    if (number != 0) {
      coverage = std::move(before->second);
      open.erase(before);
    }
    if (failed(coverage.add(part, origins,
                            blockOf(part.travelling.operands.front()).moves)))
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

  /// What a value is to this walk.
  struct Known {
    RowBlock block;
    int64_t state, gradient;
    std::optional<int64_t> turn;

    bool operator==(const Known &other) const {
      return block == other.block && state == other.state &&
             gradient == other.gradient && turn == other.turn;
    }
  };
  SmallVector<Known> knownOf(ValueRange values) const {
    return llvm::map_to_vector(values, [&](Value value) -> Known {
      return {blockOf(value), stateOf(value), blockGradients.numberOf(value),
              rowTurns.of(value)};
    });
  }
  void carry(ArrayRef<Known> from, ValueRange to) {
    for (auto [value, known] : llvm::zip_equal(to, from)) {
      blocks[value] = known.block;
      states[value] = known.state;
      blockGradients.set(value, known.gradient);
      rowTurns.set(value, known.turn);
    }
  }
  void carry(ValueRange from, ValueRange to) { carry(knownOf(from), to); }

  /// Whether a loop's counter says no more than which rows of stacks it reads
  /// and writes: turns that begin alike are then alike.
  static bool onlyChoosesRows(Value counter) {
    return llvm::all_of(counter.getUsers(), [](Operation *user) {
      if (isa<affine::AffineApplyOp>(user))
        return onlyChoosesRows(user->getResult(0));
      return isa<TakeOp, PutOp, EvictRowsStartOp, FetchRowsStartOp>(user);
    });
  }

  LogicalResult turn(scf::ForOp loop) {
    int64_t lower = ranks.front().evaluate(loop.getLowerBound()),
            upper = ranks.front().evaluate(loop.getUpperBound()),
            step = ranks.front().evaluate(loop.getStep());
    bool wasLookedAt = isLookedAt;
    bool mayRepeat = onlyChoosesRows(loop.getInductionVar());
    SmallVector<Known> begun = knownOf(loop.getInitArgs());
    carry(begun, loop.getRegionIterArgs());
    for (int64_t i = lower; i < upper; i += step) {
      for (RankIndices &rank : ranks)
        rank.setCounter(loop.getInductionVar(), i);
      bool isAtEnd =
          i < lower + kEndTurns * step || i >= upper - kEndTurns * step;
      isLookedAt = wasLookedAt && (isWhole || isAtEnd);
      if (failed(visit(*loop.getBody())))
        return failure();
      SmallVector<Known> ended =
          knownOf(loop.getBody()->getTerminator()->getOperands());
      carry(ended, loop.getRegionIterArgs());
      if (mayRepeat && ended == begun)
        break;
      begun = std::move(ended);
    }
    isLookedAt = wasLookedAt;
    carry(loop.getRegionIterArgs(), loop.getResults());
    // Rows of all turns, or sums over them.
    if (loop->hasAttr(kTurns))
      for (Value result : loop.getResults())
        rowTurns.set(result, std::nullopt);
    return success();
  }

  MeshOp mesh;
  bool isWhole; ///< every rank is looked at
  bool isLookedAt = true;
  SmallVector<RankIndices> ranks;
  DenseMap<Value, RowBlock> blocks;
  RowTurns rowTurns;
  /// Of outputs and sums, and of gradients of queries, by number.
  DenseMap<Value, int64_t> states;
  int64_t lastState = 0;
  /// States that nothing has continued yet.
  llvm::MapVector<int64_t, Coverage> open;
  BlockGradients blockGradients;
};

struct VerifyCoveragePass
    : mlir::sp::impl::VerifyCoveragePassBase<VerifyCoveragePass> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    MeshOp mesh = getMesh(getOperation());
    if (failed(checkLayouts(getOperation())) ||
        failed(checkBatchRows(getOperation())))
      signalPassFailure();
    else if (main && mesh)
      for (int64_t group : groupSizesToProve(getOperation(), kMostGroup))
        if (failed(Walk(mesh, group).run(main.getBody().front())))
          return signalPassFailure();
  }
};
} // namespace
