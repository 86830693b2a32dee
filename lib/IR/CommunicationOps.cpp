//===- CommunicationOps.cpp - Verification of communication ---------------===//
//
// Both forms of an operation share a check.
//
//===----------------------------------------------------------------------===//

#include "sp/IR/SP.h"

#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::sp;

template <typename OpT> static LogicalResult verifySameTypes(OpT op) {
  for (auto [input, result] : llvm::zip(op.getInputs(), op.getResults()))
    if (input.getType() != result.getType())
      return op.emitOpError()
             << "expected results of the operands' types but got "
             << result.getType() << " for " << input.getType();
  return success();
}

template <typename OpT> static LogicalResult verifyOneElement(OpT op) {
  ValueRange inputs = op.getInputs();
  for (Value input : inputs)
    if (Type element = getElementTypeOrSelf(inputs.front().getType());
        getElementTypeOrSelf(input.getType()) != element)
      return op.emitOpError() << "expected values of " << element << " but got "
                              << input.getType();
  return success();
}

template <typename OpT> static LogicalResult verifyShift(OpT op) {
  // (C1)
  if (failed(verifySameTypes(op)))
    return failure();
  // (C2)
  int64_t turn = op.getLayout().getRanks(),
          distance = static_cast<int64_t>(op.getDistance());
  if (op.getAlong() && !op.getAlong()->isWhole())
    turn = op.getAlong()->getSize();
  if (turn > 0 && distance % turn == 0)
    return op.emitOpError()
           << "expected a distance that is no multiple of the " << turn
           << " ranks of axis \""
           << op.getAlong().value_or(op.getLayout().getAxis()).getText()
           << "\" but got " << distance;
  // (C4)
  if (std::optional<int64_t> hops = op.getHops();
      hops && (*hops < 1 || *hops >= turn))
    return op.emitOpError() << "expected hops from 1 to " << turn - 1
                            << ", less than a whole turn, but got " << *hops;
  // (C5)
  if (op.getNeededBy() && std::abs(distance) != 1)
    return op.emitOpError()
           << "expected blocks that go by 1 or -1 to be needed "
              "by somebody but got "
           << distance;
  // (C6)
  if (op.getSeenBy() &&
      (op.getNeededBy() || op.getAlong() || op.getLayout().isOfBatch()))
    return op.emitOpError()
           << "expected blocks that are seen by others to go straight to them, "
              "along axis \""
           << op.getLayout().getAxis().getText() << "\" and of no batch";
  // (C3)
  int64_t rows = op.getLayout().getMaxCount();
  for (Value input : op.getInputs()) {
    auto type = cast<RankedTensorType>(input.getType());
    if (type.getRank() < 2 || type.getDimSize(1) != rows)
      return op.emitOpError()
             << "expected " << rows
             << " rows, the most that a rank of the layout holds, but got "
             << type;
  }
  return success();
}

LogicalResult ShiftOp::verify() { return verifyShift(*this); }
LogicalResult ShiftStartOp::verify() { return verifyShift(*this); }

sprt::algebra::RingWay ShiftStartOp::getWay(MeshOp mesh) {
  AxisAttr whole = getLayout().getAxis();
  MeshOp::Factor ring = *mesh.findFactor(whole),
                 part = *mesh.findFactor(getAlong().value_or(whole));
  // Of batches the most that a group may have.
  return {part.stride / ring.stride, part.size,
          static_cast<int64_t>(getDistance()),
          static_cast<int64_t>(getHops().value_or(part.size - 1))};
}

/// Checks that dimension `dim` is `from` long in `input` and `to` in `result`
/// and that the others agree.
static LogicalResult verifyDimChange(Operation *op, Type input, Type result,
                                     int64_t dim, int64_t from, int64_t to) {
  auto inputType = cast<RankedTensorType>(input);
  auto resultType = cast<RankedTensorType>(result);
  if (dim < 0 || dim >= inputType.getRank())
    return op->emitOpError()
           << "expected a dimension of " << inputType << " but got " << dim;
  SmallVector<int64_t> shape(inputType.getShape());
  bool fits = shape[dim] == from;
  shape[dim] = to;
  if (!fits || resultType != inputType.clone(shape))
    return op->emitOpError()
           << "expected dimension " << dim << " to go from " << from << " to "
           << to << " but got " << inputType << " and " << resultType;
  return success();
}

