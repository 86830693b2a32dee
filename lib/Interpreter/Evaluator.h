//===- Evaluator.h - Walks a program and calls its operations --*- C++ -*-===//
#ifndef SP_LIB_INTERPRETER_EVALUATOR_H
#define SP_LIB_INTERPRETER_EVALUATOR_H

#include "Numerics.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/ScopeExit.h"
#include <functional>

namespace mlir::interpreter {

using Tensors = SmallVector<Tensor>;
class Evaluator;

/// One operation's meaning: operands are handed over (a tensor used for the
/// last time is held by nobody else and may be updated in place).
using Handler =
    std::function<FailureOr<Tensors>(Operation *, Tensors &, Evaluator &)>;

/// The operations that can be evaluated.
class Handlers {
public:
  /// All operations, built once.
  static const Handlers &get();

  /// Registers `fn(OpT, Tensors &, Evaluator &)`, which returns a Tensor,
  /// FailureOr<Tensor> or FailureOr<Tensors>.
  template <typename OpT, typename Fn> void add(Fn fn) {
    entries[TypeID::get<OpT>()].run = [fn](Operation *op, Tensors &operands,
                                           Evaluator &evaluator) {
      return toResults(fn(cast<OpT>(op), operands, evaluator));
    };
  }
  /// The same for an operation that treats each element alike: it takes the
  /// shape of its operands, so that a computation on scalars may be evaluated
  /// on many elements at once.
  template <typename OpT, typename Fn> void addElementwise(Fn fn) {
    add<OpT>(fn);
    entries[TypeID::get<OpT>()].elementwise = true;
  }
  /// The same for the operation of a type, unless it has a meaning already.
  template <typename Fn> void addElementwise(TypeID type, Fn fn) {
    entries.try_emplace(
        type,
        Entry{[fn](Operation *op, Tensors &operands, Evaluator &evaluator) {
                return toResults(fn(op, operands, evaluator));
              },
              true});
  }

  const Handler *find(Operation *op) const;
  bool isElementwise(Operation *op) const;

private:
  static FailureOr<Tensors> toResults(FailureOr<Tensors> results) {
    return results;
  }
  static FailureOr<Tensors> toResults(FailureOr<Tensor> result) {
    if (failed(result))
      return failure();
    Tensors results;
    results.push_back(std::move(*result));
    return results;
  }
  static FailureOr<Tensors> toResults(Tensor result) {
    return toResults(FailureOr<Tensor>(std::move(result)));
  }

  struct Entry {
    Handler run;
    bool elementwise = false;
  };
  DenseMap<TypeID, Entry> entries;
};

// One function a file of operations.
void addUnaryOps(Handlers &handlers);
void addBinaryOps(Handlers &handlers);
void addSelectionOps(Handlers &handlers);
void addConversionOps(Handlers &handlers);
void addMovementOps(Handlers &handlers);
void addDynamicSliceOps(Handlers &handlers);
void addDotOps(Handlers &handlers);
void addConvolutionOps(Handlers &handlers);
void addReductionOps(Handlers &handlers);
void addWindowOps(Handlers &handlers);
void addGatherOps(Handlers &handlers);
void addScatterOps(Handlers &handlers);
void addSortOps(Handlers &handlers);
void addControlFlowOps(Handlers &handlers);
void addRandomOps(Handlers &handlers);
void addMeshOps(Handlers &handlers);
void addRankOps(Handlers &handlers);
void addAttentionOps(Handlers &handlers);
void addAttentionBackwardOps(Handlers &handlers);
void addFunctionOps(Handlers &handlers);

/// The type of the tensor that holds a value: an index is held as a
/// tensor<i64>. Null for what no tensor holds.
RankedTensorType heldAs(Type type);

/// Values of one block being evaluated; those of enclosing blocks by `parent`.
struct Scope {
  DenseMap<Value, Tensor> values;
  Scope *parent = nullptr;

  /// The value here or around; it is there.
  const Tensor &find(Value value) const {
    const Scope *holder = this;
    while (!holder->values.count(value))
      holder = holder->parent;
    return holder->values.find(value)->second;
  }
};

/// Evaluates blocks operation by operation and forgets each value after its
/// last use.
class Evaluator {
public:
  explicit Evaluator(const EvaluationOptions &options) : options(options) {}

  const EvaluationOptions &getOptions() const { return options; }
  Rounder rounderFor(Type elementType) const {
    return Rounder(elementType, options.precision);
  }

  /// Calls a function; its values are its own.
  FailureOr<Tensors> call(func::FuncOp function, Tensors arguments,
                          Operation *caller);
  /// Runs a region of the operation being evaluated: it sees the values around
  /// it. Results are the operands of its terminator.
  FailureOr<Tensors> run(Region &region, Tensors arguments);
  FailureOr<Tensors> evaluate(Operation *op, Tensors operands);

  /// Looks up a symbol from `from`, keeping symbol tables between calls.
  template <typename OpT>
  OpT lookup(Operation *from, FlatSymbolRefAttr symbol) {
    return symbols.lookupNearestSymbolFrom<OpT>(from, symbol);
  }

  /// Runs `fn` with `inner` as the values that operations see, on `device`.
  template <typename Fn> auto within(Scope &inner, int64_t onDevice, Fn fn) {
    Scope *outerScope = std::exchange(scope, &inner);
    int64_t outerDevice = std::exchange(device, onDevice);
    llvm::scope_exit leave([&] {
      scope = outerScope;
      device = outerDevice;
    });
    return fn();
  }
  /// Runs `fn` with floats as f64 and without errors.
  template <typename Fn> auto exactly(Fn fn) {
    EvaluationOptions outer = options;
    options.precision = Precision::F64;
    options.errors = false;
    llvm::scope_exit leave([&] { options = outer; });
    return fn();
  }
  /// The device that is being evaluated: 0 outside of manual computations.
  int64_t getDevice() const { return device; }
  Scope *getScope() const { return scope; }

  /// Values of a block whose last use is in the operation, a nested region
  /// counting as its operation.
  using LastUses = DenseMap<Operation *, SmallVector<Value, 2>>;
  const LastUses &lastUsesOf(Block &block);

private:
  FailureOr<Tensors> runBlock(Block &block, Tensors arguments, Scope *parent);
  LogicalResult checkResultTypes(Operation *op);

  EvaluationOptions options;
  SymbolTableCollection symbols;
  DenseMap<Block *, std::unique_ptr<LastUses>> lastUses;
  Scope *scope = nullptr;
  int64_t device = 0;
  int depth = 0;
};

/// Copies of rank-0 operands in the shape of the others, so that a computation
/// on scalars works on many elements. Returns the common shape.
SmallVector<int64_t> alignShapes(MutableArrayRef<Tensor> operands);

} // namespace mlir::interpreter

#endif // SP_LIB_INTERPRETER_EVALUATOR_H
