// Which keys a query sees of a slice: key b is visible to query a iff
//   k0 <= b < k1 and qStride a + lo <= kStride b <= qStride a + hi,
// so its keys are one interval, here relative to local rows:
//   lower = max(k0, ceil((qStride a + lo) / kStride))
//   upper = min(k1, floor((qStride a + hi) / kStride) + 1).
// A panel's extremes tell which tiles it visits (from the least lower to the
// greatest upper) and which of them need no mask (from the greatest lower to
// the least upper).
#include "AttentionParts.h"
#include <limits>

using namespace mlir;
using namespace mlir::sp;
using namespace mlir::sp::attention;

using Predicate = arith::CmpIPredicate;

// Beyond every row, yet far from overflow.
static constexpr int64_t kBeyond = int64_t(1) << 62;

/// x / divisor rounded down (or up), divisor > 0. Most layouts have stride 1.
static Value divide(Emitter &e, Value x, Value divisor, bool roundUp) {
  Value isOne = e.compare(Predicate::eq, divisor, e.integer(1));
  return e.ifElse(
      isOne, e.getI64Type(), [&] { return SmallVector<Value>{x}; },
      [&] {
        Value quotient = arith::DivSIOp::create(e, x, divisor);
        Value rest = e.sub(x, e.mul(quotient, divisor));
        Value zero = e.integer(0);
        if (roundUp) {
          Value inexact = e.compare(Predicate::sgt, rest, zero);
          quotient = e.add(quotient, e.select(inexact, e.integer(1), zero));
        } else {
          Value inexact = e.compare(Predicate::slt, rest, zero);
          quotient = e.sub(quotient, e.select(inexact, e.integer(1), zero));
        }
        return SmallVector<Value>{quotient};
      })[0];
}

static Value addSaturating(Emitter &e, Value a, Value b) {
  return LLVM::SAddSat::create(e, a, b);
}

/// Keys [lower, upper) of query row `row`; both 0 when it sees none.
static std::pair<Value, Value> boundRow(Emitter &e, const Slice &slice,
                                        Value row, Value keyEnd) {
  Value position = e.mul(row, slice.qStride);
  Value lower = divide(e, addSaturating(e, position, slice.lo), slice.kStride,
                       /*roundUp=*/true);
  Value unbounded = e.compare(Predicate::eq, slice.lo,
                              e.integer(std::numeric_limits<int64_t>::min()));
  lower = e.select(unbounded, slice.k0, e.greatest(lower, slice.k0));

  Value last = e.sub(keyEnd, e.integer(1));
  Value upper = divide(e, addSaturating(e, position, slice.hi), slice.kStride,
                       /*roundUp=*/false);
  unbounded = e.compare(Predicate::eq, slice.hi,
                        e.integer(std::numeric_limits<int64_t>::max()));
  upper = e.select(unbounded, last, e.least(upper, last));
  upper = e.add(upper, e.integer(1));

  Value isInside =
      arith::AndIOp::create(e, e.compare(Predicate::sge, row, slice.q0),
                            e.compare(Predicate::slt, row, slice.q1));
  Value sees = arith::AndIOp::create(e, isInside,
                                     e.compare(Predicate::slt, lower, upper));
  return {e.select(sees, lower, e.integer(0)),
          e.select(sees, upper, e.integer(0))};
}

static void storeLane(Emitter &e, Value value, Value base, Value index) {
  if (e.laneType.getWidth() < 64)
    value = arith::TruncIOp::create(e, e.laneType, value);
  e.store(value, e.at(base, index, e.laneType));
}

std::pair<Value, Value> attention::boundSlice(Emitter &e, const Tile &tile,
                                              const Slice &slice) {
  const Shape &s = e.shape;
  auto area = [&](int64_t offset) {
    return e.at(tile.scratch, offset, e.getI8Type());
  };
  Value lowers = area(s.lower), uppers = area(s.upper), ranges = area(s.ranges);
  Value keyEnd = e.least(slice.k1, tile.keys);
  Value lastQuery = e.sub(tile.queries, e.integer(1));
  Value zero = e.integer(0), beyond = e.integer(kBeyond);

  SmallVector<Value> seen = e.loop(
      zero, tile.panels, 1, {beyond, zero},
      [&](Value panel, ValueRange tileSees) {
        Value firstLane = e.mul(panel, e.integer(s.panel));
        // Least lower, greatest lower, least upper, greatest upper.
        SmallVector<Value> extremes =
            e.loop(zero, e.integer(s.panel), 1, {beyond, zero, beyond, zero},
                   [&](Value lane, ValueRange so) -> SmallVector<Value> {
                     Value index = e.add(firstLane, lane);
                     Value row =
                         e.least(e.add(tile.firstQuery, index), lastQuery);
                     auto [lower, upper] = boundRow(e, slice, row, keyEnd);
                     storeLane(e, lower, lowers, index);
                     storeLane(e, upper, uppers, index);
                     // A query that sees nothing widens no range and masks all
                     // tiles.
                     Value sees = e.compare(Predicate::slt, lower, upper);
                     return {e.least(so[0], e.select(sees, lower, beyond)),
                             e.greatest(so[1], e.select(sees, lower, beyond)),
                             e.least(so[2], upper), e.greatest(so[3], upper)};
                   });
        Value base = e.at(ranges, e.mul(panel, e.integer(4)), e.getI64Type());
        for (int64_t i = 0; i < 4; ++i)
          e.store(extremes[i], e.at(base, i, e.getI64Type()));
        return SmallVector<Value>{e.least(tileSees[0], extremes[0]),
                                  e.greatest(tileSees[1], extremes[3])};
      });
  return {seen[0], seen[1]};
}
