// Elementary functions. In f32 they are branch-free polynomials, so that loops
// around them vectorise, with errors of 1 to 3 units in the last place; in f64
// they are calls of libm. No step assumes the absence of NaN or infinity, and
// none lets the compiler contract products whose rounding it relies on.

#include "Scalar/ScalarEmitter.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

namespace mlir::sp {

Value ScalarEmitter::poly(Value x, ArrayRef<double> coefficients) {
  Value sum = number(x.getType(), coefficients.front());
  for (double coefficient : coefficients.drop_front())
    sum = fma(sum, x, number(x.getType(), coefficient));
  return sum;
}

Value ScalarEmitter::choose(Value condition, Value x, Value y) {
  return arith::SelectOp::create(b, loc, condition, x, y);
}

Value ScalarEmitter::lessThan(Value x, double bound) {
  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x,
                               number(x.getType(), bound));
}

static constexpr double kLn2High = 0.693359375, kLn2Low = -2.12194440e-4;
/// (exp(r) - 1 - r) / r^2 on [-ln2/2, ln2/2].
static constexpr double kExp[] = {1.9875691500e-4, 1.3981999507e-3,
                                  8.3334519073e-3, 4.1665795894e-2,
                                  1.6666665459e-1, 5.0000001201e-1};

Value ScalarEmitter::exp(Value x) {
  if (!getElementTypeOrSelf(x).isF32())
    return math::ExpOp::create(b, loc, x);
  Type f32 = x.getType(), i32 = shaped(b.getI32Type());
  // Outside this range the result is 0 or infinity anyway; NaN passes.
  x = choose(lessThan(x, -105.0), number(f32, -105.0), x);
  Value over = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, x,
                                     number(f32, 89.5));
  x = choose(over, number(f32, 89.5), x);
  // n = round(x / ln 2): adding 1.5 * 2^23 leaves n in the low bits.
  Value magic = number(f32, 12582912.0);
  Value shifted = fma(x, number(f32, 1.44269504088896341), magic);
  Value n = arith::SubFOp::create(b, loc, shifted, magic);
  Value r = fma(n, number(f32, -kLn2High), x);
  r = fma(n, number(f32, -kLn2Low), r);
  Value r2 = arith::MulFOp::create(b, loc, r, r);
  Value y = fma(poly(r, kExp), r2, r);
  y = arith::AddFOp::create(b, loc, y, number(f32, 1.0));
  // Two steps of 2^(n/2), so that results near 2^128 and below 2^-126 survive.
  auto bits = [&](Value v) -> Value {
    return arith::BitcastOp::create(b, loc, i32, v);
  };
  Value k = arith::SubIOp::create(b, loc, bits(shifted), bits(magic));
  Value half = arith::ShRSIOp::create(b, loc, k, integer(i32, 1));
  auto scale = [&](Value power) -> Value {
    Value biased = arith::AddIOp::create(b, loc, power, integer(i32, 127));
    Value placed = arith::ShLIOp::create(b, loc, biased, integer(i32, 23));
    return arith::BitcastOp::create(b, loc, f32, placed);
  };
  y = arith::MulFOp::create(b, loc, y, scale(half));
  Value rest = arith::SubIOp::create(b, loc, k, half);
  return arith::MulFOp::create(b, loc, y, scale(rest));
}

