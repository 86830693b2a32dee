// The inner loops: one panel of queries against one packed block of keys.
//
//   scores  8 keys x 2 vectors of queries in registers, over the head size
//   powers  one pass over the scores
//   output  AttentionValues.cpp
//
// A tile that a band's edge crosses is masked in its epilogue, so its
// arithmetic is that of every other tile.
#include "CPU/Attention/ControlFlow.h"
#include "CPU/Attention/Forward/AttentionParts.h"
#include "CPU/Attention/VectorBits.h"
#include "CPU/Attention/VectorWords.h"

using namespace mlir;
using namespace mlir::sp;
using namespace mlir::sp::attention;

using Predicate = arith::CmpIPredicate;

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
  p.scores = e.at(tile.scratch, s.scores, e.getI8Type());
  p.weights = e.at(tile.scratch, s.weights, e.getI8Type());
  p.keys = e.at(tile.scratch, s.keys, e.getI8Type());
  p.values = e.at(tile.scratch, s.values, e.getI8Type());
  p.sight = loadSight(e, queryBlockOf(e, tile), panel);
  return p;
}

QueryBlock attention::queryBlockOf(Emitter &e, const Tile &tile) {
  const Shape &s = e.shape;
  auto area = [&](int64_t offset) {
    return e.at(tile.scratch, offset, e.getI8Type());
  };
  return {tile.firstQuery, tile.queries,  tile.keys,     tile.panels,
          area(s.lower),   area(s.upper), area(s.ranges)};
}

void attention::noteSight(Emitter &e, const Tile &tile) {
  // A score function hides keys by -inf: a row without others is empty.
  if (e.score)
    return;
  auto laneVector = VectorType::get(e.shape.lanes, e.laneType);
  Value least =
      e.constant(e.scalarType.isF64() ? std::numeric_limits<double>::lowest()
                                      : std::numeric_limits<float>::lowest());
  loop(e, e.integer(0), tile.panels, 1, [&](Value panel) {
    Panel p = locatePanel(e, tile, panel);
    for (int64_t half = 0; half < 2; ++half) {
      auto bound = [&](Value area) {
        return e.load(laneVector, e.at(area, half * e.shape.lanes, e.laneType));
      };
      Value sees =
          e.compare(Predicate::slt, bound(p.sight.lower), bound(p.sight.upper));
      Value address = vectorAt(e, p.rowMax, e.integer(0), half);
      Value maximum = e.load(e.vectorType, address);
      e.store(e.select(sees, e.larger(least, maximum), maximum), address);
    }
  });
}

/// Hides the scores of keys that a query does not see: they are marked for a
/// score function, else -inf.
static SmallVector<Value> maskTile(Emitter &e, const Panel &p, Value firstKey,
                                   Value uniform, ValueRange scores) {
  Value none = e.constant(-std::numeric_limits<double>::infinity());
  Value isUniform = e.compare(Predicate::ne, uniform, e.integer(0));
  Value zero = e.constant(0);
  if (e.score)
    none = e.select(isUniform, none, mark(e));
  SmallVector<Value> masked;
  for (auto [score, visible] :
       llvm::zip_equal(scores, visibleLanes(e, p.sight, firstKey)))
    masked.push_back(e.select(visible, e.select(isUniform, zero, score), none));
  return masked;
}

