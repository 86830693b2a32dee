//===- PlanCommunication.cpp - Started communication as commands ----------===//

#include "Plan/PlanWriter.h"

#include "sp/IR/Storage.h"

using namespace mlir;
using namespace mlir::sp;
using sprt::algebra::RingWay;
namespace plan = sprt::plan;

/// [batch, rows, 1, inner] of a dense tensor whose dimension `dim` is the rows.
std::unique_ptr<plan::StridedT> PlanWriter::rowsView(Value value, int64_t dim) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t inner = elementBytes(type.getElementType());
  for (int64_t size : type.getShape().drop_front(dim + 1))
    inner *= size;
  auto strided = std::make_unique<plan::StridedT>();
  strided->view = view(value);
  strided->batch = 1;
  for (int64_t size : type.getShape().take_front(dim))
    strided->batch *= size;
  strided->row_stride = inner;
  strided->head_stride = inner;
  strided->batch_stride = inner * type.getDimSize(dim);
  strided->inner_bytes = inner;
  return strided;
}

/// [batch, rows, heads, inner] as the tensor itself is; inner may be missing.
std::unique_ptr<plan::StridedT> PlanWriter::headsView(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  auto strided = std::make_unique<plan::StridedT>();
  strided->view = view(value);
  strided->batch = type.getDimSize(0);
  strided->inner_bytes =
      ShapedType::getNumElements(type.getShape().drop_front(3)) *
      elementBytes(type.getElementType());
  strided->head_stride = strided->inner_bytes;
  strided->row_stride = strided->head_stride * type.getDimSize(2);
  strided->batch_stride = strided->row_stride * type.getDimSize(1);
  return strided;
}

void PlanWriter::writeShift(ShiftStartOp op, plan::CommandT &command) {
  plan::SendRecvT shift;
  LayoutAttr layout = op.getLayout();
  AxisAttr axis = op.getAlong().value_or(layout.getAxis());
  int64_t distance = op.getDistance(), ranks = mesh.getAxisSize(axis);
  auto moved = [&](ExprPtr from, int64_t by) {
    return combine(combine(std::move(from), constant(by), plan::ExprOp::add),
                   constant(ranks), plan::ExprOp::mod);
  };
  shift.to = rankAt(axis, moved(coordinate(axis), distance));
  shift.from = rankAt(axis, moved(coordinate(axis), -distance));
  auto block = [&](Value value, ExprPtr owner) {
    auto result = std::make_unique<plan::BlockT>();
    result->rows = rows(layout, std::move(owner));
    std::optional<LayoutAttr> heads = op.getHeads();
    result->strided = heads ? headsView(value) : rowsView(value, 1);
    result->heads = heads ? kvHeadCount(*heads, *op.getKvHeads()) : constant(1);
    return result;
  };
  for (auto [sent, received] :
       llvm::zip_equal(op.getInputs(), op.getResults())) {
    shift.sends.push_back(block(sent, expression(op.getSource())));
    shift.receives.push_back(
        block(received,
              ownerBehind(layout, axis, expression(op.getSource()), distance)));
  }
  if (std::optional<ReadersAttr> readers = op.getNeededBy()) {
    shift.needs = std::make_unique<plan::NeedsT>();
    RingWay way = op.getWay(mesh);
    shift.needs->factor = factorNumber(layout.getAxis());
    shift.needs->queries = layoutNumber(readers->getRows());
    shift.needs->bands = bandList(readers->getBands());
    shift.needs->stride = way.stride;
    shift.needs->size = way.size;
    shift.needs->step = way.step;
    shift.needs->hops = way.hops;
  }
  command.operation.Set(std::move(shift));
}

void PlanWriter::writeAllGather(AllGatherStartOp op, plan::CommandT &command) {
  plan::ExchangeT exchange;
  exchange.factor = factorNumber(op.getLayout().getAxis());
  exchange.direction = plan::Direction::rowsToHeads;
  exchange.layout = layoutNumber(op.getLayout());
  exchange.heads_total = exchange.head_count = 1;
  exchange.source = rowsView(op.getInput(), op.getDim());
  exchange.target = rowsView(op.getResult(), op.getDim());
  command.operation.Set(std::move(exchange));
}

