//===- GradientForms.cpp - Which values hold a gradient -------------------===//
//
//   %0 = dot_general %ds, %k            a multiple of a gradient: a form
//   %1 = multiply %0, 0.125             the gradient itself, which is replaced
//   %2 = reduce(%1) over groups         another form
//
//===----------------------------------------------------------------------===//

#include "Gradients/GradientCheck.h"

#include "sp/StableHLO/StableHLO.h"

using namespace mlir;
using namespace mlir::sp;

/// The operations of the last request, which a match replaces.
void GradientMatcher::noteOperations() {
  gradients.operations.insert_range(operationsOf(match));
}

/// What an operation does to pairs with numbers, of positions or of an input,
/// that the forward does not have; null without one.
static const Node *
findForeign(const Node *form,
            const llvm::SmallPtrSetImpl<Operation *> &forward) {
  std::function<bool(Value)> isRead = [&](Value value) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      return forward.contains(user) ||
             (isMove(user) && isRead(user->getResult(0)));
    });
  };
  auto isForwards = [&](const Node *node) { return isRead(node->value); };
  auto isForeign = [&](const Node *operand) {
    const Node *own = narrowest(operand);
    return llvm::product_of(own->shape()) > 1 &&
           llvm::none_of(below(own), [&](const Node *node) {
             bool isNumber =
                 node->op ? !isContraction(node->op) : node->role == Role::Data;
             return node->scored || !isNumber || isForwards(node);
           });
  };
  for (const Node *node : below(form))
    if (isa_and_nonnull<stablehlo::MulOp, stablehlo::DivOp, stablehlo::AddOp,
                        stablehlo::SubtractOp, stablehlo::SelectOp>(node->op) &&
        node->role == Role::None && llvm::any_of(node->operands, isForeign))
      return node;
  return nullptr;
}

/// Names what the forward does not have and no gradient of it, if there is
/// such.
LogicalResult GradientMatcher::refuseForms(Operation *product, Gradient kind) {
  StringRef reason = "a contraction of its pairs is none of its gradients";
  const Node *node = requestForm(match, product->getResult(0));
  if (!node)
    return refuse(reason, product->getLoc());
  auto refuseFor = [&](const Node *odd, StringRef does) {
    return refuse(reason + ", as '" + odd->op->getName().getStringRef() + "' " +
                      does,
                  odd->op->getLoc());
  };
  Readings readings(component, match.axes.key, {});
  if (const Node *any = readings.findAny(
          node, [&](const Node *other) { return forward.contains(other->op); }))
    return refuseFor(any, "acts on its pairs");
  Value by = cotangent ? cotangent->value : Value();
  const Anchor *slopes = pairs ? component.anchor(pairs) : nullptr;
  const Node *values = slopes ? slopes->leaves[1 - cotangentOperand] : nullptr;
  const Node *odd =
      by ? findNonlinear(match, node, kind, {by, values, nullptr}) : nullptr;
  if (odd && odd->op)
    return refuseFor(
        odd, "makes more than multiples of its cotangent, weights or scores");
  if (const Node *foreign = findForeign(node, forward))
    return refuseFor(foreign, "takes numbers that the forward does not have");
  return refuse(reason, product->getLoc());
}

/// Follows the forms of a gradient to the last that is a multiple of it.
LogicalResult GradientMatcher::matchForms(Operation *product,
                                          unsigned leafOperand, Gradient kind) {
  SmallVector<GradientMatch::Result> forms;
  Value value = product->getResult(0);
  for (unsigned step = 0; step < maxResultSteps; ++step) {
    Component::Snapshot before = component.save();
    const Node *node = requestForm(match, value);
    bool isKnown =
        node && isWhole(match) &&
        hasKnownPositions(match, node,
                          match.score ? Inputs::Any : Inputs::Operands);
    std::optional<double> factor;
    if (isKnown && isOver(match, node, kind))
      factor = gradientFactor(match, node, kind,
                              component.anchor(product)->leaves[leafOperand],
                              component.anchor(pairs), cotangentOperand);
    if (factor)
      forms.push_back({kind, value, node->labels, *factor});
    if (!isKnown || (!factor && !forms.empty())) {
      component.restore(before);
      break;
    }
    Operation *next = nextForm(value);
    if (!next || (!forms.empty() && narrows(next)))
      break;
    value = next->getResult(0);
  }
  if (forms.empty())
    return refuseForms(product, kind);
  // The gradient itself rather than a multiple of it, the later the better.
  auto exact = llvm::find_if(llvm::reverse(forms), [](const auto &form) {
    return std::fabs(form.factor - 1) < sameFactor;
  });
  gradients.results.push_back(exact != forms.rend() ? *exact : forms.back());
  requestForm(match, gradients.results.back().value);
  noteOperations();
  return success();
}
