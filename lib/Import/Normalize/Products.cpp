//===- Products.cpp - Contractions and where their dimensions go ----------===//

#include "Normalize/Products.h"

#include "sp/StableHLO/Builders.h"
#include "sp/StableHLO/Operations.h"

using namespace mlir;
using namespace mlir::sp;

std::optional<PairProduct> mlir::sp::readProduct(stablehlo::DotGeneralOp dot) {
  ContractionDims dims = contractionDims(dot);
  auto left = cast<RankedTensorType>(dot.getLhs().getType()),
       right = cast<RankedTensorType>(dot.getRhs().getType());
  if (dims.lhsContracting.size() != 1 || !left.hasStaticShape() ||
      !right.hasStaticShape())
    return std::nullopt;
  PairProduct product{dot,
                      {dot.getLhs(), {}, dims.lhsContracting[0]},
                      {dot.getRhs(), {}, dims.rhsContracting[0]}};
  auto add = [&](int64_t ofLeft, int64_t ofRight) {
    product.left.dims.push_back(ofLeft);
    product.right.dims.push_back(ofRight);
  };
  for (auto [l, r] : llvm::zip_equal(dims.lhsBatch, dims.rhsBatch))
    add(l, r);
  for (int64_t dim = 0; dim < left.getRank(); ++dim)
    if (!llvm::is_contained(dims.lhsBatch, dim) &&
        dim != dims.lhsContracting[0])
      add(dim, -1);
  for (int64_t dim = 0; dim < right.getRank(); ++dim)
    if (!llvm::is_contained(dims.rhsBatch, dim) &&
        dim != dims.rhsContracting[0])
      add(-1, dim);
  return product;
}

/// What is made of a side comes as early as can be: an attention that only
/// gradients remember is put behind its values, and before its gradients.
static void insertBehind(OpBuilder &b, ArrayRef<Value> values) {
  Operation *last = nullptr;
  for (Value value : values) {
    Operation *op = value.getDefiningOp();
    if (value.getParentBlock() != b.getInsertionBlock())
      return;
    if (op && (!last || last->isBeforeInBlock(op)))
      last = op;
  }
  if (last)
    b.setInsertionPointAfter(last);
  else
    b.setInsertionPointToStart(b.getInsertionBlock());
}

Value mlir::sp::layOut(ImplicitLocOpBuilder &b, const ProductSide &side,
                       ArrayRef<int64_t> dims, ArrayRef<int64_t> sizes) {
  OpBuilder::InsertionGuard guard(b);
  insertBehind(b, side.value);
  RankedTensorType type = side.type();
  SmallVector<int64_t> permutation, places, shape;
  for (auto [place, dim] : llvm::enumerate(dims)) {
    shape.push_back(sizes[dim]);
    if (!side.has(dim))
      continue;
    permutation.push_back(side.dims[dim]);
    places.push_back(int64_t(place));
  }
  permutation.push_back(side.contracted);
  places.push_back(int64_t(dims.size()));
  shape.push_back(type.getDimSize(side.contracted));
  Value turned = transposed(b, b.getLoc(), side.value, permutation);
  if (cast<RankedTensorType>(turned.getType()).getShape() == ArrayRef(shape))
    return turned;
  return stablehlo::BroadcastInDimOp::create(b, type.clone(shape), turned,
                                             places);
}

