/// What a model does to single scores, as a function of the program.
#ifndef SP_LIB_IMPORT_SCOREFUNCTION_H
#define SP_LIB_IMPORT_SCOREFUNCTION_H

#include "Scores/AttentionMatch.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "sp/IR/SP.h"

namespace mlir::sp {

/// What a score function reads besides the score, and how it is laid out.
struct ScoreTerm {
  using Kind = TermKind;
  Kind kind;
  /// A value over its labels; of a table the value alone counts.
  mlir::Value value;
  Labels labels;
};

/// A function that makes exponents of scores in `element` (f32 or f64), with
/// its terms in the order of its arguments. Null where exponents are the scores
/// times a number.
struct ScoreFunction {
  func::FuncOp function;
  SmallVector<ScoreTerm> terms;
  double factor = 1;
};
/// Nothing where a part of it has no form that works pair by pair. An equal
/// function of the module is used again.
std::optional<ScoreFunction> buildScoreFunction(const AttentionMatch &match,
                                                Type element);

/// Whether two functions do the same, whatever their names.
bool isSameFunction(func::FuncOp a, func::FuncOp b);

/// Numbers in place of a term's: the score itself, and the exponent itself,
/// with respect to which the exponent's derivative is 1.
constexpr unsigned scoreTerm = ~0U - 1, exponentTerm = ~0U;

/// What gradients need beside a score function, with the same arguments: the
/// exponent, its derivative with respect to the score, the weight, where the
/// function has one, and the exponent's derivatives with respect to what it
/// reads of these terms. Null where it cannot be differentiated; in no module.
func::FuncOp differentiateScore(func::FuncOp score, ArrayRef<unsigned> terms);

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_SCOREFUNCTION_H
