//===- FuseEpilogues.cpp - What follows a product becomes part of it ------===//
//
// So does the rounding of attention that no state goes on with.
//
//   before   %p = sp.gemm %x, %w sizes [1, 8, 16, 4] ...
//            %y = maximum(add(%p, broadcast_in_dim %v, dims = [1]), 0)
//   after    %y = sp.gemm %x, %w bias %v then relu sizes [1, 8, 16, 4] ...
//
//===----------------------------------------------------------------------===//

#include "TanhGelu.h"
#include "sp/IR/Attributes.h"
#include "sp/Schedule/Passes.h"
#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/StableHLO.h"

#include "mlir/IR/Remarks.h"

namespace mlir::sp {
#define GEN_PASS_DEF_FUSEEPILOGUESPASS
#include "sp/Schedule/Passes.h.inc"
} // namespace mlir::sp

#define DEBUG_TYPE "sp-fuse-epilogues"

using namespace mlir;
using namespace mlir::sp;
using namespace mlir::stablehlo;

namespace {

/// Users that are looked at for the end of an activation.
constexpr size_t kMaxUsers = 24;

/// What follows a product, up to `result`.
struct Epilogue {
  Value result, bias;
  Activation activation = Activation::None;
  /// Users after their operands.
  llvm::SetVector<Operation *> ops;
};

/// Whether element i of a tensor of this shape, seen as rows of `length`, is
/// element i mod `length` of what is broadcast.
bool repeatsRows(BroadcastInDimOp op, int64_t length) {
  ArrayRef<int64_t> to = op.getType().getShape(),
                    dims = op.getBroadcastDimensions();
  int64_t dim = to.size() - 1, next = dims.size() - 1, covered = 1;
  auto from = cast<RankedTensorType>(op.getOperand().getType()).getShape();
  for (; covered < length && dim >= 0; --dim) {
    while (next >= 0 && dims[next] > dim)
      --next;
    if (to[dim] != 1 &&
        (next < 0 || dims[next] != dim || from[next] != to[dim]))
      return false;
    covered *= to[dim];
  }
  return covered == length;
}

/// The `length` elements that `value` repeats row after row; null if it does
/// not.
Value findRow(Value value, int64_t length) {
  auto count = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getNumElements();
  };
  for (;;) {
    Operation *def = value.getDefiningOp();
    bool isSame = isa_and_present<ReshapeOp>(def);
    if (auto broadcast = dyn_cast_or_null<BroadcastInDimOp>(def))
      isSame = count(broadcast.getOperand()) == length &&
               llvm::is_sorted(broadcast.getBroadcastDimensions()) &&
               repeatsRows(broadcast, length);
    if (!isSame)
      return count(value) == length ? value : Value();
    value = def->getOperand(0);
  }
}

/// The only user of `value`, where that stands in the same block.
Operation *onlyUser(Value value) {
  if (!value.hasOneUse())
    return nullptr;
  Operation *user = *value.user_begin();
  return user->getBlock() == value.getParentBlock() ? user : nullptr;
}

/// Takes `op` into the epilogue.
void take(Operation *op, Epilogue &epilogue) {
  epilogue.ops.insert(op);
  epilogue.result = op->getResult(0);
}

/// Another shape of the same elements.
void takeReshapes(Epilogue &epilogue) {
  while (auto reshape = dyn_cast_or_null<ReshapeOp>(onlyUser(epilogue.result)))
    take(reshape, epilogue);
}

void takeBias(GemmOp op, Epilogue &epilogue) {
  Epilogue reshaped = epilogue;
  takeReshapes(reshaped);
  auto add = dyn_cast_or_null<AddOp>(onlyUser(reshaped.result));
  Value bias =
      add ? findRow(otherOperand(add, reshaped.result), op.getSizes()[2])
          : Value();
  if (!bias || getElementTypeOrSelf(bias) != getElementTypeOrSelf(op.getType()))
    return;
  epilogue = reshaped;
  take(add, epilogue);
  epilogue.bias = bias;
}

bool takeRelu(Epilogue &epilogue) {
  auto max = dyn_cast_or_null<MaxOp>(onlyUser(epilogue.result));
  if (!max || splatOf(otherOperand(max, epilogue.result)) != 0.0)
    return false;
  take(max, epilogue);
  epilogue.activation = Activation::Relu;
  return true;
}

/// Whether nothing but `ops` reads `x` and what they make of it before `root`.
bool isClosed(Value x, Value root, const llvm::SetVector<Operation *> &ops) {
  auto isInside = [&](Operation *user) { return ops.contains(user); };
  return llvm::all_of(x.getUsers(), isInside) &&
         llvm::all_of(ops, [&](Operation *op) {
           return op->getResult(0) == root ||
                  llvm::all_of(op->getUsers(), isInside);
         });
}

