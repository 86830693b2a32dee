// The inner loops: one panel of queries against one packed block of keys.
//
//   scores  8 keys x 2 vectors of queries in registers, over the head size
//   powers  one pass over the scores
//   output  8 value columns x 2 vectors of queries in registers, over the keys
//
// A tile that a band's edge crosses is masked in its epilogue, so its
// arithmetic is that of every other tile.
#include "AttentionParts.h"

using namespace mlir;
using namespace mlir::sp;
using namespace mlir::sp::attention;

using Predicate = arith::CmpIPredicate;

namespace {
/// The panel at work: addresses in scratch memory and its ranges of keys.
struct Panel {
  Value queries, output, scores, weights, keys, values;
  Value rowMax, rowSum, weightSum, lower, upper;
  Value leastLower, greatestLower, leastUpper, greatestUpper;
};
} // namespace

static Panel locatePanel(Emitter &e, const Tile &tile, Value panel) {
  const Shape &s = e.shape;
  auto at = [&](int64_t area, int64_t bytes) {
    Value base = e.at(tile.scratch, area, e.getI8Type());
    return e.at(base, e.mul(panel, e.integer(bytes)), e.getI8Type());
  };
  int64_t row = s.panel * s.elementBytes;
  Panel p;
  p.queries = at(s.queries, s.headWords * row);
  p.output = at(s.output, s.valuePad * row);
  p.rowMax = at(s.rowMax, row);
  p.rowSum = at(s.rowSum, row);
  p.weightSum = at(s.weightSum, row);
  p.lower = at(s.lower, row);
  p.upper = at(s.upper, row);
  p.scores = e.at(tile.scratch, s.scores, e.getI8Type());
  p.weights = e.at(tile.scratch, s.weights, e.getI8Type());
  p.keys = e.at(tile.scratch, s.keys, e.getI8Type());
  p.values = e.at(tile.scratch, s.values, e.getI8Type());
  Value ranges = at(s.ranges, 4 * sizeof(int64_t));
  Value *fields[] = {&p.leastLower, &p.greatestLower, &p.leastUpper,
                     &p.greatestUpper};
  for (auto [i, field] : llvm::enumerate(fields))
    *field = e.load(e.getI64Type(),
                    e.at(ranges, static_cast<int64_t>(i), e.getI64Type()));
  return p;
}

/// Vector `half` of row `row` of an array with one panel a row.
static Value vectorAt(Emitter &e, Value base, Value row, int64_t half) {
  Value rowBase =
      e.at(base, e.mul(row, e.integer(e.shape.panel)), e.scalarType);
  return e.at(rowBase, half * e.shape.lanes, e.scalarType);
}

/// Asks for the factors that the next register tile takes at `step`: `tile`
/// contiguous words a step at `following`.
static void prefetchFactors(Emitter &e, Value following, Value step) {
  const Shape &s = e.shape;
  Value address = e.at(following, e.mul(step, e.integer(s.tile)), e.scalarType);
  for (int64_t byte = 0; byte < s.unroll * s.tile * s.elementBytes;
       byte += kLineBytes)
    e.prefetch(e.at(address, byte, e.getI8Type()), 1);
}

/// Accumulates a register tile: for steps [from, to) of the contraction,
/// sums[i][half] += factor(step, i) · vectors[step][half].
static SmallVector<Value> contract(Emitter &e, Value from, Value to,
                                   ValueRange sums, Value vectors,
                                   function_ref<Value(Value, int64_t)> factor,
                                   function_ref<void(Value)> prefetch) {
  const Shape &s = e.shape;
  return e.loop(from, to, s.unroll, sums, [&](Value base, ValueRange carried) {
    SmallVector<Value> next = llvm::to_vector(carried);
    prefetch(base);
    for (int64_t u = 0; u < s.unroll; ++u) {
      Value step = e.add(base, e.integer(u));
      Value pair[] = {e.load(e.vectorType, vectorAt(e, vectors, step, 0)),
                      e.load(e.vectorType, vectorAt(e, vectors, step, 1))};
      for (int64_t i = 0; i < s.tile; ++i) {
        Value scalar = e.splat(e.load(e.scalarType, factor(step, i)));
        for (int64_t half = 0; half < 2; ++half)
          next[2 * i + half] =
              e.multiplyAdd(scalar, pair[half], next[2 * i + half]);
      }
    }
    return next;
  });
}

