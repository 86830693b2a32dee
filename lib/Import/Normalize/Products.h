#ifndef SP_LIB_IMPORT_PRODUCTS_H
#define SP_LIB_IMPORT_PRODUCTS_H

#include "sp/StableHLO/StableHLO.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <optional>

namespace mlir::sp {

/// A side of a product, with its dimension of every dimension of the result.
struct ProductSide {
  Value value;
  SmallVector<int64_t> dims; ///< -1 where the side has none
  int64_t contracted = 0;

  bool has(int64_t dim) const { return dims[dim] >= 0; }
  RankedTensorType type() const {
    return cast<RankedTensorType>(value.getType());
  }
};

/// A contraction over one dimension, its result in any order of dimensions.
struct PairProduct {
  stablehlo::DotGeneralOp dot;
  ProductSide left, right;
};

/// A contraction as it is, or none if it sums over more than one dimension.
std::optional<PairProduct> readProduct(stablehlo::DotGeneralOp dot);

/// A side with `dims` of the result, in that order, and what is contracted
/// last.
Value layOut(ImplicitLocOpBuilder &b, const ProductSide &side,
             ArrayRef<int64_t> dims, ArrayRef<int64_t> sizes);

/// ScaledWeights of products side by side along what is contracted, with `dims`
/// of the result in their order.
ProductSide joinContracted(ImplicitLocOpBuilder &b, ArrayRef<ProductSide> sides,
                           ArrayRef<int64_t> dims, ArrayRef<int64_t> sizes);

/// ScaledWeights of products whose results are to lie side by side along `dim`,
/// the result of side i `lengths[i]` long: the joined side has that
/// dimension.
ProductSide joinAlong(ImplicitLocOpBuilder &b, ArrayRef<ProductSide> sides,
                      int64_t dim, ArrayRef<int64_t> sizes,
                      ArrayRef<int64_t> lengths);

/// The product of two sides, of the shape and order that `type` says.
Value createProduct(ImplicitLocOpBuilder &b, const PairProduct &product,
                    RankedTensorType type);

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_PRODUCTS_H
