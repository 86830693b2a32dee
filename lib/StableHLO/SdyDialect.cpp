//===- SdyDialect.cpp - Registration and operations of sdy ----------------===//

#include "sp/StableHLO/StableHLO.h"

#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace mlir::sdy;

#include "sp/StableHLO/SdyEnums.cpp.inc"

#include "sp/StableHLO/SdyDialect.cpp.inc"

namespace {
/// Everything may be inlined everywhere, as in stablehlo.
struct InlineAll : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Operation *, bool) const final {
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void SdyDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "sp/StableHLO/Sdy.cpp.inc"
      >();
  registerAttributes();
  addInterfaces<InlineAll>();
}

OpFoldResult sdy::ConstantOp::fold(FoldAdaptor) { return getValue(); }

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

/// The list of shardings without the attribute's `<` and `>`.
static ParseResult parseStrippedShardings(OpAsmParser &parser,
                                          TensorShardingPerValueAttr &result) {
  SmallVector<TensorShardingAttr> shardings;
  auto parseSharding = [&]() -> ParseResult {
    auto sharding = dyn_cast_or_null<TensorShardingAttr>(
        TensorShardingAttr::parse(parser, {}));
    shardings.push_back(sharding);
    return success(bool(sharding));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     parseSharding))
    return failure();
  result = TensorShardingPerValueAttr::get(parser.getContext(), shardings);
  return success();
}

static void printStrippedShardings(OpAsmPrinter &printer, Operation *,
                                   TensorShardingPerValueAttr shardings) {
  printer << '[';
  llvm::interleaveComma(shardings.getShardings(), printer,
                        [&](TensorShardingAttr it) { it.print(printer); });
  printer << ']';
}

/// `(%a: tensor<...>) { ... }`.
static ParseResult parseSingleBlockRegion(OpAsmParser &parser, Region &body) {
  SmallVector<OpAsmParser::Argument> arguments;
  if (parser.parseArgumentList(arguments, AsmParser::Delimiter::Paren,
                               /*allowType=*/true))
    return failure();
  return parser.parseRegion(body, arguments);
}

static void printSingleBlockRegion(OpAsmPrinter &printer, Operation *,
                                   Region &body) {
  printer << '(';
  llvm::interleaveComma(
      body.getArguments(), printer,
      [&](BlockArgument argument) { printer.printRegionArgument(argument); });
  printer << ") ";
  printer.printRegion(body, /*printEntryBlockArgs=*/false);
}

#define GET_OP_CLASSES
#include "sp/StableHLO/Sdy.cpp.inc"
