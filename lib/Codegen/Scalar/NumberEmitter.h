/// A thin layer over the op builders for real numbers and integers in
/// registers: the parts that elements are made of.
#ifndef SP_LIB_CODEGEN_NUMBEREMITTER_H
#define SP_LIB_CODEGEN_NUMBEREMITTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace mlir::sp {

class NumberEmitter {
public:
  /// Without `lanes` values are single numbers, otherwise vectors of as many.
  NumberEmitter(OpBuilder &builder, Location loc, int64_t lanes)
      : b(builder), loc(loc), lanes(lanes) {}

  OpBuilder &b;
  const Location loc;
  const int64_t lanes;

  /// Whether sums may be taken in any order.
  void allowReassociation(bool allow) { reassociate = allow; }

  /// The type of a value whose numbers are of `type`.
  Type shaped(Type type) const;
  /// A constant of `value`'s type, in every lane.
  Value fill(TypedAttr value);
  Value number(Type type, double value);
  Value integer(Type type, int64_t value);
  Value i64(int64_t value) { return integer(b.getI64Type(), value); }

  // Sums and products may be contracted.
  Value fadd(Value x, Value y);
  /// Never one with a product: x - max(x) is 0 at the maximum, however often x
  /// is computed.
  Value fsub(Value x, Value y);
  Value fmul(Value x, Value y);
  Value fdiv(Value x, Value y);
  Value fma(Value x, Value y, Value z);
  Value bitNot(Value value);
  Value lessThan(Value x, double bound);
  Value choose(Value condition, Value x, Value y);

private:
  arith::FastMathFlags flags() const;

  bool reassociate = false;
};

} // namespace mlir::sp

#endif // SP_LIB_CODEGEN_NUMBEREMITTER_H
