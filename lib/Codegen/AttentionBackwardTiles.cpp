// The products of a block of queries with a block of keys.
//
//   for each panel of queries
//     P   per tile of keys, masked where a band's edge crosses it
//     dS  the same
//     dQ  per tile of queries, added to memory
//   dV and dK per tile of keys, over the queries of the block
//
// A hidden pair's P and dS are 0, which hides a factor unless that is infinite
// or NaN. Blocks with such elements take products that pass over zeros.
#include "AttentionBackward.h"

using namespace mlir;
using namespace mlir::sp;
using namespace mlir::sp::attention;

using Predicate = arith::CmpIPredicate;

static SmallVector<Value> zeroTile(BackwardEmitter &e) {
  return SmallVector<Value>(2 * e.registers.tile, e.constant(0));
}

/// Zeros where a lane does not see its key, if the band's edge crosses the
/// tile.
static SmallVector<Value> maskTile(BackwardEmitter &e, const Sight &sight,
                                   Value key, ValueRange values) {
  return e.ifElse(
      crossesEdge(e, sight, key), values.getTypes(),
      [&] {
        SmallVector<Value> masked;
        for (auto [value, visible] :
             llvm::zip_equal(values, visibleLanes(e, sight, key)))
          masked.push_back(e.select(visible, value, e.constant(0)));
        return masked;
      },
      [&] { return llvm::to_vector(values); });
}

namespace {
/// A panel at a block of keys: rows [from, to) of it are seen.
struct Panel {
  Value number, from, to;
  Value plane; ///< of P in the compute type and of scoreColumns
  Sight sight;
};
} // namespace

static Value halfOf(BackwardEmitter &e, Value area, const Panel &panel,
                    int64_t half) {
  return e.load(e.vectorType, vectorAt(e, area, panel.number, half));
}

/// Steps of a contraction over `size` columns; those beyond are zero.
static Value stepsOf(BackwardEmitter &e, int64_t size) {
  const Registers &r = e.registers;
  return e.integer(llvm::alignTo(llvm::divideCeil(size, r.pair), r.unroll));
}

/// Stores a tile of rows of keys as scalars of a product over queries.
static void storeFactors(BackwardEmitter &e, const Matrix &factors, Value panel,
                         Value row, ValueRange values) {
  const Registers &r = e.registers;
  if (r.pair == 1)
    return storeTile(e, values, factors.row(e, panel, row));
  // Two panels' words are a plane.
  Value pair = e.integer(2);
  Value address = factors.row(e, arith::DivUIOp::create(e, panel, pair), row);
  Value half = arith::RemUIOp::create(e, panel, pair);
  address = e.at(address, e.mul(half, e.integer(r.lanes)), e.scalarType);
  for (int64_t i = 0; i < r.tile; ++i)
    e.store(e.roundToRow(values[2 * i], values[2 * i + 1]),
            e.at(address, i * r.panel, e.scalarType));
}

/// Stores a tile of rows of keys as scalars of a product over keys.
static void storeColumns(BackwardEmitter &e, const Matrix &columns, Value row,
                         ValueRange values) {
  const Registers &r = e.registers;
  Value address = columns.row(e, e.integer(0), e.steps(row));
  for (int64_t i = 0; i < r.tile; i += r.pair)
    for (int64_t half = 0; half < 2; ++half)
      e.store(
          e.roundToPairs(values[2 * i + half], values[2 * i + 2 + half]),
          e.at(address, i / r.pair * r.panel + half * r.lanes, e.scalarType));
}

static void raisePowers(BackwardEmitter &e, const BackwardTile &tile,
                        const Panel &panel, Value firstKey) {
  const BackwardShape &s = e.shape;
  Value queries = tile.queryColumns.plane(e, panel.number);
  Value least[2];
  for (int64_t half = 0; half < 2; ++half)
    least[half] = arith::NegFOp::create(e, halfOf(e, tile.lse, panel, half));
  // The result's greatest exponent, where lse is not of these scores.
  Value most = e.constant(e.scalarType.isF64() ? 1024 : 128);
  e.loop(panel.from, panel.to, s.tile, [&](Value row) {
    SmallVector<Value> sums =
        multiply(e, {tile.keyWords}, row, queries, e.integer(0),
                 stepsOf(e, s.headSize), zeroTile(e));
    for (int64_t i = 0; i < 2 * s.tile; ++i) {
      // The difference is rounded once, not the scores.
      Value exponent = e.fma(sums[i], tile.scale, least[i % 2]);
      exponent = e.mulf(exponent, e.constant(llvm::numbers::log2e));
      exponent = e.select(
          arith::CmpFOp::create(e, arith::CmpFPredicate::OGT, exponent, most),
          most, exponent);
      sums[i] = e.exp2(exponent);
    }
    sums = maskTile(e, panel.sight, e.add(firstKey, row), sums);
    storeTile(e, sums, tile.powers.row(e, panel.plane, row));
    if (s.pair == 2)
      storeFactors(e, tile.powerFactors, panel.number, row, sums);
  });
}

static void differentiate(BackwardEmitter &e, const BackwardTile &tile,
                          const Panel &panel, Value firstKey) {
  const BackwardShape &s = e.shape;
  Value outputs = tile.outputColumns.plane(e, panel.number);
  Value delta[] = {halfOf(e, tile.delta, panel, 0),
                   halfOf(e, tile.delta, panel, 1)};
  e.loop(panel.from, panel.to, s.tile, [&](Value row) {
    SmallVector<Value> sums =
        multiply(e, {tile.valueWords}, row, outputs, e.integer(0),
                 stepsOf(e, s.valueSize), zeroTile(e));
    SmallVector<Value> powers =
        loadTile(e, tile.powers.row(e, panel.plane, row));
    for (int64_t i = 0; i < 2 * s.tile; ++i)
      sums[i] =
          e.mulf(e.mulf(powers[i], tile.scale), e.subf(sums[i], delta[i % 2]));
    sums = maskTile(e, panel.sight, e.add(firstKey, row), sums);
    storeFactors(e, tile.scoreFactors, panel.number, row, sums);
    if (s.pair == 2)
      storeColumns(e, tile.scoreColumns, row, sums);
  });
}

