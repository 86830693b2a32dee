//===- PlacedValues.cpp - Where Memory put each value ---------------------===//

#include "sp/IR/PlacedValues.h"

#include "sp/IR/AffineEvaluation.h"
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

/// The attribute that says how large a space is.
static StringRef nameOfBytes(Space space) {
  switch (space) {
  case Space::Arena:
    return kArenaBytes;
  case Space::Constants:
    return kConstantBytes;
  case Space::Far:
    return kFarBytes;
  }
  llvm_unreachable("every space is above");
}

std::optional<int64_t> mlir::sp::bytesOf(func::FuncOp func, Space space) {
  auto bytes = func->getAttrOfType<IntegerAttr>(nameOfBytes(space));
  return bytes ? std::optional(bytes.getInt()) : std::nullopt;
}

namespace {

/// Whether `op` moves values of far memory, or only carries them on.
bool mayTakeFar(Operation *op) {
  return isa<FetchStartOp, FetchRowsStartOp, EvictRowsStartOp, scf::ForOp,
             scf::YieldOp, func::ReturnOp>(op);
}

class PlaceCheck {
public:
  explicit PlaceCheck(func::FuncOp func) : func(func) {}

  LogicalResult run() {
    for (Space space : {Space::Arena, Space::Constants, Space::Far})
      if (!bytesOf(func, space))
        return func.emitOpError() << "expected the sizes of arena, constants "
                                     "and far memory after Memory";
    for (BlockArgument argument : func.getArguments())
      if (failed(check(func, argument, "argument", argument.getArgNumber())))
        return failure();
    WalkResult counted = func.getBody().walk(
        [&](Operation *op) -> WalkResult { return checkLoop(op); });
    if (counted.wasInterrupted())
      return failure();
    WalkResult walked = func.getBody().walk([&](Operation *op) -> WalkResult {
      if (!mayTakeFar(op) && llvm::any_of(op->getOperandTypes(), isFar))
        return op->emitOpError()
               << "expected no value in far memory; fetch it first";
      for (OpResult result : op->getResults())
        if (isTensor(result) &&
            failed(check(op, result, "result", result.getResultNumber())))
          return failure();
      for (Region &region : op->getRegions())
        for (BlockArgument argument : region.getArguments())
          if (isTensor(argument) && failed(check(op, argument, "carried value",
                                                 argument.getArgNumber())))
            return failure();
      return success();
    });
    return failure(walked.wasInterrupted());
  }

private:
  /// Slots in turn need loops whose turns are counted.
  static LogicalResult checkLoop(Operation *op) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop || mostTrips(loop))
      return success();
    return loop.emitOpError() << "expected constant bounds, or the size of a "
                                 "group as the upper one, and a step of 1";
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
    if (isFar(value.getType()) != (place.getSpace() == Space::Far))
      return fail() << " in the memory that the type says but got " << place;
    return checkRange(fail, value, place);
  }

  /// The turns of the loops around that tell how far a place moves: rows go
  /// evenly from the first turn to the last, slots come in turn from the first.
  static SmallVector<SmallVector<int64_t>> turnsAround(Value value) {
    SmallVector<SmallVector<int64_t>> all = {{}};
    SmallVector<scf::ForOp> loops;
    for (Operation *parent = value.getParentBlock()->getParentOp(); parent;
         parent = parent->getParentOp())
      if (auto loop = dyn_cast<scf::ForOp>(parent))
        loops.insert(loops.begin(), loop);
    for (scf::ForOp loop : loops) {
      int64_t first = *getConstantIntValue(loop.getLowerBound()),
              trips = *mostTrips(loop);
      SmallVector<SmallVector<int64_t>> more;
      for (ArrayRef<int64_t> turns : all)
        for (int64_t turn : {int64_t(0), int64_t(1), trips - 1})
          if (turn >= 0 && turn < trips) {
            more.emplace_back(turns);
            more.back().push_back(first + turn);
          }
      all = std::move(more);
    }
    return all;
  }

  /// Rows of a stack may begin anywhere where they are only copied.
  static bool isOnlyCopied(Value value) {
    Operation *op = value.getDefiningOp();
    auto all = [&](auto isOne) {
      return op && llvm::all_of(value.getUsers(), isOne);
    };
    if (isa_and_present<TakeOp>(op))
      return all([](Operation *user) { return isa<CopyOp>(user); });
    return isa_and_present<CopyOp>(op) && !value.use_empty() &&
           all([](Operation *user) { return isa<PutOp>(user); });
  }

  template <typename FailT>
  LogicalResult checkRange(FailT fail, Value value, PlaceAttr place) {
    int64_t bytes = storageBytes(value.getType()),
            size = *bytesOf(func, place.getSpace());
    bool isCopied = isOnlyCopied(value);
    for (ArrayRef<int64_t> turns : turnsAround(value)) {
      std::optional<int64_t> offset =
          evaluate(place.getOffset().getValue(), turns);
      if (!offset)
        return fail() << " that can be computed but got " << place;
      if (*offset >= 0 && *offset <= size - bytes &&
          (isCopied || *offset % alignmentOf(place.getSpace()) == 0))
        continue;
      return fail() << " of " << bytes << " bytes at a multiple of "
                    << alignmentOf(place.getSpace()) << " within the " << size
                    << " of the " << stringifySpace(place.getSpace())
                    << " but got " << place;
    }
    return success();
  }

  func::FuncOp func;
};

} // namespace

LogicalResult mlir::sp::checkPlaces(func::FuncOp func) {
  return PlaceCheck(func).run();
}
