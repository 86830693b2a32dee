/// Loops over flat spaces, cut and split as their plans say, by one thread or
/// by those of a block, and what is stored in them.
#ifndef SP_LIB_CODEGEN_LOOPNEST_H
#define SP_LIB_CODEGEN_LOOPNEST_H

#include "Fusion/KernelState.h"

namespace mlir::sp {

class LoopNest : protected KernelState {
protected:
  using KernelState::KernelState;

  LoopPlan &plan(const void *owner, unsigned kind, int64_t extent);
  void emitLoops(LoopPlan &plan, function_ref<void(Index)> body);
  Carried emitLoops(LoopPlan &plan, ValueRange inits, CarryingBody body);
  Carried emitLoop(Value low, Value high, Value step, int64_t count,
                   ValueRange inits,
                   function_ref<Carried(Value, ValueRange)> body);
  Carried emitPart(LoopPlan &plan, ArrayRef<unsigned> order, Index flat,
                   ValueRange inits, CarryingBody body);
  SmallVector<Value> flatten(ArrayRef<Scalar> scalars);
  Scalars unflatten(ValueRange values, ArrayRef<Type> types);
  Index rowFlat(Value value, const Index &inner);
  void storeElement(Value value, const Index &inner, Scalar scalar);
  void setRowScalar(Value value, Scalar scalar);

  Carried emitSpread(const void *owner, unsigned kind, int64_t extent,
                     ValueRange inits, CarryingBody body, bool inOrder = false);
  void emitSpread(const void *owner, unsigned kind, int64_t extent,
                  function_ref<void(Index)> body);
  void onFirstThread(function_ref<void()> body);
};

} // namespace mlir::sp

#endif // SP_LIB_CODEGEN_LOOPNEST_H