/// Sets the scores of keys that a query does not see to -inf.
static SmallVector<Value> maskTile(Emitter &e, const Panel &p, Value firstKey,
                                   Value uniform, ValueRange scores) {
  const Shape &s = e.shape;
  auto laneVector = VectorType::get(s.lanes, e.laneType);
  Value none = e.constant(-std::numeric_limits<double>::infinity());
  Value isUniform = e.compare(Predicate::ne, uniform, e.integer(0));
  Value zero = e.constant(0);
  Value bounds[2][2];
  for (int64_t half = 0; half < 2; ++half) {
    bounds[half][0] =
        e.load(laneVector, e.at(p.lower, half * s.lanes, e.laneType));
    bounds[half][1] =
        e.load(laneVector, e.at(p.upper, half * s.lanes, e.laneType));
  }
  SmallVector<Value> masked;
  for (int64_t i = 0; i < s.tile; ++i) {
    Value key = e.add(firstKey, e.integer(i));
    if (e.laneType.getWidth() < 64)
      key = arith::TruncIOp::create(e, e.laneType, key);
    key = e.splat(key);
    for (int64_t half = 0; half < 2; ++half) {
      Value visible = arith::AndIOp::create(
          e, e.compare(Predicate::sle, bounds[half][0], key),
          e.compare(Predicate::slt, key, bounds[half][1]));
      Value score = e.select(isUniform, zero, scores[2 * i + half]);
      masked.push_back(e.select(visible, score, none));
    }
  }
  return masked;
}

/// Scores of keys [from, to) of the block, not scaled; returns their maxima.
static SmallVector<Value>
scoreBlock(Emitter &e, const Panel &p, Value firstKey, Value from, Value to,
           Value uniform, function_ref<SmallVector<Ahead>(Value)> lookAhead) {
  const Shape &s = e.shape;
  SmallVector<Value> none(2,
                          e.constant(-std::numeric_limits<double>::infinity()));
  return e.loop(from, to, s.tile, none, [&](Value row, ValueRange carried) {
    Value keys = e.at(p.keys, e.mul(row, e.integer(s.headWords)), e.scalarType);
    SmallVector<Value> sums(2 * s.tile, e.constant(0));
    Value following = e.at(keys, s.tile * s.headWords, e.scalarType);
    SmallVector<Ahead> ahead = lookAhead(row);
    sums = contract(
        e, e.integer(0), e.integer(s.headSteps()), sums, p.queries,
        [&](Value step, int64_t i) {
          Value base = e.at(keys, i * s.headWords, e.scalarType);
          return e.at(base, step, e.scalarType);
        },
        [&](Value step) {
          prefetchFactors(e, following, step);
          Value iteration =
              arith::DivUIOp::create(e, step, e.integer(s.unroll));
          for (const Ahead &a : ahead)
            e.prefetch(
                e.at(a.address, e.mul(iteration, a.stride), e.getI8Type()), 2);
        });
    Value tileKey = e.add(firstKey, row);
    Value crosses = arith::OrIOp::create(
        e, e.compare(Predicate::slt, tileKey, p.greatestLower),
        e.compare(Predicate::sgt, e.add(tileKey, e.integer(s.tile)),
                  p.leastUpper));
    crosses = arith::OrIOp::create(
        e, crosses, e.compare(Predicate::ne, uniform, e.integer(0)));
    sums = e.ifElse(
        crosses, SmallVector<Type>(2 * s.tile, e.vectorType),
        [&] { return maskTile(e, p, tileKey, uniform, sums); },
        [&] { return sums; });
    SmallVector<Value> next = llvm::to_vector(carried);
    for (int64_t i = 0; i < s.tile; ++i) {
      for (int64_t half = 0; half < 2; ++half) {
        Value score = sums[2 * i + half];
        e.store(score, vectorAt(e, p.scores, e.add(row, e.integer(i)), half));
        // A NaN score may drop out here; its power is NaN all the same.
        next[half] = e.larger(score, next[half]);
      }
    }
    return next;
  });
}

/// Turns scores [from, to) into powers; returns the sums of them and, where
/// they are rounded to pairs, of the rounded ones: values meet these, and a
/// mean divides by the weights that it is made of.
static SmallVector<Value> raiseBlock(Emitter &e, const Panel &p, Value from,
                                     Value to, Value scale, ValueRange maxima) {
  const Shape &s = e.shape;
  SmallVector<Value> zeros(2 * s.pair, e.constant(0));
  return e.loop(from, to, s.pair, zeros, [&](Value row, ValueRange carried) {
    SmallVector<Value> next = llvm::to_vector(carried);
    for (int64_t half = 0; half < 2; ++half) {
      Value powers[2];
      for (int64_t i = 0; i < s.pair; ++i) {
        Value address = vectorAt(e, p.scores, e.add(row, e.integer(i)), half);
        Value exponent = e.fma(e.load(e.vectorType, address), scale,
                               arith::NegFOp::create(e, maxima[half]));
        powers[i] = e.power(exponent);
        next[half] = e.addf(next[half], powers[i]);
      }
      Value step = powers[0];
      if (s.weights)
        step = e.mulf(step,
                      e.load(e.vectorType, vectorAt(e, p.weights, row, half)));
      if (s.pair == 2) {
        step = e.roundToPairs(powers[0], powers[1]);
        next[2 + half] = e.multiplyAdd(e.pairsOfOne(), step, next[2 + half]);
      }
      e.store(step, vectorAt(e, p.scores, e.steps(row), half));
    }
    return next;
  });
}