/// Asks for the rows of dQ that the panel adds to, and for its share of the
/// next block's rows: they are cut and far apart, which the processor's own
/// prefetching does not foresee.
static void lookAhead(BackwardEmitter &e, const QueryHead &head,
                      const QueryBlock &block, const Panel &panel) {
  const BackwardShape &s = e.shape;
  Value first = e.add(block.first, e.mul(panel.number, e.integer(s.panel)));
  prefetchRows(e, head.dq, first, s.headSize);
  first = e.add(first, e.integer(s.queryBlock));
  prefetchRows(e, head.q, first, s.headSize);
  prefetchRows(e, head.dO, first, s.valueSize);
}

/// dQ of a panel, to memory.
static void addQueryGradients(BackwardEmitter &e, const BackwardTile &tile,
                              const QueryHead &head, const QueryBlock &block,
                              const KeyBlock &keys, const Panel &panel) {
  const BackwardShape &s = e.shape;
  Value firstLane = e.mul(panel.number, e.integer(s.panel));
  Value first = e.add(block.first, firstLane);
  Value valid = e.least(e.sub(block.queries, first), e.integer(s.panel));
  e.loop(e.integer(0), e.integer(s.headPad / s.panel), 1, [&](Value plane) {
    Value vectors = tile.keyRows.plane(e, plane);
    e.loop(e.integer(0), valid, s.tile, [&](Value row) {
      Value target = tile.queryGradients.row(e, plane, row);
      storeTile(e, zeroTile(e), target);
      Value lane = e.add(e.mul(panel.plane, e.integer(s.panel)), row);
      addProduct(e, keys.isFinite, {tile.scoreColumns, /*isTransposed=*/true},
                 lane, vectors, e.steps(panel.from), e.steps(panel.to), target);
    });
  });
  Value no = arith::ConstantIntOp::create(e, 0, 1);
  addMatrix(e, tile.queryGradients, head.dq, first, valid, s.headSize, no);
}

/// Adds the product of P or dS with rows of the block's queries to a gradient
/// of the keys.
static void addKeyGradients(BackwardEmitter &e, const Matrix &scalars,
                            const Matrix &vectors, const Matrix &target,
                            int64_t size, Value from, Value to,
                            const QueryBlock &block, Value isFinite) {
  const BackwardShape &s = e.shape;
  Value steps = e.mul(block.panels, e.integer(s.panel / s.pair));
  e.loop(e.integer(0), e.integer(size / s.panel), 1, [&](Value plane) {
    Value base = vectors.plane(e, plane);
    e.loop(from, to, s.tile, [&](Value row) {
      addProduct(e, isFinite, {scalars}, row, base, e.integer(0), steps,
                 target.row(e, plane, row));
    });
  });
}

/// Zeros for rows [from, to) of a panel.
static void clearFactors(BackwardEmitter &e, const Matrix &factors, Value panel,
                         Value from, Value to) {
  e.loop(from, to, e.shape.tile,
         [&](Value row) { storeFactors(e, factors, panel, row, zeroTile(e)); });
}

void attention::attendBlock(BackwardEmitter &e, const BackwardTile &tile,
                            const QueryHead &head, const QueryBlock &block,
                            const KeyBlock &keys,
                            std::pair<Value, Value> seen) {
  const BackwardShape &s = e.shape;
  Sight all;
  all.leastLower = seen.first;
  all.greatestUpper = seen.second;
  Value firstRow, endRow;
  std::tie(firstRow, endRow) = clipSight(e, all, keys.first, keys.count);
  e.ifThen(e.compare(Predicate::slt, firstRow, endRow), [&] {
    Value packed = packQueries(e, head.q, block, s.headSize, tile.queryRows,
                               tile.queryColumns);
    packed = e.addf(packed, packQueries(e, head.dO, block, s.valueSize,
                                        tile.outputRows, tile.outputColumns));
    Value isFinite = allFinite(e, packed);
    e.loop(e.integer(0), block.panels, 1, [&](Value number) {
      Panel panel;
      panel.number = number;
      panel.plane = s.pair == 1 ? number : e.integer(0);
      panel.sight = loadSight(e, block, number);
      std::tie(panel.from, panel.to) =
          clipSight(e, panel.sight, keys.first, keys.count);
      Value isSeen = e.compare(Predicate::slt, panel.from, panel.to);
      panel.from = e.select(isSeen, panel.from, endRow);
      panel.to = e.select(isSeen, panel.to, endRow);
      for (const Matrix &factors : {tile.powerFactors, tile.scoreFactors}) {
        clearFactors(e, factors, number, firstRow, panel.from);
        clearFactors(e, factors, number, panel.to, endRow);
      }
      e.ifThen(isSeen, [&] {
        lookAhead(e, head, block, panel);
        raisePowers(e, tile, panel, keys.first);
        differentiate(e, tile, panel, keys.first);
        addQueryGradients(e, tile, head, block, keys, panel);
      });
    });
    addKeyGradients(e, tile.powerFactors, tile.outputRows, tile.valueGradients,
                    s.valuePad, firstRow, endRow, block, isFinite);
    addKeyGradients(e, tile.scoreFactors, tile.queryRows, tile.keyGradients,
                    s.headPad, firstRow, endRow, block, isFinite);
  });
}
