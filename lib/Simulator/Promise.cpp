//===- Promise.cpp - What a scheduled program does, counted ---------------===//

#include "sp/Simulator/Promise.h"

#include "sp/IR/Storage.h"
#include "sp/Plan/AttentionCost.h"
#include "sp/StableHLO/StableHLO.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::sp;
using sprt::algebra::Bands;
using sprt::algebra::Interval;
using sprt::algebra::Layout;

namespace {

class Counter {
public:
  Counter(MeshOp mesh, int64_t rank) {
    int64_t stride = mesh.getRanks();
    for (MeshAxisAttr axis : mesh.getMesh().getAxes()) {
      stride /= axis.getSize();
      coordinates[axis.getName()] = (rank / stride) % axis.getSize();
    }
  }

  void count(Block &block, int64_t times) {
    for (Operation &op : block)
      count(&op, times);
  }

  Promise promise;

private:
  void count(Operation *op, int64_t times);
  void countAttend(AttendOp op, int64_t times);
  int64_t bytesOf(Operation *op);
  int64_t shiftBytes(ShiftStartOp op);
  int64_t allToAllBytes(AllToAllStartOp op);

  int64_t owner(LayoutAttr layout) {
    return layout.isDense() ? 0 : coordinates.lookup(layout.getAxis());
  }
  int64_t evaluate(Value index);

  llvm::StringMap<int64_t> coordinates;
  DenseMap<Value, int64_t> counters;
};

int64_t Counter::evaluate(Value index) {
  auto known = counters.find(index);
  if (known != counters.end())
    return known->second;
  Operation *op = index.getDefiningOp();
  if (auto rank = dyn_cast<RankOp>(op))
    return coordinates.lookup(rank.getAxis());
  if (auto number = dyn_cast<arith::ConstantIndexOp>(op))
    return number.value();
  auto apply = cast<affine::AffineApplyOp>(op);
  Builder builder(op->getContext());
  SmallVector<Attribute> operands, results;
  for (Value operand : apply.getMapOperands())
    operands.push_back(builder.getIndexAttr(evaluate(operand)));
  (void)apply.getAffineMap().constantFold(operands, results);
  return cast<IntegerAttr>(results.front()).getInt();
}

/// Bytes of one row of dimension `dim`, over the dimensions before and behind
/// it.
int64_t rowBytes(Value value, int64_t dim) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getDimSize(dim) == 0 ? 0
                                   : storageBytes(type) / type.getDimSize(dim);
}

int64_t Counter::shiftBytes(ShiftStartOp op) {
  LayoutAttr attr = op.getLayout();
  Layout layout = toAlgebra(attr);
  int64_t source = evaluate(op.getSource()),
          receiver = (owner(attr) + 1) % attr.getRanks();
  if (AttendOp reader = getRingReader(op))
    if (!ringNeedsBlock(toAlgebra(reader.getBands()),
                        toAlgebra(reader.getQueries()), layout, source,
                        receiver))
      return 0;
  int64_t bytes = 0;
  for (Value input : op.getInputs())
    bytes += layout.count(source) * rowBytes(input, 1);
  return bytes;
}

int64_t Counter::allToAllBytes(AllToAllStartOp op) {
  Layout rows = toAlgebra(op.getRows()), heads = toAlgebra(op.getHeads());
  auto type = cast<RankedTensorType>(op.getInput().getType());
  int64_t element = type.getDimSize(0) * type.getDimSize(3) *
                    elementBytes(type.getElementType());
  auto held = [&](int64_t member) {
    int64_t count = heads.count(member),
            first = count ? heads.toGlobal(member, 0) : 0;
    Interval kv = sprt::algebra::kvHeadsOf({first, first + count},
                                           heads.length(), op.getHeadCount());
    return kv.end - kv.begin;
  };
  int64_t own = owner(op.getRows()), bytes = 0;
  for (int64_t peer = 0; peer < heads.ranks(); ++peer)
    if (peer != own)
      bytes += element * (op.getToRows() ? rows.count(peer) * held(own)
                                         : rows.count(own) * held(peer));
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
    auto type = cast<RankedTensorType>(reduce.getInput().getType());
    int64_t ranks = reduce.getRanks();
    int64_t own = Layout(sprt::algebra::LayoutKind::contiguous,
                         type.getNumElements(), ranks)
                      .count(coordinates.lookup(reduce.getAxis()));
    return (type.getNumElements() + own * (ranks - 2)) *
           elementBytes(type.getElementType());
  }
  if (auto reduce = dyn_cast<ReduceScatterStartOp>(op)) {
    int64_t own =
        toAlgebra(reduce.getLayout()).count(owner(reduce.getLayout()));
    return (reduce.getLayout().getLength() - own) *
           rowBytes(reduce.getInput(), reduce.getDim());
  }
  return 0;
}

void Counter::countAttend(AttendOp op, int64_t times) {
  Layout queries = toAlgebra(op.getQueries()), keys = toAlgebra(op.getKeys());
  int64_t source =
      op.getSource() ? evaluate(op.getSource()) : owner(op.getKeys());
  ArrayRef<int64_t> q = op.getQuery().getType().getShape(),
                    v = op.getValue().getType().getShape();
  int64_t heads = op.getHeads()
                      ? toAlgebra(*op.getHeads()).count(owner(*op.getHeads()))
                      : q[2];
  auto area = static_cast<int64_t>(sprt::algebra::area(
      toAlgebra(op.getBands())
          .restrict(queries, owner(op.getQueries()), keys, source)));
  promise.flops += times * 2 * area * q[0] * heads * (q[3] + v[3]);
}

void Counter::count(Operation *op, int64_t times) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    int64_t upper = evaluate(loop.getUpperBound());
    for (int64_t step = evaluate(loop.getLowerBound()); step < upper; ++step) {
      counters[loop.getInductionVar()] = step;
      count(*loop.getBody(), times);
    }
    return;
  }
  if (auto loop = dyn_cast<stablehlo::WhileOp>(op)) {
    auto trips = loop->getAttrOfType<IntegerAttr>("sp.trips");
    Promise before = promise;
    count(loop.getBody().front(), times * (trips ? trips.getInt() : 1));
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
    countAttend(attend, times);
  if (auto gemm = dyn_cast<GemmOp>(op)) {
    ArrayRef<int64_t> sizes = gemm.getSizes();
    promise.flops += times * 2 * sizes[0] * sizes[1] * sizes[2] * sizes[3];
  }
  promise.bytesSent += times * bytesOf(op);
}

} // namespace

Promise mlir::sp::promiseOf(ModuleOp module, int64_t rank) {
  Counter counter(getMesh(module), rank);
  counter.count(module.lookupSymbol<func::FuncOp>("main").getBody().front(), 1);
  return counter.promise;
}
