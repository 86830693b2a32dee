// The output of one panel of queries and one packed block of keys: 8 value
// columns x 2 vectors of queries in registers, over the keys; and what values
// ask for that are large or not finite.
#include "CPU/Attention/ControlFlow.h"
#include "CPU/Attention/Forward/AttentionParts.h"
#include "CPU/Attention/VectorBits.h"
#include "CPU/Attention/VectorWords.h"
#include <cmath>

using namespace mlir;
using namespace mlir::sp;
using namespace mlir::sp::attention;

using Predicate = arith::CmpIPredicate;

// Weights are at most 1, their sum is not: of values near the type's largest it
// overflows where their mean does not. An exponent may be taken relative to
// more than the maximum, so rows whose sums could overflow take a larger one.
// Blocks of smaller values need no look: 2^28 of them, or in f64 2^60, add up.
static double largeValue(Emitter &e) {
  return std::ldexp(1.0, e.scalarType.isF64() ? 1024 - 61 : 128 - 29);
}

/// Whether the block has values of this magnitude and more.
static Value hasValuesFrom(Emitter &e, const PackedKeys &block, double least) {
  Value bits = arith::ConstantIntOp::create(e, e.laneType, bitsOf(e, least));
  return e.compare(Predicate::sge, block.largest, bits);
}

/// What to take for the maxima of rows, so that after `count` keys no sum is
/// beyond a quarter of the largest number.
static SmallVector<Value> liftForLarge(Emitter &e, const Panel &p, Value count,
                                       Value largest, ValueRange before,
                                       ValueRange maxima) {
  const Shape &s = e.shape;
  bool isDouble = e.scalarType.isF64();
  int64_t mantissaBits = isDouble ? 52 : 23, bias = isDouble ? 1023 : 127;
  constexpr int64_t room = 32; // the bound's own
  Value most =
      e.integers(bitsOf(e, isDouble ? std::numeric_limits<double>::max()
                                    : std::numeric_limits<float>::max()));
  auto toNumbers = [&](Value bits) {
    bits = arith::MinSIOp::create(e, bits, most);
    return e.mulf(arith::BitcastOp::create(e, e.vectorType, bits),
                  e.constant(std::ldexp(1.0, -room)));
  };
  Value zero = e.integers(0);
  SmallVector<Value> outputs =
      loop(e, e.integer(0), e.integer(s.valueSize), 1, {zero, zero},
           [&](Value column, ValueRange so) {
             SmallVector<Value> next;
             for (int64_t half = 0; half < 2; ++half) {
               Value sum =
                   e.load(e.vectorType, vectorAt(e, p.output, column, half));
               next.push_back(
                   arith::MaxSIOp::create(e, so[half], magnitudes(e, sum)));
             }
             return next;
           });
  Value weights =
      e.splat(arith::SIToFPOp::create(e, e.scalarType, count).getResult());
  Value values = e.mulf(toNumbers(e.splat(largest)), weights);
  SmallVector<Value> lifted;
  for (int64_t half = 0; half < 2; ++half) {
    Value rescale = e.power(e.subf(before[half], maxima[half]));
    Value bound = e.fma(toNumbers(outputs[half]), rescale, values);
    Value exponent = arith::ShRUIOp::create(e, magnitudes(e, bound),
                                            e.integers(mantissaBits));
    // bound < 2^(exponent - bias + 1) is to be less than 2^(bias - 1 - room).
    Value excess = arith::MaxSIOp::create(
        e, zero,
        arith::SubIOp::create(e, exponent, e.integers(2 * bias - 2 - room)));
    // In base e a little more than ln 2; at least to the next number, so that
    // it is not lost beside a large maximum.
    Value lift = e.mulf(arith::SIToFPOp::create(e, e.vectorType, excess),
                        e.constant(e.score ? 0.694 : 1));
    Value maximum = maxima[half];
    Value bits = arith::BitcastOp::create(e, zero.getType(), maximum);
    Value isNegative = e.compare(Predicate::slt, bits, zero);
    Value step = e.select(isNegative, e.integers(-1), e.integers(1));
    Value next = arith::BitcastOp::create(e, e.vectorType,
                                          arith::AddIOp::create(e, bits, step));
    Value none = e.constant(-std::numeric_limits<double>::infinity());
    Value isKept = arith::OrIOp::create(
        e, e.compare(Predicate::eq, excess, zero), e.equal(maximum, none));
    lifted.push_back(
        e.select(isKept, maximum, e.larger(e.addf(maximum, lift), next)));
  }
  return lifted;
}

