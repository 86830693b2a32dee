//===- ScalarForms.cpp - Functions of floats that operations apply --------===//

#include "sp/StableHLO/ScalarForms.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::stablehlo;

using Complex = std::complex<double>;
using Reals = ArrayRef<double>;
using Complexes = ArrayRef<Complex>;
using Change = const ScalarChange &;

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value ScalarArithmetic::materialise(ScalarTerm term, Type type) {
  if (term.value)
    return term.value;
  Attribute number =
      builder->getFloatAttr(getElementTypeOrSelf(type), term.number);
  return ConstantOp::create(
      *builder, *location,
      DenseElementsAttr::get(cast<ShapedType>(type), number));
}

template <typename Op>
ScalarTerm ScalarArithmetic::create(ScalarTerm a, ScalarTerm b) {
  Type type = (a.value ? a.value : b.value).getType();
  Value first = materialise(a, type), second = materialise(b, type);
  return {Op::create(*builder, *location, first, second)};
}

ScalarTerm ScalarArithmetic::add(ScalarTerm a, ScalarTerm b) {
  if (a.isNumber() && b.isNumber())
    return a.number + b.number;
  if (a.isNumber(0) || b.isNumber(0))
    return a.isNumber(0) ? b : a;
  return create<AddOp>(a, b);
}

ScalarTerm ScalarArithmetic::subtract(ScalarTerm a, ScalarTerm b) {
  if (a.isNumber() && b.isNumber())
    return a.number - b.number;
  return create<SubtractOp>(a, b);
}

ScalarTerm ScalarArithmetic::multiply(ScalarTerm a, ScalarTerm b) {
  if (a.isNumber() && b.isNumber())
    return a.number * b.number;
  if (a.isNumber(0) || b.isNumber(0))
    return 0;
  if (a.isNumber(1) || b.isNumber(1))
    return a.isNumber(1) ? b : a;
  return create<MulOp>(a, b);
}

ScalarTerm ScalarArithmetic::divide(ScalarTerm a, ScalarTerm b) {
  if (a.isNumber() && b.isNumber())
    return a.number / b.number;
  if (a.isNumber(0))
    return 0;
  return create<DivOp>(a, b);
}

template <typename Op> ScalarTerm ScalarArithmetic::apply(ScalarTerm a) {
  if (a.isNumber())
    return scalarForms().at(TypeID::get<Op>()).real(a.number);
  return {Op::create(*builder, *location, a.value)};
}

ScalarTerm ScalarArithmetic::choose(Value condition, ScalarTerm a, ScalarTerm b,
                                    Type type) {
  if (a.isNumber() && b.isNumber(a.number))
    return a;
  Value first = materialise(a, type), second = materialise(b, type);
  return {
      SelectOp::create(*builder, *location, type, condition, first, second)};
}

ScalarTerm ScalarArithmetic::ofWinner(ScalarTerm a, ScalarTerm x, ScalarTerm y,
                                      bool isLesser) {
  if (x.isNumber()) {
    double less = isLesser ? x.number : y.number,
           more = isLesser ? y.number : x.number;
    return less < more ? a : less == more ? multiply(a, 0.5) : 0;
  }
  auto compare = [&](ComparisonDirection direction) -> Value {
    return CompareOp::create(*builder, *location, x.value, y.value, direction);
  };
  Type type = x.value.getType();
  ScalarTerm tied =
      choose(compare(ComparisonDirection::EQ), multiply(a, 0.5), 0, type);
  return choose(
      compare(isLesser ? ComparisonDirection::LT : ComparisonDirection::GT), a,
      tied, type);
}

//===----------------------------------------------------------------------===//
// What C++ has no name for
//===----------------------------------------------------------------------===//

/// exp(z) - 1 without cancellation near zero.
static Complex expMinusOne(Complex z) {
  double real = std::expm1(z.real()), half = std::sin(z.imag() / 2);
  return {real * std::cos(z.imag()) - 2 * half * half,
          std::exp(z.real()) * std::sin(z.imag())};
}

static Complex logPlusOne(Complex z) {
  // |1 + z|^2 = 1 + x (2 + x) + y^2.
  double x = z.real(), y = z.imag();
  return {0.5 * std::log1p(x * (2 + x) + y * y), std::atan2(y, 1 + x)};
}

static double signOf(double x) {
  return x == 0 || std::isnan(x) ? x : std::copysign(1.0, x);
}

static Complex signOf(Complex z) {
  return z == Complex(0) ? z : z / std::abs(z);
}

/// atan2(x, y) = -i log((y + i x) / sqrt(x^2 + y^2)).
static Complex angleOf(Complex x, Complex y) {
  Complex i(0, 1);
  return -i * std::log((y + i * x) / std::sqrt(x * x + y * y));
}

// A NaN in either makes the result NaN.
static double maximum(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::nan("") : std::max(a, b);
}
static double minimum(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::nan("") : std::min(a, b);
}

