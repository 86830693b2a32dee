//===- StableHLOAttrs.cpp - Syntax of the structured attributes -----------===//

#include "Syntax/Syntax.h"

#include "mlir/IR/DialectImplementation.h"

namespace mlir::stablehlo {
namespace {
/// One `key = value` of an attribute, with how to read it.
struct Field {
  StringRef key;
  llvm::function_ref<ParseResult()> parse;
};
} // namespace

/// Reads `<key = value, ...>` in any order, each key at most once. A trailing
/// comma is allowed, as older printers leave one.
static ParseResult parseFields(AsmParser &parser, ArrayRef<Field> fields) {
  if (parser.parseLess())
    return failure();
  SmallVector<bool> seen(fields.size(), false);
  while (failed(parser.parseOptionalGreater())) {
    SMLoc loc = parser.getCurrentLocation();
    StringRef key;
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return failure();
    const Field *field =
        llvm::find_if(fields, [&](const Field &it) { return it.key == key; });
    if (field == fields.end()) {
      InFlightDiagnostic diag = parser.emitError(loc) << "expected one of ";
      llvm::interleaveComma(fields, diag,
                            [&](const Field &it) { diag << it.key; });
      return diag << " but got '" << key << "'";
    }
    if (std::exchange(seen[field - fields.begin()], true))
      return parser.emitError(loc) << "expected '" << key << "' only once";
    if (field->parse())
      return failure();
    if (failed(parser.parseOptionalComma()))
      return parser.parseGreater();
  }
  return success();
}

namespace {
/// Prints `<key = value, ...>`.
class FieldPrinter {
public:
  explicit FieldPrinter(AsmPrinter &printer) : printer(printer) {
    printer << '<';
  }
  ~FieldPrinter() { printer << '>'; }

  template <typename T> FieldPrinter &field(StringRef key, const T &value) {
    printKey(key) << value;
    return *this;
  }
  FieldPrinter &list(StringRef key, ArrayRef<int64_t> dims) {
    printKey(key);
    printDims(printer, dims);
    return *this;
  }
  /// Only when it says something.
  FieldPrinter &optionalList(StringRef key, ArrayRef<int64_t> dims) {
    return dims.empty() ? *this : list(key, dims);
  }
  FieldPrinter &optionalInt(StringRef key, int64_t value) {
    return value == 0 ? *this : field(key, value);
  }

private:
  AsmPrinter &printKey(StringRef key) {
    printer << separator << key << " = ";
    separator = ", ";
    return printer;
  }
  AsmPrinter &printer;
  StringRef separator;
};
} // namespace

//===----------------------------------------------------------------------===//
// Dimension numbers
//===----------------------------------------------------------------------===//

using Dims = SmallVector<int64_t>;

Attribute DotDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  Dims lhsBatch, rhsBatch, lhsContract, rhsContract;
  if (parseFields(parser, {{"lhs_batching_dimensions",
                            [&] { return parseDims(parser, lhsBatch); }},
                           {"rhs_batching_dimensions",
                            [&] { return parseDims(parser, rhsBatch); }},
                           {"lhs_contracting_dimensions",
                            [&] { return parseDims(parser, lhsContract); }},
                           {"rhs_contracting_dimensions",
                            [&] { return parseDims(parser, rhsContract); }}}))
    return {};
  return get(parser.getContext(), lhsBatch, rhsBatch, lhsContract, rhsContract);
}

void DotDimensionNumbersAttr::print(AsmPrinter &printer) const {
  FieldPrinter(printer)
      .optionalList("lhs_batching_dimensions", getLhsBatchingDimensions())
      .optionalList("rhs_batching_dimensions", getRhsBatchingDimensions())
      .optionalList("lhs_contracting_dimensions", getLhsContractingDimensions())
      .optionalList("rhs_contracting_dimensions",
                    getRhsContractingDimensions());
}

