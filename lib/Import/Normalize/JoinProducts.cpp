//===- JoinProducts.cpp - Scores that are sums of products ----------------===//
//
//   add(0.5 * dot(%a, %b), dot(%c, %d))
//
// becomes dot(concatenate(0.5 * %a, %c), concatenate(%b, %d)), where an
// exponential is computed of it: keys with a latent and a rotary part then are
// keys like others.
//
//===----------------------------------------------------------------------===//

#include "Normalize/Products.h"

#include "sp/Import/Passes.h"
#include "sp/StableHLO/Operations.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::sp {
#define GEN_PASS_DEF_JOINPRODUCTSPASS
#include "sp/Import/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

/// One product of a sum: a contraction, transposed and multiplied by numbers.
struct Scaled : PairProduct {
  /// What the left factor is multiplied or divided by.
  SmallVector<std::pair<Value, bool>> numbers;
};

} // namespace

static std::optional<Scaled> readScaled(Value value) {
  SmallVector<int64_t> order = llvm::to_vector(
      llvm::seq<int64_t>(0, cast<RankedTensorType>(value.getType()).getRank()));
  Scaled scaled;
  while (!scaled.dot) {
    Operation *op = value.getDefiningOp();
    if (!op || !value.hasOneUse())
      return std::nullopt;
    if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op)) {
      for (int64_t &dim : order)
        dim = transpose.getPermutation()[dim];
      value = transpose.getOperand();
    } else if (isa<stablehlo::MulOp, stablehlo::DivOp>(op)) {
      bool isDivided = isa<stablehlo::DivOp>(op);
      unsigned number = isUniform(op->getOperand(1)) ? 1 : 0;
      if (!isUniform(op->getOperand(number)) || (isDivided && number == 0))
        return std::nullopt;
      scaled.numbers.push_back({op->getOperand(number), isDivided});
      value = op->getOperand(1 - number);
    } else if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op)) {
      scaled.dot = dot;
    } else {
      return std::nullopt;
    }
  }
  std::optional<PairProduct> product = readProduct(scaled.dot);
  if (!product)
    return std::nullopt;
  Type element = product->left.type().getElementType();
  // Numbers of a wider type would lose what makes them wider.
  bool fits = llvm::all_of(scaled.numbers, [&](const auto &number) {
    return getElementTypeOrSelf(number.first) == element;
  });
  if (product->right.type().getElementType() != element ||
      !isa<FloatType>(element) || !fits)
    return std::nullopt;
  static_cast<PairProduct &>(scaled) = *product;
  for (ProductSide *factor : {&scaled.left, &scaled.right})
    factor->dims = llvm::map_to_vector(
        order, [&](int64_t dim) { return factor->dims[dim]; });
  return scaled;
}

/// Whether one of the two has every dimension of the sum that the other has on
/// each side, so that nothing is spread over dimensions that no product has,
/// and nothing that is repeated along a dimension grows to the sum's size: keys
/// may be repeated for heads, not for queries.
static bool canJoin(const PairProduct &a, const PairProduct &b,
                    RankedTensorType sum) {
  int64_t grown[2][2] = {{1, 1}, {1, 1}};
  const PairProduct *products[] = {&a, &b};
  for (int64_t dim = 0; dim < sum.getRank(); ++dim) {
    bool has[2][2];
    for (unsigned i : {0U, 1U}) {
      has[i][0] = products[i]->left.dims[dim] >= 0;
      has[i][1] = products[i]->right.dims[dim] >= 0;
    }
    bool inA = has[0][0] >= has[1][0] && has[0][1] >= has[1][1];
    bool inB = has[1][0] >= has[0][0] && has[1][1] >= has[0][1];
    if (!inA && !inB)
      return false;
    for (unsigned i : {0U, 1U})
      for (unsigned side : {0U, 1U})
        if (!has[i][side] && has[1 - i][side])
          grown[i][side] *= sum.getDimSize(dim);
  }
  for (unsigned i : {0U, 1U})
    for (unsigned side : {0U, 1U}) {
      const ProductSide &factor =
          side == 0 ? products[i]->left : products[i]->right;
      auto type = cast<RankedTensorType>(factor.value.getType());
      if (grown[i][side] > 1 &&
          grown[i][side] * type.getNumElements() >= sum.getNumElements())
        return false;
    }
  return true;
}

