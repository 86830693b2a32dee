//===- SPOps.cpp - Verification of positions, products and communication --===//

#include "sp/IR/SP.h"
#include "sp/IR/ShardingRules.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace mlir::sp;

//===----------------------------------------------------------------------===//
// Custom directives of types
//===----------------------------------------------------------------------===//

/// A state that an op continues has the types of the state it yields.
static ParseResult parseStateTypes(
    OpAsmParser &, std::optional<OpAsmParser::UnresolvedOperand> state,
    Type outputType, Type lseType, Type &stateType, Type &stateLseType) {
  if (state) {
    stateType = outputType;
    stateLseType = lseType;
  }
  return success();
}
static void printStateTypes(OpAsmPrinter &, Operation *, Value, Type, Type,
                            Type, Type) {}

/// Terms in groups of a kind: `per_key(%a, %b : t, t) table(%c : t)`.
static ParseResult
parseTerms(OpAsmParser &parser,
           SmallVectorImpl<OpAsmParser::UnresolvedOperand> &terms,
           SmallVectorImpl<Type> &types, TermKindsAttr &kinds) {
  SmallVector<TermKind> all;
  for (uint32_t number = 0; number <= getMaxEnumValForTermKind(); ++number) {
    auto kind = TermKind(number);
    if (failed(parser.parseOptionalKeyword(stringifyTermKind(kind))))
      continue;
    SMLoc location = parser.getCurrentLocation();
    if (parser.parseLParen() || parser.parseOperandList(terms) ||
        parser.parseColonTypeList(types) || parser.parseRParen())
      return failure();
    if (terms.size() != types.size())
      return parser.emitError(location) << "expected a type for each "
                                        << stringifyTermKind(kind) << " term";
    all.resize(terms.size(), kind);
  }
  kinds = TermKindsAttr::get(parser.getContext(), all);
  return success();
}

static void printTerms(OpAsmPrinter &printer, Operation *op, OperandRange,
                       TypeRange, TermKindsAttr) {
  for (uint32_t number = 0; number <= getMaxEnumValForTermKind(); ++number) {
    auto kind = TermKind(number);
    OperandRange terms = cast<ScoredOpInterface>(op).getTermsOf(kind);
    if (!terms.empty())
      printer << " " << stringifyTermKind(kind) << "(" << terms << " : "
              << terms.getTypes() << ")";
  }
}

/// Gradients that an op continues have the types of those it yields, delta that
/// of one number of lse.
static ParseResult parseGradientTypes(
    OpAsmParser &, std::optional<OpAsmParser::UnresolvedOperand> ontoQuery,
    std::optional<OpAsmParser::UnresolvedOperand> ontoKey, Type lseType,
    Type queryType, Type keyType, Type valueType, ArrayRef<Type> termTypes,
    Type &deltaType, Type &ontoQueryType, Type &ontoKeyType,
    Type &ontoValueType, SmallVectorImpl<Type> &ontoTermTypes) {
  auto lse = cast<RankedTensorType>(lseType);
  deltaType = lse.clone(lse.getShape().take_front(3));
  if (ontoQuery)
    ontoQueryType = queryType;
  if (ontoKey) {
    ontoKeyType = keyType;
    ontoValueType = valueType;
  }
  ontoTermTypes.assign(termTypes.begin(), termTypes.end());
  return success();
}
static void printGradientTypes(OpAsmPrinter &, Operation *, Value, Value, Type,
                               Type, Type, Type, TypeRange, Type, Type, Type,
                               Type, TypeRange) {}

static ParseResult parseSameTypes(OpAsmParser &, ArrayRef<Type> inputs,
                                  SmallVectorImpl<Type> &results) {
  results.assign(inputs.begin(), inputs.end());
  return success();
}
static void printSameTypes(OpAsmPrinter &, Operation *, TypeRange, TypeRange) {}

#include "sp/IR/SPInterfaces.cpp.inc"

#define GET_OP_CLASSES
#include "sp/IR/SPOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Meaning
//===----------------------------------------------------------------------===//

LogicalResult PositionsOp::verify() {
  // (C1)
  int64_t count = getLayout().getMaxCount();
  if (cast<RankedTensorType>(getType()).getDimSize(0) != count)
    return emitOpError() << "expected " << count
                         << " positions, the most that a rank of the layout "
                            "holds, but got "
                         << getType();
  // (C2)
  if (getLayout().getTurns() > 1)
    return emitOpError() << "expected rows of a rank, not of one of its "
                         << getLayout().getTurns() << " turns";
  return success();
}

//===----------------------------------------------------------------------===//
// Communication: both forms share a check
//===----------------------------------------------------------------------===//

template <typename OpT> static LogicalResult verifySameTypes(OpT op) {
  for (auto [input, result] : llvm::zip(op.getInputs(), op.getResults()))
    if (input.getType() != result.getType())
      return op.emitOpError()
             << "expected results of the operands' types but got "
             << result.getType() << " for " << input.getType();
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

template <typename OpT> static LogicalResult verifyAllGather(OpT op) {
  LayoutAttr layout = op.getLayout();
  // (C1)
  return verifyDimChange(op, op.getInput().getType(), op.getResult().getType(),
                         op.getDim(), layout.getMaxCount(), layout.getLength());
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
  Type element = getElementTypeOrSelf(op.getInputs()[0].getType());
  for (Value input : op.getInputs())
    if (getElementTypeOrSelf(input.getType()) != element)
      return op.emitOpError() << "expected values of " << element << " but got "
                              << input.getType();
  // (C4)
  return verifySameTypes(op);
}
LogicalResult AllReduceOp::verify() { return verifyAllReduce(*this); }
LogicalResult AllReduceStartOp::verify() { return verifyAllReduce(*this); }

template <typename OpT> static LogicalResult verifyReduceScatter(OpT op) {
  LayoutAttr layout = op.getLayout();
  // (C1)
  return verifyDimChange(op, op.getInput().getType(), op.getResult().getType(),
                         op.getDim(), layout.getLength(), layout.getMaxCount());
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
