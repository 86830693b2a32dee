// Which keys a query sees of a slice: key b is visible to query a iff
//   k0 <= b < k1 and qStride a + lo <= kStride b <= qStride a + hi,
// so its keys are one interval, here relative to local rows:
//   lower = max(k0, ceil((qStride a + lo) / kStride))
//   upper = min(k1, floor((qStride a + hi) / kStride) + 1).
// A panel's extremes tell which tiles it visits (from the least lower to the
// greatest upper) and which of them need no mask (from the greatest lower to
// the least upper).
#include "CPU/Attention/AttentionPieces.h"
#include "CPU/Attention/ControlFlow.h"
#include <limits>

using namespace mlir;
using namespace mlir::sp;
using namespace mlir::sp::attention;

using Predicate = arith::CmpIPredicate;

// Beyond every row, yet far from overflow.
static constexpr int64_t kBeyond = int64_t(1) << 62;

/// x / divisor rounded down (or up), divisor > 0. Most layouts have stride 1.
static Value divide(VectorEmitter &e, Value x, Value divisor, bool roundUp) {
  Value isOne = e.compare(Predicate::eq, divisor, e.integer(1));
  return ifElse(
      e, isOne, e.getI64Type(), [&] { return SmallVector<Value>{x}; },
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

static Value addSaturating(VectorEmitter &e, Value a, Value b) {
  return LLVM::SAddSat::create(e, a, b);
}

/// First key that the slice's bounds allow query row `row`.
static Value lowerBound(VectorEmitter &e, const Slice &slice, Value row) {
  Value position = e.mul(row, slice.qStride);
  Value lower = divide(e, addSaturating(e, position, slice.lo), slice.kStride,
                       /*roundUp=*/true);
  Value unbounded = e.compare(Predicate::eq, slice.lo,
                              e.integer(std::numeric_limits<int64_t>::min()));
  return e.select(unbounded, slice.k0, e.greatest(lower, slice.k0));
}

/// The key after the last one.
static Value upperBound(VectorEmitter &e, const Slice &slice, Value row,
                        Value keyEnd) {
  Value last = e.sub(keyEnd, e.integer(1));
  Value position = e.mul(row, slice.qStride);
  Value upper = divide(e, addSaturating(e, position, slice.hi), slice.kStride,
                       /*roundUp=*/false);
  Value unbounded = e.compare(Predicate::eq, slice.hi,
                              e.integer(std::numeric_limits<int64_t>::max()));
  upper = e.select(unbounded, last, e.least(upper, last));
  return e.add(upper, e.integer(1));
}

/// Keys [lower, upper) of query row `row`; both 0 when it sees none.
static std::pair<Value, Value> boundRow(VectorEmitter &e, const Slice &slice,
                                        Value row, Value keyEnd) {
  Value lower = lowerBound(e, slice, row);
  Value upper = upperBound(e, slice, row, keyEnd);
  Value isInside =
      arith::AndIOp::create(e, e.compare(Predicate::sge, row, slice.q0),
                            e.compare(Predicate::slt, row, slice.q1));
  Value sees = arith::AndIOp::create(e, isInside,
                                     e.compare(Predicate::slt, lower, upper));
  return {e.select(sees, lower, e.integer(0)),
          e.select(sees, upper, e.integer(0))};
}

Value attention::mayMeet(VectorEmitter &e, const Slice &slice, Value firstQuery,
                         Value lastQuery, Value firstKey, Value keyEnd) {
  return arith::AndIOp::create(
      e, e.compare(Predicate::slt, lowerBound(e, slice, firstQuery), keyEnd),
      e.compare(Predicate::sgt,
                upperBound(e, slice, lastQuery, e.least(slice.k1, keyEnd)),
                firstKey));
}

static void storeLane(VectorEmitter &e, Value value, Value base, Value index) {
  if (e.laneType.getWidth() < 64)
    value = arith::TruncIOp::create(e, e.laneType, value);
  e.store(value, e.at(base, index, e.laneType));
}

std::pair<Value, Value>
attention::boundSlice(VectorEmitter &e, const QueryBlock &block,
                      const Slice &slice, function_ref<Value(Value)> counts) {
  int64_t lanes = e.registers.panel;
  Value keyEnd = e.least(slice.k1, block.keys);
  Value lastQuery = e.sub(block.queries, e.integer(1));
  Value zero = e.integer(0), beyond = e.integer(kBeyond);

  SmallVector<Value> seen =
      loop(e, zero, block.panels, 1, {beyond, zero},
           [&](Value panel, ValueRange blockSees) {
             Value firstLane = e.mul(panel, e.integer(lanes));
             // Least lower, greatest lower, least upper, greatest upper.
             SmallVector<Value> extremes = loop(
                 e, zero, e.integer(lanes), 1, {beyond, zero, beyond, zero},
                 [&](Value lane, ValueRange so) -> SmallVector<Value> {
                   Value index = e.add(firstLane, lane);
                   Value row = e.least(e.add(block.first, index), lastQuery);
                   auto [lower, upper] = boundRow(e, slice, row, keyEnd);
                   if (counts) {
                     Value isCounted = counts(index);
                     lower = e.select(isCounted, lower, zero);
                     upper = e.select(isCounted, upper, zero);
                   }
                   storeLane(e, lower, block.lower, index);
                   storeLane(e, upper, block.upper, index);
                   // A query that sees nothing widens no range and masks all
                   // tiles.
                   Value sees = e.compare(Predicate::slt, lower, upper);
                   return {e.least(so[0], e.select(sees, lower, beyond)),
                           e.greatest(so[1], e.select(sees, lower, beyond)),
                           e.least(so[2], upper), e.greatest(so[3], upper)};
                 });
             Value base =
                 e.at(block.ranges, e.mul(panel, e.integer(4)), e.getI64Type());
             for (int64_t i = 0; i < 4; ++i)
               e.store(extremes[i], e.at(base, i, e.getI64Type()));
             return SmallVector<Value>{e.least(blockSees[0], extremes[0]),
                                       e.greatest(blockSees[1], extremes[3])};
           });
  return {seen[0], seen[1]};
}

Sight attention::loadSight(VectorEmitter &e, const QueryBlock &block,
                           Value panel) {
  Value firstLane = e.mul(panel, e.integer(e.registers.panel));
  Sight sight;
  sight.lower = e.at(block.lower, firstLane, e.laneType);
  sight.upper = e.at(block.upper, firstLane, e.laneType);
  Value ranges = e.at(block.ranges, e.mul(panel, e.integer(4)), e.getI64Type());
  Value *fields[] = {&sight.leastLower, &sight.greatestLower, &sight.leastUpper,
                     &sight.greatestUpper};
  for (auto [i, field] : llvm::enumerate(fields))
    *field = e.load(e.getI64Type(),
                    e.at(ranges, static_cast<int64_t>(i), e.getI64Type()));
  return sight;
}

std::pair<Value, Value> attention::clipSight(VectorEmitter &e,
                                             const Sight &sight, Value firstKey,
                                             Value count) {
  int64_t tile = e.registers.tile;
  Value from = e.greatest(e.sub(sight.leastLower, firstKey), e.integer(0));
  Value to = e.alignUp(e.sub(sight.greatestUpper, firstKey), tile);
  return {e.alignDown(from, tile), e.least(to, count)};
}

Value attention::crossesEdge(VectorEmitter &e, const Sight &sight, Value key) {
  Value end = e.add(key, e.integer(e.registers.tile));
  return arith::OrIOp::create(
      e, e.compare(Predicate::slt, key, sight.greatestLower),
      e.compare(Predicate::sgt, end, sight.leastUpper));
}

SmallVector<Value> attention::visibleLanes(VectorEmitter &e, const Sight &sight,
                                           Value firstKey) {
  const Registers &r = e.registers;
  auto laneVector = VectorType::get(r.lanes, e.laneType);
  Value bounds[2][2];
  for (int64_t half = 0; half < 2; ++half) {
    bounds[half][0] =
        e.load(laneVector, e.at(sight.lower, half * r.lanes, e.laneType));
    bounds[half][1] =
        e.load(laneVector, e.at(sight.upper, half * r.lanes, e.laneType));
  }
  SmallVector<Value> visible;
  for (int64_t i = 0; i < r.tile; ++i) {
    Value key = e.add(firstKey, e.integer(i));
    if (e.laneType.getWidth() < 64)
      key = arith::TruncIOp::create(e, e.laneType, key);
    key = e.splat(key);
    for (int64_t half = 0; half < 2; ++half)
      visible.push_back(arith::AndIOp::create(
          e, e.compare(Predicate::sle, bounds[half][0], key),
          e.compare(Predicate::slt, key, bounds[half][1])));
  }
  return visible;
}
