//===- RingReader.cpp - Who reads what travels in a ring ------------------===//

#include "sp/IR/SP.h"

using namespace mlir;
using namespace mlir::sp;

/// Who reads a block of keys, or of queries, in an operation; none where nobody
/// does.
static std::optional<RingReader> readerOf(Operation *user, Value block,
                                          bool isOfQueries) {
  auto backward = dyn_cast<AttendBackwardOp>(user);
  if (isOfQueries) {
    if (backward && (backward.getQuery() == block ||
                     llvm::is_contained(backward.getPerQuery(), block)))
      return RingReader{backward.getKeys(), transposed(backward.getBands())};
    return std::nullopt;
  }
  auto read = [&](auto op) -> std::optional<RingReader> {
    if (op.getKey() == block || llvm::is_contained(op.getPerKey(), block))
      return RingReader{op.getQueries(), op.getBands()};
    return std::nullopt;
  };
  if (backward)
    return read(backward);
  if (auto attend = dyn_cast<AttendOp>(user))
    return read(attend);
  return std::nullopt;
}

std::optional<RingReader> mlir::sp::getRingReader(ShiftStartOp shift) {
  std::optional<RingReader> reader;
  auto distance = static_cast<int64_t>(shift.getDistance());
  if (std::abs(distance) != 1)
    return reader;
  Value block = shift.getInputs().front();
  for (Operation *user : block.getUsers()) {
    std::optional<RingReader> other =
        readerOf(user, block, shift.getOfQueries());
    if (!other)
      continue;
    if (reader &&
        (reader->bands != other->bands || reader->rows != other->rows))
      return std::nullopt;
    reader = other;
  }
  return reader;
}

sprt::algebra::RingWay mlir::sp::wayOf(ShiftStartOp shift, MeshOp mesh) {
  StringRef whole = shift.getLayout().getAxis();
  MeshOp::Factor ring = *mesh.findFactor(whole),
                 part = *mesh.findFactor(shift.getAlong().value_or(whole));
  return {part.stride / ring.stride, part.size,
          static_cast<int64_t>(shift.getDistance()),
          static_cast<int64_t>(shift.getHops().value_or(part.size - 1))};
}
