#include "Attention/TermGradients.h"

#include "Sharding/Resharding.h"

#include "sp/IR/LocalForms.h"
#include "sp/StableHLO/TensorTypes.h"

using namespace mlir;
using namespace mlir::sp;

bool TermGradients::isSum(unsigned number) const {
  return typeOf(op.getDTerms()[number]).getDimSize(1) !=
         typeOf(op.getQuery()).getDimSize(1);
}

/// With these first dimensions; written where it is needed, not kept with the
/// program.
Value TermGradients::zeros(unsigned number, ArrayRef<int64_t> first) const {
  RankedTensorType type = typeOf(op.getDTerms()[number]);
  SmallVector<int64_t> shape(type.getShape());
  llvm::copy(first, shape.begin());
  if (part && isSum(number))
    shape[2] = part.getWholeHeads();
  return neutralBroadcast(builder, op.getLoc(), type.clone(shape),
                          Reduction::Sum);
}

Value TermGradients::soFar(unsigned number, int64_t batch) const {
  return sums[number] ? sums[number] : zeros(number, batch);
}

SmallVector<Value> TermGradients::first(ArrayRef<int64_t> query) const {
  SmallVector<Value> first;
  for (unsigned number = 0; number < sums.size(); ++number)
    first.push_back(isSum(number) ? soFar(number, query[0])
                                  : zeros(number, query.take_front(3)));
  return first;
}

SmallVector<Value> TermGradients::soFar(int64_t batch) const {
  SmallVector<Value> values;
  for (unsigned number = 0; number < sums.size(); ++number)
    if (isSum(number))
      values.push_back(soFar(number, batch));
  return values;
}

void TermGradients::set(ValueRange others) {
  for (auto [number, sum] : llvm::enumerate(sums))
    if (isSum(number)) {
      sum = others.front();
      others = others.drop_front();
    }
}

void TermGradients::goOn(ArrayRef<Value> gradients) {
  for (auto [number, gradient] : llvm::enumerate(gradients))
    if (isSum(number))
      sums[number] = gradient;
}

SmallVector<Value> TermGradients::joined(ArrayRef<Value> ofRows) const {
  SmallVector<Value> gradients;
  for (auto [number, sum] : llvm::enumerate(sums)) {
    gradients.push_back(isSum(number) ? sum : ofRows.front());
    if (!isSum(number))
      ofRows = ofRows.drop_front();
  }
  return gradients;
}

Value TermGradients::sum(Value gradient, LayoutAttr dealt) const {
  if (dealt.getRanks() == 1)
    return gradient;
  return AllReduceOp::create(
             builder, op.getLoc(), gradient.getType(), gradient, Reduction::Sum,
             AxisListAttr::get(builder.getContext(), dealt.getAxis()),
             dealt.getRanks())
      .getResult(0);
}

void TermGradients::reduce(MutableArrayRef<Value> gradients,
                           LayoutAttr queries) const {
  for (auto [number, gradient] : llvm::enumerate(gradients)) {
    if (!isSum(number))
      continue;
    gradient = sum(gradient, queries);
    if (!part)
      continue;
    gradient = sum(sum(gradient, part.getKv()), part.getEach());
    gradient = sliceDim(builder, op.getLoc(), gradient, 2, 0,
                        typeOf(op.getQuery()).getDimSize(2));
  }
}
