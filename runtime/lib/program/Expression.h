/// Integer expressions of a plan: checked once, evaluated at every command.
#ifndef SPRT_LIB_PROGRAM_EXPRESSION_H
#define SPRT_LIB_PROGRAM_EXPRESSION_H

#include "sprt/algebra/Layout.h"
#include "sprt/plan_generated.h"
#include "support/Status.h"

#include <vector>

namespace sprt {

/// Longest postfix stack of an expression.
inline constexpr size_t kMaxExpressionDepth = 32;

/// What an expression may read: this rank's coordinates, the counters of the
/// enclosing loops (outermost first), and the layouts.
struct Scope {
  const std::vector<int64_t> *coordinates;
  const std::vector<int64_t> *counters;
  const std::vector<algebra::Layout> *layouts;
};

/// How many of each an expression may name.
struct ExpressionLimits {
  size_t factors;
  size_t counters;
  size_t layouts;
};

/// Checks arity, indices and stack depth; `what` names the expression.
Status checkExpression(const plan::ExprT *expression,
                       const ExpressionLimits &limits, const std::string &what);

/// Whether an operator asks a layout about an owner.
bool isOfLayout(plan::ExprOp op);

/// Whether it is the same for every rank and step.
bool isConstant(const plan::ExprT &expression);

/// Whether it may differ from turn to turn of a loop.
bool hasCounters(const plan::ExprT &expression);
/// Whether it has that of the loop at a depth.
bool hasCounter(const plan::ExprT &expression, size_t depth);

/// Evaluates a checked expression. Overflow and division by zero are errors.
Status evaluate(const plan::ExprT &expression, const Scope &scope,
                int64_t &out_value);

/// The expression in infix form, for people; `factors` names the coordinates.
std::string
expressionText(const plan::ExprT *expression,
               const std::vector<std::unique_ptr<plan::FactorT>> &factors);

/// The name of the loop counter at a depth: t, u, v, …
std::string counterName(size_t depth);

} // namespace sprt

#endif // SPRT_LIB_PROGRAM_EXPRESSION_H
