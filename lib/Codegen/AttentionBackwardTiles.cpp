// The products of a block of queries with a block of keys.
//
//   for each panel of queries
//     P   per tile of keys, masked where a band's edge crosses it
//     dS  the same
//     dQ  per tile of queries, added to memory
//   dV and dK per tile of keys, over the queries of the panels that see it
//
// A hidden pair's P and dS are 0, which hides a factor unless that is infinite
// or NaN. Blocks with such elements take products that pass over zeros.
#include "AttentionBackward.h"

using namespace mlir;
using namespace mlir::sp;
using namespace mlir::sp::attention;

using Predicate = arith::CmpIPredicate;

namespace {
/// Scalars of a product: element (row, step) of it is that of the matrix, or
/// with `isTransposed` element (step, row).
struct Scalars {
  Matrix matrix;
  bool isTransposed = false;

  Value at(BackwardEmitter &e, Value row, Value step) const {
    if (isTransposed)
      std::swap(row, step);
    Value panel = e.integer(e.registers.panel);
    Value plane = arith::DivUIOp::create(e, step, panel);
    Value column = arith::RemUIOp::create(e, step, panel);
    return e.at(matrix.row(e, plane, row), column, e.scalarType);
  }
  int64_t rowStride(BackwardEmitter &e) const {
    return isTransposed ? 1 : e.registers.panel;
  }
  int64_t stepStride(BackwardEmitter &e) const {
    return isTransposed ? e.registers.panel : 1;
  }
};
} // namespace

/// Sums of the tile of rows at `row` over steps [from, to), added to `sums`.
static SmallVector<Value> multiply(BackwardEmitter &e, const Scalars &a,
                                   Value row, Value vectors, Value from,
                                   Value to, ValueRange sums) {
  return contract(e, from, to, sums, vectors,
                  {[&](Value step) { return a.at(e, row, step); },
                   a.rowStride(e), a.stepStride(e)},
                  [](Value) {});
}

/// The same to memory, one element of the tile after the other, and where a
/// scalar is 0 nothing is added.
static void multiplyNonzero(BackwardEmitter &e, const Scalars &a, Value row,
                            Value vectors, Value from, Value to, Value target) {
  const Registers &r = e.registers;
  Value zero = e.constant(0);
  e.loop(e.integer(0), e.integer(r.tile), 1, [&](Value i) {
    for (int64_t half = 0; half < 2; ++half) {
      Value address = vectorAt(e, target, i, half);
      Value sum = e.loop(
          from, to, 1, e.load(e.vectorType, address),
          [&](Value step, ValueRange so) -> SmallVector<Value> {
            Value scalar =
                e.splat(e.load(e.scalarType, a.at(e, e.add(row, i), step)));
            Value x = e.load(e.vectorType, vectorAt(e, vectors, step, half));
            return {e.select(e.equal(scalar, zero), so[0],
                             e.fma(scalar, x, so[0]))};
          })[0];
      e.store(sum, address);
    }
  });
}

static SmallVector<Value> loadTile(BackwardEmitter &e, Value address) {
  const Registers &r = e.registers;
  SmallVector<Value> tile;
  for (int64_t i = 0; i < 2 * r.tile; ++i)
    tile.push_back(
        e.load(e.vectorType, e.at(address, i * r.lanes, e.scalarType)));
  return tile;
}

static void storeTile(BackwardEmitter &e, ValueRange tile, Value address) {
  for (auto [i, value] : llvm::enumerate(tile))
    e.store(value, e.at(address, static_cast<int64_t>(i) * e.registers.lanes,
                        e.scalarType));
}

/// Adds a tile of a product to memory.
static void addProduct(BackwardEmitter &e, Value isFinite, const Scalars &a,
                       Value row, Value vectors, Value from, Value to,
                       Value target) {
  e.ifElse(
      isFinite, TypeRange(),
      [&] {
        storeTile(e,
                  multiply(e, a, row, vectors, from, to, loadTile(e, target)),
                  target);
        return SmallVector<Value>();
      },
      [&] {
        multiplyNonzero(e, a, row, vectors, from, to, target);
        return SmallVector<Value>();
      });
}

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
  Sight sight;
};
} // namespace