/// Scores of keys [from, to) of the block, not scaled; returns their maxima.
static SmallVector<Value>
scoreBlock(Emitter &e, const Panel &p, Value firstKey, Value from, Value to,
           Value uniform, function_ref<SmallVector<Ahead>(Value)> lookAhead) {
  const Shape &s = e.shape;
  SmallVector<Value> none(2,
                          e.constant(-std::numeric_limits<double>::infinity()));
  return loop(e, from, to, s.tile, none, [&](Value row, ValueRange carried) {
    Value keys = e.at(p.keys, e.mul(row, e.integer(s.headWords)), e.scalarType);
    SmallVector<Value> sums(2 * s.tile, e.constant(0));
    Value following = e.at(keys, s.tile * s.headWords, e.scalarType);
    SmallVector<Ahead> ahead = lookAhead(row);
    sums = contract(e, e.integer(0), e.integer(s.headSteps()), sums, p.queries,
                    {[&](Value step) { return e.at(keys, step, e.scalarType); },
                     /*row=*/s.headWords, /*step=*/1},
                    [&](Value step) {
                      prefetchFactors(e, following, step);
                      prefetchAhead(e, ahead, step);
                    });
    Value tileKey = e.add(firstKey, row);
    Value crosses =
        arith::OrIOp::create(e, crossesEdge(e, p.sight, tileKey),
                             e.compare(Predicate::ne, uniform, e.integer(0)));
    sums = ifElse(
        e, crosses, SmallVector<Type>(2 * s.tile, e.vectorType),
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

/// Makes exponents of scores [from, to) by the score function; returns their
/// maxima.
static SmallVector<Value> applyScore(Emitter &e, const Tile &tile,
                                     const Panel &p, ScorePass &pass,
                                     Value firstKey, Value from, Value to) {
  Value none = e.constant(-std::numeric_limits<double>::infinity());
  return pass.overKeys(firstKey, from, to, {none, none},
                       [&](Value row, ValueRange carried) {
                         SmallVector<Value> next;
                         for (int64_t half = 0; half < 2; ++half) {
                           Value address = vectorAt(e, p.scores, row, half);
                           Value product = e.load(e.vectorType, address);
                           SmallVector<Value> made =
                               pass.apply(e.mulf(product, tile.product), half);
                           // Keys that no band shows stay hidden, whatever the
                           // function makes of it.
                           Value isHidden = isMark(e, product);
                           Value exponent = e.select(isHidden, none, made[0]);
                           e.store(exponent, address);
                           if (made.size() == 2)
                             e.store(e.select(isHidden, e.constant(1), made[1]),
                                     vectorAt(e, p.weights, row, half));
                           next.push_back(e.larger(exponent, carried[half]));
                         }
                         return next;
                       });
}

/// Weights of 1 for scores [from, to), which no score function made.
static void clearWeights(Emitter &e, const Panel &p, Value from, Value to) {
  loop(e, from, to, 1, [&](Value row) {
    for (int64_t half = 0; half < 2; ++half)
      e.store(e.constant(1), vectorAt(e, p.weights, row, half));
  });
}

/// Whether a maximum is so large that its product's rounding alone is more than
/// powers should make of it.
static Value areLarge(Emitter &e, ValueRange maxima) {
  Value least = e.integers(bitsOf(e, e.scalarType.isF64() ? 0x1p53 : 0x1p24));
  Value isLarge;
  for (Value maximum : maxima) {
    Value so = e.compare(Predicate::sge, magnitudes(e, maximum), least);
    isLarge = isLarge ? arith::OrIOp::create(e, isLarge, so) : so;
  }
  return vector::ReductionOp::create(e, vector::CombiningKind::OR, isLarge);
}

/// Turns scores [from, to) into powers; returns the sums of them and, where
/// they are rounded to pairs, of the rounded ones: values meet these, and a
/// mean divides by the weights that it is made of. The scaled scores are
/// rounded if `isRounded`, so that the greatest gives exactly 1.
static SmallVector<Value> raiseBlock(Emitter &e, const Panel &p, Value from,
                                     Value to, Value scale, ValueRange maxima,
                                     bool isRounded) {
  const Shape &s = e.shape;
  SmallVector<Value> zeros(2 * s.pair, e.constant(0));
  return loop(e, from, to, s.pair, zeros, [&](Value row, ValueRange carried) {
    SmallVector<Value> next = llvm::to_vector(carried);
    for (int64_t half = 0; half < 2; ++half) {
      Value powers[2];
      for (int64_t i = 0; i < s.pair; ++i) {
        Value address = vectorAt(e, p.scores, e.add(row, e.integer(i)), half);
        Value score = e.load(e.vectorType, address);
        Value exponent =
            isRounded
                ? e.subf(e.mulf(score, scale), maxima[half])
                : e.fma(score, scale, arith::NegFOp::create(e, maxima[half]));
        powers[i] = e.power(exponent);
        next[half] = e.addf(next[half], powers[i]);
      }
      Value step = powers[0];
      if (s.weights)
        step = e.mulf(step,
                      e.load(e.vectorType, vectorAt(e, p.weights, row, half)));
      if (s.pair == 2) {
        step = roundToPairs(e, powers[0], powers[1]);
        next[2 + half] = multiplyAdd(e, pairsOfOne(e), step, next[2 + half]);
      }
      e.store(step, vectorAt(e, p.scores, stepsOf(e, row), half));
    }
    return next;
  });
}

void attention::attendPanel(Emitter &e, const Tile &tile, Value panel,
                            const PackedKeys &block) {
  const Shape &s = e.shape;
  Value firstKey = block.first, uniform = block.uniform;
  Panel p = locatePanel(e, tile, panel);
  Value zero = e.integer(0);
  Value from, to;
  std::tie(from, to) = clipSight(e, p.sight, firstKey, block.count);
  ifThen(e, e.compare(Predicate::slt, from, to), [&] {
    SmallVector<Value> scores =
        scoreBlock(e, p, firstKey, from, to, uniform, [&](Value row) {
          SmallVector<Ahead> all = lookAhead(e, tile, panel, row, block.next);
          if (e.score.pair)
            all.append(
                ScorePass(e, tile.score, panel)
                    .lookAhead(e.add(firstKey, row), s.headSteps() / s.unroll));
          return all;
        });
    if (e.score)
      scores = ifElse(
          e, e.compare(Predicate::eq, uniform, zero),
          SmallVector<Type>(2, e.vectorType),
          [&] {
            ScorePass pass(e, tile.score, panel);
            return applyScore(e, tile, p, pass, firstKey, from, to);
          },
          [&] {
            if (s.weights)
              clearWeights(e, p, from, to);
            return scores;
          });
    SmallVector<Value> before, maxima, safe, rescale;
    for (int64_t half = 0; half < 2; ++half) {
      Value address = vectorAt(e, p.rowMax, zero, half);
      before.push_back(e.load(e.vectorType, address));
      maxima.push_back(
          e.larger(e.mulf(scores[half], tile.scale), before[half]));
    }
    maxima = liftMaxima(e, p, block, from, to, before, maxima);
    for (int64_t half = 0; half < 2; ++half) {
      // -inf - -inf is NaN, but a row without keys has only zero powers.
      Value none = e.constant(-std::numeric_limits<double>::infinity());
      safe.push_back(
          e.select(e.equal(maxima[half], none), e.constant(0), maxima[half]));
      rescale.push_back(e.power(e.subf(before[half], safe[half])));
      e.store(maxima[half], vectorAt(e, p.rowMax, zero, half));
    }
    auto raise = [&](bool isRounded) {
      return raiseBlock(e, p, from, to, tile.scale, safe, isRounded);
    };
    // What a score function makes is not scaled.
    SmallVector<Value> powers =
        e.score
            ? raise(false)
            : ifElse(
                  e, areLarge(e, safe),
                  SmallVector<Type>(2 * s.pair, e.vectorType),
                  [&] { return raise(true); }, [&] { return raise(false); });
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
    addValues(e, p, block, from, to, rescale);
  });
}
