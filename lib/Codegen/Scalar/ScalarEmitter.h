/// Arithmetic on single elements, or on vectors of them, with the semantics of
/// StableHLO.
#ifndef SP_LIB_CODEGEN_SCALAREMITTER_H
#define SP_LIB_CODEGEN_SCALAREMITTER_H

#include "Scalar/ElementForm.h"
#include "Scalar/NumberEmitter.h"

#include "sp/StableHLO/StableHLO.h"

namespace mlir::sp {

class ScalarEmitter : public NumberEmitter {
public:
  /// Without `lanes` values are single elements, otherwise vectors of as many;
  /// loads, stores and complex numbers are for single elements only.
  ScalarEmitter(OpBuilder &builder, Location loc, int64_t lanes = 0)
      : NumberEmitter(builder, loc, lanes) {}

  /// Element `position` of a constant.
  Scalar constant(ElementsAttr value, uint64_t position, Type element);
  /// The least or greatest number of a type; infinities for floats.
  Scalar extreme(Type element, bool greatest);

  Value address(Value base, Value index, Type storage);
  Scalar load(Value base, Value index, const ElementForm &form);
  void store(Value base, Value index, Scalar scalar, const ElementForm &form);

  /// The bits of an f32 rounded to bf16, in the low half of an i32.
  Value roundToBF16Bits(Value x);
  /// An element as memory holds it, as an integer of its width, and back.
  Value bitsOf(Value x, const ElementForm &form);
  Value fromBits(Value bits, const ElementForm &form);

  Scalar convert(Scalar scalar, Type from, Type to);
  Scalar fromIndex(Value index, Type to);
  Scalar select(Value condition, Scalar a, Scalar b);
  Value compare(Scalar lhs, Scalar rhs, Type element,
                stablehlo::ComparisonDirection direction,
                stablehlo::ComparisonType type);

  // Arithmetic by element kind.
  Scalar add(Scalar lhs, Scalar rhs, const ElementForm &form);
  Scalar subtract(Scalar lhs, Scalar rhs, const ElementForm &form);
  Scalar multiply(Scalar lhs, Scalar rhs, const ElementForm &form);
  Scalar divide(Scalar lhs, Scalar rhs, const ElementForm &form);
  Scalar remainder(Scalar lhs, Scalar rhs, const ElementForm &form);
  Scalar maximum(Scalar lhs, Scalar rhs, const ElementForm &form);
  Scalar minimum(Scalar lhs, Scalar rhs, const ElementForm &form);
};

} // namespace mlir::sp

#endif // SP_LIB_CODEGEN_SCALAREMITTER_H
