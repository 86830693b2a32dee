//===- Promise.cpp - What a scheduled program does, counted ---------------===//

#include "Counter.h"

#include "sp/IR/Storage.h"
#include "sp/StableHLO/StableHLO.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::sp;
using sprt::algebra::Layout;
using sprt::algebra::RingWay;

int64_t Reaches::of(ShiftStartOp shift, const RingReader &reader,
                    const RingWay &way, int64_t source, int64_t above) {
  LayoutAttr rows = shift.getLayout();
  auto [entry, isNew] = known.try_emplace(
      {{reader.bands, reader.rows, rows, way.stride, way.size},
       {way.step, way.hops, source, above}},
      0);
  if (isNew)
    entry->second = toAlgebra(reader.bands)
                        .ringReach(toAlgebra(reader.rows), toAlgebra(rows),
                                   source, way, above);
  return entry->second;
}

Counter::Counter(func::FuncOp main, MeshOp mesh, int64_t rank, Reaches &reaches)
    : main(main), mesh(mesh), indices(mesh, rank), reaches(reaches),
      memory(main->getAttrOfType<IntegerAttr>("sp.arena_bytes").getInt()) {}

Promise Counter::run() {
  for (BlockArgument argument : main.getArguments())
    touch(argument);
  count(main.getBody().front(), 1);
  promise.touchedBytes = memory.bytes();
  return promise;
}

void Counter::count(Block &block, int64_t times) {
  for (Operation &op : block)
    count(&op, times);
}

/// Bytes of one row of dimension `dim`, over the dimensions before and behind
/// it.
static int64_t rowBytes(Value value, int64_t dim) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getDimSize(dim) == 0 ? 0
                                   : storageBytes(type) / type.getDimSize(dim);
}

/// Heads of `headCount` that a member holds once heads are dealt.
static int64_t heldHeads(LayoutAttr heads, int64_t headCount, int64_t member) {
  return sprt::algebra::heldHeads(toAlgebra(heads), member, headCount).size();
}

bool Counter::takesBlock(ShiftStartOp op, int64_t source, int64_t taker) {
  std::optional<RingReader> reader = getRingReader(op);
  if (!reader)
    return true;
  RingWay way = wayOf(op, mesh);
  return way.hopsTo(source, taker) <=
         reaches.of(op, *reader, way, source, way.above(taker));
}

std::optional<int64_t> Counter::dealtHeads(ShiftStartOp op) {
  if (std::optional<LayoutAttr> heads = op.getHeads())
    return heldHeads(*heads, *op.getKvHeads(), owner(*heads));
  return std::nullopt;
}

int64_t Counter::shiftBytes(ShiftStartOp op) {
  LayoutAttr layout = op.getLayout();
  int64_t source = indices.evaluate(op.getSource());
  RingWay way = wayOf(op, mesh);
  if (!takesBlock(op, source, way.moved(owner(layout), way.step)))
    return 0;
  int64_t bytes = 0;
  for (Value input : op.getInputs()) {
    int64_t row = rowBytes(input, 1);
    if (std::optional<int64_t> heads = dealtHeads(op))
      row =
          row / cast<RankedTensorType>(input.getType()).getDimSize(2) * *heads;
    bytes += toAlgebra(layout).count(source) * row;
  }
  return bytes;
}

int64_t Counter::sourceBehind(ShiftStartOp op) {
  RingWay way = wayOf(op, mesh);
  return way.moved(indices.evaluate(op.getSource()), -way.step);
}

int64_t Counter::allToAllBytes(AllToAllStartOp op) {
  Layout rows = toAlgebra(op.getRows());
  LayoutAttr heads = op.getHeads();
  auto type = cast<RankedTensorType>(op.getInput().getType());
  int64_t element = type.getDimSize(0) * type.getDimSize(3) *
                    elementBytes(type.getElementType());
  auto held = [&](int64_t member) {
    return heldHeads(heads, op.getHeadCount(), member);
  };
  int64_t own = owner(heads), bytes = 0;
  int64_t first = op.getOnto() ? owner(op.getRows()) - own : 0;
  for (int64_t peer = 0; peer < heads.getRanks(); ++peer)
    if (peer != own)
      bytes +=
          element * (op.getToRows() ? rows.count(first + peer) * held(own)
                                    : rows.count(first + own) * held(peer));
  return bytes;
}