void PlanWriter::writeAllToAll(AllToAllStartOp op, plan::CommandT &command) {
  plan::ExchangeT exchange;
  exchange.factor = factorNumber(op.getHeads().getAxis());
  if (op.getOnto())
    exchange.owner = owner(op.getRows());
  exchange.direction = op.getToRows() ? plan::Direction::headsToRows
                                      : plan::Direction::rowsToHeads;
  exchange.layout = layoutNumber(op.getRows());
  exchange.head_layout = layoutNumber(op.getHeads());
  exchange.heads_total = op.getHeads().getLength();
  exchange.head_count = op.getHeadCount();
  exchange.source = headsView(op.getInput());
  exchange.target = headsView(op.getResult());
  command.operation.Set(std::move(exchange));
}

static plan::Reduction reductionOf(Reduction kind) {
  // The same order on both sides; see SPBase.td and plan.fbs.
  switch (kind) {
  case Reduction::Sum:
    return plan::Reduction::sum;
  case Reduction::Max:
    return plan::Reduction::max;
  case Reduction::Min:
    return plan::Reduction::min;
  case Reduction::Mul:
    return plan::Reduction::mul;
  case Reduction::And:
    return plan::Reduction::land;
  case Reduction::Or:
    return plan::Reduction::lor;
  }
  llvm_unreachable("a reduction is one of six");
}

/// The results lie where the operands lay.
void PlanWriter::writeAllReduce(AllReduceStartOp op, plan::CommandT &command) {
  plan::AllReduceT reduce;
  for (AxisAttr axis : op.getAxes().getAxes())
    reduce.factors.push_back(factorNumber(axis));
  for (Value result : op.getResults())
    reduce.views.push_back(view(result));
  reduce.type = dtype(getElementTypeOrSelf(op.getInputs()[0].getType()));
  reduce.kind = reductionOf(op.getKind());
  command.operation.Set(std::move(reduce));
}

void PlanWriter::writeReduceScatter(ReduceScatterStartOp op,
                                    plan::CommandT &command) {
  plan::ReduceScatterT reduce;
  reduce.factor = factorNumber(op.getLayout().getAxis());
  reduce.layout = layoutNumber(op.getLayout());
  reduce.source = rowsView(op.getInput(), op.getDim());
  reduce.target = rowsView(op.getResult(), op.getDim());
  reduce.type = dtype(getElementTypeOrSelf(op.getInput().getType()));
  reduce.kind = reductionOf(op.getKind());
  command.operation.Set(std::move(reduce));
}

/// An event that is recorded once all compute so far is done.
uint32_t PlanWriter::syncBefore(Commands &into) {
  uint32_t event = plan.events++;
  auto sync = std::make_unique<plan::CommandT>();
  sync->name = "ready";
  sync->stream = plan::Stream::compute;
  sync->records = event;
  sync->operation.Set(plan::SyncT());
  into.push_back(std::move(sync));
  return event;
}

static plan::Stream toPlan(Stream stream) {
  switch (stream) {
  case Stream::Compute:
    return plan::Stream::compute;
  case Stream::Comm:
    return plan::Stream::comm;
  case Stream::Back:
    return plan::Stream::back;
  }
  llvm_unreachable("unknown stream");
}

void PlanWriter::writeCommunication(CommunicationOpInterface start,
                                    Commands &into) {
  Operation *op = start;
  uint32_t ready = syncBefore(into);
  auto command = std::make_unique<plan::CommandT>();
  command->name =
      op->getName().stripDialect().drop_back(StringRef("_start").size()).str();
  command->stream = toPlan(start.getStream());
  command->waits.push_back(ready);
  uint32_t done = plan.events++;
  if (auto reduce = dyn_cast<AllReduceStartOp>(op))
    writeAllReduce(reduce, *command);
  if (auto shift = dyn_cast<ShiftStartOp>(op))
    writeShift(shift, *command);
  if (auto gather = dyn_cast<AllGatherStartOp>(op))
    writeAllGather(gather, *command);
  if (auto exchange = dyn_cast<AllToAllStartOp>(op))
    writeAllToAll(exchange, *command);
  if (auto reduce = dyn_cast<ReduceScatterStartOp>(op))
    writeReduceScatter(reduce, *command);
  command->records = done;
  events[start.getToken()] = done;
  into.push_back(std::move(command));
}
