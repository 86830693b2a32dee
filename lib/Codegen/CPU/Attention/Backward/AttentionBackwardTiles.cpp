// The products of a block of queries with a block of keys.
//
//   for each panel of queries
//     P   per tile of keys, masked where a band's edge crosses it; with a score
//         function it is made of scores in memory
//     dS  the same
//     dQ  per tile of queries, added to memory
//   dV and dK per tile of keys, over the queries of the block
//
// A hidden pair's P and dS are 0, which hides a factor unless that is infinite
// or NaN. Blocks with such elements take products that pass over such pairs.
#include "CPU/Attention/Backward/AttentionBackwardTerms.h"
#include "CPU/Attention/ControlFlow.h"
#include "CPU/Attention/VectorBits.h"
#include "CPU/Attention/VectorMath.h"
#include "CPU/Attention/VectorWords.h"
#include "sp/StableHLO/StableHLO.h"

using namespace mlir;
using namespace mlir::sp;
using namespace mlir::sp::attention;

using Predicate = arith::CmpIPredicate;

static SmallVector<Value> zeroTile(BackwardEmitter &e) {
  return SmallVector<Value>(2 * e.registers.tile, e.constant(0));
}

/// `hidden` where a lane does not see its key, if the band's edge crosses the
/// tile.
static SmallVector<Value> maskTile(BackwardEmitter &e, const Sight &sight,
                                   Value key, ValueRange values, Value hidden) {
  return ifElse(
      e, crossesEdge(e, sight, key), values.getTypes(),
      [&] {
        SmallVector<Value> masked;
        for (auto [value, visible] :
             llvm::zip_equal(values, visibleLanes(e, sight, key)))
          masked.push_back(e.select(visible, value, hidden));
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
static int64_t stepsOf(const Registers &r, int64_t size) {
  return llvm::alignTo(llvm::divideCeil(size, r.pair), r.unroll);
}

/// q · k of the tile of keys at `row`.
static SmallVector<Value> multiplyKeys(
    BackwardEmitter &e, const BackwardTile &tile, Value row, Value queries,
    function_ref<void(Value)> prefetch = [](Value) {}) {
  return multiply(e, {tile.keyWords}, row, queries, e.integer(0),
                  e.integer(stepsOf(e.shape, e.shape.headSize)), zeroTile(e),
                  prefetch);
}

/// 2^x, at most 1: no weight is more, however far lse is rounded. NaN passes.
static Value raise(BackwardEmitter &e, Value exponent) {
  Value most = e.constant(0);
  return exp2(e, e.select(arith::CmpFOp::create(e, arith::CmpFPredicate::OGT,
                                                exponent, most),
                          most, exponent));
}

static void raisePowers(BackwardEmitter &e, const BackwardTile &tile,
                        const Panel &panel, Value firstKey) {
  const BackwardShape &s = e.shape;
  Value queries = tile.queryColumns.plane(e, panel.number);
  Value least[2], rest[2];
  for (int64_t half = 0; half < 2; ++half) {
    least[half] = arith::NegFOp::create(e, halfOf(e, tile.lse, panel, half));
    rest[half] = halfOf(e, tile.lseRest, panel, half);
  }
  loop(e, panel.from, panel.to, s.tile, [&](Value row) {
    SmallVector<Value> sums = multiplyKeys(e, tile, row, queries);
    // The difference is rounded once, not the scores.
    for (int64_t i = 0; i < 2 * s.tile; ++i)
      sums[i] =
          raise(e, e.subf(e.fma(sums[i], tile.exponentScale, least[i % 2]),
                          rest[i % 2]));
    sums = maskTile(e, panel.sight, e.add(firstKey, row), sums, e.constant(0));
    storeTile(e, sums, tile.powers.row(e, panel.plane, row));
    if (s.pair == 2)
      storeFactors(e, tile.powerFactors, panel.number, row, sums);
  });
}

/// Scores of the tile of keys at `row`, marked where hidden. Asks meanwhile for
/// elements of pairs of the keys that are laid out after these.
static void scoreTile(BackwardEmitter &e, const BackwardTile &tile,
                      const Panel &panel, ScorePass &pass, Value firstKey,
                      Value row) {
  const BackwardShape &s = e.shape;
  Value queries = tile.queryColumns.plane(e, panel.number);
  Value next = e.add(e.add(firstKey, row), e.integer(s.lanes));
  SmallVector<Ahead> ahead;
  if (e.score.pair)
    ahead = pass.lookAhead(next, stepsOf(s, s.headSize) / s.unroll);
  SmallVector<Value> sums =
      multiplyKeys(e, tile, row, queries,
                   [&](Value step) { prefetchAhead(e, ahead, step); });
  for (Value &sum : sums)
    sum = e.mulf(sum, tile.scale);
  sums = maskTile(e, panel.sight, e.add(firstKey, row), sums, mark(e));
  storeTile(e, sums, tile.slopes.row(e, e.integer(0), row));
}

/// Whether a derivative of 0 may stand for a selection of something else, of
/// which the model passes on 0 whatever it gets.
static bool selects(BackwardEmitter &e) {
  return e.score.function
      .walk([](stablehlo::SelectOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// Makes P, slopes and weights of the scores of key `row`.
static void raiseRow(BackwardEmitter &e, const BackwardTile &tile,
                     const Panel &panel, ScorePass &pass, Value row) {
  Value zero = e.constant(0);
  auto at = [&](const Matrix &matrix, int64_t half) {
    return vectorAt(e, matrix.base, row, half);
  };
  SmallVector<Value> powers;
  for (int64_t half = 0; half < 2; ++half) {
    Value score = e.load(e.vectorType, at(tile.slopes, half));
    SmallVector<Value> made = pass.apply(score, half);
    // As in the forward: what no band shows stays hidden, whatever the function
    // makes of it.
    Value isHidden = isMark(e, score);
    Value greatest = halfOf(e, tile.lse, panel, half);
    Value exponent =
        e.mulf(e.subf(made[0], greatest), e.constant(llvm::numbers::log2e));
    Value power =
        e.mulf(raise(e, exponent), halfOf(e, tile.inverse, panel, half));
    // In P 0 is for hidden pairs where terms read it, -0 for others.
    bool isRead = llvm::any_of(e.shape.terms, [](const TermShape &term) {
      return term.kind == TermShape::Factors::powers;
    });
    if (isRead)
      power = e.select(e.equal(power, zero), e.constant(-0.0), power);
    power = e.select(isHidden, zero, power);
    auto times = [&](Value derivative) {
      Value isFlat = isHidden;
      if (selects(e))
        isFlat = arith::OrIOp::create(e, isFlat, e.equal(derivative, zero));
      return e.select(isFlat, mark(e), e.mulf(power, derivative));
    };
    e.store(times(made[1]), at(tile.slopes, half));
    for (auto [term, place] : llvm::zip_equal(e.shape.terms, tile.terms))
      if (term.kind == TermShape::Factors::own)
        e.store(times(made[term.derivative]), at(place.factors, half));
    if (e.shape.hasWeights) {
      e.store(made[2], at(tile.weights, half));
      power = e.select(isHidden, zero, e.mulf(power, made[2]));
    }
    powers.push_back(power);
  }
  storeFactors(e, tile.powerFactors, panel.number, row, powers);
}

/// raisePowers with a score function, for as many keys at a time as pairs are
/// laid out for.
static void raiseScored(BackwardEmitter &e, const BackwardTile &tile,
                        const ScoreSite &site, const Panel &panel,
                        Value firstKey) {
  const BackwardShape &s = e.shape;
  ScorePass pass(e, site, panel.number);
  loop(e, panel.from, panel.to, s.lanes, [&](Value first) {
    Value end = e.least(e.add(first, e.integer(s.lanes)), panel.to);
    loop(e, first, end, s.tile,
         [&](Value row) { scoreTile(e, tile, panel, pass, firstKey, row); });
    pass.overKeys(firstKey, first, end, {}, [&](Value row, ValueRange) {
      raiseRow(e, tile, panel, pass, row);
      return SmallVector<Value>();
    });
  });
}

/// dS of the tile of keys at `row`, of its products of values.
static void scaleTile(BackwardEmitter &e, const BackwardTile &tile,
                      const Panel &panel, Value firstKey, Value row,
                      ArrayRef<Value> delta, SmallVector<Value> &sums) {
  SmallVector<Value> powers = loadTile(e, tile.powers.row(e, panel.plane, row));
  for (auto [i, sum] : llvm::enumerate(sums))
    sum = e.mulf(e.mulf(powers[i], tile.scale), e.subf(sum, delta[i % 2]));
  sums = maskTile(e, panel.sight, e.add(firstKey, row), sums, e.constant(0));
}

/// The same with a score function, and what the pairs give for terms.
static void scaleScored(BackwardEmitter &e, const BackwardTile &tile, Value row,
                        ArrayRef<Value> delta, SmallVector<Value> &sums,
                        TermSums &terms, MutableArrayRef<Value> termSums) {
  auto load = [&](const Matrix &matrix) {
    return loadTile(e, matrix.row(e, e.integer(0), row));
  };
  SmallVector<Value> weights;
  if (e.shape.hasWeights)
    weights = load(tile.weights);
  for (auto [i, sum] : llvm::enumerate(sums)) {
    if (e.shape.hasWeights)
      sum = e.mulf(sum, weights[i]);
    sum = e.subf(sum, delta[i % 2]);
  }
  terms.addTile(row, sums, termSums);
  sums = timesFactors(e, load(tile.slopes), sums, mark(e));
  for (Value &sum : sums)
    sum = e.mulf(sum, tile.scale);
}

static void differentiate(BackwardEmitter &e, const BackwardTile &tile,
                          const Panel &panel, Value firstKey, TermSums &terms) {
  const BackwardShape &s = e.shape;
  Value outputs = tile.outputColumns.plane(e, panel.number);
  Value delta[] = {halfOf(e, tile.delta, panel, 0),
                   halfOf(e, tile.delta, panel, 1)};
  auto ofTile = [&](Value row, ValueRange carried) {
    auto termSums = llvm::to_vector(carried);
    int64_t steps = stepsOf(s, s.valueSize);
    SmallVector<Ahead> ahead = terms.lookAhead(row, steps / s.unroll);
    SmallVector<Value> sums = multiply(
        e, {tile.valueWords}, row, outputs, e.integer(0), e.integer(steps),
        zeroTile(e), [&](Value step) { prefetchAhead(e, ahead, step); });
    if (e.score)
      scaleScored(e, tile, row, delta, sums, terms, termSums);
    else
      scaleTile(e, tile, panel, firstKey, row, delta, sums);
    storeFactors(e, tile.scoreFactors, panel.number, row, sums);
    if (s.pair == 2)
      storeColumns(e, tile.scoreColumns, row, sums);
    return termSums;
  };
  auto ofKeys = [&](Value first, ValueRange carried) {
    terms.begin(first);
    Value end = e.least(e.add(first, e.integer(s.lanes)), panel.to);
    SmallVector<Value> sums = loop(e, first, end, s.tile, carried, ofTile);
    terms.endKeys(end);
    return sums;
  };
  SmallVector<Value> zeros = terms.zeros();
  terms.end(terms.areOfPairs()
                ? loop(e, panel.from, panel.to, s.lanes, zeros, ofKeys)
                : loop(e, panel.from, panel.to, s.tile, zeros, ofTile));
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

/// i1: query `index` of the block sees key `row` of the block of keys.
static Value sees(BackwardEmitter &e, const BackwardTile &tile,
                  const KeyBlock &keys, Value index, Value row) {
  Value key = e.add(keys.first, row);
  if (e.laneType.getWidth() < 64)
    key = arith::TruncIOp::create(e, e.laneType, key);
  auto bound = [&](Value area) {
    return e.load(e.laneType, e.at(area, index, e.laneType));
  };
  return arith::AndIOp::create(
      e, e.compare(Predicate::sle, bound(tile.lower), key),
      e.compare(Predicate::slt, key, bound(tile.upper)));
}

/// dQ of a panel, to memory.
static void addQueryGradients(BackwardEmitter &e, const BackwardTile &tile,
                              const QueryHead &head, const QueryBlock &block,
                              const KeyBlock &keys, const Panel &panel) {
  const BackwardShape &s = e.shape;
  Value firstLane = e.mul(panel.number, e.integer(s.panel));
  Value first = e.add(block.first, firstLane);
  Value valid = e.least(e.sub(block.queries, first), e.integer(s.panel));
  loop(e, e.integer(0), e.integer(s.headPad / s.panel), 1, [&](Value plane) {
    Value vectors = tile.keyRows.plane(e, plane);
    loop(e, e.integer(0), valid, s.tile, [&](Value row) {
      Value target = tile.queryGradients.row(e, plane, row);
      storeTile(e, zeroTile(e), target);
      Value lane = e.add(e.mul(panel.plane, e.integer(s.panel)), row);
      addProduct(e, keys.isFinite, {tile.scoreColumns, /*isTransposed=*/true},
                 lane, vectors, stepsOf(e, panel.from), stepsOf(e, panel.to),
                 target, [&](Value i, Value key) {
                   return sees(e, tile, keys, e.add(e.add(firstLane, row), i),
                               key);
                 });
    });
  });
  Value no = arith::ConstantIntOp::create(e, 0, 1);
  addMatrix(e, tile.queryGradients, head.dq, first, valid, s.headSize, no);
}

/// Adds the product of P or dS with rows of the block's queries to a gradient
/// of the keys.
static void addKeyGradients(BackwardEmitter &e, const BackwardTile &tile,
                            const KeyBlock &keys, const Matrix &scalars,
                            const Matrix &vectors, const Matrix &target,
                            int64_t size, Value from, Value to,
                            const QueryBlock &block, Value isFinite) {
  const BackwardShape &s = e.shape;
  Value steps = e.mul(block.panels, e.integer(s.panel / s.pair));
  loop(e, e.integer(0), e.integer(size / s.panel), 1, [&](Value plane) {
    Value base = vectors.plane(e, plane);
    loop(e, from, to, s.tile, [&](Value row) {
      addProduct(e, isFinite, {scalars}, row, base, e.integer(0), steps,
                 target.row(e, plane, row), [&](Value i, Value query) {
                   return sees(e, tile, keys, query, e.add(row, i));
                 });
    });
  });
}

/// Zeros for rows [from, to) of a panel.
static void clearFactors(BackwardEmitter &e, const Matrix &factors, Value panel,
                         Value from, Value to) {
  loop(e, from, to, e.shape.tile,
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
  ifThen(e, e.compare(Predicate::slt, firstRow, endRow), [&] {
    Value packed = packQueries(e, head.q, block, s.headSize, tile.queryRows,
                               tile.queryColumns);
    packed = e.addf(packed, packQueries(e, head.dO, block, s.valueSize,
                                        tile.outputRows, tile.outputColumns));
    Value isFinite = allFinite(e, packed);
    if (e.score)
      packTerms(e, head.score, block.first, block.panels);
    loop(e, e.integer(0), block.panels, 1, [&](Value number) {
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
      ifThen(e, isSeen, [&] {
        lookAhead(e, head, block, panel);
        if (e.score)
          raiseScored(e, tile, head.score, panel, keys.first);
        else
          raisePowers(e, tile, panel, keys.first);
        TermSums terms(e, tile, head, block, keys, number);
        differentiate(e, tile, panel, keys.first, terms);
        addQueryGradients(e, tile, head, block, keys, panel);
      });
    });
    addKeyGradients(e, tile, keys, tile.powerFactors, tile.outputRows,
                    tile.valueGradients, s.valuePad, firstRow, endRow, block,
                    isFinite);
    addKeyGradients(e, tile, keys, tile.scoreFactors, tile.queryRows,
                    tile.keyGradients, s.headPad, firstRow, endRow, block,
                    isFinite);
  });
}
