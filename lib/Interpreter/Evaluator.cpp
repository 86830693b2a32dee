//===- Evaluator.cpp - Walks a program and calls its operations -----------===//
#include "Evaluator.h"
#include "RoundingErrors.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::interpreter;

/// Calls and regions inside each other, before a program counts as endless.
static constexpr int kDepthLimit = 200;

const Handlers &Handlers::get() {
  static const Handlers handlers = [] {
    Handlers h;
    addUnaryOps(h);
    addBinaryOps(h);
    addSelectionOps(h);
    addConversionOps(h);
    addMovementOps(h);
    addDynamicSliceOps(h);
    addDotOps(h);
    addConvolutionOps(h);
    addReductionOps(h);
    addWindowOps(h);
    addGatherOps(h);
    addScatterOps(h);
    addSortOps(h);
    addControlFlowOps(h);
    addRandomOps(h);
    addMeshOps(h);
    addRankOps(h);
    addAttentionOps(h);
    addAttentionBackwardOps(h);
    addFunctionOps(h); // last: see there
    return h;
  }();
  return handlers;
}

const Handler *Handlers::find(Operation *op) const {
  auto it = entries.find(op->getName().getTypeID());
  return it == entries.end() ? nullptr : &it->second.run;
}

bool Handlers::isElementwise(Operation *op) const {
  auto it = entries.find(op->getName().getTypeID());
  return it != entries.end() && it->second.elementwise;
}

LogicalResult interpreter::checkMemory(Location location, StringRef what,
                                       TypeRange types, int64_t limitBytes) {
  // In double precision, where no product of sizes overflows.
  double bytes = 0;
  for (Type type : types) {
    auto tensor = cast<RankedTensorType>(type);
    double size = bytesPerElement(*storageOf(tensor.getElementType()));
    for (int64_t extent : tensor.getShape())
      size *= double(extent);
    bytes += size;
  }
  double others = double(Tensor::liveBytes());
  if (bytes + others <= double(limitBytes))
    return success();
  InFlightDiagnostic diagnostic = emitError(location);
  diagnostic << "expected " << what << " of types (" << types
             << ") to fit in memory, " << limitBytes << " bytes, but they take "
             << llvm::formatv("{0:F0}", bytes).str();
  if (others > 0)
    diagnostic << " beside " << Tensor::liveBytes() << " of other values";
  return diagnostic;
}

RankedTensorType interpreter::heldAs(Type type) {
  if (type.isIndex())
    return RankedTensorType::get({}, IntegerType::get(type.getContext(), 64));
  auto tensor = dyn_cast<RankedTensorType>(type);
  bool isHeld =
      tensor && tensor.hasStaticShape() && storageOf(tensor.getElementType());
  return isHeld ? tensor : RankedTensorType();
}

LogicalResult Evaluator::checkResultTypes(Operation *op) {
  SmallVector<Type> held;
  for (Type type : op->getResultTypes()) {
    held.push_back(heldAs(type));
    if (!held.back())
      return op->emitOpError()
             << "has a result of type " << type
             << ", which is not evaluated: expected a static tensor of "
                "integers, floats or complex numbers";
  }
  return checkMemory(op->getLoc(), "results", held, options.memoryLimitBytes);
}

/// What holds for every value: it has its type, or it is many scalars in one
/// column where a scalar is meant. Whatever reads it relies on that.
static LogicalResult checkTensors(Operation *op, TypeRange types,
                                  const Tensors &tensors, StringRef what) {
  bool fits = types.size() == tensors.size();
  for (size_t i = 0; fits && i < tensors.size(); ++i) {
    RankedTensorType type = heldAs(types[i]);
    fits = type && (tensors[i].getType() == type ||
                    (type.getRank() == 0 && tensors[i].getRank() == 1 &&
                     tensors[i].getElementType() == type.getElementType()));
  }
  if (fits)
    return success();
  InFlightDiagnostic diagnostic = op->emitOpError()
                                  << "expected " << what << " of types ("
                                  << types << ") but got (";
  llvm::interleaveComma(tensors, diagnostic, [&](const Tensor &tensor) {
    diagnostic << tensor.getType();
  });
  return diagnostic << ")";
}

FailureOr<Tensors> Evaluator::evaluate(Operation *op, Tensors operands) {
  const Handler *handler = Handlers::get().find(op);
  if (!handler)
    return op->emitOpError() << "is not evaluated";
  if (failed(checkResultTypes(op)))
    return failure();
  FailureOr<Tensors> results =
      options.errors
          ? evaluateWithErrors(*handler, op, std::move(operands), *this)
          : (*handler)(op, operands, *this);
  if (succeeded(results) &&
      failed(checkTensors(op, op->getResultTypes(), *results, "results")))
    return failure();
  return results;
}

