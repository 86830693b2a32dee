//===- StableHLODialect.cpp - Registration of stablehlo and chlo ----------===//

#include "sp/StableHLO/StableHLO.h"

#include "Syntax/Syntax.h"
#include "Verify/Verify.h"

#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "sp/StableHLO/StableHLOEnums.cpp.inc"

#include "sp/StableHLO/StableHLODialect.cpp.inc"

#include "sp/StableHLO/CHLODialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "sp/StableHLO/StableHLOAttrs.cpp.inc"

namespace {
/// Everything may be inlined everywhere: regions hold programs without names.
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

void stablehlo::StablehloDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "sp/StableHLO/StableHLOOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "sp/StableHLO/StableHLOAttrs.cpp.inc"
      >();
  addInterfaces<InlineAll>();
  // sp-verify-input says what is not read, and how to do without.
  allowUnknownOperations();
}

Operation *stablehlo::StablehloDialect::materializeConstant(OpBuilder &builder,
                                                            Attribute value,
                                                            Type type,
                                                            Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type || !isa<RankedTensorType>(type))
    return nullptr;
  return ConstantOp::create(builder, loc, elements);
}

Type stablehlo::StablehloDialect::parseType(DialectAsmParser &parser) const {
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  if (parser.parseKeyword(&name))
    return {};
  parser.emitError(loc) << "type '!stablehlo." << name
                        << "' is not supported; lower the program without it";
  return {};
}

void stablehlo::StablehloDialect::printType(Type, DialectAsmPrinter &) const {
  llvm_unreachable("stablehlo has no types");
}

StringRef stablehlo::findWayOut(StringRef name) {
  name = name.substr(name.find('.') + 1);
  if (name.contains("dynamic") || name == "set_dimension_size")
    return "export the model with fixed sizes";
  if (name.starts_with("uniform_"))
    return "export the model without quantization";
  if (llvm::is_contained(
          {"after_all", "create_token", "infeed", "outfeed", "send", "recv"},
          name))
    return "export the model without transfers to the host";
  if (name == "select_and_scatter")
    return "spell the maximum of windows as a reshape and a reduction";
  return "write the model without it";
}

static ParseResult refuse(OpAsmParser &parser, OperationState &state) {
  // The parser begins the message with "custom op '<name>' ".
  return parser.emitError(parser.getNameLoc())
         << "is not supported; "
         << stablehlo::findWayOut(state.name.getStringRef());
}
/// A hook refers to what it calls.
static constexpr auto *refuseHook = refuse;

std::optional<Dialect::ParseOpHook>
stablehlo::StablehloDialect::getParseOperationHook(StringRef) const {
  return refuseHook;
}

std::optional<Dialect::ParseOpHook>
chlo::ChloDialect::getParseOperationHook(StringRef) const {
  return refuseHook;
}

void chlo::ChloDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "sp/StableHLO/CHLO.cpp.inc"
      >();
  addInterfaces<InlineAll>();
  allowUnknownOperations();
}

void sp::registerInputDialects(DialectRegistry &registry) {
  registry.insert<stablehlo::StablehloDialect, chlo::ChloDialect,
                  sdy::SdyDialect, func::FuncDialect>();
  func::registerInlinerExtension(registry);
}
