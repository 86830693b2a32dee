//===- SoftmaxParts.cpp - Products of parts of a softmax ------------------===//
//
//   dot(%p[:, :h], %v0), dot(%p[:, h:], %v1)
//
// are parts of dot(%p, concatenate(%v0, %v1)).
//
//===----------------------------------------------------------------------===//

#include "Normalize/SplitSums.h"

#include "sp/StableHLO/TensorTypes.h"

using namespace mlir;
using namespace mlir::sp;

std::optional<WeightsPart> mlir::sp::partOf(Value value) {
  auto reshape = value.getDefiningOp<stablehlo::ReshapeOp>();
  auto slice = (reshape ? reshape.getOperand() : value)
                   .getDefiningOp<stablehlo::SliceOp>();
  if (!slice ||
      !llvm::all_of(slice.getStrides(), [](int64_t s) { return s == 1; }))
    return std::nullopt;
  RankedTensorType whole = slice.getOperand().getType(), own = slice.getType();
  SmallVector<int64_t> cut;
  for (int64_t dim = 0; dim < whole.getRank(); ++dim)
    if (whole.getDimSize(dim) != own.getDimSize(dim))
      cut.push_back(dim);
  if (cut.size() != 1)
    return std::nullopt;
  WeightsPart part{slice.getOperand(), cut[0], slice.getStartIndices()[cut[0]],
                   own.getDimSize(cut[0]), reshape != nullptr};
  SmallVector<int64_t> kept(own.getShape());
  kept.erase(kept.begin() + part.dim);
  if (part.isDropped &&
      (part.length != 1 || typeOf(value).getShape() != ArrayRef(kept)))
    return std::nullopt;
  return part;
}

SmallVector<Value>
mlir::sp::multiplyParts(ImplicitLocOpBuilder &b, ArrayRef<WeightsPart> parts,
                        ArrayRef<Value> others, const PairProduct &product,
                        bool isRight, RankedTensorType result) {
  const WeightsPart &first = parts.front();
  int64_t end = 0;
  for (const WeightsPart &part : parts) {
    if (part.whole != first.whole || part.dim != first.dim ||
        part.isDropped != first.isDropped || part.start != end)
      return {};
    end += part.length;
  }
  if (end != typeOf(first.whole).getDimSize(first.dim))
    return {};
  ProductSide whole = isRight ? product.right : product.left,
              other = isRight ? product.left : product.right;
  SmallVector<int64_t> sizes(result.getShape());
  whole.value = first.whole;
  int64_t along = llvm::find(whole.dims, first.dim) - whole.dims.begin();
  if (first.isDropped) {
    auto shift = [&](int64_t &dim) { dim += dim >= first.dim; };
    llvm::for_each(whole.dims, shift);
    shift(whole.contracted);
    along = int64_t(sizes.size());
    whole.dims.push_back(first.dim);
    other.dims.push_back(-1);
    sizes.push_back(end);
  } else if (along == int64_t(sizes.size())) {
    return {};
  }
  sizes[along] = end;
  SmallVector<ProductSide> sides;
  SmallVector<int64_t> lengths;
  for (auto [part, value] : llvm::zip_equal(parts, others)) {
    sides.push_back(other);
    sides.back().value = value;
    lengths.push_back(part.length);
  }
  ProductSide joined = joinAlong(b, sides, along, sizes, lengths);
  Value all = createProduct(
      b, {product.dot, isRight ? joined : whole, isRight ? whole : joined},
      result.clone(sizes));
  SmallVector<Value> products;
  for (const WeightsPart &part : parts) {
    SmallVector<int64_t> from(sizes.size(), 0), to(sizes), own(sizes),
        stride(sizes.size(), 1);
    from[along] = part.start;
    to[along] = part.start + part.length;
    own[along] = part.length;
    products.push_back(stablehlo::SliceOp::create(b, result.clone(own), all,
                                                  from, to, stride));
    if (part.isDropped)
      products.back() =
          stablehlo::ReshapeOp::create(b, result, products.back());
  }
  return products;
}
