//===- PlanCommunication.cpp - Started communication as commands ----------===//

#include "Plan/PlanOperations.h"

#include "sp/IR/Storage.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::sp;
using sprt::algebra::RingWay;
namespace plan = sprt::plan;

namespace {
class MoveWriter {
public:
  MoveWriter(PlanExpressions &expressions, plan::CommandT &command)
      : expressions(expressions), tables(expressions.getTables()),
        command(command) {}

  void write(ShiftStartOp op);
  void write(AllGatherStartOp op);
  void write(RedealStartOp op);
  void write(AllToAllStartOp op);
  void write(AllReduceStartOp op);
  void write(ReduceScatterStartOp op);
  void write(EvictStartOp op) { copy(op.getInput(), op.getResult()); }
  void write(FetchStartOp op) { copy(op.getInput(), op.getResult()); }
  void write(EvictRowsStartOp op);
  void write(FetchRowsStartOp op);

private:
  void copy(Value from, Value to) {
    command.operation.Set(expressions.copy(from, to));
  }
  std::unique_ptr<plan::StridedT> rowsView(Value value, int64_t dim);
  std::unique_ptr<plan::MovedT> movedRows(Value from, Value to, int64_t dim,
                                          LayoutAttr layout);
  /// Each value along its dimension, as its layout deals it.
  template <typename OpT>
  std::vector<std::unique_ptr<plan::MovedT>> movedRows(OpT op);
  std::unique_ptr<plan::StridedT> headsView(Value value);

  PlanExpressions &expressions;
  PlanTables &tables;
  plan::CommandT &command;
};
} // namespace

/// [batch, rows, 1, inner] of a dense tensor whose dimension `dim` is the rows.
std::unique_ptr<plan::StridedT> MoveWriter::rowsView(Value value, int64_t dim) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t inner = elementBytes(type.getElementType());
  for (int64_t size : type.getShape().drop_front(dim + 1))
    inner *= size;
  auto strided = std::make_unique<plan::StridedT>();
  strided->view = expressions.view(value);
  strided->batch = 1;
  for (int64_t size : type.getShape().take_front(dim))
    strided->batch *= size;
  strided->row_stride = inner;
  strided->head_stride = inner;
  strided->batch_stride = inner * type.getDimSize(dim);
  strided->inner_bytes = inner;
  return strided;
}

std::unique_ptr<plan::MovedT>
MoveWriter::movedRows(Value from, Value to, int64_t dim, LayoutAttr layout) {
  auto moved = std::make_unique<plan::MovedT>();
  moved->layout = tables.layoutNumber(layout);
  moved->source = rowsView(from, dim);
  moved->target = rowsView(to, dim);
  return moved;
}

template <typename OpT>
std::vector<std::unique_ptr<plan::MovedT>> MoveWriter::movedRows(OpT op) {
  std::vector<std::unique_ptr<plan::MovedT>> all;
  for (auto [i, input] : llvm::enumerate(op.getInputs()))
    all.push_back(
        movedRows(input, op.getResults()[i], op.getDims()[i], op.getLayout(i)));
  return all;
}

/// [batch, rows, heads, inner] as the tensor itself is; inner may be missing.
std::unique_ptr<plan::StridedT> MoveWriter::headsView(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  auto strided = std::make_unique<plan::StridedT>();
  strided->view = expressions.view(value);
  strided->batch = type.getDimSize(0);
  strided->inner_bytes =
      ShapedType::getNumElements(type.getShape().drop_front(3)) *
      elementBytes(type.getElementType());
  strided->head_stride = strided->inner_bytes;
  strided->row_stride = strided->head_stride * type.getDimSize(2);
  strided->batch_stride = strided->row_stride * type.getDimSize(1);
  return strided;
}

void MoveWriter::write(ShiftStartOp op) {
  plan::SendRecvT shift;
  LayoutAttr layout = op.getLayout();
  AxisAttr axis = op.getAlong().value_or(layout.getAxis());
  int64_t distance = op.getDistance(),
          ranks = tables.getMesh().getAxisSize(axis);
  auto moved = [&](ExprPtr from, int64_t by) {
    if (layout.isOfBatch())
      return expressions.groupSource(layout, std::move(from), constant(-by));
    return combine(combine(std::move(from), constant(by), plan::ExprOp::add),
                   constant(ranks), plan::ExprOp::mod);
  };
  shift.to =
      expressions.rankAt(axis, moved(expressions.coordinate(axis), distance));
  shift.from =
      expressions.rankAt(axis, moved(expressions.coordinate(axis), -distance));
  auto block = [&](Value value, ExprPtr owner) {
    auto result = std::make_unique<plan::BlockT>();
    result->rows = expressions.rows(layout, std::move(owner));
    std::optional<LayoutAttr> heads = op.getHeads();
    result->strided = heads ? headsView(value) : rowsView(value, 1);
    result->heads =
        heads ? expressions.kvHeadCount(*heads, *op.getKvHeads()) : constant(1);
    return result;
  };
  for (auto [sent, received] :
       llvm::zip_equal(op.getInputs(), op.getResults())) {
    shift.sends.push_back(block(sent, expressions.expression(op.getSource())));
    shift.receives.push_back(
        block(received, expressions.ownerBehind(
                            layout, axis,
                            expressions.expression(op.getSource()), distance)));
  }
  std::optional<ReadersAttr> readers =
      op.getSeenBy() ? op.getSeenBy() : op.getNeededBy();
  if (readers) {
    shift.needs = std::make_unique<plan::NeedsT>();
    shift.needs->straight = op.getSeenBy().has_value();
    RingWay way = op.getWay(tables.getMesh());
    if (shift.needs->straight)
      way.step = 1;
    shift.needs->factor = tables.factorNumber(layout.getAxis());
    shift.needs->queries = tables.layoutNumber(readers->getRows());
    shift.needs->bands = bandList(readers->getBands());
    shift.needs->documents = tables.documentsNumber(readers->getDocuments());
    shift.needs->stride = way.stride;
    shift.needs->size = way.size;
    shift.needs->step = way.step;
    shift.needs->hops = way.hops;
  }
  command.operation.Set(std::move(shift));
}

