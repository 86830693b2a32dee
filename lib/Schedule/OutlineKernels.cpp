//===- OutlineKernels.cpp - Token-local operations become kernels ---------===//
//
//   %m = stablehlo.multiply %x, %x            func.func private @norm_0(%x) {
//   %s = stablehlo.reduce(%m init: %z) ...      ... all of it ...
//   ...                                         return %y
//   %y = stablehlo.multiply %x, %r            }
//                                             %y = sp.launch @norm_0(%x)
//
// Which operations go together is decided in KernelClusters. Kernels with the
// same body are one function.

#include "KernelClusters.h"
#include "sp/IR/SP.h"
#include "sp/Schedule/Passes.h"
#include "sp/StableHLO/StableHLO.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::sp {
#define GEN_PASS_DEF_OUTLINEKERNELSPASS
#include "sp/Schedule/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;
using namespace mlir::stablehlo;

namespace {

/// What a kernel is called after: the first entry that it contains.
StringRef nameOf(ArrayRef<Operation *> ops) {
  auto has = [&](auto... kinds) {
    return llvm::any_of(ops, [&](Operation *op) {
      StringRef name = op->getName().stripDialect();
      return ((name == kinds) || ...);
    });
  };
  bool reduces = has("reduce");
  if (reduces && has("exponential"))
    return "softmax";
  if (reduces && has("rsqrt"))
    return "norm";
  if (has("logistic") || (has("exponential") && has("negate")))
    return "swish";
  if (has("tanh", "erf", "erfc"))
    return "gelu";
  if (has("concatenate") && has("slice") && has("multiply"))
    return "rotate";
  for (StringRef name :
       {"scatter", "sort", "top_k", "convolution", "dot_general",
        "reduce_window", "reduce", "gather", "dynamic_update_slice", "sine",
        "cosine", "exponential", "log", "concatenate", "pad", "dynamic_slice",
        "transpose"})
    if (has(name))
      return name;
  return ops.back()->getName().stripDialect();
}

/// One kernel to be: its body, and what the launch reads and replaces.
struct Outlined {
  SmallVector<Value> operands, results;
  func::FuncOp kernel;
};

class Outliner {
public:
  explicit Outliner(ModuleOp module) : module(module), symbols(module) {}

  void run(Block &block);

private:
  Outlined outline(const KernelClusters &clusters, ArrayRef<Operation *> ops);
  func::FuncOp share(func::FuncOp kernel, StringRef name);

  ModuleOp module;
  SymbolTable symbols;
  llvm::StringMap<func::FuncOp> known;
  llvm::StringMap<unsigned> used;
};

/// Copies operations into a kernel, with what they need to compute their
/// operands.
class KernelBody {
public:
  KernelBody(const KernelClusters &clusters, ArrayRef<Operation *> ops,
             Location loc)
      : clusters(clusters), builder(loc.getContext()), loc(loc) {
    members.insert(ops.begin(), ops.end());
    for (Operation *op : ops)
      copy(op);
  }

  Value get(Value value) {
    if (Value known = mapping.lookupOrNull(value))
      return known;
    Operation *def = value.getDefiningOp();
    if (def && (members.contains(def) || isRepeated(def)))
      copy(def);
    else
      mapping.map(value, addArgument(value));
    return mapping.lookup(value);
  }

  SmallVector<Value> operands;
  Block block;

private:
  /// A reshape of memory stays outside: it is another name for the same bytes.
  bool isRepeated(Operation *op) {
    if (auto constant = dyn_cast<ConstantOp>(op))
      return constant.getValue().isSplat();
    if (!clusters.isFree(op))
      return false;
    if (!isa<ReshapeOp>(op))
      return true;
    Operation *source = op->getOperand(0).getDefiningOp();
    return source && (members.contains(source) || isRepeated(source));
  }
  Value addArgument(Value value) {
    operands.push_back(value);
    return block.addArgument(value.getType(), loc);
  }
  void copy(Operation *op) {
    if (mapping.contains(op->getResult(0)))
      return;
    for (Value operand : op->getOperands())
      get(operand);
    builder.setInsertionPointToEnd(&block);
    Operation *clone = builder.clone(*op, mapping);
    clone->setLoc(op->getLoc());
  }

  const KernelClusters &clusters;
  llvm::DenseSet<Operation *> members;
  IRMapping mapping;
  OpBuilder builder;
  Location loc;
};

func::FuncOp Outliner::share(func::FuncOp kernel, StringRef name) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  kernel.print(stream, OpPrintingFlags().useLocalScope());
  auto [entry, isNew] = known.try_emplace(text, kernel);
  if (!isNew) {
    kernel.erase();
    return entry->second;
  }
  unsigned &number = used[name];
  std::string symbol;
  do {
    symbol = (name + "_" + Twine(number++)).str();
  } while (symbols.lookup(symbol));
  kernel.setName(symbol);
  symbols.insert(kernel);
  return kernel;
}

