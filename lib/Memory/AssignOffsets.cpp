//===- AssignOffsets.cpp - Places to offsets in the arena -----------------===//
//
//   before   %k2, %moved = sp.shift_start %kt ...
//   after    %k2, %moved = sp.shift_start %kt ... {sp.places =
//   [#sp.place<arena affine_map<(d0) -> (4096 + (d0 mod 2) * 512)>>]}
//
// Largest places first, each at the lowest offset at which it meets no place
// that is in use at the same time.
//
//===----------------------------------------------------------------------===//

#include "Places.h"
#include "sp/IR/Attributes.h"
#include "sp/IR/CarriedValues.h"
#include "sp/IR/PlacedValues.h"
#include "sp/IR/Program.h"
#include "sp/IR/Storage.h"
#include "sp/Memory/Passes.h"
#include "sp/StableHLO/StableHLO.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Remarks.h"

#define DEBUG_TYPE "sp-assign-offsets"

namespace mlir::sp {
#define GEN_PASS_DEF_ASSIGNOFFSETSPASS
#include "sp/Memory/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

/// Packs a space's places; returns its size.
int64_t pack(MutableArrayRef<Place> places, Space space) {
  SmallVector<Place *> order;
  for (Place &place : places)
    if (place.space == space && place.end >= 0 && place.bytes > 0)
      order.push_back(&place);
  llvm::sort(order, [](Place *a, Place *b) {
    return std::make_tuple(-bytesOf(*a), a->begin, a) <
           std::make_tuple(-bytesOf(*b), b->begin, b);
  });
  SmallVector<Place *> placed; // by offset
  int64_t size = 0;
  for (Place *place : order) {
    int64_t offset = 0, bytes = bytesOf(*place);
    for (Place *other : placed) {
      bool together = other->begin <= place->end && place->begin <= other->end;
      if (!together || other->offset + bytesOf(*other) <= offset)
        continue;
      if (other->offset >= offset + bytes)
        break;
      offset = other->offset + bytesOf(*other);
    }
    place->offset = offset;
    size = std::max(size, offset + bytes);
    placed.insert(llvm::upper_bound(
                      placed, place,
                      [](Place *a, Place *b) { return a->offset < b->offset; }),
                  place);
  }
  return size;
}

/// Lays equal constants on one offset; returns the size of all.
int64_t layConstants(MutableArrayRef<Place> places) {
  DenseMap<Attribute, int64_t> known;
  int64_t size = 0;
  for (Place &place : places) {
    if (place.space != Space::Constants)
      continue;
    Attribute value;
    for (Value member : place.values)
      if (auto constant = member.getDefiningOp<stablehlo::ConstantOp>())
        value = constant.getValue();
    auto [entry, isNew] = known.try_emplace(value, size);
    if (isNew)
      size = llvm::alignTo(size + place.bytes, kPlaceAlignment);
    place.offset = entry->second;
  }
  return size;
}

bool hasPlace(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() &&
         (tensor.getElementType().isIntOrFloat() ||
          isa<ComplexType>(tensor.getElementType()));
}

/// Slots in turn need loops whose turns are counted.
LogicalResult checkLoop(scf::ForOp loop) {
  if (mostTrips(loop))
    return success();
  return loop.emitOpError()
         << "expected constant bounds, or the size of a group as the upper "
            "one, and a step of 1";
}

LogicalResult checkProgram(func::FuncOp func) {
  for (Type type : func.getArgumentTypes())
    if (!hasPlace(type))
      return func.emitOpError()
             << "expected arguments of static shape but got " << type;
  WalkResult walked = func.getBody().walk([](Operation *op) -> WalkResult {
    for (Type type : op->getResultTypes())
      if (!hasPlace(type) && !isa<IndexType, TokenType>(type))
        return op->emitOpError()
               << "expected results of static shape but got " << type;
    auto loop = dyn_cast<scf::ForOp>(op);
    return loop ? checkLoop(loop) : success();
  });
  return failure(walked.wasInterrupted());
}

struct AssignOffsetsPass
    : mlir::sp::impl::AssignOffsetsPassBase<AssignOffsetsPass> {
  using AssignOffsetsPassBase::AssignOffsetsPassBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> program = findProgram(getOperation());
    if (failed(program) || failed(checkProgram(*program)))
      return signalPassFailure();
    func::FuncOp func = *program;
    Places places(func);
    int64_t arena = pack(places.all(), Space::Arena),
            far = pack(places.all(), Space::Far),
            constants = layConstants(places.all());
    Builder builder(&getContext());
    func->setAttr(kArenaBytes, builder.getI64IntegerAttr(arena));
    func->setAttr(kConstantBytes, builder.getI64IntegerAttr(constants));
    func->setAttr(kFarBytes, builder.getI64IntegerAttr(far));
    if (!onlySizes)
      setPlaces(func, places);
    remark::analysis(func.getLoc(),
                     remark::RemarkOpts::name("Arena").category(DEBUG_TYPE))
        << "a rank needs an arena of " << remark::metric("bytes", arena)
        << " bytes";
    explainConstants(func, constants, arena + constants);
  }

  /// Says so where constants are much of what a rank needs: each has all of
  /// them.
  static void explainConstants(func::FuncOp func, int64_t bytes,
                               int64_t needed) {
    constexpr int64_t kLeast = 1 << 20;
    if (bytes < kLeast || bytes * 20 < needed)
      return;
    Operation *largest = func;
    int64_t most = 0;
    func.walk([&](stablehlo::ConstantOp op) {
      if (int64_t own = storageBytes(op.getType()); own > most) {
        most = own;
        largest = op;
      }
    });
    remark::missed(largest->getLoc(),
                   remark::RemarkOpts::name("Captured").category(DEBUG_TYPE))
        << "constants take " << remark::metric("constantBytes", bytes)
        << " bytes of every rank, this one " << remark::metric("largest", most)
        << " bytes: weights that a model captures are whole on each; make them "
           "arguments";
  }

  static void setPlaces(func::FuncOp func, const Places &places) {
    Builder builder(func.getContext());
    for (BlockArgument argument : func.getArguments())
      func.setArgAttr(
          argument.getArgNumber(), kPlace,
          places.placeOf(argument, func.getBody().front().getTerminator()));
    func.getBody().walk([&](Operation *op) {
      auto list = [&](ValueRange values, Operation *at) {
        SmallVector<Attribute> list;
        for (Value value : values)
          if (isTensor(value))
            list.push_back(places.placeOf(value, at));
        return builder.getArrayAttr(list);
      };
      if (llvm::any_of(op->getResults(), isTensor))
        op->setAttr(kPlaces, list(op->getResults(), op));
      if (isLoop(op)) {
        Block &body = op->getRegions().back().front();
        op->setAttr(kCarriedPlaces,
                    list(body.getArguments(), body.getTerminator()));
      }
    });
  }
};

} // namespace

#undef DEBUG_TYPE
