#include "program/Expression.h"

#include <algorithm>

namespace sprt {

using plan::ExprOp;

namespace {

/// Operands that an operator pops.
int arity(ExprOp op) {
  switch (op) {
  case ExprOp::constant:
  case ExprOp::coordinate:
  case ExprOp::counter:
    return 0;
  case ExprOp::rows:
  case ExprOp::group_size:
    return 1;
  default:
    return 2;
  }
}

const algebra::Layout &layoutOf(const plan::Term &term, const Scope &scope) {
  return (*scope.layouts)[static_cast<size_t>(term.value())];
}

int64_t floorDivide(int64_t a, int64_t b) {
  int64_t quotient = a / b;
  return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

/// The member of a group that is so many before another one, cyclically.
int64_t sourceOf(const algebra::OwnerGroup &group, int64_t owner,
                 int64_t distance) {
  int64_t from = (owner - group.first - distance % group.size) % group.size;
  return group.first + (from < 0 ? from + group.size : from);
}

/// False on overflow or division by zero.
bool apply(ExprOp op, int64_t a, int64_t b, int64_t &result) {
  switch (op) {
  case ExprOp::add:
    return !__builtin_add_overflow(a, b, &result);
  case ExprOp::mul:
    return !__builtin_mul_overflow(a, b, &result);
  case ExprOp::min:
    result = std::min(a, b);
    return true;
  case ExprOp::max:
    result = std::max(a, b);
    return true;
  case ExprOp::lt:
    result = a < b;
    return true;
  default:
    break;
  }
  if (b == 0 || (a == INT64_MIN && b == -1))
    return false;
  int64_t quotient = floorDivide(a, b);
  if (op == ExprOp::floordiv)
    result = quotient;
  else if (op == ExprOp::ceildiv)
    result = quotient + (quotient * b != a);
  else
    result = a - quotient * b;
  return true;
}

/// The text of an operand, and whether it needs parentheses beside an operator
/// that binds more strongly than a sum.
using TextOperand = std::pair<std::string, bool>;

std::string wrap(const TextOperand &operand) {
  return operand.second ? "(" + operand.first + ")" : operand.first;
}

/// "a + b", "a - b", or one of them where the other is 0.
TextOperand sumText(const TextOperand &a, const TextOperand &b) {
  if (a.first == "0")
    return b;
  if (b.first == "0")
    return a;
  if (b.first[0] == '-')
    return {a.first + " - " + b.first.substr(1), true};
  if (a.first[0] == '-')
    return {b.first + " - " + a.first.substr(1), true};
  return {a.first + " + " + b.first, true};
}

/// "a * b", a where b is 1, "-a" where b is -1.
TextOperand productText(const TextOperand &a, const TextOperand &b) {
  if (b.first == "1")
    return a;
  if (b.first == "-1")
    return {"-" + wrap(a), true};
  return {wrap(a) + " * " + wrap(b), true};
}

} // namespace

bool isOfLayout(ExprOp op) {
  return op == ExprOp::rows || op == ExprOp::group_size ||
         op == ExprOp::group_source;
}

Status checkExpression(const plan::ExprT *expression,
                       const ExpressionLimits &limits,
                       const std::string &what) {
  if (!expression || expression->terms.empty())
    return fail(SPRT_DAMAGED)
           << "expected an expression for " << what << " but got none";
  size_t depth = 0;
  for (const plan::Term &term : expression->terms) {
    if (term.op() < ExprOp::MIN || term.op() > ExprOp::MAX)
      return fail(SPRT_DAMAGED) << "unknown operator " << int(term.op())
                                << " in the expression of " << what;
    size_t limit = term.op() == ExprOp::coordinate ? limits.factors
                   : term.op() == ExprOp::counter  ? limits.counters
                   : isOfLayout(term.op())         ? limits.layouts
                                                   : SIZE_MAX;
    if (limit != SIZE_MAX &&
        (term.value() < 0 || static_cast<size_t>(term.value()) >= limit))
      return fail(SPRT_DAMAGED) << "the expression of " << what << " names "
                                << plan::EnumNameExprOp(term.op()) << " "
                                << term.value() << " of " << limit;
    size_t pops = static_cast<size_t>(arity(term.op()));
    if (depth < pops)
      return fail(SPRT_DAMAGED)
             << "the expression of " << what << " pops an empty stack";
    depth = depth - pops + 1;
    if (depth > kMaxExpressionDepth)
      return fail(SPRT_DAMAGED) << "the expression of " << what
                                << " is deeper than " << kMaxExpressionDepth;
  }
  if (depth != 1)
    return fail(SPRT_DAMAGED) << "the expression of " << what << " leaves "
                              << depth << " values, expected 1";
  return Status::success();
}

bool isConstant(const plan::ExprT &expression) {
  for (const plan::Term &term : expression.terms)
    if (term.op() == ExprOp::coordinate || term.op() == ExprOp::counter ||
        isOfLayout(term.op()))
      return false;
  return true;
}

bool hasCounters(const plan::ExprT &expression) {
  return std::any_of(
      expression.terms.begin(), expression.terms.end(),
      [](const plan::Term &term) { return term.op() == ExprOp::counter; });
}

bool hasCounter(const plan::ExprT &expression, size_t depth) {
  return std::any_of(expression.terms.begin(), expression.terms.end(),
                     [&](const plan::Term &term) {
                       return term.op() == ExprOp::counter &&
                              static_cast<size_t>(term.value()) == depth;
                     });
}

Status evaluate(const plan::ExprT &expression, const Scope &scope,
                int64_t &out_value) {
  int64_t stack[kMaxExpressionDepth];
  size_t depth = 0;
  for (const plan::Term &term : expression.terms) {
    switch (term.op()) {
    case ExprOp::constant:
      stack[depth++] = term.value();
      continue;
    case ExprOp::coordinate:
      stack[depth++] = (*scope.coordinates)[static_cast<size_t>(term.value())];
      continue;
    case ExprOp::counter:
      stack[depth++] = (*scope.counters)[static_cast<size_t>(term.value())];
      continue;
    case ExprOp::rows:
      stack[depth - 1] = layoutOf(term, scope).count(stack[depth - 1]);
      continue;
    case ExprOp::group_size:
      stack[depth - 1] = layoutOf(term, scope).group(stack[depth - 1]).size;
      continue;
    case ExprOp::group_source:
      --depth;
      stack[depth - 1] = sourceOf(layoutOf(term, scope).group(stack[depth - 1]),
                                  stack[depth - 1], stack[depth]);
      continue;
    default:
      break;
    }
    int64_t b = stack[--depth];
    int64_t a = stack[depth - 1];
    if (!apply(term.op(), a, b, stack[depth - 1]))
      return fail(SPRT_DAMAGED)
             << plan::EnumNameExprOp(term.op()) << " of " << a << " and " << b
             << " in an expression overflows or divides by zero";
  }
  out_value = stack[0];
  return Status::success();
}

std::string counterName(size_t depth) {
  static const char *const kNames[] = {"t", "u", "v", "w"};
  return depth < 4 ? kNames[depth] : "t" + std::to_string(depth);
}

std::string
expressionText(const plan::ExprT *expression,
               const std::vector<std::unique_ptr<plan::FactorT>> &factors) {
  if (!expression)
    return "1";
  // Each entry is its text and whether it needs parentheses as an operand.
  std::vector<TextOperand> stack;
  for (const plan::Term &term : expression->terms) {
    size_t index = static_cast<size_t>(term.value());
    switch (term.op()) {
    case ExprOp::constant:
      stack.emplace_back(std::to_string(term.value()), term.value() < 0);
      continue;
    case ExprOp::coordinate:
      stack.emplace_back(factors[index]->name, false);
      continue;
    case ExprOp::counter:
      stack.emplace_back(counterName(index), false);
      continue;
    case ExprOp::rows:
    case ExprOp::group_size:
      stack.back() = {std::string(plan::EnumNameExprOp(term.op())) + "#" +
                          std::to_string(index) + "(" + stack.back().first +
                          ")",
                      false};
      continue;
    default:
      break;
    }
    TextOperand b = std::move(stack.back());
    stack.pop_back();
    TextOperand &a = stack.back();
    switch (term.op()) {
    case ExprOp::group_source:
      a = {"group_source#" + std::to_string(index) + "(" + a.first + ", " +
               b.first + ")",
           false};
      break;
    case ExprOp::add:
      a = sumText(a, b);
      break;
    case ExprOp::mul:
      a = productText(a, b);
      break;
    case ExprOp::floordiv:
      a = {wrap(a) + " / " + wrap(b), true};
      break;
    case ExprOp::mod:
      a = {wrap(a) + " % " + wrap(b), true};
      break;
    case ExprOp::lt:
      a = {wrap(a) + " < " + wrap(b), true};
      break;
    default:
      a = {std::string(plan::EnumNameExprOp(term.op())) + "(" + a.first + ", " +
               b.first + ")",
           false};
      break;
    }
  }
  return stack.empty() ? "?" : stack.back().first;
}

} // namespace sprt