Outlined Outliner::outline(const KernelClusters &clusters,
                           ArrayRef<Operation *> ops) {
  Location loc = ops.back()->getLoc();
  KernelBody body(clusters, ops, loc);
  Outlined outlined;
  llvm::DenseSet<Operation *> inside(ops.begin(), ops.end());
  // Read by something that does not repeat it: another kernel, directly or
  // through free operations, or anything outside kernels.
  std::function<bool(Value)> isRead = [&](Value value) {
    return clusters.isNeededOutside(value) ||
           llvm::any_of(value.getUsers(), [&](Operation *user) {
             if (clusters.isFree(user))
               return isRead(user->getResult(0));
             return !inside.contains(user);
           });
  };
  SmallVector<Value> inner;
  SmallVector<Type> resultTypes;
  for (Operation *op : ops)
    for (Value result : op->getResults())
      if (isRead(result)) {
        outlined.results.push_back(result);
        inner.push_back(body.get(result));
        resultTypes.push_back(result.getType());
      }
  if (inner.empty())
    return outlined;
  outlined.operands = body.operands;
  OpBuilder builder(module.getContext());
  auto type =
      builder.getFunctionType(body.block.getArgumentTypes(), resultTypes);
  auto kernel = func::FuncOp::create(loc, "kernel", type);
  kernel.setPrivate();
  Block *entry = kernel.addEntryBlock();
  for (auto [argument, own] :
       llvm::zip_equal(body.block.getArguments(), entry->getArguments()))
    argument.replaceAllUsesWith(own);
  for (Value &value : inner)
    if (auto argument = dyn_cast<BlockArgument>(value))
      value = entry->getArgument(argument.getArgNumber());
  entry->getOperations().splice(entry->end(), body.block.getOperations());
  builder.setInsertionPointToEnd(entry);
  func::ReturnOp::create(builder, loc, inner);
  outlined.kernel = share(kernel, nameOf(ops));
  return outlined;
}

/// Puts a block in order after its launches were added at the end: what an
/// operation needs comes first, a launch stands where its last operation stood.
void orderBlock(Block &block, ArrayRef<Operation *> sequence) {
  Operation *terminator = block.getTerminator();
  llvm::DenseSet<Operation *> placed;
  // Explicit stack: blocks of unrolled models are long chains.
  for (Operation *root : sequence) {
    SmallVector<std::pair<Operation *, bool>> stack = {{root, false}};
    while (!stack.empty()) {
      auto [op, isReady] = stack.pop_back_val();
      if (placed.contains(op) || op == terminator)
        continue;
      if (isReady) {
        op->moveBefore(terminator);
        placed.insert(op);
        continue;
      }
      stack.push_back({op, true});
      op->walk([&](Operation *inner) {
        for (Value operand : llvm::reverse(inner->getOperands())) {
          Operation *def = operand.getDefiningOp();
          if (def && def->getBlock() == &block && !placed.contains(def))
            stack.push_back({def, false});
        }
      });
    }
  }
}

void Outliner::run(Block &block) {
  for (Operation &op : block)
    if (!isLocal(&op))
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          run(inner);

  KernelClusters clusters(block);
  std::vector<SmallVector<Operation *>> groups = clusters.clusters();
  if (groups.empty())
    return;
  std::vector<Outlined> kernels;
  for (ArrayRef<Operation *> ops : groups)
    kernels.push_back(outline(clusters, ops));

  llvm::DenseMap<Operation *, Operation *> launchAt;
  OpBuilder builder(block.getTerminator());
  llvm::DenseSet<Operation *> outlined;
  for (auto [ops, kernel] : llvm::zip_equal(groups, kernels)) {
    outlined.insert(ops.begin(), ops.end());
    if (!kernel.kernel)
      continue;
    auto launch =
        LaunchOp::create(builder, ops.back()->getLoc(),
                         kernel.kernel.getFunctionType().getResults(),
                         FlatSymbolRefAttr::get(kernel.kernel.getSymNameAttr()),
                         kernel.operands, /*onto=*/IntegerAttr());
    launchAt[ops.back()] = launch;
  }
  for (auto [ops, kernel] : llvm::zip_equal(groups, kernels))
    for (auto [number, value] : llvm::enumerate(kernel.results))
      value.replaceAllUsesWith(launchAt[ops.back()]->getResult(number));

  // Members and free operations that nothing reads any more go, users first.
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(block.getOperations())))
    if (!isa<LaunchOp>(op) && op.use_empty() &&
        (outlined.contains(&op) || clusters.isFree(&op))) {
      // Its launch takes its place.
      if (Operation *launch = launchAt.lookup(&op))
        launch->moveBefore(&op);
      op.erase();
    }
  SmallVector<Operation *> sequence;
  for (Operation &op : block)
    sequence.push_back(&op);
  orderBlock(block, sequence);
}

struct OutlineKernelsPass
    : mlir::sp::impl::OutlineKernelsPassBase<OutlineKernelsPass> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal())
      return;
    Outliner outliner(getOperation());
    for (Block &block : main.getBody())
      outliner.run(block);
  }
};

} // namespace
