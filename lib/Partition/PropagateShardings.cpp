//===- PropagateShardings.cpp - From attention to inputs and results ------===//
//
//   before   %y = add %x, %b : 1x4096x512       %o = sp.attention(%q, ...)
//   after    %y = add ... {sp.shardings = [<[[1], [4096 by <zigzag ...>],
//   [512]]>]}
//
// A fixed point over the factors of every operation: where one dimension of a
// factor is dealt, the others follow, unless their value already uses the axis.
//
//===----------------------------------------------------------------------===//

#include "ShardingRules.h"
#include "sp/Partition/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::sp {
#define GEN_PASS_DEF_PROPAGATESHARDINGSPASS
#include "sp/Partition/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

/// The dimensions of every value, as far as they are known.
class Propagation {
public:
  explicit Propagation(MLIRContext *context) : context(context) {}

  MutableArrayRef<DimAttr> dimsOf(Value value) {
    auto [entry, isNew] = dims.try_emplace(value);
    if (isNew)
      if (auto type = dyn_cast<RankedTensorType>(value.getType()))
        entry->second.assign(
            ShardingAttr::getReplicated(context, type.getShape()).getDims());
    return entry->second;
  }

  /// Deals a dimension unless it is dealt or the axis is used by another.
  void deal(Value value, unsigned index, DimAttr dim) {
    MutableArrayRef<DimAttr> own = dimsOf(value);
    if (!isDealt(dim) || isDealt(own[index]) || pinned.contains(value))
      return;
    for (AtomAttr atom : dim.getAtoms())
      if (atom.getLayout() && usesAxis(own, atom.getLayout().getAxis()))
        return;
    own[index] = dim;
    changed = true;
  }

  /// Makes two values agree.
  void unify(Value a, Value b) {
    for (unsigned dim = 0, rank = dimsOf(a).size(); dim < rank; ++dim) {
      deal(b, dim, dimsOf(a)[dim]);
      deal(a, dim, dimsOf(b)[dim]);
    }
  }

  void visit(Operation *op);

  /// A value whose dimensions the user decided.
  void pin(Value value) { pinned.insert(value); }

  bool takeChanged() { return std::exchange(changed, false); }

private:
  static bool usesAxis(ArrayRef<DimAttr> dims, StringRef axis) {
    return llvm::any_of(dims, [&](DimAttr dim) {
      return llvm::any_of(dim.getAtoms(), [&](AtomAttr atom) {
        return atom.getLayout() && atom.getLayout().getAxis() == axis;
      });
    });
  }

  void visitReshape(stablehlo::ReshapeOp op);
  void visitRegions(Operation *op);

  MLIRContext *context;
  DenseMap<Value, SmallVector<DimAttr>> dims;
  DenseSet<Value> pinned;
  bool changed = false;
};

void Propagation::visitReshape(stablehlo::ReshapeOp op) {
  auto carry = [&](Value from, Value to) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(to.getType()).getShape();
    FailureOr<SmallVector<DimAttr>> result = reshapeDims(dimsOf(from), shape);
    if (failed(result))
      return;
    for (auto [index, dim] : llvm::enumerate(*result))
      deal(to, index, dim);
  };
  carry(op.getOperand(), op.getResult());
  carry(op.getResult(), op.getOperand());
}

void Propagation::visitRegions(Operation *op) {
  if (auto loop = dyn_cast<stablehlo::WhileOp>(op)) {
    Operation *yield = loop.getBody().front().getTerminator();
    for (unsigned i = 0; i < op->getNumResults(); ++i) {
      unify(op->getOperand(i), op->getResult(i));
      unify(op->getResult(i), loop.getCond().getArgument(i));
      unify(op->getResult(i), loop.getBody().getArgument(i));
      unify(op->getResult(i), yield->getOperand(i));
    }
    return;
  }
  for (Region &region : op->getRegions())
    for (unsigned i = 0; i < op->getNumResults(); ++i)
      unify(op->getResult(i), region.front().getTerminator()->getOperand(i));
}

