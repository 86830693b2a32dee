//===- SyntaxWindow.cpp - The window of a convolution ---------------------===//

#include "Syntax/Syntax.h"

namespace mlir::stablehlo {

/// `[[low, high], ...]` as a tensor of two columns.
static ParseResult parsePadding(OpAsmParser &parser,
                                DenseIntElementsAttr &padding) {
  SmallVector<int64_t> values;
  auto parsePair = [&]() -> ParseResult {
    return failure(
        parser.parseLSquare() || parser.parseInteger(values.emplace_back()) ||
        parser.parseComma() || parser.parseInteger(values.emplace_back()) ||
        parser.parseRSquare());
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parsePair))
    return failure();
  auto type = RankedTensorType::get({int64_t(values.size() / 2), 2},
                                    parser.getBuilder().getI64Type());
  padding = DenseIntElementsAttr::get(type, values);
  return success();
}

ParseResult parseWindowAttributes(OpAsmParser &parser,
                                  DenseI64ArrayAttr &strides,
                                  DenseIntElementsAttr &padding,
                                  DenseI64ArrayAttr &lhsDilation,
                                  DenseI64ArrayAttr &rhsDilation,
                                  DenseBoolArrayAttr &reversal) {
  auto parseArray = [&](DenseI64ArrayAttr &array) -> ParseResult {
    array = dyn_cast_or_null<DenseI64ArrayAttr>(
        DenseI64ArrayAttr::parse(parser, Type()));
    return success(bool(array));
  };
  StringRef word;
  SMLoc loc = parser.getCurrentLocation();
  while (succeeded(parser.parseOptionalKeyword(
      &word, {"stride", "pad", "lhs_dilate", "rhs_dilate", "reverse"}))) {
    bool seen = llvm::StringSwitch<bool>(word)
                    .Case("stride", bool(strides))
                    .Case("pad", bool(padding))
                    .Case("lhs_dilate", bool(lhsDilation))
                    .Case("rhs_dilate", bool(rhsDilation))
                    .Default(bool(reversal));
    if (seen)
      return parser.emitError(loc) << "expected '" << word << "' only once";
    if (parser.parseEqual())
      return failure();
    ParseResult parsed = success();
    if (word == "stride") {
      parsed = parseArray(strides);
    } else if (word == "pad") {
      parsed = parsePadding(parser, padding);
    } else if (word == "lhs_dilate") {
      parsed = parseArray(lhsDilation);
    } else if (word == "rhs_dilate") {
      parsed = parseArray(rhsDilation);
    } else {
      reversal = dyn_cast_or_null<DenseBoolArrayAttr>(
          DenseBoolArrayAttr::parse(parser, Type()));
      parsed = success(bool(reversal));
    }
    if (parsed)
      return failure();
    if (failed(parser.parseOptionalComma()))
      return success();
    loc = parser.getCurrentLocation();
  }
  return success();
}

static void printPadding(OpAsmPrinter &printer, DenseIntElementsAttr padding) {
  SmallVector<int64_t> values(padding.getValues<int64_t>());
  printer << '[';
  llvm::interleaveComma(
      llvm::seq<size_t>(0, values.size() / 2), printer, [&](size_t dim) {
        printer << '[' << values[2 * dim] << ", " << values[2 * dim + 1] << ']';
      });
  printer << ']';
}

void printWindowAttributes(OpAsmPrinter &printer, Operation *,
                           DenseI64ArrayAttr strides,
                           DenseIntElementsAttr padding,
                           DenseI64ArrayAttr lhsDilation,
                           DenseI64ArrayAttr rhsDilation,
                           DenseBoolArrayAttr reversal) {
  StringRef separator;
  auto printKey = [&](StringRef key) {
    printer << separator << key << " = ";
    separator = ", ";
  };
  if (strides) {
    printKey("stride");
    printDims(printer, strides);
  }
  if (padding) {
    printKey("pad");
    printPadding(printer, padding);
  }
  if (lhsDilation) {
    printKey("lhs_dilate");
    printDims(printer, lhsDilation);
  }
  if (rhsDilation) {
    printKey("rhs_dilate");
    printDims(printer, rhsDilation);
  }
  if (reversal) {
    printKey("reverse");
    printer << '[';
    llvm::interleaveComma(reversal.asArrayRef(), printer, [&](bool value) {
      printer << (value ? "true" : "false");
    });
    printer << ']';
  }
}

} // namespace mlir::stablehlo
