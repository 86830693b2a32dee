//===- SyntaxRegion.cpp - Assembly of reduce and while --------------------===//

#include "Syntax/Syntax.h"

using namespace mlir;
using namespace mlir::stablehlo;

using Operand = OpAsmParser::UnresolvedOperand;
using Argument = OpAsmParser::Argument;

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

/// A scalar tensor of the value's elements.
static Type getScalarOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? RankedTensorType::get({}, type.getElementType()) : Type();
}

/// The one operation of a body that prints as `applies`: commutative, on the
/// two arguments in order, and with nothing of its own to print.
static Operation *getAppliedOp(ReduceOp op) {
  Region &body = op.getBody();
  if (op.getInputs().size() != 1 || !body.hasOneBlock())
    return nullptr;
  Block &block = body.front();
  if (block.getNumArguments() != 2 || !llvm::hasNItems(block, 2))
    return nullptr;
  Operation &applied = block.front();
  auto terminator = dyn_cast<ReturnOp>(block.back());
  if (!terminator || !isa<StablehloDialect>(applied.getDialect()) ||
      !applied.hasTrait<OpTrait::IsCommutative>() ||
      applied.getNumOperands() != 2 || applied.getNumResults() != 1)
    return nullptr;
  bool direct = applied.getOperands() == ValueRange(block.getArguments()) &&
                terminator->getOperands() == ValueRange(applied.getResults());
  // Reading back, all types follow from the one of the result.
  Type scalar = getScalarOf(op.getInputs().front());
  bool typed = applied.getResult(0).getType() == scalar &&
               llvm::all_equal(applied.getOperandTypes()) &&
               applied.getOperand(0).getType() == scalar;
  bool plain = applied.getAttrs().empty() && terminator->getAttrs().empty();
  return direct && typed && plain ? &applied : nullptr;
}

/// Prints `(%x init: %c), (%y init: %d)`.
static void printInputs(OpAsmPrinter &printer, ReduceOp op) {
  llvm::interleaveComma(llvm::zip(op.getInputs(), op.getInitValues()), printer,
                        [&](auto pair) {
                          printer << '(' << std::get<0>(pair)
                                  << " init: " << std::get<1>(pair) << ')';
                        });
}

