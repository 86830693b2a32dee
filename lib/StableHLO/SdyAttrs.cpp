//===- SdyAttrs.cpp - Meshes and shardings --------------------------------===//

#include "sp/StableHLO/StableHLO.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::sdy;

#define GET_ATTRDEF_CLASSES
#include "sp/StableHLO/SdyAttrs.cpp.inc"

void SdyDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "sp/StableHLO/SdyAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Meshes
//===----------------------------------------------------------------------===//

Attribute MeshAxisAttr::parse(AsmParser &parser, Type) {
  std::string name;
  int64_t size = 0;
  if (parser.parseString(&name) || parser.parseEqual() ||
      parser.parseInteger(size))
    return {};
  return get(parser.getContext(), name, size);
}

void MeshAxisAttr::print(AsmPrinter &printer) const {
  printer.printString(getName());
  printer << '=' << getSize();
}

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  SmallVector<MeshAxisAttr> axes;
  SmallVector<int64_t> deviceIds;
  SMLoc loc = parser.getCurrentLocation();
  auto parseAxis = [&]() -> ParseResult {
    auto axis = dyn_cast_or_null<MeshAxisAttr>(MeshAxisAttr::parse(parser, {}));
    axes.push_back(axis);
    return success(bool(axis));
  };
  auto parseDevice = [&] {
    return parser.parseInteger(deviceIds.emplace_back());
  };
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseAxis))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("device_ids") || parser.parseEqual() ||
       parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                      parseDevice)))
    return {};
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    axes, deviceIds);
}

void MeshAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getAxes(), printer,
                        [&](MeshAxisAttr axis) { axis.print(printer); });
  printer << ']';
  if (!getDeviceIds().empty())
    printer << ", device_ids=[" << getDeviceIds() << ']';
  printer << '>';
}

LogicalResult
MeshAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                 ArrayRef<MeshAxisAttr> axes, ArrayRef<int64_t> deviceIds) {
  // (C1)
  llvm::SmallDenseSet<StringRef> names;
  int64_t total = 1;
  for (MeshAxisAttr axis : axes) {
    if (axis.getSize() <= 0)
      return emitError() << "expected a positive size of axis \""
                         << axis.getName() << "\" but got " << axis.getSize();
    if (!names.insert(axis.getName()).second)
      return emitError() << "expected axis \"" << axis.getName()
                         << "\" only once in a mesh";
    if (llvm::MulOverflow(total, axis.getSize(), total))
      return emitError() << "expected fewer than 2^63 devices";
  }
  // (C2)
  if (deviceIds.empty() || (axes.empty() && deviceIds.size() == 1))
    return success();
  SmallVector<int64_t> sorted(deviceIds);
  llvm::sort(sorted);
  if (int64_t(sorted.size()) != total ||
      !llvm::equal(sorted, llvm::seq<int64_t>(0, total)))
    return emitError() << "expected device_ids to be a permutation of 0.."
                       << total - 1;
  return success();
}

MeshAxisAttr MeshAttr::getAxis(StringRef name) const {
  const auto *it = llvm::find_if(
      getAxes(), [&](MeshAxisAttr axis) { return axis.getName() == name; });
  return it == getAxes().end() ? MeshAxisAttr() : *it;
}

int64_t MeshAttr::getAxisSize(StringRef name) const {
  return getAxis(name).getSize();
}

int64_t MeshAttr::getTotalSize() const {
  int64_t total = 1;
  for (MeshAxisAttr axis : getAxes())
    total *= axis.getSize();
  return total;
}

//===----------------------------------------------------------------------===//
// Axes and dimensions
//===----------------------------------------------------------------------===//

Attribute SubAxisInfoAttr::parse(AsmParser &parser, Type) {
  int64_t preSize = 0, size = 0;
  if (parser.parseLParen() || parser.parseInteger(preSize) ||
      parser.parseRParen() || parser.parseInteger(size))
    return {};
  return get(parser.getContext(), preSize, size);
}

void SubAxisInfoAttr::print(AsmPrinter &printer) const {
  printer << '(' << getPreSize() << ')' << getSize();
}

Attribute AxisRefAttr::parse(AsmParser &parser, Type) {
  std::string name;
  if (parser.parseString(&name))
    return {};
  SubAxisInfoAttr factor;
  if (succeeded(parser.parseOptionalColon())) {
    factor =
        dyn_cast_or_null<SubAxisInfoAttr>(SubAxisInfoAttr::parse(parser, {}));
    if (!factor)
      return {};
  }
  return get(parser.getContext(), name, factor);
}

void AxisRefAttr::print(AsmPrinter &printer) const {
  printer.printString(getName());
  if (!getSubAxisInfo())
    return;
  printer << ':';
  getSubAxisInfo().print(printer);
}

int64_t AxisRefAttr::getSize(MeshAttr mesh) const {
  return getSubAxisInfo() ? getSubAxisInfo().getSize()
                          : mesh.getAxisSize(getName());
}

/// Reads an axis onto the end of a list.
static ParseResult parseAxis(AsmParser &parser,
                             SmallVectorImpl<AxisRefAttr> &axes) {
  auto axis = dyn_cast_or_null<AxisRefAttr>(AxisRefAttr::parse(parser, {}));
  axes.push_back(axis);
  return success(bool(axis));
}

static void printAxes(AsmPrinter &printer, ArrayRef<AxisRefAttr> axes) {
  llvm::interleaveComma(axes, printer,
                        [&](AxisRefAttr axis) { axis.print(printer); });
}

