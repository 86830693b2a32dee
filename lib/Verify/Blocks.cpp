#include "Blocks.h"

using namespace mlir;
using namespace mlir::sp;
using sprt::algebra::RingWay;

void Moves::add(const RingWay &way) {
  auto *at = llvm::find_if(
      digits, [&](const Digit &digit) { return digit.stride >= way.stride; });
  if (at == digits.end() || at->stride != way.stride || at->size != way.size)
    at = digits.insert(at, {way.stride, way.size, 0});
  at->by = ((at->by + way.step) % way.size + way.size) % way.size;
  if (at->by == 0)
    digits.erase(at);
}

int64_t Moves::source(int64_t owner) const {
  for (const Digit &digit : digits)
    owner = RingWay{digit.stride, digit.size}.moved(owner, -digit.by);
  return owner;
}
