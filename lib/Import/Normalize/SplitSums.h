#ifndef SP_LIB_IMPORT_SPLITSUMS_H
#define SP_LIB_IMPORT_SPLITSUMS_H

#include "Normalize/Products.h"
#include "Normalize/Softmaxes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::sp {

/// A product of the weights of one softmax that came of a product of a sum.
struct PartProduct {
  /// The weights, their factor and the other, and the product of the two, with
  /// the dimensions that `result` has.
  ProductSide weights, other;
  Value result;
};

/// What the products of sums of softmaxes became.
struct SplitProducts {
  Softmaxes softmaxes;
  llvm::SmallSetVector<Operation *, 4> exponentials;
  SmallVector<PartProduct> products;
};

/// Splits a contraction of a sum of several softmaxes.
void splitProduct(stablehlo::DotGeneralOp dot, SplitProducts &split);

/// A cotangent of weights: a product whose left factor is that of queries.
struct Cotangent : PairProduct {
  bool isNegative = false;
  /// Negates the factor of queries if the whole is negative.
  void settle(ImplicitLocOpBuilder &b);
};

/// Reads a cotangent of weights.
class CotangentReader {
public:
  CotangentReader(ImplicitLocOpBuilder &b, Softmaxes &softmaxes)
      : b(b), softmaxes(softmaxes) {}
  /// `keys` is the dimension of keys of `value`.
  std::optional<Cotangent> read(Value value, int64_t keys);
  bool scaleRows(Cotangent &product, Value number, bool divides);

private:
  struct Slot {
    Value value;
    int64_t dim, start, length;
  };
  std::optional<Cotangent> readDot(stablehlo::DotGeneralOp dot, int64_t keys);
  std::optional<Cotangent> readScaled(Operation *op, int64_t keys);
  std::optional<Cotangent> readReshape(stablehlo::ReshapeOp op, int64_t keys);
  std::optional<Cotangent> readBroadcast(stablehlo::BroadcastInDimOp op,
                                         int64_t keys);
  std::optional<Cotangent> readParts(Value value, int64_t keys);
  bool collect(Value value, SmallVectorImpl<Slot> &slots);

  std::optional<Cotangent> readNew(Value value, int64_t keys);

  ImplicitLocOpBuilder &b;
  Softmaxes &softmaxes;
  /// What is none, whoever asks.
  llvm::DenseSet<std::pair<Value, int64_t>> others;
};

/// Reads the gradient of weights with respect to one softmax of a sum, what
/// multiplies it and where it lies among others, as one product.
void joinCotangents(func::FuncOp function, SplitProducts &split);

/// Sums the gradients of factors over features instead of over pairs.
void sumOverFeatures(func::FuncOp function, SplitProducts &split);

/// A value multiplied or divided by numbers, and by -1 if negative.
struct ScaledWeights {
  struct Number {
    Value value;
    bool divides;
  };
  Value rest;
  SmallVector<Number> numbers;
  bool isNegative = false;
};

/// The terms of a sum of softmaxes. What is computed of the sum is computed of
/// each.
SmallVector<ScaledWeights> termsOf(ImplicitLocOpBuilder &b,
                                   Softmaxes &softmaxes, Value sum);

/// A part of a whole from `start` on: `dim` is of the whole, and the part has
/// it unless it is `dropped`.
struct WeightsPart {
  Value whole;
  int64_t dim = 0, start = 0, length = 0;
  bool isDropped = false;
};
/// What a slice takes, or none.
std::optional<WeightsPart> partOf(Value value);

/// Products of parts, in their order, that make up a whole: parts of the
/// product of the whole with the other sides joined. `product` is of one part
/// and gives a `result`. Nothing if the parts are no whole.
SmallVector<Value> multiplyParts(ImplicitLocOpBuilder &b,
                                 ArrayRef<WeightsPart> parts,
                                 ArrayRef<Value> others,
                                 const PairProduct &product, bool isRight,
                                 RankedTensorType result);

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_SPLITSUMS_H
