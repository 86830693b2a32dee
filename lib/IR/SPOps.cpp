//===- SPOps.cpp - Operations of the sp dialect, and how they print -------===//

#include "sp/IR/SP.h"
#include "sp/IR/ShardingRules.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace mlir::sp;

//===----------------------------------------------------------------------===//
// Custom directives of types
//===----------------------------------------------------------------------===//

/// A state that an op continues has the types of the state it yields.
static ParseResult parseStateTypes(
    OpAsmParser &, std::optional<OpAsmParser::UnresolvedOperand> state,
    Type outputType, Type lseType, Type &stateType, Type &stateLseType) {
  if (state) {
    stateType = outputType;
    stateLseType = lseType;
  }
  return success();
}
static void printStateTypes(OpAsmPrinter &, Operation *, Value, Type, Type,
                            Type, Type) {}

/// Terms in groups of a kind: `per_key(%a, %b : t, t) table(%c : t)`.
static ParseResult
parseTerms(OpAsmParser &parser,
           SmallVectorImpl<OpAsmParser::UnresolvedOperand> &terms,
           SmallVectorImpl<Type> &types, TermKindsAttr &kinds) {
  SmallVector<TermKind> all;
  for (uint32_t number = 0; number <= getMaxEnumValForTermKind(); ++number) {
    auto kind = TermKind(number);
    if (failed(parser.parseOptionalKeyword(stringifyTermKind(kind))))
      continue;
    SMLoc location = parser.getCurrentLocation();
    if (parser.parseLParen() || parser.parseOperandList(terms) ||
        parser.parseColonTypeList(types) || parser.parseRParen())
      return failure();
    if (terms.size() != types.size())
      return parser.emitError(location) << "expected a type for each "
                                        << stringifyTermKind(kind) << " term";
    all.resize(terms.size(), kind);
  }
  kinds = TermKindsAttr::get(parser.getContext(), all);
  return success();
}

static void printTerms(OpAsmPrinter &printer, Operation *op, OperandRange,
                       TypeRange, TermKindsAttr) {
  for (uint32_t number = 0; number <= getMaxEnumValForTermKind(); ++number) {
    auto kind = TermKind(number);
    OperandRange terms = cast<ScoredOpInterface>(op).getTermsOf(kind);
    if (!terms.empty())
      printer << " " << stringifyTermKind(kind) << "(" << terms << " : "
              << terms.getTypes() << ")";
  }
}

/// Gradients that an op continues have the types of those it yields, delta that
/// of one number of lse.
static ParseResult parseGradientTypes(
    OpAsmParser &, std::optional<OpAsmParser::UnresolvedOperand> ontoQuery,
    std::optional<OpAsmParser::UnresolvedOperand> ontoKey, Type lseType,
    Type queryType, Type keyType, Type valueType, ArrayRef<Type> termTypes,
    Type &deltaType, Type &ontoQueryType, Type &ontoKeyType,
    Type &ontoValueType, SmallVectorImpl<Type> &ontoTermTypes) {
  auto lse = cast<RankedTensorType>(lseType);
  deltaType = lse.clone(lse.getShape().take_front(3));
  if (ontoQuery)
    ontoQueryType = queryType;
  if (ontoKey) {
    ontoKeyType = keyType;
    ontoValueType = valueType;
  }
  ontoTermTypes.assign(termTypes.begin(), termTypes.end());
  return success();
}
static void printGradientTypes(OpAsmPrinter &, Operation *, Value, Value, Type,
                               Type, Type, Type, TypeRange, Type, Type, Type,
                               Type, TypeRange) {}

static ParseResult parseSameTypes(OpAsmParser &, ArrayRef<Type> inputs,
                                  SmallVectorImpl<Type> &results) {
  results.assign(inputs.begin(), inputs.end());
  return success();
}
static void printSameTypes(OpAsmPrinter &, Operation *, TypeRange, TypeRange) {}

static ParseResult parseDealtDim(OpAsmParser &parser,
                                 SmallVectorImpl<int64_t> &dims,
                                 SmallVectorImpl<Attribute> &layouts) {
  LayoutAttr layout;
  if (parser.parseInteger(dims.emplace_back()) || parser.parseKeyword("in") ||
      parser.parseCustomAttributeWithFallback(layout))
    return failure();
  layouts.push_back(layout);
  return success();
}

/// `dim 1 in <...>` of every value, or `dims [0 in <...>, 1 in <...>]`.
static ParseResult
parseDealtDims(OpAsmParser &parser,
               ArrayRef<OpAsmParser::UnresolvedOperand> inputs,
               DenseI64ArrayAttr &dims, ArrayAttr &layouts) {
  SmallVector<int64_t> numbers;
  SmallVector<Attribute> dealt;
  auto parseOne = [&] { return parseDealtDim(parser, numbers, dealt); };
  if (succeeded(parser.parseOptionalKeyword("dim"))) {
    if (parseOne())
      return failure();
    numbers.resize(inputs.size(), numbers.front());
    dealt.resize(inputs.size(), dealt.front());
  } else if (parser.parseKeyword("dims", " or 'dim'") ||
             parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                            parseOne)) {
    return failure();
  }
  dims = DenseI64ArrayAttr::get(parser.getContext(), numbers);
  layouts = ArrayAttr::get(parser.getContext(), dealt);
  return success();
}

static void printDealtDims(OpAsmPrinter &printer, Operation *,
                           OperandRange inputs, DenseI64ArrayAttr dims,
                           ArrayAttr layouts) {
  auto printOne = [&](auto dealt) {
    auto [dim, layout] = dealt;
    printer << dim << " in ";
    printer.printStrippedAttrOrType(cast<LayoutAttr>(layout));
  };
  auto all = llvm::zip(dims.asArrayRef(), layouts);
  bool areAll = inputs.size() == dims.size() && dims.size() == layouts.size();
  if (areAll && !inputs.empty() && llvm::all_equal(all)) {
    printer << "dim ";
    return printOne(*all.begin());
  }
  printer << "dims [";
  llvm::interleaveComma(all, printer, printOne);
  printer << "]";
}

#include "sp/IR/SPInterfaces.cpp.inc"

#define GET_OP_CLASSES
#include "sp/IR/SPOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Meaning
//===----------------------------------------------------------------------===//

LogicalResult PositionsOp::verify() {
  // (C1)
  int64_t count = getLayout().getMaxCount();
  if (cast<RankedTensorType>(getType()).getDimSize(0) != count)
    return emitOpError() << "expected " << count
                         << " positions, the most that a rank of the layout "
                            "holds, but got "
                         << getType();
  // (C2)
  if (getLayout().getTurns() > 1)
    return emitOpError() << "expected rows of a rank, not of one of its "
                         << getLayout().getTurns() << " turns";
  return success();
}