static Value concatenate(ImplicitLocOpBuilder &b, ArrayRef<Value> parts,
                         int64_t along) {
  auto type = cast<RankedTensorType>(parts[0].getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[along] = 0;
  for (Value part : parts)
    shape[along] += cast<RankedTensorType>(part.getType()).getDimSize(along);
  return stablehlo::ConcatenateOp::create(b, type.clone(shape), parts,
                                          uint64_t(along));
}

/// A side over `dims` of a result of `rank`, in order, and what is contracted.
static ProductSide inOrder(Value value, ArrayRef<int64_t> dims, size_t rank) {
  ProductSide side{value, SmallVector<int64_t>(rank, -1), int64_t(dims.size())};
  for (auto [place, of] : llvm::enumerate(dims))
    side.dims[of] = int64_t(place);
  return side;
}

ProductSide mlir::sp::joinContracted(ImplicitLocOpBuilder &b,
                                     ArrayRef<ProductSide> sides,
                                     ArrayRef<int64_t> dims,
                                     ArrayRef<int64_t> sizes) {
  auto parts = llvm::map_to_vector(sides, [&](const ProductSide &side) {
    return layOut(b, side, dims, sizes);
  });
  return inOrder(concatenate(b, parts, int64_t(dims.size())), dims,
                 sizes.size());
}

ProductSide mlir::sp::joinAlong(ImplicitLocOpBuilder &b,
                                ArrayRef<ProductSide> sides, int64_t dim,
                                ArrayRef<int64_t> sizes,
                                ArrayRef<int64_t> lengths) {
  auto isAlike = [&](const ProductSide &side) {
    return side.dims == sides[0].dims && side.contracted == sides[0].contracted;
  };
  // What has its own order keeps it, so that what is joined alike is equal.
  if (llvm::all_of(sides, isAlike)) {
    ProductSide joined = sides[0];
    auto parts = llvm::map_to_vector(
        sides, [](const ProductSide &side) { return side.value; });
    OpBuilder::InsertionGuard guard(b);
    insertBehind(b, parts);
    if (!joined.has(dim)) {
      for (auto [part, length] : llvm::zip_equal(parts, lengths)) {
        auto type = cast<RankedTensorType>(part.getType());
        SmallVector<int64_t> shape = {length};
        llvm::append_range(shape, type.getShape());
        part = stablehlo::BroadcastInDimOp::create(
            b, type.clone(shape), part,
            llvm::to_vector(llvm::seq<int64_t>(1, type.getRank() + 1)));
      }
      for (int64_t &own : joined.dims)
        own += own >= 0;
      joined.dims[dim] = 0;
      ++joined.contracted;
    }
    joined.value = concatenate(b, parts, joined.dims[dim]);
    return joined;
  }
  SmallVector<int64_t> dims;
  for (int64_t of = 0; of < int64_t(sizes.size()); ++of)
    if (of == dim || llvm::any_of(sides, [&](const ProductSide &side) {
          return side.has(of);
        }))
      dims.push_back(of);
  SmallVector<Value> parts;
  for (auto [side, length] : llvm::zip_equal(sides, lengths)) {
    SmallVector<int64_t> own(sizes);
    own[dim] = length;
    parts.push_back(layOut(b, side, dims, own));
  }
  return inOrder(concatenate(b, parts, llvm::find(dims, dim) - dims.begin()),
                 dims, sizes.size());
}

Value mlir::sp::createProduct(ImplicitLocOpBuilder &b,
                              const PairProduct &product,
                              RankedTensorType type) {
  SmallVector<int64_t> batch, free[2];
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    bool isLeft = product.left.has(dim), isRight = product.right.has(dim);
    (isLeft && isRight ? batch : free[isRight]).push_back(dim);
  }
  Value sides[2];
  for (unsigned side : {0U, 1U}) {
    SmallVector<int64_t> dims = batch;
    llvm::append_range(dims, free[side]);
    sides[side] = layOut(b, side == 0 ? product.left : product.right, dims,
                         type.getShape());
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
      b.getContext(), counted, counted, {last(sides[0])}, {last(sides[1])});
  stablehlo::DotGeneralOp dot = product.dot;
  Value made = stablehlo::DotGeneralOp::create(
      b, type.clone(shape), sides[0], sides[1], numbers,
      dot.getPrecisionConfigAttr(), dot.getAlgorithmAttr());
  return transposed(b, b.getLoc(), made, inverse);
}