Attribute GatherDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  Dims offset, collapsed, operandBatch, indicesBatch, indexMap;
  int64_t indexVectorDim = 0;
  if (parseFields(
          parser,
          {{"offset_dims", [&] { return parseDims(parser, offset); }},
           {"collapsed_slice_dims",
            [&] { return parseDims(parser, collapsed); }},
           {"operand_batching_dims",
            [&] { return parseDims(parser, operandBatch); }},
           {"start_indices_batching_dims",
            [&] { return parseDims(parser, indicesBatch); }},
           {"start_index_map", [&] { return parseDims(parser, indexMap); }},
           {"index_vector_dim",
            [&] { return parser.parseInteger(indexVectorDim); }}}))
    return {};
  return get(parser.getContext(), offset, collapsed, operandBatch, indicesBatch,
             indexMap, indexVectorDim);
}

void GatherDimensionNumbersAttr::print(AsmPrinter &printer) const {
  FieldPrinter(printer)
      .optionalList("offset_dims", getOffsetDims())
      .optionalList("collapsed_slice_dims", getCollapsedSliceDims())
      .optionalList("operand_batching_dims", getOperandBatchingDims())
      .optionalList("start_indices_batching_dims",
                    getStartIndicesBatchingDims())
      .optionalList("start_index_map", getStartIndexMap())
      .optionalInt("index_vector_dim", getIndexVectorDim());
}

Attribute ScatterDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  Dims window, inserted, inputBatch, indicesBatch, toOperand;
  int64_t indexVectorDim = 0;
  if (parseFields(parser, {{"update_window_dims",
                            [&] { return parseDims(parser, window); }},
                           {"inserted_window_dims",
                            [&] { return parseDims(parser, inserted); }},
                           {"input_batching_dims",
                            [&] { return parseDims(parser, inputBatch); }},
                           {"scatter_indices_batching_dims",
                            [&] { return parseDims(parser, indicesBatch); }},
                           {"scatter_dims_to_operand_dims",
                            [&] { return parseDims(parser, toOperand); }},
                           {"index_vector_dim", [&] {
                              return parser.parseInteger(indexVectorDim);
                            }}}))
    return {};
  return get(parser.getContext(), window, inserted, inputBatch, indicesBatch,
             toOperand, indexVectorDim);
}

void ScatterDimensionNumbersAttr::print(AsmPrinter &printer) const {
  FieldPrinter(printer)
      .optionalList("update_window_dims", getUpdateWindowDims())
      .optionalList("inserted_window_dims", getInsertedWindowDims())
      .optionalList("input_batching_dims", getInputBatchingDims())
      .optionalList("scatter_indices_batching_dims",
                    getScatterIndicesBatchingDims())
      .optionalList("scatter_dims_to_operand_dims",
                    getScatterDimsToOperandDims())
      .optionalInt("index_vector_dim", getIndexVectorDim());
}

Attribute ConvDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  ConvDimensionNumbersAttr numbers;
  if (parser.parseLess() || parseConvolutionDimensions(parser, numbers) ||
      parser.parseGreater())
    return {};
  return numbers;
}

void ConvDimensionNumbersAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printConvolutionDimensions(printer, *this);
  printer << '>';
}

//===----------------------------------------------------------------------===//
// The others
//===----------------------------------------------------------------------===//

