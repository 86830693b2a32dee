//===- PlacedValues.cpp - Where Memory put each value ---------------------===//

#include "sp/IR/PlacedValues.h"

#include "sp/IR/Attributes.h"
#include "sp/IR/CarriedValues.h"
#include "sp/IR/Storage.h"
#include "sp/StableHLO/StableHLO.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::sp;

/// The place of the tensor `value`, one of `values` that a list speaks of.
static PlaceAttr placeIn(Operation *op, StringRef name, ValueRange values,
                         Value value) {
  auto places = op->getAttrOfType<ArrayAttr>(name);
  if (!places)
    return {};
  unsigned number = 0;
  for (Value other : values) {
    if (other == value)
      break;
    number += isa<RankedTensorType>(other.getType());
  }
  return number < places.size() ? dyn_cast<PlaceAttr>(places[number])
                                : PlaceAttr();
}

PlaceAttr mlir::sp::placeOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return placeIn(value.getDefiningOp(), kPlaces,
                   value.getDefiningOp()->getResults(), value);
  Operation *parent = argument.getOwner()->getParentOp();
  if (auto func = dyn_cast<func::FuncOp>(parent))
    return func.getArgAttrOfType<PlaceAttr>(argument.getArgNumber(), kPlace);
  return placeIn(parent, kCarriedPlaces, argument.getOwner()->getArguments(),
                 value);
}

std::optional<int64_t> mlir::sp::bytesOf(func::FuncOp func, Space space) {
  auto bytes = func->getAttrOfType<IntegerAttr>(
      space == Space::Arena ? kArenaBytes : kConstantBytes);
  return bytes ? std::optional(bytes.getInt()) : std::nullopt;
}

namespace {

class PlaceCheck {
public:
  explicit PlaceCheck(func::FuncOp func) : func(func) {}

  LogicalResult run() {
    for (Space space : {Space::Arena, Space::Constants})
      if (!bytesOf(func, space))
        return func.emitOpError()
               << "expected the sizes of arena and constants after Memory";
    for (BlockArgument argument : func.getArguments())
      if (failed(check(func, argument, "argument", argument.getArgNumber())))
        return failure();
    WalkResult walked = func.getBody().walk([&](Operation *op) -> WalkResult {
      for (OpResult result : op->getResults())
        if (isTensor(result) &&
            failed(check(op, result, "result", result.getResultNumber())))
          return failure();
      for (Region &region : op->getRegions())
        for (BlockArgument argument : region.getArguments())
          if (isTensor(argument) && failed(check(op, argument, "carried value",
                                                 argument.getArgNumber())))
            return failure();
      return checkLoop(op);
    });
    return failure(walked.wasInterrupted());
  }

private:
  /// Slots in turn need loops that count from a constant to a constant.
  static LogicalResult checkLoop(Operation *op) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop || (loop.getStaticTripCount() &&
                  getConstantIntValue(loop.getLowerBound())))
      return success();
    return loop.emitOpError() << "expected constant bounds";
  }

  /// The loops whose counters are known where a value is defined.
  static unsigned loopsAround(Value value) {
    unsigned loops = 0;
    for (Operation *parent = value.getParentBlock()->getParentOp(); parent;
         parent = parent->getParentOp())
      loops += isa<scf::ForOp>(parent);
    return loops;
  }

  LogicalResult check(Operation *op, Value value, StringRef what,
                      unsigned number) {
    PlaceAttr place = placeOf(value);
    unsigned loops = loopsAround(value);
    auto fail = [&]() {
      return op->emitOpError() << "expected a place for " << what << " "
                               << number << " of type " << value.getType();
    };
    if (!place)
      return fail();
    AffineMap offset = place.getOffset().getValue();
    if (offset.getNumDims() != loops || offset.getNumSymbols() != 0 ||
        offset.getNumResults() != 1)
      return fail() << " by the counters of " << loops << " loops but got "
                    << place;
    bool isConstant =
        isa_and_present<stablehlo::ConstantOp>(value.getDefiningOp());
    if (isConstant && place.getSpace() != Space::Constants)
      return fail() << " among the constants but got " << place;
    return checkRange(fail, value, place, loops);
  }

  /// Slots come in turn, so two turns of each loop around meet all of them.
  template <typename FailT>
  LogicalResult checkRange(FailT fail, Value value, PlaceAttr place,
                           unsigned loops) {
    Builder builder(func.getContext());
    int64_t bytes = storageBytes(value.getType()),
            size = *bytesOf(func, place.getSpace());
    for (unsigned turns = 0; turns < (1u << loops); ++turns) {
      SmallVector<Attribute> counters, result;
      for (unsigned loop = 0; loop < loops; ++loop)
        counters.push_back(builder.getIndexAttr(turns >> loop & 1));
      if (failed(place.getOffset().getValue().constantFold(counters, result)))
        return fail() << " that can be computed but got " << place;
      int64_t offset = cast<IntegerAttr>(result[0]).getInt();
      if (offset < 0 || offset % kPlaceAlignment != 0 || offset + bytes > size)
        return fail() << " of " << bytes << " bytes at a multiple of "
                      << kPlaceAlignment << " within the " << size << " of the "
                      << stringifySpace(place.getSpace()) << " but got "
                      << place;
    }
    return success();
  }

  func::FuncOp func;
};

} // namespace

LogicalResult mlir::sp::checkPlaces(func::FuncOp func) {
  return PlaceCheck(func).run();
}
