//===- NumberSource.cpp - Numbers of documents, as functions of arguments -===//
//
//   %0 = compare EQ %positions, 0        sp.documents @documents_0 of 64
//   %1 = convert %0                        in arguments [4] {
//   %2 = reduce_window add %1            ^bb0(%positions):
//   %3 = reshape %2                        ... %2 ... sp.yield %2
//   sp.attention ... per_query(%3)       }
//
//===----------------------------------------------------------------------===//

#include "Documents/NumberSource.h"

#include "Documents/HiddenPairs.h"

#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/StableHLO.h"
#include "sp/StableHLO/TensorTypes.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::sp;

/// More operations, or elements for each position, are no bookkeeping any more.
static constexpr size_t maxOperations = 512;
static constexpr int64_t maxElements = 4096;

/// Sizes but for dimensions of 1.
static SmallVector<int64_t> sizesOf(Value value) {
  SmallVector<int64_t> sizes(typeOf(value).getShape());
  llvm::erase(sizes, 1);
  return sizes;
}

/// Whether the result has the operand's elements for each element of a batch.
static bool repeatsRows(stablehlo::BroadcastInDimOp op) {
  SmallVector<int64_t> from = sizesOf(op.getOperand()), to = sizesOf(op);
  // What is more than 1 keeps its order, and nothing comes behind it.
  int64_t last = -1;
  for (auto [size, dim] : llvm::zip_equal(typeOf(op.getOperand()).getShape(),
                                          op.getBroadcastDimensions()))
    if (size != 1) {
      if (dim <= last)
        return false;
      last = dim;
    }
  ArrayRef<int64_t> shape = typeOf(op).getShape();
  bool isLast = llvm::all_of(shape.drop_front(last + 1),
                             [](int64_t size) { return size == 1; });
  return isLast && !from.empty() && to.size() <= from.size() + 1 &&
         ArrayRef(to).take_back(from.size()) == ArrayRef(from);
}

/// The value that has the same whole numbers, position by position; null where
/// none does.
static Value simplerThan(Value value) {
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return Value();
  Operation *op = result.getOwner();
  if (isa<stablehlo::OptimizationBarrierOp>(op))
    return op->getOperand(result.getResultNumber());
  bool isSame = false;
  if (auto repeat = dyn_cast<stablehlo::BroadcastInDimOp>(op))
    isSame = repeatsRows(repeat);
  if (isa<stablehlo::ReshapeOp>(op))
    isSame = sizesOf(op->getOperand(0)) == sizesOf(value);
  if (isa<stablehlo::ConvertOp>(op))
    isSame = keepsWholeNumbers(elementOf(op->getOperand(0)), elementOf(value));
  return isSame ? op->getOperand(0) : Value();
}

/// Whether an operation computes few whole numbers of others, and of nothing
/// else, in its regions neither.
static bool isBookkeeping(Operation *op, int64_t length) {
  auto areWhole = [&](TypeRange types) {
    return llvm::all_of(types, [&](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && tensor.getElementType().isInteger() &&
             tensor.getNumElements() / length <= maxElements;
    });
  };
  WalkResult walked = op->walk([&](Operation *inner) {
    bool isWhole = isa<stablehlo::StablehloDialect>(inner->getDialect()) &&
                   !isa<stablehlo::CustomCallOp>(inner) &&
                   areWhole(inner->getOperandTypes()) &&
                   areWhole(inner->getResultTypes());
    return isWhole ? WalkResult::advance() : WalkResult::interrupt();
  });
  return !walked.wasInterrupted() && isMemoryEffectFree(op);
}

std::optional<NumberSource> NumberSource::find(Value term, func::FuncOp main) {
  NumberSource source;
  source.length = typeOf(term).getDimSize(1);
  Block *body = &main.getBody().front();
  Value value = lookThroughLoops(term);
  while (Value simpler = simplerThan(value))
    value = lookThroughLoops(simpler);
  source.numbers = value;
  SmallVector<Value> open = {value};
  while (!open.empty()) {
    Value next = lookThroughLoops(open.pop_back_val());
    if (auto argument = dyn_cast<BlockArgument>(next)) {
      if (argument.getOwner() != body || !isa<IntegerType>(elementOf(argument)))
        return std::nullopt;
      if (!llvm::is_contained(source.arguments, argument))
        source.arguments.push_back(argument);
      continue;
    }
    Operation *op = next.getDefiningOp();
    if (op->getBlock() != body || !isBookkeeping(op, source.length) ||
        source.operations.size() == maxOperations)
      return std::nullopt;
    if (!source.operations.insert(op))
      continue;
    llvm::append_range(open, op->getOperands());
    SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    llvm::append_range(open, captured);
  }
  source.operations = topologicalSort(source.operations);
  // As rows of so many positions; documents that nothing decides are one.
  SmallVector<int64_t> sizes = sizesOf(value);
  bool isRows =
      !sizes.empty() && sizes.back() == source.length &&
      (sizes.size() == 1 ||
       (sizes.size() == 2 && sizes.front() == typeOf(term).getDimSize(0)));
  if (!isRows || source.arguments.empty())
    return std::nullopt;
  return source;
}

DocumentsOp NumberSource::create(OpBuilder &builder, StringRef name) const {
  SmallVector<int64_t> numbersOf;
  for (BlockArgument argument : arguments)
    numbersOf.push_back(argument.getArgNumber());
  auto documents =
      DocumentsOp::create(builder, numbers.getLoc(), name, length, numbersOf);
  if (operations.empty())
    return documents;
  Block *block = builder.createBlock(&documents.getBody());
  IRMapping mapping;
  for (BlockArgument argument : arguments)
    mapping.map(argument,
                block->addArgument(argument.getType(), argument.getLoc()));
  for (Operation *op : operations)
    builder.clone(*op, mapping);
  YieldOp::create(builder, numbers.getLoc(), mapping.lookup(numbers));
  return documents;
}