/// Checks values that travel along dimensions that layouts deal, from whole to
/// dealt or back.
template <typename OpT>
static LogicalResult verifyDealt(OpT op, bool fromWhole) {
  // (C2)
  size_t count = op.getInputs().size();
  if (count == 0 || op.getDims().size() != count ||
      op.getLayouts().size() != count || op.getResults().size() != count)
    return op.emitOpError()
           << "expected a dimension, a layout and a result for each of one or "
              "more values but got "
           << op.getDims().size() << ", " << op.getLayouts().size() << " and "
           << op.getResults().size() << " for " << count;
  for (unsigned i = 0; i < count; ++i) {
    LayoutAttr layout = op.getLayout(i);
    // (C3)
    if (layout.getAxis() != op.getAxis() ||
        layout.getRanks() != op.getLayout(0).getRanks())
      return op.emitOpError()
             << "expected rows dealt to the same ranks but got "
             << op.getLayout(0) << " and " << layout;
    // (C1)
    int64_t from = layout.getMaxCount(), to = layout.getLength();
    if (fromWhole)
      std::swap(from, to);
    if (failed(verifyDimChange(op, op.getInputs()[i].getType(),
                               op.getResults()[i].getType(), op.getDims()[i],
                               from, to)))
      return failure();
  }
  return success();
}

/// The types of values once a dimension of each has another size.
template <typename SizeT>
static SmallVector<Type> resized(ValueRange values, ArrayRef<int64_t> dims,
                                 ArrayRef<LayoutAttr> layouts, SizeT sizeOf) {
  SmallVector<Type> types;
  for (auto [value, dim, layout] : llvm::zip_equal(values, dims, layouts)) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = sizeOf(layout);
    types.push_back(type.clone(shape));
  }
  return types;
}

static ArrayAttr arrayOf(OpBuilder &builder, ArrayRef<LayoutAttr> layouts) {
  return builder.getArrayAttr(llvm::to_vector_of<Attribute>(layouts));
}

void AllGatherOp::build(OpBuilder &builder, OperationState &state,
                        ValueRange inputs, ArrayRef<int64_t> dims,
                        ArrayRef<LayoutAttr> layouts, Value after) {
  build(builder, state,
        resized(inputs, dims, layouts,
                [](LayoutAttr layout) { return layout.getLength(); }),
        inputs, dims, arrayOf(builder, layouts), after);
}

/// Replaces an operation by one of the values that somebody reads, each once.
template <typename OpT, typename CreateT>
static LogicalResult keepRead(OpT op, PatternRewriter &rewriter,
                              CreateT create) {
  llvm::SetVector<std::tuple<Value, int64_t, LayoutAttr>> kept;
  SmallVector<size_t> places;
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    std::tuple<Value, int64_t, LayoutAttr> dealt = {input, op.getDims()[i],
                                                    op.getLayout(i)};
    if (!op.getResult(i).use_empty())
      kept.insert(dealt);
    places.push_back(llvm::find(kept, dealt) - kept.begin());
  }
  if (kept.empty() || kept.size() == places.size())
    return failure();
  SmallVector<Value> inputs;
  SmallVector<int64_t> dims;
  SmallVector<LayoutAttr> layouts;
  for (auto [input, dim, layout] : kept) {
    inputs.push_back(input);
    dims.push_back(dim);
    layouts.push_back(layout);
  }
  OpT few = create(inputs, dims, layouts);
  for (auto [i, place] : llvm::enumerate(places))
    if (!op.getResult(i).use_empty())
      rewriter.replaceAllUsesWith(op.getResult(i), few.getResult(place));
  rewriter.eraseOp(op);
  return success();
}

LogicalResult AllGatherOp::canonicalize(AllGatherOp op,
                                        PatternRewriter &rewriter) {
  return keepRead(op, rewriter, [&](auto &&...dealt) {
    return AllGatherOp::create(rewriter, op.getLoc(), dealt..., op.getAfter());
  });
}

template <typename OpT> static LogicalResult verifyAllGather(OpT op) {
  return verifyDealt(op, /*fromWhole=*/false);
}
LogicalResult AllGatherOp::verify() { return verifyAllGather(*this); }
LogicalResult AllGatherStartOp::verify() { return verifyAllGather(*this); }

template <typename OpT> static LogicalResult verifyRedeal(OpT op) {
  LayoutAttr from = op.getFrom(), to = op.getTo();
  // (C2)
  bool isAlongOne =
      to.getAxis() == from.getAxis() && to.getRanks() == from.getRanks();
  if (from.isDense() || !(to.isDense() || isAlongOne))
    return op.emitOpError() << "expected rows dealt to the same ranks, or "
                               "densely to those of one axis, but got "
                            << from << " and " << to;
  // (C3)
  constexpr int64_t most = sprt::algebra::Layout::maxLength;
  if (int64_t by = op.getBy(); by < -most || by > most)
    return op.emitOpError() << "expected rows to move by at most " << most
                            << " positions but got " << by;
  // (C1)
  return verifyDimChange(op, op.getInput().getType(), op.getResult().getType(),
                         op.getDim(), from.getMaxCount(), to.getMaxCount());
}
LogicalResult RedealOp::verify() { return verifyRedeal(*this); }
LogicalResult RedealStartOp::verify() { return verifyRedeal(*this); }