/// Rescales the output and adds the powers [from, to) times their values.
static void addValues(Emitter &e, const Panel &p, Value from, Value to,
                      ValueRange rescale) {
  const Shape &s = e.shape;
  e.loop(e.integer(0), e.integer(s.valueSize), s.tile, [&](Value column) {
    Value values = e.at(p.values, e.mul(column, e.integer(s.stripe / s.tile)),
                        e.scalarType);
    auto element = [&](int64_t i, int64_t half) {
      return vectorAt(e, p.output, e.add(column, e.integer(i)), half);
    };
    SmallVector<Value> sums;
    for (int64_t i = 0; i < s.tile; ++i)
      for (int64_t half = 0; half < 2; ++half)
        sums.push_back(
            e.mulf(e.load(e.vectorType, element(i, half)), rescale[half]));
    Value following = e.at(values, s.stripe, e.scalarType);
    sums = contract(
        e, e.steps(from), e.steps(to), sums, p.scores,
        [&](Value step, int64_t i) {
          Value base =
              e.at(values, e.mul(step, e.integer(s.tile)), e.scalarType);
          return e.at(base, i, e.scalarType);
        },
        [&](Value step) { prefetchFactors(e, following, step); });
    for (int64_t i = 0; i < s.tile; ++i)
      for (int64_t half = 0; half < 2; ++half)
        e.store(sums[2 * i + half], element(i, half));
  });
}

void attention::attendPanel(Emitter &e, const Tile &tile, Value panel,
                            Value firstKey, Value count, const Next &next,
                            Value uniform) {
  const Shape &s = e.shape;
  Panel p = locatePanel(e, tile, panel);
  Value zero = e.integer(0);
  Value from =
      e.alignDown(e.greatest(e.sub(p.leastLower, firstKey), zero), s.tile);
  Value to =
      e.least(e.alignUp(e.sub(p.greatestUpper, firstKey), s.tile), count);
  e.ifThen(e.compare(Predicate::slt, from, to), [&] {
    SmallVector<Value> scores =
        scoreBlock(e, p, firstKey, from, to, uniform, [&](Value row) {
          SmallVector<Ahead> all = lookAhead(e, tile, panel, row, next);
          if (e.pair)
            all.append(lookAheadPairs(e, tile, panel, e.add(firstKey, row)));
          return all;
        });
    if (e.score)
      scores = e.ifElse(
          e.compare(Predicate::eq, uniform, zero),
          SmallVector<Type>(2, e.vectorType),
          [&] { return applyScore(e, tile, panel, firstKey, from, to); },
          [&] {
            if (s.weights)
              clearWeights(e, tile, from, to);
            return scores;
          });
    SmallVector<Value> safe, rescale;
    for (int64_t half = 0; half < 2; ++half) {
      Value before = e.load(e.vectorType, vectorAt(e, p.rowMax, zero, half));
      Value maximum = e.larger(e.mulf(scores[half], tile.scale), before);
      // -inf - -inf is NaN, but a row without keys has only zero powers.
      Value none = e.constant(-std::numeric_limits<double>::infinity());
      safe.push_back(e.select(e.equal(maximum, none), e.constant(0), maximum));
      rescale.push_back(e.power(e.subf(before, safe[half])));
      e.store(maximum, vectorAt(e, p.rowMax, zero, half));
    }
    SmallVector<Value> powers = raiseBlock(e, p, from, to, tile.scale, safe);
    auto addSums = [&](Value area, int64_t first) {
      for (int64_t half = 0; half < 2; ++half) {
        Value address = vectorAt(e, area, zero, half);
        e.store(e.fma(e.load(e.vectorType, address), rescale[half],
                      powers[first + half]),
                address);
      }
    };
    addSums(p.rowSum, 0);
    if (s.pair == 2)
      addSums(p.weightSum, 2);
    addValues(e, p, from, to, rescale);
  });
}