Attribute DimensionShardingAttr::parse(AsmParser &parser, Type) {
  SmallVector<AxisRefAttr> axes;
  bool isOpen = false;
  auto parseEntry = [&]() -> ParseResult {
    if (isOpen)
      return parser.emitError(parser.getCurrentLocation())
             << "expected '?' only at the end";
    isOpen = succeeded(parser.parseOptionalQuestion());
    return isOpen ? success() : parseAxis(parser, axes);
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, parseEntry))
    return {};
  SMLoc loc = parser.getCurrentLocation();
  std::optional<int64_t> priority;
  StringRef word;
  if (succeeded(parser.parseOptionalKeyword(&word))) {
    int64_t value = 0;
    if (!word.consume_front("p") || word.getAsInteger(10, value)) {
      parser.emitError(loc) << "expected a priority like p1";
      return {};
    }
    priority = value;
  }
  return get(parser.getContext(), axes, !isOpen, priority);
}

void DimensionShardingAttr::print(AsmPrinter &printer) const {
  printer << '{';
  printAxes(printer, getAxes());
  if (!getIsClosed())
    printer << (getAxes().empty() ? "?" : ", ?");
  printer << '}';
  if (getPriority())
    printer << 'p' << *getPriority();
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

Attribute TensorShardingAttr::parse(AsmParser &parser, Type) {
  Attribute meshOrRef;
  FlatSymbolRefAttr symbol;
  if (parser.parseLess())
    return {};
  if (succeeded(parser.parseOptionalKeyword("mesh"))) {
    meshOrRef = MeshAttr::parse(parser, {});
  } else if (!parser.parseAttribute(symbol)) {
    meshOrRef = symbol;
  }
  SmallVector<DimensionShardingAttr> dims;
  auto parseDim = [&]() -> ParseResult {
    auto dim = dyn_cast_or_null<DimensionShardingAttr>(
        DimensionShardingAttr::parse(parser, {}));
    dims.push_back(dim);
    return success(bool(dim));
  };
  if (!meshOrRef || parser.parseComma() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim))
    return {};
  SmallVector<AxisRefAttr> replicated, unreduced;
  while (succeeded(parser.parseOptionalComma())) {
    StringRef word;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&word))
      return {};
    if (word != "replicated" && word != "unreduced") {
      parser.emitError(loc)
          << "expected 'replicated' or 'unreduced' but got '" << word << "'";
      return {};
    }
    SmallVector<AxisRefAttr> &axes =
        word == "replicated" ? replicated : unreduced;
    if (parser.parseEqual() ||
        parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces,
                                       [&] { return parseAxis(parser, axes); }))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), meshOrRef, dims, replicated, unreduced);
}

void TensorShardingAttr::print(AsmPrinter &printer) const {
  printer << '<';
  if (auto mesh = dyn_cast<MeshAttr>(getMeshOrRef())) {
    printer << "mesh";
    mesh.print(printer);
  } else {
    printer << getMeshOrRef();
  }
  printer << ", [";
  llvm::interleaveComma(getDimShardings(), printer,
                        [&](DimensionShardingAttr dim) { dim.print(printer); });
  printer << ']';
  auto printNamed = [&](StringRef name, ArrayRef<AxisRefAttr> axes) {
    if (axes.empty())
      return;
    printer << ", " << name << "={";
    printAxes(printer, axes);
    printer << '}';
  };
  printNamed("replicated", getReplicatedAxes());
  printNamed("unreduced", getUnreducedAxes());
  printer << '>';
}

StringRef TensorShardingAttr::getMeshName() const {
  auto symbol = dyn_cast<FlatSymbolRefAttr>(getMeshOrRef());
  return symbol ? symbol.getValue() : StringRef();
}

MeshAttr TensorShardingAttr::getMesh(Operation *op) const {
  if (auto mesh = dyn_cast<MeshAttr>(getMeshOrRef()))
    return mesh;
  auto meshOp = SymbolTable::lookupNearestSymbolFrom<MeshOp>(
      op, cast<FlatSymbolRefAttr>(getMeshOrRef()));
  return meshOp ? meshOp.getMesh() : MeshAttr();
}

bool TensorShardingAttr::isFullyReplicated() const {
  return llvm::all_of(getDimShardings(), [](DimensionShardingAttr dim) {
    return dim.getAxes().empty();
  });
}

Attribute TensorShardingPerValueAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  SmallVector<TensorShardingAttr> shardings;
  auto parseSharding = [&]() -> ParseResult {
    auto sharding = dyn_cast_or_null<TensorShardingAttr>(
        TensorShardingAttr::parse(parser, {}));
    shardings.push_back(sharding);
    return success(bool(sharding));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     parseSharding) ||
      parser.parseGreater())
    return {};
  return get(parser.getContext(), shardings);
}

void TensorShardingPerValueAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getShardings(), printer,
                        [&](TensorShardingAttr it) { it.print(printer); });
  printer << "]>";
}

Attribute ManualAxesAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> axes;
  auto parseName = [&]() -> ParseResult {
    std::string name;
    if (parser.parseString(&name))
      return failure();
    axes.push_back(StringAttr::get(parser.getContext(), name));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, parseName))
    return {};
  return get(parser.getContext(), axes);
}

void ManualAxesAttr::print(AsmPrinter &printer) const {
  printer << '{';
  llvm::interleaveComma(getAxes(), printer);
  printer << '}';
}