void ReduceOp::print(OpAsmPrinter &printer) {
  printInputs(printer, *this);
  Operation *applied = getAppliedOp(*this);
  if (applied)
    printer << " applies " << applied->getName().getStringRef();
  printer << " across dimensions = ";
  printDims(printer, getDimensions());
  printer.printOptionalAttrDict(
      (*this)->getDiscardableAttrDictionary().getValue());
  printer << " : ";
  printer.printFunctionalType(*this);
  if (applied)
    return;
  printer.printNewline();
  printer << " reducer";
  unsigned count = getInputs().size();
  for (unsigned i = 0; i < count; ++i) {
    printer << '(';
    printer.printRegionArgument(getBody().getArgument(i));
    printer << ", ";
    printer.printRegionArgument(getBody().getArgument(i + count));
    printer << ") ";
  }
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

/// Builds the body of the compact form around the operation of that name.
static ParseResult buildApplied(OpAsmParser &parser, SMLoc nameLoc,
                                StringRef name, OperationState &result) {
  std::optional<RegisteredOperationName> info =
      RegisteredOperationName::lookup(name, parser.getContext());
  if (!info || !info->hasTrait<OpTrait::IsCommutative>() ||
      !isa<StablehloDialect>(info->getDialect()))
    return parser.emitError(nameLoc) << "expected a commutative operation of "
                                        "two stablehlo values but got '"
                                     << name << "'";
  if (result.operands.size() != 2)
    return parser.emitError(nameLoc)
           << "expected one input with 'applies' but got "
           << result.operands.size() / 2;
  auto scalar =
      dyn_cast_or_null<RankedTensorType>(getScalarOf(result.operands.front()));
  if (!scalar)
    return parser.emitError(nameLoc) << "expected a tensor to reduce but got "
                                     << result.operands.front().getType();
  Location loc = result.location;
  OpBuilder builder(parser.getContext());
  Block *block = builder.createBlock(result.regions.front().get(), {},
                                     {scalar, scalar}, {loc, loc});
  OperationState state(loc, *info, block->getArguments(), scalar);
  Operation *applied = builder.create(state);
  ReturnOp::create(builder, loc, applied->getResults());
  return success();
}

/// Reads `(%acc0: t, %value0: t) (%acc1: t, %value1: t) { ... }`; the block
/// takes all accumulators, then all values.
static ParseResult parseReducer(OpAsmParser &parser, unsigned count,
                                Region &body) {
  SmallVector<Argument> accumulators, values;
  for (unsigned i = 0; i < count; ++i)
    if (parser.parseLParen() ||
        parser.parseArgument(accumulators.emplace_back(), /*allowType=*/true) ||
        parser.parseComma() ||
        parser.parseArgument(values.emplace_back(), /*allowType=*/true) ||
        parser.parseRParen())
      return failure();
  llvm::append_range(accumulators, values);
  return parser.parseRegion(body, accumulators);
}

ParseResult ReduceOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<Operand> operands, initValues;
  SMLoc operandsLoc = parser.getCurrentLocation();
  do {
    if (parser.parseLParen() || parser.parseOperand(operands.emplace_back()) ||
        parser.parseKeyword("init") || parser.parseColon() ||
        parser.parseOperand(initValues.emplace_back()) || parser.parseRParen())
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  unsigned count = operands.size();
  llvm::append_range(operands, initValues);

  std::string applied;
  SMLoc appliedLoc;
  if (succeeded(parser.parseOptionalKeyword("applies"))) {
    appliedLoc = parser.getCurrentLocation();
    FailureOr<OperationName> name = parser.parseCustomOperationName();
    if (failed(name))
      return failure();
    applied = name->getStringRef().str();
  }
  SmallVector<int64_t> dimensions;
  FunctionType type;
  if (parser.parseKeyword("across") || parser.parseKeyword("dimensions") ||
      parser.parseEqual() || parseDims(parser, dimensions) ||
      parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColonType(type) ||
      parser.resolveOperands(operands, type.getInputs(), operandsLoc,
                             result.operands))
    return failure();
  result.addTypes(type.getResults());
  result.getOrAddProperties<Properties>().setDimensions(
      parser.getBuilder().getDenseI64ArrayAttr(dimensions));
  Region &body = *result.addRegion();
  if (!applied.empty())
    return buildApplied(parser, appliedLoc, applied, result);
  if (parser.parseKeyword("reducer"))
    return failure();
  return parseReducer(parser, count, body);
}

//===----------------------------------------------------------------------===//
// while
//===----------------------------------------------------------------------===//

void WhileOp::print(OpAsmPrinter &printer) {
  printer << '(';
  llvm::interleaveComma(llvm::zip(getCond().getArguments(), getOperand()),
                        printer, [&](auto pair) {
                          printer << std::get<0>(pair) << " = "
                                  << std::get<1>(pair);
                        });
  printer << ')';
  if (getNumOperands() != 0)
    printer << " : " << getOperandTypes();
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getDiscardableAttrDictionary().getValue());
  printer.printNewline();
  printer << "cond ";
  printer.printRegion(getCond(), /*printEntryBlockArgs=*/false);
  printer << " do ";
  printer.shadowRegionArgs(getBody(), getCond().getArguments());
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

ParseResult WhileOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<Argument> arguments;
  SmallVector<Operand> operands;
  SmallVector<Type> types;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseAssignmentList(arguments, operands) ||
      (!operands.empty() && parser.parseColonTypeList(types)) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.resolveOperands(operands, types, loc, result.operands))
    return failure();
  for (auto [argument, type] : llvm::zip_equal(arguments, types))
    argument.type = type;
  result.addTypes(types);
  return failure(parser.parseKeyword("cond") ||
                 parser.parseRegion(*result.addRegion(), arguments) ||
                 parser.parseKeyword("do") ||
                 parser.parseRegion(*result.addRegion(), arguments));
}
