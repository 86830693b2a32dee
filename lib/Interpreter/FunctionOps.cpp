//===- FunctionOps.cpp - Functions of floats and complex numbers ----------===//
#include "Elementwise.h"
#include "sp/StableHLO/ScalarForms.h"

using namespace mlir;
using namespace mlir::interpreter;
using stablehlo::ScalarForm;

static FailureOr<Tensor> apply(const ScalarForm &form, Operation *op,
                               Tensors &operands, Evaluator &evaluator) {
  auto map = [&](auto onFloat, auto onComplex) {
    if (operands.size() == 1)
      return mapUnary(op, operands[0], evaluator, None(), onFloat, onComplex);
    return mapBinary(op, operands, evaluator, None(), onFloat, onComplex);
  };
  auto onFloat = [real = form.real](auto... x) { return real({x...}); };
  if (!form.complex)
    return map(onFloat, None());
  return map(onFloat,
             [complex = form.complex](auto... x) { return complex({x...}); });
}

/// Of the table, what has no meaning on integers, which others register.
void interpreter::addFunctionOps(Handlers &handlers) {
  for (const auto &[type, form] : stablehlo::scalarForms())
    handlers.addElementwise(
        type,
        [&form = form](Operation *op, Tensors &operands, Evaluator &evaluator) {
          return apply(form, op, operands, evaluator);
        });
}
