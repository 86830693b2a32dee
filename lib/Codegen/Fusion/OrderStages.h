/// Stages whose result depends on an order: sort, top_k and scatter.
#ifndef SP_LIB_CODEGEN_ORDERSTAGES_H
#define SP_LIB_CODEGEN_ORDERSTAGES_H

#include "Fusion/ReductionStages.h"

namespace mlir::sp {

class OrderStages : protected ReductionStages {
protected:
  using ReductionStages::ReductionStages;

  void emitSort(stablehlo::SortOp op);
  void emitTopK(chlo::TopKOp op);
  void requireStored(Value value);
  void emitMergeSort(
      ValueRange inputs, int64_t dimension, int64_t rowLines,
      function_ref<Value(ArrayRef<Scalar>)> isLess,
      function_ref<void(Index, Index, const Index &, const Index &)> finish);
  void emitScatter(stablehlo::ScatterOp op);
};

} // namespace mlir::sp

#endif // SP_LIB_CODEGEN_ORDERSTAGES_H