Value ScalarEmitter::log(Value x) {
  if (!getElementTypeOrSelf(x).isF32())
    return math::LogOp::create(b, loc, x);
  Type f32 = x.getType(), i32 = shaped(b.getI32Type());
  Value input = x;
  // Denormals are scaled up by 2^25.
  Value tiny = lessThan(x, 1.17549435e-38);
  Value scaled = arith::MulFOp::create(b, loc, x, number(f32, 33554432.0));
  x = choose(tiny, scaled, x);
  // x = 2^e * m with m in [sqrt(1/2), sqrt(2)).
  Value bits = arith::BitcastOp::create(b, loc, i32, x);
  Value offset = arith::SubIOp::create(b, loc, bits, integer(i32, 0x3f3504f3));
  Value e = arith::ShRSIOp::create(b, loc, offset, integer(i32, 23));
  Value exponentBits = arith::ShLIOp::create(b, loc, e, integer(i32, 23));
  Value m = arith::BitcastOp::create(
      b, loc, f32, arith::SubIOp::create(b, loc, bits, exponentBits));
  Value ef = arith::SIToFPOp::create(b, loc, f32, e);
  ef = choose(tiny, arith::SubFOp::create(b, loc, ef, number(f32, 25.0)), ef);
  Value t = arith::SubFOp::create(b, loc, m, number(f32, 1.0));
  Value t2 = arith::MulFOp::create(b, loc, t, t);
  Value p = poly(t, {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1,
                     -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
                     2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1});
  Value y =
      arith::MulFOp::create(b, loc, arith::MulFOp::create(b, loc, p, t), t2);
  y = fma(ef, number(f32, kLn2Low), y);
  y = fma(t2, number(f32, -0.5), y);
  y = arith::AddFOp::create(b, loc, t, y);
  y = fma(ef, number(f32, kLn2High), y);
  // log(0) = -inf, log(inf) = inf, log(NaN) and log of a negative = NaN.
  auto is = [&](arith::CmpFPredicate predicate, double bound) -> Value {
    return arith::CmpFOp::create(b, loc, predicate, input, number(f32, bound));
  };
  y = choose(is(arith::CmpFPredicate::UGE, INFINITY), input, y);
  y = choose(is(arith::CmpFPredicate::OLT, 0.0), number(f32, NAN), y);
  return choose(is(arith::CmpFPredicate::OEQ, 0.0), number(f32, -INFINITY), y);
}

Value ScalarEmitter::log1p(Value x) {
  Type type = x.getType();
  if (!getElementTypeOrSelf(type).isF32())
    return math::Log1pOp::create(b, loc, x);
  // log(u) * x / (u - 1) with u = 1 + x rounded corrects that rounding.
  Value one = number(type, 1.0);
  Value u = arith::AddFOp::create(b, loc, x, one);
  Value difference = arith::SubFOp::create(b, loc, u, one);
  Value logarithm = log(u);
  Value ratio = arith::DivFOp::create(b, loc, x, difference);
  Value y = arith::MulFOp::create(b, loc, logarithm, ratio);
  auto equals = [&](Value v, double to) -> Value {
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, v,
                                 number(type, to));
  };
  y = choose(equals(u, INFINITY), logarithm, y);
  return choose(equals(u, 1.0), x, y);
}

Value ScalarEmitter::expm1(Value x) {
  Type type = x.getType();
  if (!getElementTypeOrSelf(type).isF32())
    return math::ExpM1Op::create(b, loc, x);
  Value x2 = arith::MulFOp::create(b, loc, x, x);
  Value near = fma(poly(x, kExp), x2, x);
  Value far = arith::SubFOp::create(b, loc, exp(x), number(type, 1.0));
  Value size = math::AbsFOp::create(b, loc, x);
  return choose(lessThan(size, 0.34), near, far);
}

/// x p(x^2) / q(x^2) for |x| <= 9.02, from where on tanh rounds to 1: half the
/// work of the other form, with errors up to 5 units in the last place.
Value ScalarEmitter::tanhByQuotient(Value x) {
  Type f32 = x.getType();
  constexpr double most = 9.02;
  x = choose(lessThan(x, -most), number(f32, -most), x);
  Value over = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, x,
                                     number(f32, most));
  x = choose(over, number(f32, most), x);
  Value z = arith::MulFOp::create(b, loc, x, x);
  Value p = poly(z, {1.331905037069e-08, 2.058346464293e-05, 3.494033519175e-03,
                     1.337971707041e-01, 9.999999790444e-01});
  Value q = poly(z, {7.762010290661e-07, 3.283091153780e-04, 2.587106924254e-02,
                     4.671303231808e-01, 1.0});
  return arith::DivFOp::create(b, loc, arith::MulFOp::create(b, loc, x, p), q);
}

Value ScalarEmitter::tanh(Value x) {
  Type f32 = x.getType();
  if (!getElementTypeOrSelf(f32).isF32())
    return math::TanhOp::create(b, loc, x);
  if (lanes)
    return tanhByQuotient(x);
  Value size = math::AbsFOp::create(b, loc, x);
  // Near zero a series in x^2; elsewhere (1 - e) / (1 + e), e = exp(-2|x|).
  Value x2 = arith::MulFOp::create(b, loc, x, x);
  Value p = poly(x2, {-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2,
                      1.33314422036e-1, -3.33332819422e-1});
  Value near = fma(arith::MulFOp::create(b, loc, p, x2), x, x);
  Value e = exp(arith::MulFOp::create(b, loc, size, number(f32, -2.0)));
  Value one = number(f32, 1.0);
  Value far =
      arith::DivFOp::create(b, loc, arith::SubFOp::create(b, loc, one, e),
                            arith::AddFOp::create(b, loc, one, e));
  far = math::CopySignOp::create(b, loc, far, x);
  return choose(lessThan(size, 0.625), near, far);
}