const Evaluator::LastUses &Evaluator::lastUsesOf(Block &block) {
  std::unique_ptr<LastUses> &entry = lastUses[&block];
  if (entry)
    return *entry;
  entry = std::make_unique<LastUses>();
  auto note = [&](Value value) {
    Operation *last = nullptr;
    for (Operation *user : value.getUsers()) {
      Operation *here = block.findAncestorOpInBlock(*user);
      if (!last || last->isBeforeInBlock(here))
        last = here;
    }
    if (last)
      (*entry)[last].push_back(value);
  };
  for (BlockArgument argument : block.getArguments())
    note(argument);
  for (Operation &op : block)
    for (Value result : op.getResults())
      note(result);
  return *entry;
}

FailureOr<Tensors> Evaluator::runBlock(Block &block, Tensors arguments,
                                       Scope *parent) {
  if (depth >= kDepthLimit)
    return block.getParentOp()->emitOpError()
           << "is inside more than " << kDepthLimit
           << " calls and regions, which looks endless";
  if (failed(checkTensors(block.getParentOp(), block.getArgumentTypes(),
                          arguments, "arguments")))
    return failure();
  Scope own;
  own.parent = parent;
  Scope *outer = std::exchange(scope, &own);
  ++depth;
  llvm::scope_exit leave([&] {
    scope = outer;
    --depth;
  });
  for (auto [argument, tensor] :
       llvm::zip_equal(block.getArguments(), arguments))
    if (!argument.use_empty())
      own.values[argument] = std::move(tensor);
  arguments.clear();

  const LastUses &dying = lastUsesOf(block);
  for (Operation &op : block) {
    Tensors operands;
    for (Value operand : op.getOperands())
      operands.push_back(own.find(operand));
    auto last = dying.find(&op);
    auto forget = [&] {
      if (last != dying.end())
        for (Value value : last->second)
          own.values.erase(value);
    };
    if (op.hasTrait<OpTrait::IsTerminator>())
      return operands;
    // A region may read the values around it, so they outlive its operation.
    if (op.getNumRegions() == 0)
      forget();
    FailureOr<Tensors> results = evaluate(&op, std::move(operands));
    if (failed(results))
      return failure();
    if (op.getNumRegions() != 0)
      forget();
    for (auto [result, tensor] : llvm::zip_equal(op.getResults(), *results))
      if (!result.use_empty())
        own.values[result] = std::move(tensor);
  }
  return Tensors();
}

FailureOr<Tensors> Evaluator::run(Region &region, Tensors arguments) {
  return runBlock(region.front(), std::move(arguments), scope);
}

FailureOr<Tensors> Evaluator::call(func::FuncOp function, Tensors arguments,
                                   Operation *caller) {
  if (function.isExternal())
    return caller->emitOpError()
           << "calls @" << function.getName() << ", which has no body";
  if (!llvm::hasSingleElement(function.getBody()))
    return function.emitOpError() << "expected one block but got "
                                  << function.getBody().getBlocks().size();
  return runBlock(function.getBody().front(), std::move(arguments), nullptr);
}

FailureOr<SmallVector<Tensor>>
interpreter::evaluateOperation(Operation *op, ArrayRef<Tensor> operands,
                               const EvaluationOptions &options) {
  Evaluator evaluator(options);
  return evaluator.evaluate(op, Tensors(operands));
}

FailureOr<SmallVector<Tensor>>
interpreter::evaluateFunction(func::FuncOp function, ArrayRef<Tensor> arguments,
                              const EvaluationOptions &options) {
  if (function.getNumArguments() != arguments.size())
    return function.emitOpError() << "expected " << function.getNumArguments()
                                  << " arguments but got " << arguments.size();
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    if (type != arguments[i].getType())
      return function.emitOpError()
             << "expected argument " << i << " of type " << type << " but got "
             << arguments[i].getType();
  Evaluator evaluator(options);
  return evaluator.call(function, Tensors(arguments), function);
}

SmallVector<int64_t>
interpreter::alignShapes(MutableArrayRef<Tensor> operands) {
  SmallVector<int64_t> shape;
  for (const Tensor &operand : operands)
    if (operand.getRank() > 0)
      shape.assign(operand.getShape().begin(), operand.getShape().end());
  for (Tensor &operand : operands) {
    if (operand.getRank() == int64_t(shape.size()))
      continue;
    auto type = RankedTensorType::get(shape, operand.getElementType());
    dispatch(operand.getStorage(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      operand = Tensor::splat<T>(type, operand.at<T>());
    });
  }
  return shape;
}
