/// Elements of values, read or computed where they are needed. Elements know of
/// loops around them, and of no stage.
#ifndef SP_LIB_CODEGEN_ELEMENTSOURCE_H
#define SP_LIB_CODEGEN_ELEMENTSOURCE_H

#include "Fusion/LoopNest.h"

namespace mlir::sp {

class ElementSource : protected LoopNest {
protected:
  using LoopNest::LoopNest;

  Scalar elementAt(Value value, ArrayRef<Index> indices);
  Scalar compute(Value value, ArrayRef<Index> indices);
  Scalar computeShape(Operation *op, ArrayRef<Index> indices);
  bool isElsewhere(Value value, ArrayRef<Index> indices);
  Scalar loadElement(const Buffer &buffer, ArrayRef<Index> indices);
  void noteCost(Value value, ArrayRef<Index> indices);
  Scalars evaluate(Region &region, ArrayRef<Scalar> arguments);
  Scalar concatenateAt(stablehlo::ConcatenateOp op, ArrayRef<Index> indices);
  Scalar padAt(stablehlo::PadOp op, ArrayRef<Index> indices);
  Scalar gatherAt(stablehlo::GatherOp op, ArrayRef<Index> indices);
  Scalar sliceAt(stablehlo::DynamicSliceOp op, ArrayRef<Index> indices);
  Scalar updateAt(stablehlo::DynamicUpdateSliceOp op, ArrayRef<Index> indices);
  /// Where an element lies in the update, brought into bounds, and whether it
  /// does (null: always); nothing where it never does.
  std::optional<Value> placeInUpdate(stablehlo::DynamicUpdateSliceOp op,
                                     ArrayRef<Index> indices, Indices &inner);
  Scalar constantAt(stablehlo::ConstantOp op, ArrayRef<Index> indices);
  Scalar bitcastAt(stablehlo::BitcastConvertOp op, ArrayRef<Index> indices);
  Guarded guard(const Index &index, int64_t size, int64_t step = 1);
  Value both(Value x, Value y);
  /// An integer element as an index, clamped to [low, high].
  Index dynamicIndex(Value tensor, ArrayRef<Index> indices, int64_t low,
                     int64_t high);
  /// The same, not clamped: for scatter, which skips what lies outside.
  Value rawIndex(Value tensor, ArrayRef<Index> indices);
  Scalar dummy(Value value);
};

} // namespace mlir::sp

#endif // SP_LIB_CODEGEN_ELEMENTSOURCE_H