Value ScalarEmitter::logistic(Value x) {
  Value one = number(x.getType(), 1.0);
  Value e = exp(arith::NegFOp::create(b, loc, x));
  return arith::DivFOp::create(b, loc, one,
                               arith::AddFOp::create(b, loc, one, e));
}

/// For |x| < 0.93.
Value ScalarEmitter::erfNearZero(Value x) {
  Value s = arith::MulFOp::create(b, loc, x, x);
  Value p = poly(s, {-5.96761703e-4, 4.99119423e-3, -2.67681349e-2,
                     1.12819925e-1, -3.76125336e-1, 1.28379166e-1});
  return fma(p, x, x);
}

Value ScalarEmitter::erf(Value x) {
  Type f32 = x.getType();
  if (!getElementTypeOrSelf(f32).isF32())
    return math::ErfOp::create(b, loc, x);
  Value t = math::AbsFOp::create(b, loc, x);
  // |x| >= 0.93: 1 - exp(polynomial in |x|), constant 1 from 4 on.
  Value four = number(f32, 4.0);
  Value large = choose(lessThan(t, 4.0), t, four);
  large = choose(arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x, x),
                 x, large);
  Value r =
      poly(large, {-1.72853470e-5, 3.83197126e-4, -3.88396438e-3, 2.42546219e-2,
                   -1.06777877e-1, -6.34846687e-1, -1.28717512e-1});
  r = fma(r, large, arith::NegFOp::create(b, loc, large));
  Value far = arith::SubFOp::create(b, loc, number(f32, 1.0), exp(r));
  far = math::CopySignOp::create(b, loc, far, x);
  Value near = erfNearZero(x);
  return choose(lessThan(t, 0.927734375), near, far);
}

Value ScalarEmitter::erfc(Value x) {
  Type f32 = x.getType();
  if (!getElementTypeOrSelf(f32).isF32())
    return math::ErfcOp::create(b, loc, x);
  // Near zero 1 - erf(x); elsewhere t * exp(-z^2 + polynomial in t), reflected
  // for x < 0, with t = 1 / (1 + z/2) and the rounding error of z^2 given back.
  Value one = number(f32, 1.0), two = number(f32, 2.0);
  Value z = math::AbsFOp::create(b, loc, x);
  Value bounded = choose(lessThan(z, 10.5), z, number(f32, 10.5));
  z = choose(arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x, x), x,
             bounded);
  Value t = arith::DivFOp::create(b, loc, one, fma(z, number(f32, 0.5), one));
  Value p =
      poly(t, {0.17087277, -0.82215223, 1.48851587, -1.13520398, 0.27886807,
               -0.18628806, 0.09678418, 0.37409196, 1.00002368, -1.26551223});
  // exp(p - z^2), with what rounding loses of z^2 and of the sum given back.
  Value square = arith::MulFOp::create(b, loc, z, z);
  Value lost = fma(z, z, arith::NegFOp::create(b, loc, square));
  Value sum = arith::SubFOp::create(b, loc, p, square);
  Value back = arith::AddFOp::create(b, loc, sum, square);
  Value correction = arith::SubFOp::create(
      b, loc, arith::SubFOp::create(b, loc, p, back), lost);
  Value power = exp(sum);
  Value tail = fma(power, correction, power);
  tail = arith::MulFOp::create(b, loc, t, tail);
  Value far =
      choose(lessThan(x, 0.0), arith::SubFOp::create(b, loc, two, tail), tail);
  Value near = arith::SubFOp::create(b, loc, one, erfNearZero(x));
  return choose(lessThan(z, 0.5), near, far);
}

