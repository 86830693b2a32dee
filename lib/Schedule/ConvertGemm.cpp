//===- ConvertGemm.cpp - Contractions to vendor matrix products -----------===//
//
//   before   dot_general %x, %w, contracting_dims = [2] x [0]
//   after    sp.gemm %x, %w sizes [b, m, n, k] strides [..] x [..]
//
//===----------------------------------------------------------------------===//

#include "sp/IR/CarriedValues.h"
#include "sp/Schedule/Passes.h"
#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/StableHLO.h"

#include "mlir/IR/Builders.h"

namespace mlir::sp {
#define GEN_PASS_DEF_CONVERTGEMMPASS
#include "sp/Schedule/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

/// Dimensions that act as one: their joint size and stride in elements.
struct Group {
  int64_t size = 1, stride = 0;
};

/// Joins `dims` of a dense row-major tensor, or fails where they lie apart.
FailureOr<Group> joinDims(RankedTensorType type, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> strides(type.getRank(), 1);
  for (int64_t dim = type.getRank() - 2; dim >= 0; --dim)
    strides[dim] = strides[dim + 1] * type.getDimSize(dim + 1);
  Group group;
  for (int64_t dim : llvm::reverse(dims)) {
    int64_t size = type.getDimSize(dim);
    if (size == 1)
      continue;
    if (group.size == 1)
      group.stride = strides[dim];
    if (strides[dim] != group.stride * group.size && group.size != 1)
      return failure();
    group.size *= size;
  }
  return group;
}

/// One operand as [batch, free, contracted].
struct Operand {
  Value value;
  SmallVector<int64_t> batch, free, contracted;
  Group b, f, c;

  LogicalResult join() {
    auto type = cast<RankedTensorType>(value.getType());
    FailureOr<Group> batchGroup = joinDims(type, batch),
                     freeGroup = joinDims(type, free),
                     contractedGroup = joinDims(type, contracted);
    if (failed(batchGroup) || failed(freeGroup) || failed(contractedGroup))
      return failure();
    b = *batchGroup;
    f = *freeGroup;
    c = *contractedGroup;
    // The library wants one of the matrix dimensions to be contiguous.
    return success(f.size == 1 || c.size == 1 || f.stride == 1 ||
                   c.stride == 1);
  }

  /// Brings the dimensions into the order batch, free, contracted.
  void transpose(OpBuilder &builder, Location loc) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> permutation(batch), shape;
    llvm::append_range(permutation, free);
    llvm::append_range(permutation, contracted);
    for (int64_t dim : permutation)
      shape.push_back(type.getDimSize(dim));
    value = stablehlo::TransposeOp::create(builder, loc, type.clone(shape),
                                           value, permutation);
    int64_t next = 0;
    for (SmallVector<int64_t> *dims : {&batch, &free, &contracted})
      for (int64_t &dim : *dims)
        dim = next++;
  }
};

Operand makeOperand(Value value, ArrayRef<int64_t> batch,
                    ArrayRef<int64_t> contracted) {
  Operand operand{value, SmallVector<int64_t>(batch),
                  {},    SmallVector<int64_t>(contracted),
                  {},    {},
                  {}};
  for (int64_t dim = 0,
               rank = cast<RankedTensorType>(value.getType()).getRank();
       dim < rank; ++dim)
    if (!llvm::is_contained(batch, dim) && !llvm::is_contained(contracted, dim))
      operand.free.push_back(dim);
  return operand;
}

bool isVendorProduct(stablehlo::DotGeneralOp op) {
  Type lhs = getElementTypeOrSelf(op.getLhs().getType()),
       rhs = getElementTypeOrSelf(op.getRhs().getType()),
       result = getElementTypeOrSelf(op.getType());
  bool isF32 = lhs.isF32() && rhs.isF32() && result.isF32();
  bool isBF16 =
      lhs.isBF16() && rhs.isBF16() && (result.isBF16() || result.isF32());
  return (isF32 || isBF16) &&
         cast<RankedTensorType>(op.getType()).getNumElements() > 0 &&
         !op.getDotDimensionNumbers().getLhsContractingDimensions().empty();
}

/// The sum of a product and what a loop carries, or has carried, which nothing
/// else reads; or null.
stablehlo::AddOp sumOf(stablehlo::DotGeneralOp op) {
  if (!op->hasOneUse() || !getElementTypeOrSelf(op.getType()).isF32())
    return {};
  auto sum = dyn_cast<stablehlo::AddOp>(*op->user_begin());
  if (!sum || sum->getBlock() != op->getBlock())
    return {};
  Value before = otherOperand(sum, op.getResult());
  bool isCarried = before.hasOneUse() && carriedBy(before);
  return isCarried ? sum : stablehlo::AddOp();
}

struct ConvertGemmPass : mlir::sp::impl::ConvertGemmPassBase<ConvertGemmPass> {
  void runOnOperation() override {
    SmallVector<stablehlo::DotGeneralOp> products;
    getOperation().walk([&](stablehlo::DotGeneralOp op) {
      if (isVendorProduct(op))
        products.push_back(op);
    });
    for (stablehlo::DotGeneralOp op : products) {
      OpBuilder builder(op);
      stablehlo::DotDimensionNumbersAttr dims = op.getDotDimensionNumbers();
      Operand lhs = makeOperand(op.getLhs(), dims.getLhsBatchingDimensions(),
                                dims.getLhsContractingDimensions());
      Operand rhs = makeOperand(op.getRhs(), dims.getRhsBatchingDimensions(),
                                dims.getRhsContractingDimensions());
      for (Operand *operand : {&lhs, &rhs}) {
        if (succeeded(operand->join()))
          continue;
        operand->transpose(builder, op.getLoc());
        (void)operand->join();
      }
      if (lhs.c.size == 0)
        continue;
      stablehlo::AddOp sum = sumOf(op);
      Value before = sum ? otherOperand(sum, op.getResult()) : Value();
      if (sum)
        builder.setInsertionPoint(sum);
      auto product = GemmOp::create(
          builder, op.getLoc(), op.getType(), lhs.value, rhs.value,
          /*onto=*/before, /*bias=*/Value(),
          ArrayRef<int64_t>{lhs.b.size, lhs.f.size, rhs.f.size, lhs.c.size},
          ArrayRef<int64_t>{lhs.b.stride, lhs.f.stride, lhs.c.stride},
          ArrayRef<int64_t>{rhs.b.stride, rhs.c.stride, rhs.f.stride});
      if (sum) {
        sum.replaceAllUsesWith(product.getResult());
        sum.erase();
      } else {
        op.replaceAllUsesWith(product.getResult());
      }
      op.erase();
    }
  }
};

} // namespace
