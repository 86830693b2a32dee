/// What operations keep of sums that ranks have parts of.
#ifndef SP_IR_LINEARITY_H
#define SP_IR_LINEARITY_H

#include "sp/IR/SP.h"

namespace mlir::sp {

/// An operation that makes of parts the parts of what it makes of their sum,
/// but for rounding.
///
///   op                        data        together
///   add, select, concatenate  all but a   yes: f(a + a', b + b') =
///                             predicate        f(a, b) + f(a', b')
///   multiply, dot_general     both        no: of one, beside a value that all
///   divide                    the first   ranks have alike
struct Linearity {
  /// Operands that may be parts, by number.
  SmallVector<unsigned> data;
  /// Whether all of them have to be parts, or 0; else one of them.
  bool together = true;
  /// Whether elements only move, so that parts of any combination stay so.
  bool moves = false;
};

/// Nothing for an operation that is not linear in any operand.
std::optional<Linearity> linearityOf(Operation *op);

} // namespace mlir::sp

#endif // SP_IR_LINEARITY_H
