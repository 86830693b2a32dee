//===- Syntax.h - Custom directives of the stablehlo assembly ---*- C++ -*-===//

#ifndef SP_LIB_STABLEHLO_SYNTAX_H
#define SP_LIB_STABLEHLO_SYNTAX_H

#include "sp/StableHLO/StableHLO.h"

namespace mlir::stablehlo {

//===----------------------------------------------------------------------===//
// Types: one type where all are equal, else a function type
//===----------------------------------------------------------------------===//

ParseResult parseSameTypes(OpAsmParser &parser,
                           MutableArrayRef<Type *> operands, Type &result);
void printSameTypes(OpAsmPrinter &printer, TypeRange operands, Type result);

template <typename... Types>
ParseResult parseSameOperandsAndResultType(OpAsmParser &parser, Type &first,
                                           Types &...rest) {
  SmallVector<Type *> types = {&first, &rest...};
  Type *result = types.pop_back_val();
  return parseSameTypes(parser, types, *result);
}
template <typename... Types>
void printSameOperandsAndResultType(OpAsmPrinter &printer, Operation *,
                                    Types... types) {
  SmallVector<Type> all = {types...};
  Type result = all.pop_back_val();
  printSameTypes(printer, all, result);
}

ParseResult parseComplexOpType(OpAsmParser &parser, Type &lhs, Type &rhs,
                               Type &result);
void printComplexOpType(OpAsmPrinter &printer, Operation *, Type lhs, Type rhs,
                        Type result);

ParseResult parseSelectOpType(OpAsmParser &parser, Type &pred, Type &onTrue,
                              Type &onFalse, Type &result);
void printSelectOpType(OpAsmPrinter &printer, Operation *, Type pred,
                       Type onTrue, Type onFalse, Type result);

ParseResult parsePairwiseOpType(OpAsmParser &parser,
                                SmallVectorImpl<Type> &operands,
                                SmallVectorImpl<Type> &results);
void printPairwiseOpType(OpAsmPrinter &printer, Operation *, TypeRange operands,
                         TypeRange results);

ParseResult parseTupleOpType(OpAsmParser &parser,
                             SmallVectorImpl<Type> &operands, Type &result);
void printTupleOpType(OpAsmPrinter &printer, Operation *, TypeRange operands,
                      Type result);

//===----------------------------------------------------------------------===//
// Operands and attributes
//===----------------------------------------------------------------------===//

/// Reads an enumerator by its name.
template <typename Enum> FailureOr<Enum> parseEnumerator(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  if (std::optional<Enum> value = symbolizeEnum<Enum>(word))
    return *value;
  InFlightDiagnostic diag = parser.emitError(loc) << "expected one of ";
  // Numbers are dense but for an unused zero.
  SmallVector<StringRef> words;
  for (unsigned i = 0; i < 8; ++i)
    if (StringRef name = stringifyEnum(Enum(i)); !name.empty())
      words.push_back(name);
  llvm::interleaveComma(words, diag);
  diag << " but got '" << word << "'";
  return failure();
}

/// `LT`.
template <typename EnumAttr>
ParseResult parseWord(OpAsmParser &parser, EnumAttr &attribute) {
  auto value = parseEnumerator<decltype(attribute.getValue())>(parser);
  if (failed(value))
    return failure();
  attribute = EnumAttr::get(parser.getContext(), *value);
  return success();
}
template <typename EnumAttr>
void printWord(OpAsmPrinter &printer, Operation *, EnumAttr attribute) {
  printer << stringifyEnum(attribute.getValue());
}

/// `%a, %b,`: operands up to the keyword that follows.
ParseResult parseVariadicOperandWithAttribute(
    OpAsmParser &parser,
    SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands);
void printVariadicOperandWithAttribute(OpAsmPrinter &printer, Operation *,
                                       OperandRange operands);

/// `e8m7`.
ParseResult parseExponentMantissa(OpAsmParser &parser, IntegerAttr &exponent,
                                  IntegerAttr &mantissa);
void printExponentMantissa(OpAsmPrinter &printer, Operation *,
                           IntegerAttr exponent, IntegerAttr mantissa);

/// `[start:limit:stride, ...]`, without a stride of one.
ParseResult parseSliceRanges(OpAsmParser &parser, DenseI64ArrayAttr &starts,
                             DenseI64ArrayAttr &limits,
                             DenseI64ArrayAttr &strides);
void printSliceRanges(OpAsmPrinter &printer, Operation *,
                      DenseI64ArrayAttr starts, DenseI64ArrayAttr limits,
                      DenseI64ArrayAttr strides);

/// `@target`.
ParseResult parseCustomCallTarget(OpAsmParser &parser, StringAttr &target);
void printCustomCallTarget(OpAsmPrinter &printer, Operation *,
                           StringAttr target);

/// `batching_dims = [0] x [0], contracting_dims = [1] x [1]`.
ParseResult parseDotDimensionNumbers(OpAsmParser &parser,
                                     DotDimensionNumbersAttr &numbers);
void printDotDimensionNumbers(OpAsmPrinter &printer, Operation *,
                              DotDimensionNumbersAttr numbers);

/// `, precision = [DEFAULT, DEFAULT]`, or nothing.
ParseResult parsePrecisionConfig(OpAsmParser &parser, ArrayAttr &precision);
void printPrecisionConfig(OpAsmPrinter &printer, Operation *,
                          ArrayAttr precision);

/// `, precision = [...], algorithm = <...>`, either or none.
ParseResult parsePrecisionConfigAndAlgorithm(OpAsmParser &parser,
                                             ArrayAttr &precision,
                                             DotAlgorithmAttr &algorithm);
void printPrecisionConfigAndAlgorithm(OpAsmPrinter &printer, Operation *,
                                      ArrayAttr precision,
                                      DotAlgorithmAttr algorithm);

/// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`.
ParseResult parseConvolutionDimensions(AsmParser &parser,
                                       ConvDimensionNumbersAttr &numbers);
void printConvolutionDimensions(AsmPrinter &printer,
                                ConvDimensionNumbersAttr numbers);
inline void printConvolutionDimensions(OpAsmPrinter &printer, Operation *,
                                       ConvDimensionNumbersAttr numbers) {
  printConvolutionDimensions(printer, numbers);
}

/// `stride = [1], pad = [[0, 0]], lhs_dilate = [1], rhs_dilate = [1],
/// reverse = [false]`, each or none.
ParseResult parseWindowAttributes(OpAsmParser &parser,
                                  DenseI64ArrayAttr &strides,
                                  DenseIntElementsAttr &padding,
                                  DenseI64ArrayAttr &lhsDilation,
                                  DenseI64ArrayAttr &rhsDilation,
                                  DenseBoolArrayAttr &reversal);
void printWindowAttributes(OpAsmPrinter &printer, Operation *,
                           DenseI64ArrayAttr strides,
                           DenseIntElementsAttr padding,
                           DenseI64ArrayAttr lhsDilation,
                           DenseI64ArrayAttr rhsDilation,
                           DenseBoolArrayAttr reversal);

/// `[1, 2, 3]`.
ParseResult parseDims(AsmParser &parser, SmallVectorImpl<int64_t> &dims);
void printDims(AsmPrinter &printer, ArrayRef<int64_t> dims);

} // namespace mlir::stablehlo

#endif // SP_LIB_STABLEHLO_SYNTAX_H
