//===- JoinedResults.cpp - What a loop leaves, of one pass over all -------===//

#include "Loops/JoinedTrips.h"
#include "Loops/StackMoves.h"
#include "sp/IR/LocalForms.h"
#include "sp/StableHLO/Builders.h"
#include "sp/StableHLO/TensorTypes.h"

using namespace mlir;
using namespace mlir::sp;

using Kind = ScanValue::Kind;

/// Whether nothing is read of a stack but the sum along a dimension.
static bool isOnlySummed(Value stack, unsigned dim) {
  return llvm::all_of(stack.getUsers(), [&](Operation *user) {
    if (auto reshape = dyn_cast<stablehlo::ReshapeOp>(user)) {
      std::optional<unsigned> own =
          dimBehindReshape(shapeOf(stack), dim, shapeOf(reshape));
      return own && isOnlySummed(reshape, *own);
    }
    auto reduce = dyn_cast<stablehlo::ReduceOp>(user);
    return reduce && reduce.getInputs().size() == 1 &&
           reduce.getInputs()[0] == stack &&
           reductionOf(reduce.getBody()) == Reduction::Sum &&
           llvm::is_contained(reduce.getDimensions(), dim);
  });
}

/// A stack of which each trip writes the same, rows of its own, or a part of
/// what nobody reads but the sum of: null where it is none of them.
Value JoinedTrips::stackOf(unsigned number) {
  ScanValue &carried = scan.carried[number];
  auto type = cast<RankedTensorType>(scan.next(number).getType());
  Joined update = joinedOf(carried.update.getUpdate());
  StackRows rows = carried.written;
  if (update.role == Role::Rows)
    return rows.rows == 1 || rows.dim == update.dim
               ? cutRows(builder, loc, update.value, rows, update.dim, type)
               : Value();
  if (rows.rows != 1 || !update.value)
    return {};
  if (update.role == Role::Same)
    return stablehlo::BroadcastInDimOp::create(
        builder, loc, type, update.value,
        llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())));
  if (!isOnlySummed(scan.loop->getResult(number), rows.dim))
    return {};
  Value zero = neutralSplat(builder, loc, type.clone(ArrayRef<int64_t>()),
                            Reduction::Sum);
  return padRows(builder, loc, update.value, zero, rows.dim,
                 {0, scan.trips - 1});
}

LogicalResult JoinedTrips::emitResults() {
  results.assign(scan.carried.size(), Value());
  for (auto [number, carried] : llvm::enumerate(scan.carried)) {
    Type type = scan.next(number).getType();
    Value init = scan.loop->getOperand(number);
    switch (carried.kind) {
    case Kind::Same:
      results[number] = init;
      break;
    case Kind::Number:
      results[number] =
          splat(builder, loc, cast<RankedTensorType>(type),
                builder.getIntegerAttr(getElementTypeOrSelf(type),
                                       carried.induction->at(scan.trips)));
      break;
    case Kind::Written:
      results[number] = stackOf(number);
      if (!results[number])
        return failure();
      break;
    case Kind::Sum:
      results[number] = init;
      for (Value term : carried.terms())
        if (joinedOf(term).role != Role::Part)
          return failure();
      for (Value term : carried.added)
        results[number] = stablehlo::AddOp::create(
            builder, loc, results[number], joinedOf(term).value);
      for (Value term : carried.subtracted)
        results[number] = stablehlo::SubtractOp::create(
            builder, loc, results[number], joinedOf(term).value);
      break;
    case Kind::State:
      return failure();
    }
  }
  return success();
}