int64_t Counter::bytesOf(Operation *op) {
  if (auto shift = dyn_cast<ShiftStartOp>(op))
    return shiftBytes(shift);
  if (auto exchange = dyn_cast<AllToAllStartOp>(op))
    return allToAllBytes(exchange);
  if (auto gather = dyn_cast<AllGatherStartOp>(op))
    return toAlgebra(gather.getLayout()).count(owner(gather.getLayout())) *
           rowBytes(gather.getInput(), gather.getDim()) *
           (gather.getLayout().getRanks() - 1);
  if (auto reduce = dyn_cast<AllReduceStartOp>(op)) {
    // As a reduce-scatter of everybody's parts and an all-gather of one's own.
    int64_t ranks = reduce.getRanks(), member = 0, bytes = 0;
    for (auto axis : reduce.getAxes().getAsRange<StringAttr>())
      member = member * mesh.getAxisSize(axis) + indices.coordinate(axis);
    for (Value input : reduce.getInputs()) {
      auto type = cast<RankedTensorType>(input.getType());
      int64_t own = Layout(sprt::algebra::LayoutKind::contiguous,
                           type.getNumElements(), ranks)
                        .count(member);
      bytes += (type.getNumElements() + own * (ranks - 2)) *
               elementBytes(type.getElementType());
    }
    return bytes;
  }
  if (auto reduce = dyn_cast<ReduceScatterStartOp>(op)) {
    int64_t own =
        toAlgebra(reduce.getLayout()).count(owner(reduce.getLayout()));
    return (reduce.getLayout().getLength() - own) *
           rowBytes(reduce.getInput(), reduce.getDim());
  }
  return 0;
}

void Counter::count(Operation *op, int64_t times) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    int64_t upper = indices.evaluate(loop.getUpperBound());
    for (int64_t step = indices.evaluate(loop.getLowerBound()); step < upper;
         ++step) {
      indices.setCounter(loop.getInductionVar(), step);
      count(*loop.getBody(), times);
    }
    return;
  }
  if (auto loop = dyn_cast<stablehlo::WhileOp>(op)) {
    auto trips = loop->getAttrOfType<IntegerAttr>("sp.trips");
    Promise before = promise;
    int64_t turns = trips ? trips.getInt() : 1;
    // The condition is asked once more than it holds.
    count(loop.getCond().front(), times * (turns + 1));
    count(loop.getBody().front(), times * turns);
    bool isSilent = promise.bytesSent == before.bytesSent;
    promise.isExact &= trips || isSilent;
    return;
  }
  if (isa<stablehlo::CaseOp, stablehlo::IfOp>(op)) {
    Promise before = promise, most = promise;
    for (Region &region : op->getRegions()) {
      promise = before;
      count(region.front(), times);
      bool isSilent = promise.bytesSent == before.bytesSent;
      most = promise.bytesSent >= most.bytesSent ? promise : most;
      most.isExact &= isSilent;
    }
    promise = most;
    return;
  }
  if (auto attend = dyn_cast<AttendOp>(op))
    countPairs(attend, 1, 1, times);
  // Scores and dQ, dK; dP and dV.
  if (auto backward = dyn_cast<AttendBackwardOp>(op))
    countPairs(backward, 3, 2, times);
  if (auto gemm = dyn_cast<GemmOp>(op)) {
    ArrayRef<int64_t> sizes = gemm.getSizes();
    promise.flops += times * 2 * sizes[0] * sizes[1] * sizes[2] * sizes[3];
  }
  promise.bytesSent += times * bytesOf(op);
  touch(op);
}

std::vector<Promise> mlir::sp::promisesOf(ModuleOp module) {
  MeshOp mesh = getMesh(module);
  auto main = module.lookupSymbol<func::FuncOp>("main");
  Reaches reaches;
  std::vector<Promise> promises;
  for (int64_t rank = 0; rank < mesh.getRanks(); ++rank)
    promises.push_back(Counter(main, mesh, rank, reaches).run());
  return promises;
}
