//===- LivePlaces.cpp - What lies in memory over a program ----------------===//

#include "sp/Memory/LivePlaces.h"

#include "Places.h"

using namespace mlir;
using namespace mlir::sp;

LivePlaces::LivePlaces(func::FuncOp placed) {
  Places known(placed);
  placed.getBody().walk([&](Operation *op) {
    auto [before, after] = known.pointsOf(op);
    pointsBefore[op] = before;
    count = std::max(count, after + 1);
  });
  for (const Place &place : known.all())
    if (place.end >= 0 && place.bytes > 0)
      places.push_back({place.space, mlir::sp::bytesOf(place), place.begin,
                        place.end, place.values});
}

std::vector<int64_t> LivePlaces::bytesOf(Space space) const {
  std::vector<int64_t> changes(count + 1), bytes(count);
  for (const LivePlace &place : places)
    if (place.space == space) {
      changes[place.first] += place.bytes;
      changes[place.last + 1] -= place.bytes;
    }
  int64_t live = 0;
  for (int64_t point = 0; point < count; ++point)
    bytes[point] = live += changes[point];
  return bytes;
}