static bool reachesExponential(Operation *op) {
  static constexpr size_t maxOperations = 256;
  llvm::SetVector<Operation *> reached;
  reached.insert(op);
  for (size_t i = 0; i < reached.size() && i < maxOperations; ++i) {
    if (isa<stablehlo::ExpOp>(reached[i]))
      return true;
    for (Operation *user : reached[i]->getUsers())
      if (!isContraction(user) && !user->hasTrait<OpTrait::IsTerminator>())
        reached.insert(user);
  }
  return false;
}

/// Multiplies the left factor by the numbers that the product is multiplied by.
static void takeNumbers(ImplicitLocOpBuilder &b, Scaled &product) {
  auto type = cast<RankedTensorType>(product.left.value.getType());
  for (auto [number, isDivided] : product.numbers) {
    auto whole = cast<RankedTensorType>(number.getType());
    SmallVector<int64_t> start(whole.getRank(), 0), one(whole.getRank(), 1);
    Value first = stablehlo::SliceOp::create(b, whole.clone(one), number, start,
                                             one, one);
    Value scalar = stablehlo::ReshapeOp::create(
        b, RankedTensorType::get({}, whole.getElementType()), first);
    Value spread = stablehlo::BroadcastInDimOp::create(b, type, scalar,
                                                       ArrayRef<int64_t>());
    Value &left = product.left.value;
    left = isDivided
               ? stablehlo::DivOp::create(b, type, left, spread).getResult()
               : stablehlo::MulOp::create(b, type, left, spread).getResult();
  }
}

static void join(stablehlo::AddOp sum) {
  std::optional<Scaled> a = readScaled(sum.getLhs()),
                        b = readScaled(sum.getRhs());
  if (!a || !b ||
      getElementTypeOrSelf(a->left.value) !=
          getElementTypeOrSelf(b->left.value) ||
      a->dot.getPrecisionConfigAttr() != b->dot.getPrecisionConfigAttr() ||
      a->dot.getAlgorithmAttr() != b->dot.getAlgorithmAttr())
    return;
  if (!canJoin(*a, *b, sum.getType()))
    std::swap(b->left, b->right);
  if (!canJoin(*a, *b, sum.getType()) || !reachesExponential(sum))
    return;
  ImplicitLocOpBuilder builder(a->dot.getLoc(), sum);
  takeNumbers(builder, *a);
  takeNumbers(builder, *b);
  RankedTensorType type = sum.getType();
  SmallVector<int64_t> batch, free[2];
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    bool isLeft = a->left.dims[dim] >= 0 || b->left.dims[dim] >= 0;
    bool isRight = a->right.dims[dim] >= 0 || b->right.dims[dim] >= 0;
    (isLeft && isRight ? batch : free[isRight]).push_back(dim);
  }
  PairProduct joined{a->dot, {}, {}};
  for (unsigned side : {0U, 1U}) {
    SmallVector<int64_t> dims = batch;
    llvm::append_range(dims, free[side]);
    (side == 0 ? joined.left : joined.right) = joinContracted(
        builder,
        {side == 0 ? a->left : a->right, side == 0 ? b->left : b->right}, dims,
        type.getShape());
  }
  sum.replaceAllUsesWith(createProduct(builder, joined, type));
}

namespace {

struct JoinProductsPass : sp::impl::JoinProductsPassBase<JoinProductsPass> {
  void runOnOperation() override {
    getOperation().walk([](stablehlo::AddOp sum) { join(sum); });
    eraseDead(getOperation());
  }
};

} // namespace
