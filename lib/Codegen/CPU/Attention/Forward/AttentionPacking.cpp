// Moves queries and states between their natural row-major form and the packed
// form of the register tiles. Transposition happens in registers, `lanes` rows
// and columns at a time. Rows beyond the last valid one repeat it: their lanes
// are computed and never written, so no memory outside the valid rows is
// touched.
#include "CPU/Attention/ControlFlow.h"
#include "CPU/Attention/Forward/AttentionParts.h"
#include "CPU/Attention/VectorMath.h"
#include "CPU/Attention/VectorMemory.h"
#include "CPU/Attention/VectorWords.h"

using namespace mlir;
using namespace mlir::sp;
using namespace mlir::sp::attention;

namespace {
/// One vector of queries: a half of a panel.
struct Group {
  Value panel;
  int64_t half;
  Value firstRow;
};
} // namespace

static void forEachGroup(Emitter &e, const Tile &tile,
                         function_ref<void(Group)> body) {
  loop(e, e.integer(0), tile.panels, 1, [&](Value panel) {
    Value first =
        e.add(tile.firstQuery, e.mul(panel, e.integer(e.shape.panel)));
    for (int64_t half = 0; half < 2; ++half)
      body({panel, half, e.add(first, e.integer(half * e.shape.lanes))});
  });
}

/// Address of vector `half` of row `row` of a panel in a scratch area whose
/// panels have `rows` rows.
static Value inPanel(Emitter &e, const Tile &tile, int64_t area, int64_t rows,
                     const Group &group, Value row) {
  const Shape &s = e.shape;
  Value index = e.mul(e.add(e.mul(group.panel, e.integer(rows)), row),
                      e.integer(s.panel));
  Value base = e.at(tile.scratch, area + group.half * s.lanes * s.elementBytes,
                    e.getI8Type());
  return e.at(base, index, e.scalarType);
}

/// Address of a per-query vector of a group.
static Value perQuery(Emitter &e, const Tile &tile, int64_t area,
                      const Group &group) {
  return inPanel(e, tile, area, 1, group, e.integer(0));
}

static Value lastRowOr(Emitter &e, const Tile &tile, const Group &group,
                       int64_t lane) {
  return e.least(e.add(group.firstRow, e.integer(lane)),
                 e.sub(tile.queries, e.integer(1)));
}

/// Addresses of a group's rows.
static SmallVector<Value> rowsOf(Emitter &e, const Tile &tile,
                                 const Group &group, const Rows &rows) {
  SmallVector<Value> bases;
  for (int64_t lane = 0; lane < e.shape.lanes; ++lane)
    bases.push_back(e.at(rows.base,
                         e.mul(lastRowOr(e, tile, group, lane), rows.stride),
                         rows.type));
  return bases;
}

/// Asks for what the next group of `rows` will read or write at `address` of a
/// row.
static void prefetchNextGroup(Emitter &e, const Rows &rows, Value address) {
  Value offset = e.mul(rows.stride, e.integer(e.shape.lanes));
  e.prefetch(e.at(address, offset, rows.type), 1);
}

static void storeTransposed(Emitter &e, SmallVector<Value> vectors,
                            Value target) {
  transpose(e, vectors);
  for (auto [i, vector] : llvm::enumerate(vectors))
    e.store(vector, e.at(target, static_cast<int64_t>(i) * e.shape.panel,
                         e.scalarType));
}

// The scale is applied to the scores, where it costs nothing and rounds
// nothing; only its sign goes into the queries, so that the largest score stays
// the largest.
static void packGroup(Emitter &e, const Tile &tile, const Group &group) {
  const Shape &s = e.shape;
  SmallVector<Value> rows = rowsOf(e, tile, group, tile.q);
  int64_t elements = s.lanes * s.pair;
  loop(e, e.integer(0), e.integer(s.headSize), elements, [&](Value column) {
    Value mask =
        tailMask(e, e.sub(e.integer(s.headSize), column), s.headSize, elements);
    SmallVector<Value> words;
    for (Value row : rows) {
      Value address = e.at(row, column, tile.q.type);
      prefetchNextGroup(e, tile.q, address);
      words.push_back(flipSigns(e, loadWords(e, address, mask), tile.signs));
    }
    storeTransposed(
        e, words,
        inPanel(e, tile, s.queries, s.headWords, group, stepsOf(e, column)));
  });
}