void MoveWriter::write(AllGatherStartOp op) {
  plan::ExchangeT exchange;
  exchange.factor = tables.factorNumber(op.getAxis());
  exchange.direction = plan::Direction::rowsToHeads;
  exchange.heads_total = exchange.head_count = 1;
  exchange.values = movedRows(op);
  command.operation.Set(std::move(exchange));
}

void MoveWriter::write(RedealStartOp op) {
  plan::ExchangeT exchange;
  exchange.factor = tables.factorNumber(op.getFrom().getAxis());
  exchange.direction = plan::Direction::rowsToRows;
  exchange.onto = tables.layoutNumber(op.getTo());
  exchange.by = op.getBy();
  exchange.heads_total = exchange.head_count = 1;
  exchange.values.push_back(
      movedRows(op.getInput(), op.getResult(), op.getDim(), op.getFrom()));
  command.operation.Set(std::move(exchange));
}

void MoveWriter::write(AllToAllStartOp op) {
  plan::ExchangeT exchange;
  exchange.factor = tables.factorNumber(op.getHeads().getAxis());
  if (op.getOnto())
    exchange.owner = expressions.owner(op.getRows());
  exchange.direction = op.getToRows() ? plan::Direction::headsToRows
                                      : plan::Direction::rowsToHeads;
  exchange.head_layout = tables.layoutNumber(op.getHeads());
  exchange.heads_total = op.getHeads().getLength();
  exchange.head_count = op.getHeadCount();
  auto &moved = exchange.values.emplace_back(std::make_unique<plan::MovedT>());
  moved->layout = tables.layoutNumber(op.getRows());
  moved->source = headsView(op.getInput());
  moved->target = headsView(op.getResult());
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
void MoveWriter::write(AllReduceStartOp op) {
  plan::AllReduceT reduce;
  for (AxisAttr axis : op.getAxes().getAxes())
    reduce.factors.push_back(tables.factorNumber(axis));
  for (Value result : op.getResults())
    reduce.views.push_back(expressions.view(result));
  reduce.type = dtypeOf(getElementTypeOrSelf(op.getInputs()[0].getType()));
  reduce.kind = reductionOf(op.getKind());
  command.operation.Set(std::move(reduce));
}

void MoveWriter::write(ReduceScatterStartOp op) {
  plan::ReduceScatterT reduce;
  reduce.factor = tables.factorNumber(op.getAxis());
  reduce.values = movedRows(op);
  reduce.type = dtypeOf(getElementTypeOrSelf(op.getInputs()[0].getType()));
  reduce.kind = reductionOf(op.getKind());
  command.operation.Set(std::move(reduce));
}

void MoveWriter::write(EvictRowsStartOp op) {
  plan::CopyT copy;
  copy.source = expressions.view(op.getBlock());
  copy.target = expressions.rows(op.getResult(), op.getAt(), op.getDim(),
                                 copy.source->bytes);
  command.operation.Set(std::move(copy));
}

void MoveWriter::write(FetchRowsStartOp op) {
  plan::CopyT copy;
  copy.target = expressions.view(op.getResult());
  copy.source = expressions.rows(op.getWhole(), op.getAt(), op.getDim(),
                                 copy.target->bytes);
  command.operation.Set(std::move(copy));
}

void mlir::sp::writeMove(CommunicationOpInterface start,
                         PlanExpressions &expressions,
                         plan::CommandT &command) {
  MoveWriter writer(expressions, command);
  llvm::TypeSwitch<Operation *>(start)
      .Case<ShiftStartOp, AllGatherStartOp, RedealStartOp, AllToAllStartOp,
            AllReduceStartOp, ReduceScatterStartOp, EvictStartOp, FetchStartOp,
            EvictRowsStartOp, FetchRowsStartOp>(
          [&](auto op) { writer.write(op); });
}
