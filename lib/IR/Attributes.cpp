//===- Attributes.cpp - Discardable attributes of the dialect -------------===//

#include "sp/IR/Attributes.h"
#include "sp/IR/SP.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::sp;

namespace {

struct Declared {
  StringLiteral name, text;
  bool (*holds)(Attribute);
};

} // namespace

template <typename AttrT> static bool is(Attribute attr) {
  return isa<AttrT>(attr);
}
template <typename AttrT> static bool isListOf(Attribute attr) {
  auto list = dyn_cast<ArrayAttr>(attr);
  return list && llvm::all_of(list, is<AttrT>);
}

/// The most that a plan may say is somewhere.
static constexpr int64_t kMostBytes = int64_t(1) << 46;

static bool isBytes(Attribute attr) {
  auto number = dyn_cast<IntegerAttr>(attr);
  return number && number.getType().isSignlessInteger(64) &&
         number.getInt() >= 0 && number.getInt() <= kMostBytes;
}

static bool isRowBlocks(Attribute attr) {
  auto list = dyn_cast<DenseI64ArrayAttr>(attr);
  return list && list.size() == 3 && list[0] >= 0 && list[2] > 0 &&
         list[2] <= list[1];
}

static bool isDimOfAxes(Attribute attr) {
  auto dims = dyn_cast<DictionaryAttr>(attr);
  return dims && llvm::all_of(dims, [](NamedAttribute dim) {
           auto number = dyn_cast<IntegerAttr>(dim.getValue());
           return AxisAttr::fromText(dim.getName().getContext(),
                                     dim.getName()) &&
                  number && number.getType().isSignlessInteger(64) &&
                  number.getInt() >= 0;
         });
}

static constexpr StringLiteral kBytes = "bytes, an i64 from 0 to 2^46,";
static constexpr StringLiteral kFlag = "a flag", kNumber = "an integer";

static constexpr Declared kOfOperations[] = {
    {kShardings, "a list of shardings", isListOf<ShardingAttr>},
    {kTurns, kFlag, is<UnitAttr>},
    {kOneRow, "a dimension for each axis", isDimOfAxes},
    {kRowsOfBatch, kFlag, is<UnitAttr>},
    {kNotDealt, "a text", is<StringAttr>},
    {kBackward, kFlag, is<UnitAttr>},
    {kAhead, kFlag, is<UnitAttr>},
    {kTrips, kNumber, is<IntegerAttr>},
    {kRowBlocks, "a region's number, its tokens and those of a block",
     isRowBlocks},
    {kPlaces, "a list of places", isListOf<PlaceAttr>},
    {kCarriedPlaces, "a list of places", isListOf<PlaceAttr>},
    {kArenaBytes, kBytes, isBytes},
    {kConstantBytes, kBytes, isBytes},
    {kFarBytes, kBytes, isBytes},
    {kTiles, kNumber, is<IntegerAttr>},
    {kScratchBytes, kBytes, isBytes},
    {kGrid, kFlag, is<UnitAttr>},
    {kThreads, kNumber, is<IntegerAttr>},
    {kUnrolled, kFlag, is<UnitAttr>},
    {kAttentionState, kFlag, is<UnitAttr>},
    {kAttentionTile, "a list of 64-bit integers", is<DenseI64ArrayAttr>},
};

static constexpr Declared kOfArguments[] = {
    {kSharding, "a sharding", is<ShardingAttr>},
    {kDonatedTo, kNumber, is<IntegerAttr>},
    {kCache, kFlag, is<UnitAttr>},
    {kPlace, "a place", is<PlaceAttr>},
    {kOnto, kFlag, is<UnitAttr>},
};

static constexpr Declared kOfResults[] = {
    {kSharding, "a sharding", is<ShardingAttr>},
};

static LogicalResult verifyDeclared(Operation *op, NamedAttribute attr,
                                    ArrayRef<Declared> known, StringRef on) {
  auto declared = llvm::find_if(
      known, [&](const Declared &one) { return one.name == attr.getName(); });
  if (declared == known.end()) {
    auto names = llvm::map_range(
        known, [](const Declared &one) { return one.name.str(); });
    return op->emitOpError() << "has attribute '" << attr.getName().getValue()
                             << "', which the sp dialect does not have on "
                             << on << "; it has " << llvm::join(names, ", ");
  }
  if (declared->holds(attr.getValue()))
    return success();
  return op->emitOpError() << "expected '" << declared->name << "' to be "
                           << declared->text << " but got " << attr.getValue();
}

LogicalResult SpDialect::verifyOperationAttribute(Operation *op,
                                                  NamedAttribute attr) {
  return verifyDeclared(op, attr, kOfOperations, "operations");
}

LogicalResult SpDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                  unsigned,
                                                  NamedAttribute attr) {
  return verifyDeclared(op, attr, kOfArguments, "arguments");
}

LogicalResult SpDialect::verifyRegionResultAttribute(Operation *op, unsigned,
                                                     unsigned,
                                                     NamedAttribute attr) {
  return verifyDeclared(op, attr, kOfResults, "results");
}