template <typename OpT> static LogicalResult verifyAllReduce(OpT op) {
  // (C1)
  int64_t ranks = op.getRanks();
  if (ranks < 1)
    return op.emitOpError()
           << "expected a positive number of ranks but got " << ranks;
  // (C2)
  DenseSet<AxisAttr> axes;
  for (AxisAttr axis : op.getAxes().getAxes())
    if (!axes.insert(axis).second)
      return op.emitOpError()
             << "expected axis \"" << axis.getText() << "\" to be named once";
  if (axes.empty())
    return op.emitOpError() << "expected an axis to reduce over";
  // (C3)
  if (op.getInputs().empty())
    return op.emitOpError() << "expected a value to reduce";
  if (failed(verifyOneElement(op)))
    return failure();
  // (C4)
  return verifySameTypes(op);
}
LogicalResult AllReduceOp::verify() { return verifyAllReduce(*this); }
LogicalResult AllReduceStartOp::verify() { return verifyAllReduce(*this); }

void ReduceScatterOp::build(OpBuilder &builder, OperationState &state,
                            ValueRange inputs, Reduction kind,
                            ArrayRef<int64_t> dims,
                            ArrayRef<LayoutAttr> layouts) {
  build(builder, state,
        resized(inputs, dims, layouts,
                [](LayoutAttr layout) { return layout.getMaxCount(); }),
        inputs, kind, dims, arrayOf(builder, layouts));
}

LogicalResult ReduceScatterOp::canonicalize(ReduceScatterOp op,
                                            PatternRewriter &rewriter) {
  return keepRead(op, rewriter, [&](ValueRange inputs, auto &&...dealt) {
    return ReduceScatterOp::create(rewriter, op.getLoc(), inputs, op.getKind(),
                                   dealt...);
  });
}

template <typename OpT> static LogicalResult verifyReduceScatter(OpT op) {
  // (C4)
  if (failed(verifyOneElement(op)))
    return failure();
  return verifyDealt(op, /*fromWhole=*/true);
}
LogicalResult ReduceScatterOp::verify() { return verifyReduceScatter(*this); }
LogicalResult ReduceScatterStartOp::verify() {
  return verifyReduceScatter(*this);
}

template <typename OpT> static LogicalResult verifyAllToAll(OpT op) {
  auto dealtRows = op.getToRows() ? op.getResult() : op.getInput();
  auto dealtHeads = op.getToRows() ? op.getInput() : op.getResult();
  auto rows = cast<RankedTensorType>(dealtRows.getType());
  auto heads = cast<RankedTensorType>(dealtHeads.getType());
  // (C3)
  int64_t queryHeads = op.getHeads().getLength(), count = op.getHeadCount();
  if (queryHeads > INT32_MAX || count < 0 || count > queryHeads)
    return op.emitOpError() << "expected from 0 to " << INT32_MAX
                            << " heads, and as many at most of the tensor, but "
                               "got "
                            << op.getHeads() << " of " << count;
  int64_t localHeads = getMaxHeads(op.getHeads(), op.getHeadCount());
  SmallVector<int64_t> wantRows = {
      rows.getDimSize(0), op.getRows().getMaxCount(),
      static_cast<int64_t>(op.getHeadCount()), rows.getDimSize(3)};
  // (C2)
  LayoutAttr dealt = op.getRows();
  if (std::optional<LayoutAttr> onto = op.getOnto();
      onto && (onto->getLength() != dealt.getLength() ||
               onto->getRanks() * dealt.getSplit() != dealt.getRanks() ||
               dealt.getSplit() != op.getHeads().getRanks()))
    return op.emitOpError() << "expected the parts of " << dealt
                            << " to be joined by the owners of heads "
                            << op.getHeads() << " but got onto " << *onto;
  int64_t joined =
      op.getOnto() ? op.getOnto()->getMaxCount() : dealt.getLength();
  SmallVector<int64_t> wantHeads = {rows.getDimSize(0), joined, localHeads,
                                    rows.getDimSize(3)};
  // (C1)
  if (rows != rows.clone(wantRows) || heads != rows.clone(wantHeads))
    return op.emitOpError() << "expected dealt rows " << rows.clone(wantRows)
                            << " and dealt heads " << rows.clone(wantHeads)
                            << " but got " << rows << " and " << heads;
  return success();
}
LogicalResult AllToAllOp::verify() { return verifyAllToAll(*this); }
LogicalResult AllToAllStartOp::verify() { return verifyAllToAll(*this); }