bool takeGelu(Epilogue &epilogue) {
  Value x = epilogue.result;
  if (!getElementTypeOrSelf(x).isBF16())
    return false;
  llvm::SetVector<Value> reached;
  reached.insert(x);
  for (size_t i = 0; i < reached.size() && i < kMaxUsers; ++i) {
    Value root = reached[i];
    std::optional<llvm::SetVector<Operation *>> ops;
    if (root != x && root.getType() == x.getType())
      ops = findTanhGelu(root, x);
    if (ops && isClosed(x, root, *ops)) {
      epilogue.ops.insert(ops->begin(), ops->end());
      epilogue.result = root;
      epilogue.activation = Activation::Gelu;
      return true;
    }
    for (Operation *user : root.getUsers())
      if (user->getBlock() == x.getParentBlock() && user->getNumResults() == 1)
        reached.insert(user->getResult(0));
  }
  return false;
}

void report(GemmOp op, const Epilogue &epilogue) {
  std::string does = epilogue.bias ? " adds its bias" : "";
  if (epilogue.activation != Activation::None)
    does += (does.empty() ? " applies " : " and applies ") +
            stringifyActivation(epilogue.activation).str();
  remark::passed(op.getLoc(),
                 remark::RemarkOpts::name("EpilogueFused").category(DEBUG_TYPE))
      << "a product of " << remark::metric("rows", op.getSizes()[1]) << " x "
      << remark::metric("columns", op.getSizes()[2]) << does + " itself";
}

/// Erases operations, the last one first, and the constants and broadcasts that
/// nothing else reads.
void eraseAll(SmallVector<Operation *> pending) {
  while (!pending.empty()) {
    Operation *dead = pending.pop_back_val();
    llvm::SetVector<Operation *> sources;
    for (Value operand : dead->getOperands())
      if (Operation *source = operand.getDefiningOp();
          source && (source->hasTrait<OpTrait::ConstantLike>() ||
                     source->hasTrait<Spread>()))
        sources.insert(source);
    dead->erase();
    for (Operation *source : sources)
      if (source->use_empty() && !llvm::is_contained(pending, source))
        pending.push_back(source);
  }
}

void fuse(GemmOp op) {
  // Vectors have kernels of their own in the library, and gain little.
  ArrayRef<int64_t> sizes = op.getSizes();
  if (sizes[2] == 1 || sizes[3] == 1)
    return;
  Epilogue epilogue;
  epilogue.result = op.getResult();
  takeBias(op, epilogue);
  if (!takeRelu(epilogue))
    takeGelu(epilogue);
  if (epilogue.ops.empty())
    return;
  report(op, epilogue);
  // The bias may have been made behind the product.
  OpBuilder builder(epilogue.result.getDefiningOp());
  auto fused = GemmOp::create(builder, op.getLoc(), epilogue.result.getType(),
                              op.getLhs(), op.getRhs(), /*onto=*/Value(),
                              epilogue.bias, sizes, op.getLhsStrides(),
                              op.getRhsStrides(), epilogue.activation);
  epilogue.result.replaceAllUsesWith(fused.getResult());
  SmallVector<Operation *> dead = {op};
  llvm::append_range(dead, epilogue.ops);
  eraseAll(std::move(dead));
}

/// Has attention leave its result as what it is converted to.
void fuse(AttendOp op) {
  auto convert = dyn_cast_or_null<ConvertOp>(onlyUser(op.getOutput()));
  if (!convert || op.getState() || op.keepsSums() ||
      getElementTypeOrSelf(convert.getType()) !=
          getElementTypeOrSelf(op.getQuery()))
    return;
  op.getOutput().setType(convert.getType());
  convert.replaceAllUsesWith(op.getOutput());
  convert.erase();
}

struct FuseEpiloguesPass
    : mlir::sp::impl::FuseEpiloguesPassBase<FuseEpiloguesPass> {
  void runOnOperation() override {
    SmallVector<GemmOp> products;
    getOperation().walk([&](GemmOp op) {
      if (!op.getOnto() && !op.getBias() &&
          op.getActivation() == Activation::None)
        products.push_back(op);
    });
    for (GemmOp op : products)
      fuse(op);
    if (getOperation()->hasAttr(kAttentionState))
      return;
    SmallVector<AttendOp> attentions;
    getOperation().walk([&](AttendOp op) { attentions.push_back(op); });
    for (AttendOp op : attentions)
      fuse(op);
  }
};

} // namespace

#undef DEBUG_TYPE