void Propagation::visit(Operation *op) {
  if (auto reshape = dyn_cast<stablehlo::ReshapeOp>(op))
    return visitReshape(reshape);
  if (isa<stablehlo::WhileOp, stablehlo::CaseOp, stablehlo::IfOp>(op))
    return visitRegions(op);
  if (isa<stablehlo::OptimizationBarrierOp>(op)) {
    for (unsigned i = 0; i < op->getNumResults(); ++i)
      unify(op->getOperand(i), op->getResult(i));
    return;
  }
  for (const Factor &factor : getFactors(op)) {
    DimAttr dealt;
    auto find = [&](Value value, unsigned dim) {
      if (!dealt && isDealt(dimsOf(value)[dim]))
        dealt = dimsOf(value)[dim];
    };
    for (auto [operand, dim] : factor.operands)
      find(op->getOperand(operand), dim);
    for (auto [result, dim] : factor.results)
      find(op->getResult(result), dim);
    if (!dealt)
      continue;
    for (auto [operand, dim] : factor.operands)
      deal(op->getOperand(operand), dim, dealt);
    for (auto [result, dim] : factor.results)
      deal(op->getResult(result), dim, dealt);
  }
}

struct PropagateShardingsPass
    : mlir::sp::impl::PropagateShardingsPassBase<PropagateShardingsPass> {
  using PropagateShardingsPassBase::PropagateShardingsPassBase;

  /// What needs no operand is cheaper made twice than dealt or gathered.
  static void separateUses(func::FuncOp func);
  void seedAttentions(func::FuncOp func, MeshOp mesh, Propagation &propagation);
  LogicalResult seedArguments(func::FuncOp func, MeshOp mesh,
                              Propagation &propagation);
  LayoutAttr layoutFor(MeshOp mesh, StringRef axis, int64_t length);

  void runOnOperation() override;

  /// The layout of every sequence, by axis and length.
  DenseMap<std::pair<StringAttr, int64_t>, LayoutAttr> layouts;
};

void PropagateShardingsPass::separateUses(func::FuncOp func) {
  SmallVector<Operation *> sources;
  func.walk([&](Operation *op) {
    bool isSplat = isa<stablehlo::BroadcastInDimOp>(op) &&
                   op->getOperand(0).getDefiningOp<stablehlo::ConstantOp>();
    if (isa<stablehlo::ConstantOp, stablehlo::IotaOp>(op) || isSplat)
      sources.push_back(op);
  });
  for (Operation *op : sources) {
    if (cast<RankedTensorType>(op->getResult(0).getType()).getRank() == 0)
      continue;
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    for (OpOperand &use :
         llvm::make_early_inc_range(llvm::drop_begin(op->getUses())))
      use.set(builder.clone(*op)->getResult(0));
  }
}

LayoutAttr PropagateShardingsPass::layoutFor(MeshOp mesh, StringRef axis,
                                             int64_t length) {
  LayoutAttr &layout = layouts[{StringAttr::get(&getContext(), axis), length}];
  if (!layout)
    layout = LayoutAttr::get(&getContext(), LayoutKind::Contiguous, length,
                             axis, mesh.getAxisSize(axis));
  return layout;
}

static DimAttr dealtDim(LayoutAttr layout) {
  MLIRContext *context = layout.getContext();
  return DimAttr::get(context,
                      AtomAttr::get(context, layout.getLength(), layout));
}

void PropagateShardingsPass::seedAttentions(func::FuncOp func, MeshOp mesh,
                                            Propagation &propagation) {
  func.walk([&](AttentionOp op) {
    int64_t batch = op.getQuery().getType().getDimSize(0);
    std::optional<StringRef> batchAxis = mesh.getBatch();
    if (batchAxis && mesh.getAxisSize(*batchAxis) > 1 && batch > 1)
      propagation.deal(op.getResult(), 0,
                       dealtDim(layoutFor(mesh, *batchAxis, batch)));
    std::optional<PlanAttr> plan = op.getPlan();
    if (!plan || plan->getRanks() == 1)
      return;
    auto seed = [&](Value value) {
      int64_t length = cast<RankedTensorType>(value.getType()).getDimSize(1);
      LayoutAttr layout =
          LayoutAttr::get(&getContext(), plan->getLayout(), length,
                          plan->getAxis(), plan->getRanks());
      layouts.try_emplace(
          {StringAttr::get(&getContext(), plan->getAxis()), length}, layout);
      propagation.deal(value, 1,
                       dealtDim(layoutFor(mesh, plan->getAxis(), length)));
    };
    seed(op.getResult());
    seed(op.getKey());
  });
}