Attribute DotAlgorithmAttr::parse(AsmParser &parser, Type) {
  Type lhsType, rhsType, accumulationType;
  int64_t lhsCount = 1, rhsCount = 1, operations = 1;
  bool imprecise = false;
  auto parseBool = [&]() -> ParseResult {
    if (succeeded(parser.parseOptionalKeyword("true"))) {
      imprecise = true;
      return success();
    }
    return parser.parseKeyword("false");
  };
  SMLoc loc = parser.getCurrentLocation();
  if (parseFields(
          parser,
          {{"lhs_precision_type", [&] { return parser.parseType(lhsType); }},
           {"rhs_precision_type", [&] { return parser.parseType(rhsType); }},
           {"accumulation_type",
            [&] { return parser.parseType(accumulationType); }},
           {"lhs_component_count",
            [&] { return parser.parseInteger(lhsCount); }},
           {"rhs_component_count",
            [&] { return parser.parseInteger(rhsCount); }},
           {"num_primitive_operations",
            [&] { return parser.parseInteger(operations); }},
           {"allow_imprecise_accumulation", parseBool}}))
    return {};
  if (!lhsType || !rhsType || !accumulationType) {
    parser.emitError(loc) << "expected lhs_precision_type, rhs_precision_type "
                             "and accumulation_type";
    return {};
  }
  return get(parser.getContext(), lhsType, rhsType, accumulationType, lhsCount,
             rhsCount, operations, imprecise);
}

void DotAlgorithmAttr::print(AsmPrinter &printer) const {
  FieldPrinter(printer)
      .field("lhs_precision_type", getLhsPrecisionType())
      .field("rhs_precision_type", getRhsPrecisionType())
      .field("accumulation_type", getAccumulationType())
      .field("lhs_component_count", getLhsComponentCount())
      .field("rhs_component_count", getRhsComponentCount())
      .field("num_primitive_operations", getNumPrimitiveOperations())
      .field("allow_imprecise_accumulation",
             getAllowImpreciseAccumulation() ? "true" : "false");
}

Attribute ChannelHandleAttr::parse(AsmParser &parser, Type) {
  int64_t handle = 0, type = 0;
  if (parseFields(parser,
                  {{"handle", [&] { return parser.parseInteger(handle); }},
                   {"type", [&] { return parser.parseInteger(type); }}}))
    return {};
  return get(parser.getContext(), handle, type);
}

void ChannelHandleAttr::print(AsmPrinter &printer) const {
  FieldPrinter(printer).field("handle", getHandle()).field("type", getType());
}

Attribute OutputOperandAliasAttr::parse(AsmParser &parser, Type) {
  Dims output, operand;
  int64_t index = 0;
  if (parseFields(
          parser,
          {{"output_tuple_indices", [&] { return parseDims(parser, output); }},
           {"operand_index", [&] { return parser.parseInteger(index); }},
           {"operand_tuple_indices",
            [&] { return parseDims(parser, operand); }}}))
    return {};
  return get(parser.getContext(), output, index, operand);
}

void OutputOperandAliasAttr::print(AsmPrinter &printer) const {
  FieldPrinter(printer)
      .list("output_tuple_indices", getOutputTupleIndices())
      .field("operand_index", getOperandIndex())
      .list("operand_tuple_indices", getOperandTupleIndices());
}

Attribute ResultAccuracyAttr::parse(AsmParser &parser, Type) {
  double atol = 0, rtol = 0;
  int64_t ulps = 0;
  ResultAccuracyModeAttr mode;
  if (parseFields(parser,
                  {{"atol", [&] { return parser.parseFloat(atol); }},
                   {"rtol", [&] { return parser.parseFloat(rtol); }},
                   {"ulps", [&] { return parser.parseInteger(ulps); }},
                   {"mode", [&] { return parser.parseAttribute(mode); }}}))
    return {};
  if (!mode)
    mode = ResultAccuracyModeAttr::get(parser.getContext(),
                                       ResultAccuracyMode::DEFAULT);
  return get(parser.getContext(), APFloat(atol), APFloat(rtol), ulps, mode);
}

void ResultAccuracyAttr::print(AsmPrinter &printer) const {
  FieldPrinter fields(printer);
  if (!getAtol().isZero())
    fields.field("atol", getAtol());
  if (!getRtol().isZero())
    fields.field("rtol", getRtol());
  fields.optionalInt("ulps", getUlps()).field("mode", Attribute(getMode()));
}

} // namespace mlir::stablehlo