static Value halfOf(BackwardEmitter &e, Value area, const Panel &panel,
                    int64_t half) {
  return e.load(e.vectorType, vectorAt(e, area, panel.number, half));
}

/// Steps of a contraction over `size` columns; those beyond are zero.
static Value stepsOf(BackwardEmitter &e, int64_t size) {
  return e.integer(llvm::alignTo(size, e.registers.unroll));
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
        multiply(e, {tile.packedKeys}, row, queries, e.integer(0),
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
    storeTile(e, maskTile(e, panel.sight, e.add(firstKey, row), sums),
              tile.powers.row(e, panel.number, row));
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
        multiply(e, {tile.packedValues}, row, outputs, e.integer(0),
                 stepsOf(e, s.valueSize), zeroTile(e));
    SmallVector<Value> powers =
        loadTile(e, tile.powers.row(e, panel.number, row));
    for (int64_t i = 0; i < 2 * s.tile; ++i)
      sums[i] =
          e.mulf(e.mulf(powers[i], tile.scale), e.subf(sums[i], delta[i % 2]));
    storeTile(e, maskTile(e, panel.sight, e.add(firstKey, row), sums),
              tile.scores.row(e, panel.number, row));
  });
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
    Value vectors = tile.packedKeys.plane(e, plane);
    e.loop(e.integer(0), valid, s.tile, [&](Value row) {
      Value target = tile.queryGradients.row(e, plane, row);
      storeTile(e, zeroTile(e), target);
      addProduct(e, keys.isFinite, {tile.scores, /*isTransposed=*/true},
                 e.add(firstLane, row), vectors, panel.from, panel.to, target);
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
  Value steps = e.mul(block.panels, e.integer(s.panel));
  e.loop(e.integer(0), e.integer(size / s.panel), 1, [&](Value plane) {
    Value base = vectors.plane(e, plane);
    e.loop(from, to, s.tile, [&](Value row) {
      addProduct(e, isFinite, {scalars}, row, base, e.integer(0), steps,
                 target.row(e, plane, row));
    });
  });
}

/// Zeros in rows [from, to) of a plane.
static void clearPlane(BackwardEmitter &e, const Matrix &matrix, Value plane,
                       Value from, Value to) {
  e.loop(from, to, e.shape.tile, [&](Value row) {
    storeTile(e, zeroTile(e), matrix.row(e, plane, row));
  });
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
    Value packed = packBoth(e, head.q, block, s.headSize, tile.packedQueries,
                            tile.queryColumns);
    packed = e.addf(packed, packBoth(e, head.dO, block, s.valueSize,
                                     tile.outputs, tile.outputColumns));
    Value isFinite = allFinite(e, packed);
    e.loop(e.integer(0), block.panels, 1, [&](Value number) {
      Panel panel;
      panel.number = number;
      panel.sight = loadSight(e, block, number);
      std::tie(panel.from, panel.to) =
          clipSight(e, panel.sight, keys.first, keys.count);
      Value isSeen = e.compare(Predicate::slt, panel.from, panel.to);
      panel.from = e.select(isSeen, panel.from, endRow);
      panel.to = e.select(isSeen, panel.to, endRow);
      for (const Matrix &matrix : {tile.powers, tile.scores}) {
        clearPlane(e, matrix, number, firstRow, panel.from);
        clearPlane(e, matrix, number, panel.to, endRow);
      }
      e.ifThen(isSeen, [&] {
        raisePowers(e, tile, panel, keys.first);
        differentiate(e, tile, panel, keys.first);
        addQueryGradients(e, tile, head, block, keys, panel);
      });
    });
    addKeyGradients(e, tile.powers, tile.outputs, tile.valueGradients,
                    s.valuePad, firstRow, endRow, block, isFinite);
    addKeyGradients(e, tile.scores, tile.packedQueries, tile.keyGradients,
                    s.headPad, firstRow, endRow, block, isFinite);
  });
}
