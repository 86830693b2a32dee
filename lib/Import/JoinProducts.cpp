//===- JoinProducts.cpp - Scores that are sums of products ----------------===//
//
//   add(0.5 * dot(%a, %b), dot(%c, %d))
//
// becomes dot(concatenate(0.5 * %a, %c), concatenate(%b, %d)), where an
// exponential is computed of it: keys with a latent and a rotary part then are
// keys like others.
//
//===----------------------------------------------------------------------===//

#include "Operations.h"

#include "sp/Import/Passes.h"
#include "sp/StableHLO/StableHLO.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::sp {
#define GEN_PASS_DEF_JOINPRODUCTSPASS
#include "sp/Import/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

/// A factor of a product, with its dimension of every dimension of the sum.
struct Factor {
  Value value;
  SmallVector<int64_t> dims; ///< -1 where the factor has none
  int64_t contracted = 0;
};

/// One product of a sum: a contraction over one dimension, transposed and
/// multiplied by numbers.
struct Product {
  stablehlo::DotGeneralOp dot;
  Factor left, right;
  /// What the left factor is multiplied or divided by.
  SmallVector<std::pair<Value, bool>> numbers;
};

} // namespace

static std::optional<Product> readProduct(Value value) {
  SmallVector<int64_t> order = llvm::to_vector(
      llvm::seq<int64_t>(0, cast<RankedTensorType>(value.getType()).getRank()));
  Product product;
  while (!product.dot) {
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
      product.numbers.push_back({op->getOperand(number), isDivided});
      value = op->getOperand(1 - number);
    } else if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op)) {
      product.dot = dot;
    } else {
      return std::nullopt;
    }
  }
  ContractionDims dims = contractionDims(product.dot);
  auto left = cast<RankedTensorType>(product.dot.getLhs().getType()),
       right = cast<RankedTensorType>(product.dot.getRhs().getType());
  Type element = left.getElementType();
  // Numbers of a wider type would lose what makes them wider.
  bool fits = llvm::all_of(product.numbers, [&](const auto &number) {
    return getElementTypeOrSelf(number.first) == element;
  });
  if (dims.lhsContracting.size() != 1 || !left.hasStaticShape() ||
      !right.hasStaticShape() || right.getElementType() != element ||
      !isa<FloatType>(element) || !fits)
    return std::nullopt;
  // Of each dimension of the contraction's result.
  SmallVector<std::pair<int64_t, int64_t>> sources;
  for (auto pair : llvm::zip_equal(dims.lhsBatch, dims.rhsBatch))
    sources.push_back({std::get<0>(pair), std::get<1>(pair)});
  auto addFree = [&](int64_t rank, ArrayRef<int64_t> batch, int64_t contracted,
                     bool isLeft) {
    for (int64_t dim = 0; dim < rank; ++dim)
      if (!llvm::is_contained(batch, dim) && dim != contracted)
        sources.push_back(isLeft ? std::pair(dim, int64_t(-1))
                                 : std::pair(int64_t(-1), dim));
  };
  addFree(left.getRank(), dims.lhsBatch, dims.lhsContracting[0], true);
  addFree(right.getRank(), dims.rhsBatch, dims.rhsContracting[0], false);
  product.left = {product.dot.getLhs(), {}, dims.lhsContracting[0]};
  product.right = {product.dot.getRhs(), {}, dims.rhsContracting[0]};
  for (int64_t dim : order) {
    product.left.dims.push_back(sources[dim].first);
    product.right.dims.push_back(sources[dim].second);
  }
  return product;
}

/// Whether one of the two has every dimension of the sum that the other has on
/// each side, so that nothing is spread over dimensions that no product has,
/// and nothing that is repeated along a dimension grows to the sum's size: keys
/// may be repeated for heads, not for queries.
static bool canJoin(const Product &a, const Product &b, RankedTensorType sum) {
  int64_t grown[2][2] = {{1, 1}, {1, 1}};
  const Product *products[] = {&a, &b};
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
      const Factor &factor = side == 0 ? products[i]->left : products[i]->right;
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

/// A factor with `dims` of the sum, in that order, and what is contracted last.
static Value layOut(ImplicitLocOpBuilder &b, const Factor &factor,
                    ArrayRef<int64_t> dims, ArrayRef<int64_t> sizes) {
  auto type = cast<RankedTensorType>(factor.value.getType());
  SmallVector<int64_t> permutation, places, shape;
  for (auto [place, dim] : llvm::enumerate(dims)) {
    shape.push_back(sizes[dim]);
    if (factor.dims[dim] < 0)
      continue;
    permutation.push_back(factor.dims[dim]);
    places.push_back(int64_t(place));
  }
  permutation.push_back(factor.contracted);
  places.push_back(int64_t(dims.size()));
  shape.push_back(type.getDimSize(factor.contracted));
  SmallVector<int64_t> own = llvm::map_to_vector(
      permutation, [&](int64_t dim) { return type.getDimSize(dim); });
  Value turned = stablehlo::TransposeOp::create(b, type.clone(own),
                                                factor.value, permutation);
  return stablehlo::BroadcastInDimOp::create(b, type.clone(shape), turned,
                                             places);
}

static Value joinFactors(ImplicitLocOpBuilder &b, const Factor &one,
                         const Factor &other, ArrayRef<int64_t> dims,
                         ArrayRef<int64_t> sizes) {
  Value parts[] = {layOut(b, one, dims, sizes), layOut(b, other, dims, sizes)};
  auto type = cast<RankedTensorType>(parts[0].getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.back() += cast<RankedTensorType>(parts[1].getType()).getShape().back();
  return stablehlo::ConcatenateOp::create(b, type.clone(shape), parts,
                                          int64_t(dims.size()));
}

/// Multiplies the left factor by the numbers that the product is multiplied by.
static void takeNumbers(ImplicitLocOpBuilder &b, Product &product) {
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
  std::optional<Product> a = readProduct(sum.getLhs()),
                         b = readProduct(sum.getRhs());
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
  Value sides[2];
  for (unsigned side : {0U, 1U}) {
    SmallVector<int64_t> dims = batch;
    llvm::append_range(dims, free[side]);
    sides[side] =
        side == 0
            ? joinFactors(builder, a->left, b->left, dims, type.getShape())
            : joinFactors(builder, a->right, b->right, dims, type.getShape());
  }
  SmallVector<int64_t> order = batch, shape, inverse(type.getRank());
  llvm::append_range(order, free[0]);
  llvm::append_range(order, free[1]);
  for (auto [place, dim] : llvm::enumerate(order)) {
    shape.push_back(type.getDimSize(dim));
    inverse[dim] = int64_t(place);
  }
  auto counted = llvm::to_vector(llvm::seq<int64_t>(0, batch.size()));
  auto last = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getRank() - 1;
  };
  auto numbers = stablehlo::DotDimensionNumbersAttr::get(
      sum.getContext(), counted, counted, {last(sides[0])}, {last(sides[1])});
  Value product = stablehlo::DotGeneralOp::create(
      builder, type.clone(shape), sides[0], sides[1], numbers,
      a->dot.getPrecisionConfigAttr(), a->dot.getAlgorithmAttr());
  sum.replaceAllUsesWith(
      stablehlo::TransposeOp::create(builder, type, product, inverse)
          .getResult());
}

namespace {

struct JoinProductsPass : sp::impl::JoinProductsPassBase<JoinProductsPass> {
  void runOnOperation() override {
    getOperation().walk([](stablehlo::AddOp sum) { join(sum); });
    eraseDead(getOperation());
  }
};

} // namespace
