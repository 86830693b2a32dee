//===- SortOps.cpp - sort and top_k ---------------------------------------===//
#include "Arithmetic.h"
#include "Comparison.h"
#include "Elementwise.h"
#include "ScalarProgram.h"
#include "Strided.h"
#include <numeric>

using namespace mlir;
using namespace mlir::interpreter;

/// Whether element x of a line comes before element y.
using Before = llvm::function_ref<FailureOr<bool>(int64_t x, int64_t y)>;

/// Stable merge sort of `order`. Ends for any comparator, also one that is no
/// order, and touches nothing outside.
static LogicalResult mergeSort(std::vector<int64_t> &order, Before before) {
  int64_t count = order.size();
  std::vector<int64_t> merged(count);
  for (int64_t width = 1; width < count; width *= 2) {
    for (int64_t begin = 0; begin < count; begin += 2 * width) {
      int64_t middle = std::min(begin + width, count);
      int64_t end = std::min(begin + 2 * width, count);
      int64_t left = begin, right = middle;
      for (int64_t i = begin; i < end; ++i) {
        bool takeRight = left == middle;
        if (left < middle && right < end) {
          FailureOr<bool> isBefore = before(order[right], order[left]);
          if (failed(isBefore))
            return failure();
          takeRight = *isBefore;
        }
        merged[i] = takeRight ? order[right++] : order[left++];
      }
    }
    order.swap(merged);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Comparators
//===----------------------------------------------------------------------===//

/// Which arguments each value of a block follows from: bit 0 for even ones (the
/// element that may come first), bit 1 for odd ones (the other).
static DenseMap<Value, unsigned> sidesOf(Block &block) {
  DenseMap<Value, unsigned> sides;
  for (BlockArgument argument : block.getArguments())
    sides[argument] = 1u << argument.getArgNumber() % 2;
  for (Operation &op : block) {
    unsigned all = 0;
    for (Value operand : op.getOperands())
      all |= sides.lookup(operand);
    for (Value result : op.getResults())
      sides[result] = all;
  }
  return sides;
}

/// The comparison a comparator ends in, if its sides depend on one element
/// each: its keys can then be computed once for each element.
static stablehlo::CompareOp keyComparison(Region &comparator) {
  Block &block = comparator.front();
  auto compare = block.getTerminator()
                     ->getOperand(0)
                     .getDefiningOp<stablehlo::CompareOp>();
  bool ownValuesOnly = llvm::all_of(block, [&](Operation &op) {
    return llvm::all_of(op.getOperands(), [&](Value operand) {
      return operand.getParentBlock() == &block;
    });
  });
  if (!compare)
    return nullptr;
  Type element = getElementTypeOrSelf(compare.getLhs().getType());
  bool asUnsigned =
      compare.getCompareType() == stablehlo::ComparisonType::UNSIGNED;
  if (isa<ComplexType>(element) || (asUnsigned && element.isSignlessInteger()))
    return nullptr;
  if (!ownValuesOnly || !isElementwise(block))
    return nullptr;
  DenseMap<Value, unsigned> sides = sidesOf(block);
  bool apart = !(sides[compare.getLhs()] & 2) && !(sides[compare.getRhs()] & 1);
  return apart ? compare : nullptr;
}

namespace {
/// What a comparator compares: for each element its key as the element that may
/// come first, and its key as the other.
struct Keys {
  Tensor first, other;
  stablehlo::ComparisonDirection direction;
};
} // namespace

/// Integers in total order.
static Tensor totalOrderKeys(const Tensor &keys) {
  Type integer = IntegerType::get(keys.getType().getContext(), 64);
  Tensor result(RankedTensorType::get(keys.getShape(), integer));
  MutableArrayRef<int64_t> out = result.mutableElements<int64_t>();
  for (auto [slot, key] : llvm::zip_equal(out, keys.elements<double>()))
    slot = totalOrder(key);
  return result;
}

/// Evaluates both sides of `compare` for all elements of all lines.
static FailureOr<Keys> computeKeys(stablehlo::CompareOp compare,
                                   const Tensors &columns,
                                   Evaluator &evaluator) {
  Block &block = *compare->getBlock();
  DenseMap<Value, Tensor> values;
  for (BlockArgument argument : block.getArguments())
    values[argument] = columns[argument.getArgNumber() / 2];
  for (Operation &op : block.without_terminator()) {
    Tensors operands;
    for (Value operand : op.getOperands())
      operands.push_back(values[operand]);
    FailureOr<Tensors> results = evaluator.evaluate(&op, std::move(operands));
    if (failed(results))
      return failure();
    for (auto [result, tensor] : llvm::zip_equal(op.getResults(), *results))
      values[result] = std::move(tensor);
  }
  Keys keys{values[compare.getLhs()], values[compare.getRhs()],
            compare.getComparisonDirection()};
  for (Tensor *side : {&keys.first, &keys.other}) {
    if (side->getRank() == 0)
      *side = repeatScalar(*side, columns.front().size());
    if (compare.getCompareType() == stablehlo::ComparisonType::TOTALORDER &&
        side->getStorage() == Storage::Float)
      *side = totalOrderKeys(*side);
  }
  return keys;
}

//===----------------------------------------------------------------------===//
// sort
//===----------------------------------------------------------------------===//

namespace {
/// The lines to sort: all of them one after another, per input one column.
struct Lines {
  Tensors columns;
  int64_t count, length;
};
} // namespace

/// Sorts each line: `order` gets the elements' numbers in their new order.
static LogicalResult sortLines(const Lines &lines, std::vector<int64_t> &order,
                               Before before) {
  order.clear();
  for (int64_t line = 0; line < lines.count; ++line) {
    std::vector<int64_t> own(lines.length);
    std::iota(own.begin(), own.end(), line * lines.length);
    if (failed(mergeSort(own, before)))
      return failure();
    llvm::append_range(order, own);
  }
  return success();
}

static LogicalResult sortByKeys(const Lines &lines, const Keys &keys,
                                std::vector<int64_t> &order) {
  return dispatch(keys.first.getStorage(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *first = keys.first.elements<T>().data();
    const T *other = keys.other.elements<T>().data();
    if constexpr (std::is_same_v<T, std::complex<double>>)
      return failure(); // keyComparison takes no complex keys.
    else
      return withRelation(keys.direction, [&](auto relation) {
        return sortLines(lines, order,
                         [&](int64_t x, int64_t y) -> FailureOr<bool> {
                           return relation(first[x], other[y]);
                         });
      });
  });
}

/// Runs the comparator for every comparison.
static LogicalResult sortByProgram(Region &comparator, const Lines &lines,
                                   std::vector<int64_t> &order,
                                   Evaluator &evaluator) {
  auto before = [&](int64_t x, int64_t y) -> FailureOr<bool> {
    Tensors arguments;
    for (const Tensor &column : lines.columns) {
      arguments.push_back(scalarAt(column, x));
      arguments.push_back(scalarAt(column, y));
    }
    FailureOr<Tensors> result = evaluator.run(comparator, std::move(arguments));
    if (failed(result))
      return failure();
    return result->front().at<uint8_t>() != 0;
  };
  return sortLines(lines, order, before);
}

/// A tensor of `shape` from lines along `dimension`.
static Tensor fromLines(const Tensor &column, ArrayRef<int64_t> shape,
                        int64_t dimension) {
  Tensor result(RankedTensorType::get(shape, column.getElementType()));
  SmallVector<int64_t> moved(shape), strides;
  moved.erase(moved.begin() + dimension);
  moved.push_back(shape[dimension]);
  View to = wholeView(shape);
  int64_t along = to.strides[dimension];
  to.strides.erase(to.strides.begin() + dimension);
  to.strides.push_back(along);
  copyView(moved, column, wholeView(moved), result, to);
  return result;
}

static FailureOr<Tensors> sortOp(stablehlo::SortOp op, Tensors &operands,
                                 Evaluator &evaluator) {
  SmallVector<int64_t> shape(operands[0].getShape());
  int64_t rank = shape.size();
  int64_t dimension = int64_t(op.getDimension());
  if (dimension < 0)
    dimension += rank;
  if (operands[0].size() == 0)
    return operands;
  SmallVector<int64_t> others;
  for (int64_t d = 0; d < rank; ++d)
    if (d != dimension)
      others.push_back(d);
  Lines lines;
  lines.length = shape[dimension];
  lines.count = operands[0].size() / lines.length;
  for (const Tensor &operand : operands)
    lines.columns.push_back(
        inGroups(operand, {others, dimension})
            .withType(RankedTensorType::get({operand.size()},
                                            operand.getElementType())));

  std::vector<int64_t> order;
  LogicalResult sorted = success();
  if (stablehlo::CompareOp compare = keyComparison(op.getComparator())) {
    FailureOr<Keys> keys = computeKeys(compare, lines.columns, evaluator);
    if (failed(keys))
      return failure();
    sorted = sortByKeys(lines, *keys, order);
  } else {
    sorted = sortByProgram(op.getComparator(), lines, order, evaluator);
  }
  if (failed(sorted))
    return failure();
  Tensors results;
  for (const Tensor &column : lines.columns)
    results.push_back(fromLines(collect(column, order), shape, dimension));
  return results;
}

//===----------------------------------------------------------------------===//
// top_k
//===----------------------------------------------------------------------===//

/// The largest elements in falling order, equal ones by place; NaN is largest.
static FailureOr<Tensors> topKOp(chlo::TopKOp op, Tensors &operands,
                                 Evaluator &) {
  const Tensor &operand = operands[0];
  auto type = cast<RankedTensorType>(op.getValues().getType());
  auto placesType = cast<RankedTensorType>(op.getIndices().getType());
  int64_t k = type.getShape().back();
  int64_t length = operand.getShape().back();
  if (operand.getStorage() == Storage::Complex) {
    (void)unsupportedElements(op, operand.getElementType());
    return failure();
  }
  Lines lines{{}, length == 0 ? 0 : operand.size() / length, length};
  std::vector<int64_t> order;
  LogicalResult sorted = dispatch(operand.getStorage(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *values = operand.elements<T>().data();
    return sortLines(lines, order,
                     [&](int64_t x, int64_t y) -> FailureOr<bool> {
                       if constexpr (std::is_same_v<T, double>)
                         return totalOrder(values[x]) > totalOrder(values[y]);
                       else
                         return lessThan(values[y], values[x]);
                     });
  });
  if (failed(sorted))
    return failure();
  std::vector<int64_t> chosen;
  for (int64_t line = 0; line < lines.count; ++line)
    for (int64_t i = 0; i < k; ++i)
      chosen.push_back(order[line * length + i]);
  Tensor places(placesType);
  dispatch(places.getStorage(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, std::complex<double>>)
      for (auto [slot, place] :
           llvm::zip_equal(places.mutableElements<T>(), chosen))
        slot = T(place % length);
  });
  Tensor flat = operand.withType(
      RankedTensorType::get({operand.size()}, operand.getElementType()));
  Tensors results;
  results.push_back(collect(flat, chosen).withType(type));
  results.push_back(std::move(places));
  return results;
}

void interpreter::addSortOps(Handlers &handlers) {
  handlers.add<stablehlo::SortOp>(sortOp);
  handlers.add<chlo::TopKOp>(topKOp);
}