Value ScalarEmitter::erfInv(Value x) {
  // A rational start by Winitzki, then steps of Newton's method with the
  // complement where that is the accurate side; infinite at +-1.
  Type type = x.getType(), f64 = shaped(b.getF64Type());
  Value wide = type == f64 ? x : arith::ExtFOp::create(b, loc, f64, x);
  Value size = math::AbsFOp::create(b, loc, wide);
  Value one = number(f64, 1.0);
  Value rest = arith::SubFOp::create(b, loc, one, size);
  Value logarithm = math::LogOp::create(
      b, loc,
      arith::MulFOp::create(b, loc, rest,
                            arith::AddFOp::create(b, loc, one, size)));
  Value half = arith::MulFOp::create(b, loc, logarithm, number(f64, 0.5));
  Value first =
      arith::AddFOp::create(b, loc, half, number(f64, 2.0 / (M_PI * 0.147)));
  Value inner = arith::SubFOp::create(
      b, loc, arith::MulFOp::create(b, loc, first, first),
      arith::DivFOp::create(b, loc, logarithm, number(f64, 0.147)));
  Value y = math::SqrtOp::create(
      b, loc,
      arith::SubFOp::create(b, loc, math::SqrtOp::create(b, loc, inner),
                            first));
  for (int step = 0; step < 3; ++step) {
    Value error =
        arith::SubFOp::create(b, loc, rest, math::ErfcOp::create(b, loc, y));
    Value slope =
        math::ExpOp::create(b, loc, arith::MulFOp::create(b, loc, y, y));
    Value change = arith::MulFOp::create(
        b, loc, error,
        arith::MulFOp::create(b, loc, slope,
                              number(f64, -0.88622692545275801)));
    // Halley: y + c / (1 - y*c).
    Value divisor = fma(arith::NegFOp::create(b, loc, y), change, one);
    y = arith::AddFOp::create(b, loc, y,
                              arith::DivFOp::create(b, loc, change, divisor));
  }
  Value atOne =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, size, one);
  y = choose(atOne, number(f64, INFINITY), y);
  y = math::CopySignOp::create(b, loc, y, wide);
  return type == f64 ? y : arith::TruncFOp::create(b, loc, type, y).getResult();
}

Value ScalarEmitter::trigonometric(Value x, Trig which) {
  Type type = x.getType(), f64 = shaped(b.getF64Type()),
       i64 = shaped(b.getI64Type());
  if (type == f64) {
    if (which == Trig::Sine)
      return math::SinOp::create(b, loc, x);
    if (which == Trig::Cosine)
      return math::CosOp::create(b, loc, x);
    return math::TanOp::create(b, loc, x);
  }
  // In f64: n = round(x * 2/pi), r = x - n*pi/2 in two parts, exact enough for
  // |x| to 2^50; beyond, the result is merely between -1 and 1.
  Value wide = arith::ExtFOp::create(b, loc, f64, x);
  Value magic = number(f64, 6755399441055744.0);
  Value shifted = fma(wide, number(f64, 0.63661977236758138), magic);
  Value n = arith::SubFOp::create(b, loc, shifted, magic);
  Value r = fma(n, number(f64, -1.5707963267948966), wide);
  r = fma(n, number(f64, -6.123233995736766e-17), r);
  Value beyond =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT,
                            math::AbsFOp::create(b, loc, r), number(f64, 0.8));
  r = choose(beyond, number(f64, 0.8), r);
  Value r2 = arith::MulFOp::create(b, loc, r, r);
  Value sp =
      poly(r2, {-2.50521083854417e-8, 2.75573192239859e-6, -1.98412698412698e-4,
                8.33333333333333e-3, -1.66666666666667e-1});
  Value sine = fma(arith::MulFOp::create(b, loc, sp, r2), r, r);
  Value cp =
      poly(r2, {2.08767569878681e-9, -2.75573192239859e-7, 2.48015873015873e-5,
                -1.38888888888889e-3, 4.16666666666667e-2, -0.5});
  Value cosine = fma(cp, r2, number(f64, 1.0));
  Value quadrant = arith::BitcastOp::create(b, loc, i64, shifted);
  auto bit = [&](Value v, int64_t mask) -> Value {
    Value masked = arith::AndIOp::create(b, loc, v, integer(i64, mask));
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, masked,
                                 integer(i64, 0));
  };
  auto negateIf = [&](Value condition, Value v) -> Value {
    return choose(condition, arith::NegFOp::create(b, loc, v), v);
  };
  Value odd = bit(quadrant, 1);
  Value result;
  if (which == Trig::Sine)
    result = negateIf(bit(quadrant, 2), choose(odd, cosine, sine));
  if (which == Trig::Cosine) {
    Value next = arith::AddIOp::create(b, loc, quadrant, integer(i64, 1));
    result = negateIf(bit(next, 2), choose(odd, sine, cosine));
  }
  if (which == Trig::Tangent) {
    Value top = choose(odd, arith::NegFOp::create(b, loc, cosine), sine);
    result = arith::DivFOp::create(b, loc, top, choose(odd, sine, cosine));
  }
  return arith::TruncFOp::create(b, loc, type, result);
}

} // namespace mlir::sp
