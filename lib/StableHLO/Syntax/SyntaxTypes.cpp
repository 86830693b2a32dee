//===- SyntaxTypes.cpp - How operations print their types -----------------===//

#include "Syntax/Syntax.h"

namespace mlir::stablehlo {

/// Spreads a function type over the operands and the result of an operation.
static ParseResult assignFunctionType(OpAsmParser &parser, SMLoc loc,
                                      FunctionType type,
                                      ArrayRef<Type *> operands, Type &result) {
  if (type.getNumInputs() != operands.size() || type.getNumResults() != 1)
    return parser.emitError(loc)
           << "expected a function type of " << operands.size()
           << " operands and 1 result but got " << type;
  for (auto [operand, input] : llvm::zip_equal(operands, type.getInputs()))
    *operand = input;
  result = type.getResult(0);
  return success();
}

ParseResult parseSameTypes(OpAsmParser &parser,
                           MutableArrayRef<Type *> operands, Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type))
    return failure();
  if (auto function = dyn_cast<FunctionType>(type))
    return assignFunctionType(parser, loc, function, operands, result);
  for (Type *operand : operands)
    *operand = type;
  result = type;
  return success();
}

void printSameTypes(OpAsmPrinter &printer, TypeRange operands, Type result) {
  if (llvm::all_equal(operands) && operands.front() == result)
    printer << result;
  else
    printer.printFunctionalType(operands, TypeRange(result));
}

ParseResult parseComplexOpType(OpAsmParser &parser, Type &lhs, Type &rhs,
                               Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type))
    return failure();
  if (auto function = dyn_cast<FunctionType>(type))
    return assignFunctionType(parser, loc, function, {&lhs, &rhs}, result);
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto element =
      tensor ? dyn_cast<ComplexType>(tensor.getElementType()) : ComplexType();
  if (!element)
    return parser.emitError(loc)
           << "expected a tensor of complex elements but got " << type;
  lhs = rhs = tensor.clone(element.getElementType());
  result = type;
  return success();
}

void printComplexOpType(OpAsmPrinter &printer, Operation *, Type lhs, Type rhs,
                        Type result) {
  auto tensor = dyn_cast<RankedTensorType>(result);
  auto element =
      tensor ? dyn_cast<ComplexType>(tensor.getElementType()) : ComplexType();
  if (element && lhs == rhs && lhs == tensor.clone(element.getElementType()))
    printer << result;
  else
    printer.printFunctionalType(TypeRange{lhs, rhs}, TypeRange(result));
}

ParseResult parseSelectOpType(OpAsmParser &parser, Type &pred, Type &onTrue,
                              Type &onFalse, Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<Type> types;
  if (parser.parseTypeList(types))
    return failure();
  if (types.size() == 2) {
    pred = types[0];
    onTrue = onFalse = result = types[1];
    return success();
  }
  if (types.size() == 1)
    if (auto function = dyn_cast<FunctionType>(types[0]))
      return assignFunctionType(parser, loc, function,
                                {&pred, &onTrue, &onFalse}, result);
  return parser.emitError(loc) << "expected a function type, or the types of "
                                  "predicate and result";
}

void printSelectOpType(OpAsmPrinter &printer, Operation *, Type pred,
                       Type onTrue, Type onFalse, Type result) {
  if (onTrue == result && onFalse == result)
    printer << pred << ", " << result;
  else
    printer.printFunctionalType(TypeRange{pred, onTrue, onFalse},
                                TypeRange(result));
}

ParseResult parsePairwiseOpType(OpAsmParser &parser,
                                SmallVectorImpl<Type> &operands,
                                SmallVectorImpl<Type> &results) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseTypeList(operands))
    return failure();
  auto function = operands.size() == 1
                      ? dyn_cast<FunctionType>(operands.front())
                      : FunctionType();
  if (!function) {
    results.append(operands.begin(), operands.end());
    return success();
  }
  if (function.getNumInputs() != function.getNumResults())
    return parser.emitError(loc)
           << "expected as many results as operands but got " << function;
  operands.assign(function.getInputs().begin(), function.getInputs().end());
  results.assign(function.getResults().begin(), function.getResults().end());
  return success();
}

void printPairwiseOpType(OpAsmPrinter &printer, Operation *, TypeRange operands,
                         TypeRange results) {
  if (operands == results)
    printer << operands;
  else
    printer.printFunctionalType(operands, results);
}

ParseResult parseTupleOpType(OpAsmParser &parser,
                             SmallVectorImpl<Type> &operands, Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type))
    return failure();
  if (auto function = dyn_cast<FunctionType>(type)) {
    if (function.getNumResults() != 1)
      return parser.emitError(loc) << "expected 1 result but got " << function;
    operands.append(function.getInputs().begin(), function.getInputs().end());
    result = function.getResult(0);
    return success();
  }
  auto tuple = dyn_cast<TupleType>(type);
  if (!tuple)
    return parser.emitError(loc) << "expected a tuple type but got " << type;
  operands.append(tuple.getTypes().begin(), tuple.getTypes().end());
  result = type;
  return success();
}

void printTupleOpType(OpAsmPrinter &printer, Operation *, TypeRange operands,
                      Type result) {
  auto tuple = dyn_cast<TupleType>(result);
  if (tuple && TypeRange(tuple.getTypes()) == operands)
    printer << result;
  else
    printer.printFunctionalType(operands, TypeRange(result));
}

} // namespace mlir::stablehlo
