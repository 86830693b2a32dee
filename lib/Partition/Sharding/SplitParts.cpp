#include "Sharding/SplitParts.h"

#include "sp/IR/LocalForms.h"
#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/StableHLO.h"
#include "sp/StableHLO/TensorTypes.h"

using namespace mlir;
using namespace mlir::sp;

namespace {

/// Parts of a dimension that follow each other.
struct Parts {
  unsigned dim;
  int64_t size, count; ///< of a part, and of parts
};

using Shape = SmallVector<int64_t>;

/// [.., count, size, ..]
Value apart(OpBuilder &builder, Value value, unsigned dim, int64_t size) {
  Shape shape(typeOf(value).getShape());
  int64_t count = shape[dim] / size;
  shape[dim] = size;
  shape.insert(shape.begin() + dim, count);
  return reshapeTo(builder, value.getLoc(), value, shape);
}

/// As many elements of two dimensions as one of them.
Value together(OpBuilder &builder, Value value, unsigned dim) {
  Shape shape(typeOf(value).getShape());
  shape[dim] *= shape[dim + 1];
  shape.erase(shape.begin() + dim + 1);
  return reshapeTo(builder, value.getLoc(), value, shape);
}

std::optional<Parts> partsOf(stablehlo::SliceOp op) {
  ArrayRef<int64_t> from = typeOf(op.getOperand()).getShape(),
                    to = typeOf(op).getShape();
  std::optional<Parts> parts;
  for (unsigned dim = 0; dim < from.size(); ++dim) {
    if (op.getStrides()[dim] != 1)
      return std::nullopt;
    if (from[dim] == to[dim])
      continue;
    if (parts || to[dim] == 0 || from[dim] % to[dim] != 0 ||
        op.getStartIndices()[dim] % to[dim] != 0)
      return std::nullopt;
    parts = Parts{dim, to[dim], from[dim] / to[dim]};
  }
  return parts;
}

std::optional<Parts> partsOf(stablehlo::ConcatenateOp op) {
  auto dim = static_cast<unsigned>(op.getDimension());
  int64_t size = typeOf(op.getInputs()[0]).getDimSize(dim);
  for (Value input : op.getInputs())
    if (typeOf(input).getDimSize(dim) != size)
      return std::nullopt;
  if (op.getInputs().size() < 2 || size == 0)
    return std::nullopt;
  return Parts{dim, size, int64_t(op.getInputs().size())};
}

std::optional<Parts> partsOf(stablehlo::PadOp op) {
  ArrayRef<int64_t> from = typeOf(op.getOperand()).getShape(),
                    low = op.getEdgePaddingLow(),
                    high = op.getEdgePaddingHigh();
  std::optional<Parts> parts;
  for (unsigned dim = 0; dim < from.size(); ++dim) {
    if (op.getInteriorPadding()[dim] != 0)
      return std::nullopt;
    if (low[dim] == 0 && high[dim] == 0)
      continue;
    if (parts || from[dim] == 0 || low[dim] < 0 || high[dim] < 0 ||
        low[dim] % from[dim] != 0 || high[dim] % from[dim] != 0)
      return std::nullopt;
    parts = Parts{dim, from[dim], (low[dim] + high[dim]) / from[dim] + 1};
  }
  return parts;
}

Value split(OpBuilder &builder, stablehlo::SliceOp op, Parts parts) {
  Shape start(op.getStartIndices()), limit(op.getLimitIndices());
  int64_t number = start[parts.dim] / parts.size;
  start[parts.dim] = 0;
  limit[parts.dim] = parts.size;
  start.insert(start.begin() + parts.dim, number);
  limit.insert(limit.begin() + parts.dim, number + 1);
  Value from = apart(builder, op.getOperand(), parts.dim, parts.size);
  Shape shape(typeOf(from).getShape()), stride(shape.size(), 1);
  shape[parts.dim] = 1;
  return stablehlo::SliceOp::create(builder, op.getLoc(),
                                    typeOf(from).clone(shape), from, start,
                                    limit, stride);
}

Value split(OpBuilder &builder, stablehlo::ConcatenateOp op, Parts parts) {
  SmallVector<Value> inputs;
  for (Value input : op.getInputs())
    inputs.push_back(apart(builder, input, parts.dim, parts.size));
  Shape shape(typeOf(inputs[0]).getShape());
  shape[parts.dim] = parts.count;
  return stablehlo::ConcatenateOp::create(
      builder, op.getLoc(), typeOf(op).clone(shape), inputs, parts.dim);
}

Value split(OpBuilder &builder, stablehlo::PadOp op, Parts parts) {
  Shape low(op.getEdgePaddingLow()), high(op.getEdgePaddingHigh());
  for (Shape *edge : {&low, &high}) {
    int64_t number = (*edge)[parts.dim] / parts.size;
    (*edge)[parts.dim] = 0;
    edge->insert(edge->begin() + parts.dim, number);
  }
  Value from = apart(builder, op.getOperand(), parts.dim, parts.size);
  Shape shape(typeOf(from).getShape()), zeros(shape.size(), 0);
  shape[parts.dim] = parts.count;
  return stablehlo::PadOp::create(builder, op.getLoc(), typeOf(op).clone(shape),
                                  from, op.getPaddingValue(), low, high, zeros);
}

/// Whether a product makes a value, but for a bias and the like.
bool isMadeByProduct(Value value, unsigned depth = 3) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return false;
  return isContraction(op) ||
         (op->hasTrait<stablehlo::Elementwise>() &&
          llvm::any_of(op->getOperands(), [&](Value operand) {
            return isMadeByProduct(operand, depth - 1);
          }));
}
/// Whether a product reads a value, or a sum that it is a term of.
bool isReadByProduct(Value value, unsigned depth = 3) {
  return depth > 0 && llvm::any_of(value.getUsers(), [&](Operation *user) {
           return isContraction(user) ||
                  (user->hasTrait<stablehlo::Elementwise>() &&
                   isReadByProduct(user->getResult(0), depth - 1));
         });
}

template <typename OpT>
bool splitOne(OpT op, ValueRange ofParts,
              function_ref<bool(Value, unsigned)> isDealt) {
  std::optional<Parts> parts = partsOf(op);
  if (!parts)
    return false;
  bool isCut = std::is_same_v<OpT, stablehlo::SliceOp>;
  bool isOfProduct = isCut ? isMadeByProduct(op->getOperand(0))
                           : isReadByProduct(op->getResult(0));
  if (!isOfProduct && llvm::none_of(ofParts, [&](Value part) {
        return isDealt(part, parts->dim);
      }))
    return false;
  OpBuilder builder(op);
  op.replaceAllUsesWith(
      together(builder, split(builder, op, *parts), parts->dim));
  op.erase();
  return true;
}

} // namespace

bool mlir::sp::splitParts(func::FuncOp func,
                          function_ref<bool(Value, unsigned)> isDealt) {
  SmallVector<Operation *> ops;
  func.walk([&](Operation *op) { ops.push_back(op); });
  bool any = false;
  for (Operation *op : ops) {
    if (auto slice = dyn_cast<stablehlo::SliceOp>(op))
      any |= splitOne(slice, slice->getResults(), isDealt);
    else if (auto join = dyn_cast<stablehlo::ConcatenateOp>(op))
      any |= splitOne(join, join.getInputs(), isDealt);
    else if (auto pad = dyn_cast<stablehlo::PadOp>(op))
      any |= splitOne(pad, pad.getOperand(), isDealt);
  }
  return any;
}
