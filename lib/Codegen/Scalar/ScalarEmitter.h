/// Arithmetic on single elements, or on vectors of them, with the semantics of
/// StableHLO.
///
/// bf16 and f16 elements are computed in f32 and rounded where the program says
/// so (convert, reduce_precision) and where they are stored. Complex elements
/// are pairs. Unsigned integers are signless values; their type says the sign.
#ifndef SP_CODEGEN_SCALAREMITTER_H
#define SP_CODEGEN_SCALAREMITTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "sp/StableHLO/StableHLO.h"

namespace mlir::sp {

struct Scalar {
  Value value;
  Value imag; ///< null unless complex
};

/// What an element type is in registers and in memory.
struct ElementForm {
  explicit ElementForm(Type element);

  Type element;
  Type compute; ///< of one part
  Type storage; ///< of one part
  bool isComplex = false, isFloat = false, isUnsigned = false, isBool = false;
  int64_t parts() const { return isComplex ? 2 : 1; }
  int64_t partBytes() const;
  int64_t bytes() const { return parts() * partBytes(); }
};

/// Whether kernels can hold elements of this type.
bool isSupportedElement(Type element);
/// Whether ScalarEmitter::apply knows the operation.
bool hasScalarForm(Operation *op);

class ScalarEmitter {
public:
  /// Without `lanes` values are single elements, otherwise vectors of as many;
  /// loads, stores and complex numbers are for single elements only.
  ScalarEmitter(OpBuilder &builder, Location loc, int64_t lanes = 0)
      : b(builder), loc(loc), lanes(lanes) {}

  /// The type of a value whose elements are of `type`.
  Type shaped(Type type) const;
  Value number(Type type, double value);
  Value integer(Type type, int64_t value);
  Value i64(int64_t value) { return integer(b.getI64Type(), value); }
  /// Element `position` of a constant.
  Scalar constant(ElementsAttr value, uint64_t position, Type element);
  /// The least or greatest number of a type; infinities for floats.
  Scalar extreme(Type element, bool greatest);

  Value address(Value base, Value index, Type storage);
  Scalar load(Value base, Value index, const ElementForm &form);
  void store(Value base, Value index, Scalar scalar, const ElementForm &form);

  Scalar convert(Scalar scalar, Type from, Type to);
  Scalar select(Value condition, Scalar a, Scalar b);
  Scalar fromIndex(Value index, Type to);
  Value compare(Scalar lhs, Scalar rhs, Type element,
                stablehlo::ComparisonDirection direction,
                stablehlo::ComparisonType type);
  /// An elementwise operation on scalars; a null value if it is not supported
  /// for its element type. Operands are as the operation lists them.
  Scalar apply(Operation *op, ArrayRef<Scalar> operands);
  /// The same, but sums may be taken in any order.
  void allowReassociation(bool allow) { reassociate = allow; }

  // Arithmetic by element kind; `element` is the tensor's element type.
  Scalar add(Scalar lhs, Scalar rhs, const ElementForm &form);
  Scalar subtract(Scalar lhs, Scalar rhs, const ElementForm &form);
  Scalar multiply(Scalar lhs, Scalar rhs, const ElementForm &form);
  Scalar divide(Scalar lhs, Scalar rhs, const ElementForm &form);
  Scalar remainder(Scalar lhs, Scalar rhs, const ElementForm &form);
  Scalar maximum(Scalar lhs, Scalar rhs, const ElementForm &form);
  Scalar minimum(Scalar lhs, Scalar rhs, const ElementForm &form);
  /// The bits of an f32 rounded to bf16, in the low half of an i32.
  Value roundToBF16Bits(Value x);
  /// An element as memory holds it, as an integer of its width, and back.
  Value bitsOf(Value x, const ElementForm &form);
  Value fromBits(Value bits, const ElementForm &form);

private:
  Value bitNot(Value value);
  Value fadd(Value x, Value y);
  Value fsub(Value x, Value y);
  Value fmul(Value x, Value y);
  Value fdiv(Value x, Value y);
  Value fma(Value x, Value y, Value z);
  Value poly(Value x, ArrayRef<double> coefficients);
  Value lessThan(Value x, double bound);
  Value choose(Value condition, Value x, Value y);
  Value reducePrecision(Value x, int exponent, int mantissa);
  Value toSaturatedInt(Value x, Type to, bool isUnsigned);
  Value shift(Operation *op, Value x, Value amount);
  Value integerPower(Value base, Value exponent, const ElementForm &form);
  Value floatPower(Operation *op, Value base, Value exponent);
  Scalar applyComplex(Operation *op, ArrayRef<Scalar> operands);
  Value applyInteger(Operation *op, ArrayRef<Scalar> operands,
                     const ElementForm &form);
  Value applyFloat(Operation *op, Value x, const ElementForm &form);

  // ScalarMath.cpp: f32 by polynomials that vectorise, f64 through libm.
  Value exp(Value x);
  Value log(Value x);
  Value log1p(Value x);
  Value expm1(Value x);
  Value tanh(Value x);
  Value tanhByQuotient(Value x);
  Value logistic(Value x);
  Value erf(Value x);
  Value erfNearZero(Value x);
  Value erfc(Value x);
  Value erfInv(Value x);
  enum class Trig { Sine, Cosine, Tangent };
  Value trigonometric(Value x, Trig which);

  OpBuilder &b;
  Location loc;
  int64_t lanes;
  bool reassociate = false;
};

} // namespace mlir::sp

#endif // SP_CODEGEN_SCALAREMITTER_H
