/// Stages that sum over something: reductions, contractions and windows.
#ifndef SP_LIB_CODEGEN_REDUCTIONSTAGES_H
#define SP_LIB_CODEGEN_REDUCTIONSTAGES_H

#include "Fusion/ElementSource.h"

namespace mlir::sp {

class ReductionStages : protected ElementSource {
protected:
  using ElementSource::ElementSource;

  void emitReduction(Reduction &reduction);
  void emitRegisterReduction(Reduction &reduction, int64_t inner);
  void emitBufferReduction(Reduction &reduction, int64_t inner);
  void emitReduce(stablehlo::ReduceOp op);
  void emitDot(Operation *op, ArrayRef<int64_t> lhsBatch,
               ArrayRef<int64_t> rhsBatch, ArrayRef<int64_t> lhsContracting,
               ArrayRef<int64_t> rhsContracting);
  void emitReduceWindow(stablehlo::ReduceWindowOp op);
  bool emitCumulative(stablehlo::ReduceWindowOp op);
  void emitConvolution(stablehlo::ConvolutionOp op);
  Scalars combineThreads(const Reduction &reduction, ArrayRef<Scalar> partial);
};

/// Whether a reduction or contraction runs along contiguous elements, so that
/// its accumulators are registers.
bool reducesInRegisters(Operation *op);

} // namespace mlir::sp

#endif // SP_LIB_CODEGEN_REDUCTIONSTAGES_H
