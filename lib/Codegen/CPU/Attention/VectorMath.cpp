// Elementary functions of the attention kernels, on vectors of the compute
// type.
#include "CPU/Attention/VectorMath.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::sp;
using namespace mlir::sp::attention;

// 2^r = 1 + c1 r + c2 r² …, minimax in relative error with p(0) = 1, so that a
// query whose maximum did not change is not rescaled.
// r in [0, 1], error 8.2e-8:
static constexpr double kExpFraction[] = {1.0,
                                          0.69315131180752295536,
                                          0.24016445013606755314,
                                          0.055799913145968066977,
                                          0.0090170302844367490406,
                                          0.0018671300819070081778};
// r in [-1/2, 1/2], error 1.9e-8:
static constexpr double kExpNearest[] = {1.0,
                                         0.69314730274059225296,
                                         0.24022696257247557203,
                                         0.055502044136866796878,
                                         0.0096126383352742505579,
                                         0.0013435524190538390726,
                                         0.00016948239527628874398};

/// Σ coefficients[i] x^i by Horner's rule.
static Value polynomial(VectorEmitter &e, Value x,
                        ArrayRef<double> coefficients) {
  Value sum = e.constant(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    sum = e.fma(sum, x, e.constant(coefficient));
  return sum;
}

// vreduceps leaves x - floor(x), and 0 for -inf; vscalefps multiplies by
// 2^floor(x), which is 0 for -inf.
static Value exp2Avx512(VectorEmitter &e, Value x) {
  auto word = [&](int64_t value, unsigned bits) -> Value {
    return arith::ConstantIntOp::create(e, value, bits);
  };
  Value allLanes = word(-1, 16), currentRounding = word(4, 32);
  Value towardsMinusInfinity = word(9, 32);
  auto call = [&](StringRef name, ValueRange operands) {
    return LLVM::CallIntrinsicOp::create(e, e.vectorType, e.getStringAttr(name),
                                         operands)
        .getResult(0);
  };
  Value fraction =
      call("llvm.x86.avx512.mask.reduce.ps.512",
           {x, towardsMinusInfinity, x, allLanes, currentRounding});
  Value power = polynomial(e, fraction, kExpFraction);
  return call("llvm.x86.avx512.mask.scalef.ps.512",
              {power, x, power, allLanes, currentRounding});
}

Value attention::exp2(VectorEmitter &e, Value x) {
  if (e.scalarType.isF32() && e.registers.lanes == 16)
    return exp2Avx512(e, x);

  bool isDouble = e.scalarType.isF64();
  int64_t mantissaBits = isDouble ? 52 : 23;
  int64_t bias = isDouble ? 1023 : 127;
  // Below -bias the result is 0. NaN passes: `larger` keeps its second operand.
  Value clamped = e.larger(e.constant(-static_cast<double>(bias)), x);
  // Adding 1.5 * 2^mantissaBits leaves the nearest integer in the low bits.
  Value magic =
      e.constant(1.5 * static_cast<double>(int64_t(1) << mantissaBits));
  Value shifted = e.addf(clamped, magic);
  Value fraction = e.subf(clamped, e.subf(shifted, magic));
  Value power;
  if (isDouble) {
    // Taylor: |r ln 2| <= 0.347, and 0.347^14 / 14! is 4e-18.
    SmallVector<double> coefficients = {1.0};
    for (int64_t i = 1; i <= 13; ++i)
      coefficients.push_back(coefficients.back() * llvm::numbers::ln2 / i);
    power = polynomial(e, fraction, coefficients);
  } else {
    power = polynomial(e, fraction, kExpNearest);
  }
  auto words = VectorType::get(e.registers.lanes, e.laneType);
  Value exponent = arith::ShLIOp::create(
      e, arith::BitcastOp::create(e, words, shifted), e.integers(mantissaBits));
  Value scale =
      arith::AddIOp::create(e, exponent, e.integers(bias << mantissaBits));
  return e.mulf(power, arith::BitcastOp::create(e, e.vectorType, scale));
}

// x = 2^e m with m in [√½, √2); ln m = 2 artanh(s) = 2 s Σ s^2i / (2i + 1) for
// s = (m - 1) / (m + 1), |s| <= 0.172.
Value attention::log(VectorEmitter &e, Value exponent, Value x) {
  bool isDouble = e.scalarType.isF64();
  int64_t mantissaBits = isDouble ? 52 : 23;
  int64_t rootHalf = isDouble
                         ? llvm::bit_cast<int64_t>(llvm::numbers::inv_sqrt2)
                         : llvm::bit_cast<int32_t>(0.70710678f);
  auto words = VectorType::get(e.registers.lanes, e.laneType);
  Value bits = arith::BitcastOp::create(e, words, x);
  Value ownExponent = arith::ShRSIOp::create(
      e, arith::SubIOp::create(e, bits, e.integers(rootHalf)),
      e.integers(mantissaBits));
  Value mantissa = arith::BitcastOp::create(
      e, e.vectorType,
      arith::SubIOp::create(
          e, bits,
          arith::ShLIOp::create(e, ownExponent, e.integers(mantissaBits))));
  Value s = arith::DivFOp::create(e, e.subf(mantissa, e.constant(1)),
                                  e.addf(mantissa, e.constant(1)));
  SmallVector<double> coefficients;
  for (int64_t i = 0; i <= (isDouble ? 11 : 4); ++i)
    coefficients.push_back(2.0 / static_cast<double>(2 * i + 1));
  Value logarithm = e.mulf(s, polynomial(e, e.mulf(s, s), coefficients));
  // A large exponent would swallow the other one.
  Value ln2 = e.constant(llvm::numbers::ln2);
  Value ownExponents = arith::SIToFPOp::create(e, e.vectorType, ownExponent);
  Value sum = e.fma(exponent, ln2, e.fma(ownExponents, ln2, logarithm));
  return e.addf(sum, e.subf(x, x)); // NaN and infinity stay what they are
}