/// x with erf(x) = y: Newton's method on erf(x) - y from Winitzki's
/// approximation, whose error is below 2e-3: three steps reach the last bits.
/// Near one, erfc keeps the digits that 1 - y has.
static double inverseErf(double y) {
  double magnitude = std::fabs(y);
  if (!(magnitude < 1)) {
    if (magnitude == 1)
      return std::copysign(std::numeric_limits<double>::infinity(), y);
    return std::numeric_limits<double>::quiet_NaN();
  }
  constexpr double kPi = 3.14159265358979323846, kA = 0.147;
  double log = std::log1p(-magnitude * magnitude);
  double t = 2 / (kPi * kA) + log / 2;
  double x = std::sqrt(std::sqrt(t * t - log / kA) - t);
  for (int step = 0; step < 4; ++step) {
    double error = magnitude < 0.5 ? std::erf(x) - magnitude
                                   : (1 - magnitude) - std::erfc(x);
    x -= error * std::exp(x * x) * std::sqrt(kPi) / 2;
  }
  return std::copysign(x, y);
}

//===----------------------------------------------------------------------===//
// The table: function, where it is analytic, derivative, words
//===----------------------------------------------------------------------===//

using Row = std::pair<TypeID, ScalarForm>;

/// Of floats and, by the same words, of complex numbers.
template <typename Op, typename Fn>
static Row any(Fn fn, Analytic analytic, ScalarForm::Derivative derivative,
               StringRef word, StringRef quickWord = "") {
  return {TypeID::get<Op>(), {fn, fn, analytic, derivative, word, quickWord}};
}

template <typename Op>
static Row separate(ScalarForm::Real real, ScalarForm::Complex complex,
                    Analytic analytic, ScalarForm::Derivative derivative,
                    StringRef word) {
  return {TypeID::get<Op>(), {real, complex, analytic, derivative, word, ""}};
}

static ScalarTerm times(Change c, ScalarTerm factor) {
  return c.arithmetic.multiply(c.by, factor);
}
static ScalarTerm ofWinner(Change c, bool isLesser) {
  return c.arithmetic.ofWinner(c.by, c.x[c.number], c.x[1 - c.number],
                               isLesser);
}
static ScalarTerm zero(Change) { return 0; }
static constexpr ScalarForm::Derivative unknown = nullptr;

static std::vector<Row> arithmeticForms() {
  constexpr Analytic everywhere = Analytic::Everywhere, no = Analytic::No;
  return {
      any<AddOp>([](auto x) { return x[0] + x[1]; }, everywhere,
                 [](Change c) { return c.by; }, "add"),
      any<SubtractOp>(
          [](auto x) { return x[0] - x[1]; }, everywhere,
          [](Change c) { return c.number == 0 ? c.by : times(c, -1); },
          "subtract"),
      any<MulOp>([](auto x) { return x[0] * x[1]; }, everywhere,
                 [](Change c) { return times(c, c.x[1 - c.number]); },
                 "multiply"),
      any<DivOp>([](auto x) { return x[0] / x[1]; }, everywhere,
                 [](Change c) {
                   if (c.number == 0)
                     return c.arithmetic.divide(c.by, c.x[1]);
                   ScalarTerm ratio =
                       c.arithmetic.divide(times(c, c.y), c.x[1]);
                   return c.arithmetic.multiply(ratio, -1);
                 },
                 "divide", "quickDivide"),
      any<NegOp>([](auto x) { return -x[0]; }, everywhere,
                 [](Change c) { return times(c, -1); }, "negate"),
      separate<AbsOp>(
          [](Reals x) { return std::fabs(x[0]); }, nullptr, no,
          [](Change c) { return times(c, c.arithmetic.apply<SignOp>(c.x[0])); },
          "absolute"),
      separate<SignOp>([](Reals x) { return signOf(x[0]); },
                       [](Complexes x) { return signOf(x[0]); }, no, zero,
                       "sign"),
      separate<MaxOp>([](Reals x) { return maximum(x[0], x[1]); }, nullptr, no,
                      [](Change c) { return ofWinner(c, false); }, "maximum"),
      separate<MinOp>([](Reals x) { return minimum(x[0], x[1]); }, nullptr, no,
                      [](Change c) { return ofWinner(c, true); }, "minimum"),
      separate<RemOp>([](Reals x) { return std::fmod(x[0], x[1]); }, nullptr,
                      no, unknown, "remainder"),
      separate<CeilOp>([](Reals x) { return std::ceil(x[0]); }, nullptr, no,
                       zero, "std::ceil"),
      separate<FloorOp>([](Reals x) { return std::floor(x[0]); }, nullptr, no,
                        zero, "std::floor"),
      separate<RoundOp>([](Reals x) { return std::round(x[0]); }, nullptr, no,
                        zero, "std::round"),
      separate<RoundNearestEvenOp>([](Reals x) { return std::nearbyint(x[0]); },
                                   nullptr, no, zero, "std::rint"),
  };
}

