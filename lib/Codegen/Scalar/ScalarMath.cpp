#include "Scalar/ScalarMath.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

namespace mlir::sp {

static Value poly(NumberEmitter &s, Value x, ArrayRef<double> coefficients) {
  Value sum = s.number(x.getType(), coefficients.front());
  for (double coefficient : coefficients.drop_front())
    sum = s.fma(sum, x, s.number(x.getType(), coefficient));
  return sum;
}

static constexpr double kLn2High = 0.693359375, kLn2Low = -2.12194440e-4;
/// (exp(r) - 1 - r) / r^2 on [-ln2/2, ln2/2].
static constexpr double kExp[] = {1.9875691500e-4, 1.3981999507e-3,
                                  8.3334519073e-3, 4.1665795894e-2,
                                  1.6666665459e-1, 5.0000001201e-1};

Value exp(NumberEmitter &s, Value x) {
  if (!getElementTypeOrSelf(x).isF32())
    return math::ExpOp::create(s.b, s.loc, x);
  Type f32 = x.getType(), i32 = s.shaped(s.b.getI32Type());
  // Outside this range the result is 0 or infinity anyway; NaN passes.
  x = s.choose(s.lessThan(x, -105.0), s.number(f32, -105.0), x);
  Value over = arith::CmpFOp::create(s.b, s.loc, arith::CmpFPredicate::OGT, x,
                                     s.number(f32, 89.5));
  x = s.choose(over, s.number(f32, 89.5), x);
  // n = round(x / ln 2): adding 1.5 * 2^23 leaves n in the low bits.
  Value magic = s.number(f32, 12582912.0);
  Value shifted = s.fma(x, s.number(f32, 1.44269504088896341), magic);
  Value n = arith::SubFOp::create(s.b, s.loc, shifted, magic);
  Value r = s.fma(n, s.number(f32, -kLn2High), x);
  r = s.fma(n, s.number(f32, -kLn2Low), r);
  Value r2 = arith::MulFOp::create(s.b, s.loc, r, r);
  Value y = s.fma(poly(s, r, kExp), r2, r);
  y = arith::AddFOp::create(s.b, s.loc, y, s.number(f32, 1.0));
  // Two steps of 2^(n/2), so that results near 2^128 and below 2^-126 survive.
  auto bits = [&](Value v) -> Value {
    return arith::BitcastOp::create(s.b, s.loc, i32, v);
  };
  Value k = arith::SubIOp::create(s.b, s.loc, bits(shifted), bits(magic));
  Value half = arith::ShRSIOp::create(s.b, s.loc, k, s.integer(i32, 1));
  auto scale = [&](Value power) -> Value {
    Value biased =
        arith::AddIOp::create(s.b, s.loc, power, s.integer(i32, 127));
    Value placed =
        arith::ShLIOp::create(s.b, s.loc, biased, s.integer(i32, 23));
    return arith::BitcastOp::create(s.b, s.loc, f32, placed);
  };
  y = arith::MulFOp::create(s.b, s.loc, y, scale(half));
  Value rest = arith::SubIOp::create(s.b, s.loc, k, half);
  return arith::MulFOp::create(s.b, s.loc, y, scale(rest));
}

Value log(NumberEmitter &s, Value x) {
  if (!getElementTypeOrSelf(x).isF32())
    return math::LogOp::create(s.b, s.loc, x);
  Type f32 = x.getType(), i32 = s.shaped(s.b.getI32Type());
  Value input = x;
  // Denormals are scaled up by 2^25.
  Value tiny = s.lessThan(x, 1.17549435e-38);
  Value scaled =
      arith::MulFOp::create(s.b, s.loc, x, s.number(f32, 33554432.0));
  x = s.choose(tiny, scaled, x);
  // x = 2^e * m with m in [sqrt(1/2), sqrt(2)).
  Value bits = arith::BitcastOp::create(s.b, s.loc, i32, x);
  Value offset =
      arith::SubIOp::create(s.b, s.loc, bits, s.integer(i32, 0x3f3504f3));
  Value e = arith::ShRSIOp::create(s.b, s.loc, offset, s.integer(i32, 23));
  Value exponentBits = arith::ShLIOp::create(s.b, s.loc, e, s.integer(i32, 23));
  Value m = arith::BitcastOp::create(
      s.b, s.loc, f32, arith::SubIOp::create(s.b, s.loc, bits, exponentBits));
  Value ef = arith::SIToFPOp::create(s.b, s.loc, f32, e);
  ef = s.choose(tiny,
                arith::SubFOp::create(s.b, s.loc, ef, s.number(f32, 25.0)), ef);
  Value t = arith::SubFOp::create(s.b, s.loc, m, s.number(f32, 1.0));
  Value t2 = arith::MulFOp::create(s.b, s.loc, t, t);
  Value p = poly(s, t,
                 {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1,
                  -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
                  2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1});
  Value y = arith::MulFOp::create(s.b, s.loc,
                                  arith::MulFOp::create(s.b, s.loc, p, t), t2);
  y = s.fma(ef, s.number(f32, kLn2Low), y);
  y = s.fma(t2, s.number(f32, -0.5), y);
  y = arith::AddFOp::create(s.b, s.loc, t, y);
  y = s.fma(ef, s.number(f32, kLn2High), y);
  // log(0) = -inf, log(inf) = inf, log(NaN) and log of a negative = NaN.
  auto is = [&](arith::CmpFPredicate predicate, double bound) -> Value {
    return arith::CmpFOp::create(s.b, s.loc, predicate, input,
                                 s.number(f32, bound));
  };
  y = s.choose(is(arith::CmpFPredicate::UGE, INFINITY), input, y);
  y = s.choose(is(arith::CmpFPredicate::OLT, 0.0), s.number(f32, NAN), y);
  return s.choose(is(arith::CmpFPredicate::OEQ, 0.0), s.number(f32, -INFINITY),
                  y);
}

Value log1p(NumberEmitter &s, Value x) {
  Type type = x.getType();
  if (!getElementTypeOrSelf(type).isF32())
    return math::Log1pOp::create(s.b, s.loc, x);
  // log(u) * x / (u - 1) with u = 1 + x rounded corrects that rounding.
  Value one = s.number(type, 1.0);
  Value u = arith::AddFOp::create(s.b, s.loc, x, one);
  Value difference = arith::SubFOp::create(s.b, s.loc, u, one);
  Value logarithm = log(s, u);
  Value ratio = arith::DivFOp::create(s.b, s.loc, x, difference);
  Value y = arith::MulFOp::create(s.b, s.loc, logarithm, ratio);
  auto equals = [&](Value v, double to) -> Value {
    return arith::CmpFOp::create(s.b, s.loc, arith::CmpFPredicate::OEQ, v,
                                 s.number(type, to));
  };
  y = s.choose(equals(u, INFINITY), logarithm, y);
  return s.choose(equals(u, 1.0), x, y);
}

Value expm1(NumberEmitter &s, Value x) {
  Type type = x.getType();
  if (!getElementTypeOrSelf(type).isF32())
    return math::ExpM1Op::create(s.b, s.loc, x);
  Value x2 = arith::MulFOp::create(s.b, s.loc, x, x);
  Value near = s.fma(poly(s, x, kExp), x2, x);
  Value far = arith::SubFOp::create(s.b, s.loc, exp(s, x), s.number(type, 1.0));
  Value size = math::AbsFOp::create(s.b, s.loc, x);
  return s.choose(s.lessThan(size, 0.34), near, far);
}

/// x p(x^2) / q(x^2) for |x| <= 9.02, from where on tanh rounds to 1: half the
/// work of the other form, with errors up to 5 units in the last place.
static Value tanhByQuotient(NumberEmitter &s, Value x) {
  Type f32 = x.getType();
  constexpr double most = 9.02;
  x = s.choose(s.lessThan(x, -most), s.number(f32, -most), x);
  Value over = arith::CmpFOp::create(s.b, s.loc, arith::CmpFPredicate::OGT, x,
                                     s.number(f32, most));
  x = s.choose(over, s.number(f32, most), x);
  Value z = arith::MulFOp::create(s.b, s.loc, x, x);
  Value p = poly(s, z,
                 {1.331905037069e-08, 2.058346464293e-05, 3.494033519175e-03,
                  1.337971707041e-01, 9.999999790444e-01});
  Value q = poly(s, z,
                 {7.762010290661e-07, 3.283091153780e-04, 2.587106924254e-02,
                  4.671303231808e-01, 1.0});
  return arith::DivFOp::create(s.b, s.loc,
                               arith::MulFOp::create(s.b, s.loc, x, p), q);
}

Value tanh(NumberEmitter &s, Value x) {
  Type f32 = x.getType();
  if (!getElementTypeOrSelf(f32).isF32())
    return math::TanhOp::create(s.b, s.loc, x);
  if (s.lanes)
    return tanhByQuotient(s, x);
  Value size = math::AbsFOp::create(s.b, s.loc, x);
  // Near zero a series in x^2; elsewhere (1 - e) / (1 + e), e = exp(-2|x|).
  Value x2 = arith::MulFOp::create(s.b, s.loc, x, x);
  Value p = poly(s, x2,
                 {-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2,
                  1.33314422036e-1, -3.33332819422e-1});
  Value near = s.fma(arith::MulFOp::create(s.b, s.loc, p, x2), x, x);
  Value e =
      exp(s, arith::MulFOp::create(s.b, s.loc, size, s.number(f32, -2.0)));
  Value one = s.number(f32, 1.0);
  Value far = arith::DivFOp::create(s.b, s.loc,
                                    arith::SubFOp::create(s.b, s.loc, one, e),
                                    arith::AddFOp::create(s.b, s.loc, one, e));
  far = math::CopySignOp::create(s.b, s.loc, far, x);
  return s.choose(s.lessThan(size, 0.625), near, far);
}

Value logistic(NumberEmitter &s, Value x) {
  Value one = s.number(x.getType(), 1.0);
  Value e = exp(s, arith::NegFOp::create(s.b, s.loc, x));
  return arith::DivFOp::create(s.b, s.loc, one,
                               arith::AddFOp::create(s.b, s.loc, one, e));
}

/// For |x| < 0.93.
static Value erfNearZero(NumberEmitter &s, Value x) {
  Value x2 = arith::MulFOp::create(s.b, s.loc, x, x);
  Value p = poly(s, x2,
                 {-5.96761703e-4, 4.99119423e-3, -2.67681349e-2, 1.12819925e-1,
                  -3.76125336e-1, 1.28379166e-1});
  return s.fma(p, x, x);
}

Value erf(NumberEmitter &s, Value x) {
  Type f32 = x.getType();
  if (!getElementTypeOrSelf(f32).isF32())
    return math::ErfOp::create(s.b, s.loc, x);
  Value t = math::AbsFOp::create(s.b, s.loc, x);
  // |x| >= 0.93: 1 - exp(polynomial in |x|), constant 1 from 4 on.
  Value four = s.number(f32, 4.0);
  Value large = s.choose(s.lessThan(t, 4.0), t, four);
  large = s.choose(
      arith::CmpFOp::create(s.b, s.loc, arith::CmpFPredicate::UNO, x, x), x,
      large);
  Value r = poly(s, large,
                 {-1.72853470e-5, 3.83197126e-4, -3.88396438e-3, 2.42546219e-2,
                  -1.06777877e-1, -6.34846687e-1, -1.28717512e-1});
  r = s.fma(r, large, arith::NegFOp::create(s.b, s.loc, large));
  Value far = arith::SubFOp::create(s.b, s.loc, s.number(f32, 1.0), exp(s, r));
  far = math::CopySignOp::create(s.b, s.loc, far, x);
  Value near = erfNearZero(s, x);
  return s.choose(s.lessThan(t, 0.927734375), near, far);
}

Value erfc(NumberEmitter &s, Value x) {
  Type f32 = x.getType();
  if (!getElementTypeOrSelf(f32).isF32())
    return math::ErfcOp::create(s.b, s.loc, x);
  // Near zero 1 - erf(x); elsewhere t * exp(-z^2 + polynomial in t), reflected
  // for x < 0, with t = 1 / (1 + z/2) and the rounding error of z^2 given back.
  Value one = s.number(f32, 1.0), two = s.number(f32, 2.0);
  Value z = math::AbsFOp::create(s.b, s.loc, x);
  Value bounded = s.choose(s.lessThan(z, 10.5), z, s.number(f32, 10.5));
  z = s.choose(
      arith::CmpFOp::create(s.b, s.loc, arith::CmpFPredicate::UNO, x, x), x,
      bounded);
  Value t =
      arith::DivFOp::create(s.b, s.loc, one, s.fma(z, s.number(f32, 0.5), one));
  Value p =
      poly(s, t,
           {0.17087277, -0.82215223, 1.48851587, -1.13520398, 0.27886807,
            -0.18628806, 0.09678418, 0.37409196, 1.00002368, -1.26551223});
  // exp(p - z^2), with what rounding loses of z^2 and of the sum given back.
  Value square = arith::MulFOp::create(s.b, s.loc, z, z);
  Value lost = s.fma(z, z, arith::NegFOp::create(s.b, s.loc, square));
  Value sum = arith::SubFOp::create(s.b, s.loc, p, square);
  Value back = arith::AddFOp::create(s.b, s.loc, sum, square);
  Value correction = arith::SubFOp::create(
      s.b, s.loc, arith::SubFOp::create(s.b, s.loc, p, back), lost);
  Value power = exp(s, sum);
  Value tail = s.fma(power, correction, power);
  tail = arith::MulFOp::create(s.b, s.loc, t, tail);
  Value far = s.choose(s.lessThan(x, 0.0),
                       arith::SubFOp::create(s.b, s.loc, two, tail), tail);
  Value near = arith::SubFOp::create(s.b, s.loc, one, erfNearZero(s, x));
  return s.choose(s.lessThan(z, 0.5), near, far);
}

Value erfInv(NumberEmitter &s, Value x) {
  // A rational start by Winitzki, then steps of Newton's method with the
  // complement where that is the accurate side; infinite at +-1.
  Type type = x.getType(), f64 = s.shaped(s.b.getF64Type());
  Value wide = type == f64 ? x : arith::ExtFOp::create(s.b, s.loc, f64, x);
  Value size = math::AbsFOp::create(s.b, s.loc, wide);
  Value one = s.number(f64, 1.0);
  Value rest = arith::SubFOp::create(s.b, s.loc, one, size);
  Value logarithm = math::LogOp::create(
      s.b, s.loc,
      arith::MulFOp::create(s.b, s.loc, rest,
                            arith::AddFOp::create(s.b, s.loc, one, size)));
  Value half = arith::MulFOp::create(s.b, s.loc, logarithm, s.number(f64, 0.5));
  Value first = arith::AddFOp::create(s.b, s.loc, half,
                                      s.number(f64, 2.0 / (M_PI * 0.147)));
  Value inner = arith::SubFOp::create(
      s.b, s.loc, arith::MulFOp::create(s.b, s.loc, first, first),
      arith::DivFOp::create(s.b, s.loc, logarithm, s.number(f64, 0.147)));
  Value y = math::SqrtOp::create(
      s.b, s.loc,
      arith::SubFOp::create(s.b, s.loc, math::SqrtOp::create(s.b, s.loc, inner),
                            first));
  for (int step = 0; step < 3; ++step) {
    Value error = arith::SubFOp::create(s.b, s.loc, rest,
                                        math::ErfcOp::create(s.b, s.loc, y));
    Value slope = math::ExpOp::create(s.b, s.loc,
                                      arith::MulFOp::create(s.b, s.loc, y, y));
    Value change = arith::MulFOp::create(
        s.b, s.loc, error,
        arith::MulFOp::create(s.b, s.loc, slope,
                              s.number(f64, -0.88622692545275801)));
    // Halley: y + c / (1 - y*c).
    Value divisor = s.fma(arith::NegFOp::create(s.b, s.loc, y), change, one);
    y = arith::AddFOp::create(
        s.b, s.loc, y, arith::DivFOp::create(s.b, s.loc, change, divisor));
  }
  Value atOne =
      arith::CmpFOp::create(s.b, s.loc, arith::CmpFPredicate::OEQ, size, one);
  y = s.choose(atOne, s.number(f64, INFINITY), y);
  y = math::CopySignOp::create(s.b, s.loc, y, wide);
  return type == f64 ? y
                     : arith::TruncFOp::create(s.b, s.loc, type, y).getResult();
}

Value trigonometric(NumberEmitter &s, Value x, Trig which) {
  Type type = x.getType(), f64 = s.shaped(s.b.getF64Type()),
       i64 = s.shaped(s.b.getI64Type());
  if (type == f64) {
    if (which == Trig::Sine)
      return math::SinOp::create(s.b, s.loc, x);
    if (which == Trig::Cosine)
      return math::CosOp::create(s.b, s.loc, x);
    return math::TanOp::create(s.b, s.loc, x);
  }
  // In f64: n = round(x * 2/pi), r = x - n*pi/2 in two parts, exact enough for
  // |x| to 2^50; beyond, the result is merely between -1 and 1.
  Value wide = arith::ExtFOp::create(s.b, s.loc, f64, x);
  Value magic = s.number(f64, 6755399441055744.0);
  Value shifted = s.fma(wide, s.number(f64, 0.63661977236758138), magic);
  Value n = arith::SubFOp::create(s.b, s.loc, shifted, magic);
  Value r = s.fma(n, s.number(f64, -1.5707963267948966), wide);
  r = s.fma(n, s.number(f64, -6.123233995736766e-17), r);
  Value beyond = arith::CmpFOp::create(s.b, s.loc, arith::CmpFPredicate::OGT,
                                       math::AbsFOp::create(s.b, s.loc, r),
                                       s.number(f64, 0.8));
  r = s.choose(beyond, s.number(f64, 0.8), r);
  Value r2 = arith::MulFOp::create(s.b, s.loc, r, r);
  Value sp =
      poly(s, r2,
           {-2.50521083854417e-8, 2.75573192239859e-6, -1.98412698412698e-4,
            8.33333333333333e-3, -1.66666666666667e-1});
  Value sine = s.fma(arith::MulFOp::create(s.b, s.loc, sp, r2), r, r);
  Value cp =
      poly(s, r2,
           {2.08767569878681e-9, -2.75573192239859e-7, 2.48015873015873e-5,
            -1.38888888888889e-3, 4.16666666666667e-2, -0.5});
  Value cosine = s.fma(cp, r2, s.number(f64, 1.0));
  Value quadrant = arith::BitcastOp::create(s.b, s.loc, i64, shifted);
  auto bit = [&](Value v, int64_t mask) -> Value {
    Value masked = arith::AndIOp::create(s.b, s.loc, v, s.integer(i64, mask));
    return arith::CmpIOp::create(s.b, s.loc, arith::CmpIPredicate::ne, masked,
                                 s.integer(i64, 0));
  };
  auto negateIf = [&](Value condition, Value v) -> Value {
    return s.choose(condition, arith::NegFOp::create(s.b, s.loc, v), v);
  };
  Value odd = bit(quadrant, 1);
  Value result;
  if (which == Trig::Sine)
    result = negateIf(bit(quadrant, 2), s.choose(odd, cosine, sine));
  if (which == Trig::Cosine) {
    Value next = arith::AddIOp::create(s.b, s.loc, quadrant, s.integer(i64, 1));
    result = negateIf(bit(next, 2), s.choose(odd, sine, cosine));
  }
  if (which == Trig::Tangent) {
    Value top = s.choose(odd, arith::NegFOp::create(s.b, s.loc, cosine), sine);
    result =
        arith::DivFOp::create(s.b, s.loc, top, s.choose(odd, sine, cosine));
  }
  return arith::TruncFOp::create(s.b, s.loc, type, result);
}

} // namespace mlir::sp