LogicalResult PropagateShardingsPass::seedArguments(func::FuncOp func,
                                                    MeshOp mesh,
                                                    Propagation &propagation) {
  for (const std::string &text : shard) {
    StringRef name, axes;
    std::tie(name, axes) = StringRef(text).split('=');
    unsigned number = 0;
    SmallVector<StringRef> dims;
    axes.split(dims, ',');
    bool known = name.consume_front("arg") && !name.getAsInteger(10, number) &&
                 number < func.getNumArguments();
    if (!known)
      return func.emitError()
             << "expected --shard to name an argument, arg0 to arg"
             << static_cast<int64_t>(func.getNumArguments()) - 1
             << ", but got \"" << text << "\"";
    BlockArgument argument = func.getArgument(number);
    ArrayRef<int64_t> shape =
        cast<RankedTensorType>(argument.getType()).getShape();
    if (dims.size() != shape.size())
      return func.emitError()
             << "expected --shard to say an axis or _ for each of the "
             << shape.size() << " dimensions of arg" << number << " but got \""
             << axes << "\"";
    for (unsigned index = 0; index < dims.size(); ++index) {
      StringRef axis = dims[index];
      if (axis == "_")
        continue;
      bool exists = llvm::any_of(mesh.getMesh().getAxes(), [&](MeshAxisAttr a) {
        return a.getName() == axis;
      });
      if (!exists)
        return func.emitError()
               << "expected --shard to name axes of the mesh but got \"" << axis
               << "\"";
      propagation.deal(argument, index,
                       dealtDim(layoutFor(mesh, axis, shape[index])));
    }
    propagation.pin(argument);
  }
  return success();
}

void PropagateShardingsPass::runOnOperation() {
  MeshOp mesh = getMesh(getOperation());
  auto func = getOperation().lookupSymbol<func::FuncOp>("main");
  if (!mesh || !func)
    return;
  separateUses(func);
  Propagation propagation(&getContext());
  seedAttentions(func, mesh, propagation);
  if (failed(seedArguments(func, mesh, propagation)))
    return signalPassFailure();

  SmallVector<Operation *> ops;
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == func || op->hasTrait<OpTrait::IsTerminator>())
      return WalkResult::advance();
    ops.push_back(op);
    // Reducers and comparators are scalar code of their operation.
    return isa<stablehlo::WhileOp, stablehlo::CaseOp, stablehlo::IfOp>(op) ||
                   op->getNumRegions() == 0
               ? WalkResult::advance()
               : WalkResult::skip();
  });
  do {
    for (Operation *op : ops)
      propagation.visit(op);
    for (Operation *op : llvm::reverse(ops))
      propagation.visit(op);
  } while (propagation.takeChanged());

  Builder builder(&getContext());
  auto sharding = [&](Value value) -> ShardingAttr {
    return ShardingAttr::get(&getContext(), propagation.dimsOf(value));
  };
  for (BlockArgument argument : func.getArguments())
    func.setArgAttr(argument.getArgNumber(), "sp.sharding", sharding(argument));
  for (Operation *op : ops) {
    SmallVector<Attribute> results;
    for (Value result : op->getResults())
      results.push_back(sharding(result));
    if (llvm::any_of(results, [](Attribute attr) {
          return !cast<ShardingAttr>(attr).isReplicated();
        }))
      op->setAttr("sp.shardings", builder.getArrayAttr(results));
  }
}

} // namespace