static std::vector<Row> elementaryForms() {
  constexpr Analytic everywhere = Analytic::Everywhere,
                     ofPositive = Analytic::OfPositive, no = Analytic::No;
  return {
      any<ExpOp>([](auto x) { return std::exp(x[0]); }, everywhere,
                 [](Change c) { return times(c, c.y); }, "std::exp"),
      separate<Expm1Op>(
          [](Reals x) { return std::expm1(x[0]); },
          [](Complexes x) { return expMinusOne(x[0]); }, everywhere,
          [](Change c) { return times(c, c.arithmetic.add(c.y, 1)); },
          "std::expm1"),
      any<LogOp>([](auto x) { return std::log(x[0]); }, ofPositive,
                 [](Change c) { return c.arithmetic.divide(c.by, c.x[0]); },
                 "std::log"),
      separate<Log1pOp>(
          [](Reals x) { return std::log1p(x[0]); },
          [](Complexes x) { return logPlusOne(x[0]); }, ofPositive,
          [](Change c) {
            return c.arithmetic.divide(c.by, c.arithmetic.add(c.x[0], 1));
          },
          "std::log1p"),
      any<TanhOp>([](auto x) { return std::tanh(x[0]); }, no,
                  [](Change c) {
                    ScalarTerm square = c.arithmetic.multiply(c.y, c.y);
                    return times(c, c.arithmetic.subtract(1, square));
                  },
                  "std::tanh", "quickTanh"),
      any<LogisticOp>([](auto x) { return 1.0 / (1.0 + std::exp(-x[0])); }, no,
                      [](Change c) {
                        ScalarTerm rest = c.arithmetic.subtract(1, c.y);
                        return times(c, c.arithmetic.multiply(c.y, rest));
                      },
                      "logistic", "quickLogistic"),
      any<SqrtOp>(
          [](auto x) { return std::sqrt(x[0]); }, ofPositive,
          [](Change c) { return times(c, c.arithmetic.divide(0.5, c.y)); },
          "std::sqrt"),
      any<RsqrtOp>([](auto x) { return 1.0 / std::sqrt(x[0]); }, ofPositive,
                   [](Change c) {
                     ScalarTerm ratio = c.arithmetic.divide(c.y, c.x[0]);
                     return c.arithmetic.multiply(times(c, ratio), -0.5);
                   },
                   "rsqrt"),
      separate<CbrtOp>([](Reals x) { return std::cbrt(x[0]); }, nullptr,
                       ofPositive, unknown, "std::cbrt"),
      any<PowOp>([](auto x) { return std::pow(x[0], x[1]); }, ofPositive,
                 unknown, "std::pow"),
      any<SineOp>([](auto x) { return std::sin(x[0]); }, everywhere,
                  [](Change c) {
                    return times(c, c.arithmetic.apply<CosineOp>(c.x[0]));
                  },
                  "std::sin"),
      any<CosineOp>([](auto x) { return std::cos(x[0]); }, everywhere,
                    [](Change c) {
                      ScalarTerm by =
                          times(c, c.arithmetic.apply<SineOp>(c.x[0]));
                      return c.arithmetic.multiply(by, -1);
                    },
                    "std::cos"),
      any<TanOp>([](auto x) { return std::tan(x[0]); }, no,
                 [](Change c) {
                   ScalarTerm square = c.arithmetic.multiply(c.y, c.y);
                   return times(c, c.arithmetic.add(square, 1));
                 },
                 "std::tan"),
      separate<Atan2Op>([](Reals x) { return std::atan2(x[0], x[1]); },
                        [](Complexes x) { return angleOf(x[0], x[1]); }, no,
                        unknown, "std::atan2"),
  };
}

static std::vector<Row> specialForms() {
  constexpr Analytic no = Analytic::No;
  auto real = [](auto op, ScalarForm::Real fn, StringRef word = "") -> Row {
    return {TypeID::get<decltype(op)>(), {fn, nullptr, no, unknown, word, ""}};
  };
  return {
      real(
          chlo::ErfOp(), [](Reals x) { return std::erf(x[0]); }, "std::erf"),
      real(chlo::ErfcOp(), [](Reals x) { return std::erfc(x[0]); }),
      real(chlo::ErfInvOp(), [](Reals x) { return inverseErf(x[0]); }),
      real(chlo::AsinOp(), [](Reals x) { return std::asin(x[0]); }),
      real(chlo::AcosOp(), [](Reals x) { return std::acos(x[0]); }),
      real(chlo::AtanOp(), [](Reals x) { return std::atan(x[0]); }),
      real(chlo::SinhOp(), [](Reals x) { return std::sinh(x[0]); }),
      real(chlo::CoshOp(), [](Reals x) { return std::cosh(x[0]); }),
  };
}

const llvm::DenseMap<TypeID, ScalarForm> &stablehlo::scalarForms() {
  static const auto forms = [] {
    llvm::DenseMap<TypeID, ScalarForm> forms;
    for (const std::vector<Row> &rows :
         {arithmeticForms(), elementaryForms(), specialForms()})
      forms.insert(rows.begin(), rows.end());
    return forms;
  }();
  return forms;
}

const ScalarForm *stablehlo::scalarFormOf(Operation *op) {
  auto found = scalarForms().find(op->getName().getTypeID());
  return found == scalarForms().end() ? nullptr : &found->second;
}

bool stablehlo::isFlat(Operation *op) {
  const ScalarForm *form = scalarFormOf(op);
  return form && form->derivative == zero;
}