void attention::packQueries(Emitter &e, const Tile &tile) {
  forEachGroup(e, tile, [&](Group group) { packGroup(e, tile, group); });
}

// A carried mean is one more term of the sum: maximum lse, sum 1.
static void carryGroup(Emitter &e, const Tile &tile, const Group &group) {
  const Shape &s = e.shape;
  Value state = perQuery(e, tile, s.rowState, group);
  for (int64_t lane = 0; lane < s.lanes; ++lane) {
    Value row = lastRowOr(e, tile, group, lane);
    Value address =
        e.at(tile.lse.base, e.mul(row, tile.lse.stride), e.scalarType);
    e.store(e.load(e.scalarType, address), e.at(state, lane, e.scalarType));
    if (e.keepsSums)
      e.store(e.load(e.scalarType, e.at(address, 1, e.scalarType)),
              e.at(perQuery(e, tile, s.rowSum, group), lane, e.scalarType));
  }
  Value lse = e.load(e.vectorType, state);
  Value none = e.constant(-std::numeric_limits<double>::infinity());
  e.store(e.keepsSums ? lse : e.mulf(lse, e.constant(llvm::numbers::log2e)),
          perQuery(e, tile, s.rowMax, group));
  Value sum = e.keepsSums
                  ? e.load(e.vectorType, perQuery(e, tile, s.rowSum, group))
                  : e.select(e.equal(lse, none), e.constant(0), e.constant(1));
  e.store(sum, perQuery(e, tile, s.rowSum, group));
  if (s.weightSum != s.rowSum)
    e.store(sum, perQuery(e, tile, s.weightSum, group));
  SmallVector<Value> rows = rowsOf(e, tile, group, tile.o);
  loop(e, e.integer(0), e.integer(s.valueSize), s.lanes, [&](Value column) {
    Value mask = tailMask(e, e.sub(e.integer(s.valueSize), column), s.valueSize,
                          s.lanes);
    SmallVector<Value> vectors;
    for (Value row : rows) {
      Value address = e.at(row, column, tile.o.type);
      prefetchNextGroup(e, tile.o, address);
      vectors.push_back(loadConverted(e, address, tile.o.type, s.lanes, mask));
    }
    storeTransposed(e, vectors,
                    inPanel(e, tile, s.output, s.valuePad, group, column));
  });
}

static void clearGroup(Emitter &e, const Tile &tile, const Group &group) {
  const Shape &s = e.shape;
  Value none = e.constant(-std::numeric_limits<double>::infinity());
  e.store(none, perQuery(e, tile, s.rowState, group));
  e.store(none, perQuery(e, tile, s.rowMax, group));
  e.store(e.constant(0), perQuery(e, tile, s.rowSum, group));
  if (s.weightSum != s.rowSum)
    e.store(e.constant(0), perQuery(e, tile, s.weightSum, group));
  loop(e, e.integer(0), e.integer(s.valuePad), 1, [&](Value row) {
    e.store(e.constant(0), inPanel(e, tile, s.output, s.valuePad, group, row));
  });
}

void attention::loadState(Emitter &e, const Tile &tile) {
  ifElse(
      e, tile.isEmpty, TypeRange(),
      [&] {
        forEachGroup(e, tile, [&](Group g) { clearGroup(e, tile, g); });
        return SmallVector<Value>();
      },
      [&] {
        forEachGroup(e, tile, [&](Group g) { carryGroup(e, tile, g); });
        return SmallVector<Value>();
      });
}