SmallVector<Value> attention::liftMaxima(Emitter &e, const Panel &p,
                                         const PackedKeys &block, Value from,
                                         Value to, ValueRange before,
                                         ValueRange maxima) {
  return ifElse(
      e, hasValuesFrom(e, block, largeValue(e)), maxima.getTypes(),
      [&] {
        return liftForLarge(e, p, e.sub(to, from), block.largest, before,
                            maxima);
      },
      [&] { return llvm::to_vector(maxima); });
}

/// As addFinite, for values that are not finite: what a query does not see is
/// not there, though its power is 0.
static void addVisible(Emitter &e, const Panel &p, Value firstKey, Value from,
                       Value to, ValueRange rescale) {
  const Shape &s = e.shape;
  Value end = e.integer(s.valueSize), tile = e.integer(s.tile);
  auto forEachSum =
      [&](function_ref<Value(Value column, int64_t half, Value sum)> next) {
        loop(e, e.integer(0), end, 1, [&](Value column) {
          for (int64_t half = 0; half < 2; ++half) {
            Value address = vectorAt(e, p.output, column, half);
            e.store(next(column, half, e.load(e.vectorType, address)), address);
          }
        });
      };
  forEachSum([&](Value, int64_t half, Value sum) {
    return e.mulf(sum, rescale[half]);
  });
  loop(e, from, to, s.tile, [&](Value row) {
    SmallVector<Value> visible = visibleLanes(e, p.sight, e.add(firstKey, row));
    forEachSum([&](Value column, int64_t half, Value sum) {
      Value values = e.at(p.values,
                          e.add(e.mul(arith::DivUIOp::create(e, column, tile),
                                      e.integer(s.stripe)),
                                arith::RemUIOp::create(e, column, tile)),
                          e.scalarType);
      for (int64_t i = 0; i < s.tile; i += s.pair) {
        Value step = stepsOf(e, e.add(row, e.integer(i)));
        Value word = e.splat(e.load(
            e.scalarType, e.at(values, e.mul(step, tile), e.scalarType)));
        Value powers = e.load(e.vectorType, vectorAt(e, p.scores, step, half));
        for (auto [j, value, power] :
             llvm::enumerate(elementsOf(e, word), elementsOf(e, powers)))
          sum = e.select(visible[2 * (i + static_cast<int64_t>(j)) + half],
                         e.fma(power, value, sum), sum);
      }
      return sum;
    });
  });
}

/// Adds where no value is infinite or NaN, or every query sees every key.
static void addFinite(Emitter &e, const Panel &p, Value from, Value to,
                      ValueRange rescale) {
  const Shape &s = e.shape;
  loop(e, e.integer(0), e.integer(s.valueSize), s.tile, [&](Value column) {
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
    sums = contract(e, stepsOf(e, from), stepsOf(e, to), sums, p.scores,
                    {[&](Value step) {
                       return e.at(values, e.mul(step, e.integer(s.tile)),
                                   e.scalarType);
                     },
                     /*row=*/1, /*step=*/s.tile},
                    [&](Value step) { prefetchFactors(e, following, step); });
    for (int64_t i = 0; i < s.tile; ++i)
      for (int64_t half = 0; half < 2; ++half)
        e.store(sums[2 * i + half], element(i, half));
  });
}

void attention::addValues(Emitter &e, const Panel &p, const PackedKeys &block,
                          Value from, Value to, ValueRange rescale) {
  Value isCut = arith::OrIOp::create(
      e,
      e.compare(Predicate::slt, e.add(block.first, from),
                p.sight.greatestLower),
      e.compare(Predicate::sgt, e.add(block.first, to), p.sight.leastUpper));
  Value hasInfinite =
      hasValuesFrom(e, block, std::numeric_limits<double>::infinity());
  ifElse(
      e, arith::AndIOp::create(e, hasInfinite, isCut), TypeRange(),
      [&] {
        addVisible(e, p, block.first, from, to, rescale);
        return SmallVector<Value>();
      },
      [&] {
        addFinite(e, p, from, to, rescale);
        return SmallVector<Value>();
      });
}