/// Replaces the group's entry state by that on exit and returns the factor of
/// the output, null where that is 1: what turns it into a mean, 0 for rows that
/// have seen no key; or, where sums are kept and values met rounded powers,
/// what makes the sum of powers its divisor. Rows that saw nothing but scores
/// of -inf have no sum, and NaN for a mean, as the model has; with a score
/// function those that saw no key as well.
static Value finishRows(Emitter &e, const Tile &tile, const Group &group) {
  const Shape &s = e.shape;
  auto read = [&](int64_t area) {
    return e.load(e.vectorType, perQuery(e, tile, area, group));
  };
  Value sum = read(s.rowSum), maximum = read(s.rowMax);
  Value entry = read(s.rowState);
  Value zero = e.constant(0), one = e.constant(1);
  Value none = e.constant(-std::numeric_limits<double>::infinity());
  Value hasNoSum = e.equal(sum, zero);
  Value isEmpty = e.score ? hasNoSum : e.equal(maximum, none);
  // A row that saw no key since entry keeps its lse bit for bit.
  Value isKept = arith::AndIOp::create(
      e, e.equal(sum, one),
      e.equal(maximum, e.mulf(entry, e.constant(llvm::numbers::log2e))));
  // A maximum passes over NaN; a sum does not.
  Value nan = e.constant(std::numeric_limits<double>::quiet_NaN());
  auto logarithm = [&] {
    return e.score ? e.addf(maximum, log(e, zero, sum)) : log(e, maximum, sum);
  };
  Value lse = e.keepsSums ? e.addf(maximum, e.subf(sum, sum))
                          : e.select(isKept, entry,
                                     e.select(hasNoSum, nan, logarithm()));
  e.store(e.select(isEmpty, none, lse), perQuery(e, tile, s.rowState, group));
  bool isRounded = s.weightSum != s.rowSum;
  if (e.keepsSums && !isRounded)
    return Value();
  Value weights = isRounded ? read(s.weightSum) : sum;
  Value factor = arith::DivFOp::create(e, e.keepsSums ? sum : one, weights);
  if (e.score && !e.keepsSums)
    return factor;
  return e.select(e.keepsSums ? hasNoSum : isEmpty, zero, factor);
}

static void storeGroup(Emitter &e, const Tile &tile, const Group &group) {
  const Shape &s = e.shape;
  Value factor = finishRows(e, tile, group);
  Value valid =
      e.least(e.sub(tile.queries, group.firstRow), e.integer(s.lanes));
  loop(e, e.integer(0), valid, 1, [&](Value lane) {
    Value lse = e.load(e.scalarType, e.at(perQuery(e, tile, s.rowState, group),
                                          lane, e.scalarType));
    Value row = e.add(group.firstRow, lane);
    Value address =
        e.at(tile.lse.base, e.mul(row, tile.lse.stride), e.scalarType);
    e.store(lse, address);
    if (e.keepsSums)
      e.store(e.load(e.scalarType, e.at(perQuery(e, tile, s.rowSum, group),
                                        lane, e.scalarType)),
              e.at(address, 1, e.scalarType));
  });
  loop(e, e.integer(0), e.integer(s.valueSize), s.lanes, [&](Value column) {
    Value source = inPanel(e, tile, s.output, s.valuePad, group, column);
    SmallVector<Value> vectors;
    for (int64_t i = 0; i < s.lanes; ++i) {
      Value sums =
          e.load(e.vectorType, e.at(source, i * s.panel, e.scalarType));
      vectors.push_back(factor ? e.mulf(factor, sums) : sums);
    }
    transpose(e, vectors);
    Value columns = e.sub(e.integer(s.valueSize), column);
    for (auto [lane, vector] : llvm::enumerate(vectors)) {
      Value isValid = e.compare(arith::CmpIPredicate::slt,
                                e.integer(static_cast<int64_t>(lane)), valid);
      // A count that is never a multiple of the lanes asks for a real mask.
      Value mask = tailMask(e, e.select(isValid, columns, e.integer(0)),
                            /*size=*/1, s.lanes);
      Value row = lastRowOr(e, tile, group, static_cast<int64_t>(lane));
      Value base = e.at(tile.o.base, e.mul(row, tile.o.stride), e.scalarType);
      Value address = e.at(base, column, e.scalarType);
      prefetchNextGroup(e, tile.o, address);
      storeMasked(e, vector, address, mask);
    }
  });
}

void attention::storeState(Emitter &e, const Tile &tile) {
  forEachGroup(e, tile, [&](Group group) { storeGroup(e, tile, group); });
}
