// Values are polynomials in x and t = tanh(sqrt(2/pi) * (x + 0.044715 x^3)), so
// that the order of factors and what is multiplied out do not matter:
//
//   x * (0.5 * (1 + t))      0.5 * x + 0.5 * x * t      (0.5 * x) * (1 + t)
//
// are all { x: 0.5, x t: 0.5 }.

#include "TanhGelu.h"

#include "sp/StableHLO/StableHLO.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <map>

namespace mlir::sp {

using namespace stablehlo;

std::optional<double> splatOf(Value value) {
  Operation *def = value.getDefiningOp();
  if (def && def->hasTrait<Spread>())
    return splatOf(def->getOperand(0));
  auto constant = dyn_cast_or_null<ConstantOp>(def);
  auto dense =
      constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : nullptr;
  if (!dense || !dense.isSplat() || !isa<FloatType>(dense.getElementType()))
    return std::nullopt;
  APFloat number = dense.getSplatValue<APFloat>();
  bool losesInfo = false;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
  return number.convertToDouble();
}

namespace {

/// More operations than any spelling has.
constexpr size_t kMaxOps = 24;
constexpr unsigned kMaxPower = 3;
/// Two constants rounded to bf16, multiplied.
constexpr double kTolerance = 1.0 / 256;
constexpr double kLinear = 0.7978845608028654, kCubic = kLinear * 0.044715;

/// Coefficients by the powers of x and t.
using Powers = std::pair<unsigned, unsigned>;
using Polynomial = std::map<Powers, double>;
using Reading = std::optional<Polynomial>;

Polynomial add(Polynomial left, const Polynomial &right, double factor) {
  for (auto [powers, coefficient] : right)
    left[powers] += factor * coefficient;
  return left;
}

Reading multiply(const Polynomial &left, const Polynomial &right) {
  Polynomial result;
  for (auto [l, a] : left)
    for (auto [r, b] : right) {
      Powers powers = {l.first + r.first, l.second + r.second};
      if (powers.first > kMaxPower || powers.second > 1)
        return std::nullopt;
      result[powers] += a * b;
    }
  return result;
}

bool isClose(const Polynomial &polynomial, const Polynomial &wanted) {
  auto within = [](const Polynomial &all, const Polynomial &others) {
    return llvm::all_of(all, [&](auto entry) {
      auto other = others.find(entry.first);
      double value = other == others.end() ? 0 : other->second;
      return std::abs(entry.second - value) <= kTolerance * std::abs(value);
    });
  };
  return within(polynomial, wanted) && llvm::all_of(wanted, [&](auto entry) {
           return polynomial.count(entry.first);
         });
}

class Reader {
public:
  explicit Reader(Value x) : x(x) {}

  Reading read(Value value) {
    if (value == x)
      return Polynomial{{{1, 0}, 1}};
    if (std::optional<double> number = splatOf(value))
      return Polynomial{{{0, 0}, *number}};
    auto known = readings.find(value);
    if (known != readings.end())
      return known->second;
    Operation *def = value.getDefiningOp();
    if (!def || left == 0)
      return std::nullopt;
    --left;
    Reading reading = readOp(def);
    ops.insert(def);
    readings[value] = reading;
    return reading;
  }

  llvm::SetVector<Operation *> ops;

private:
  Reading readBoth(
      Operation *op,
      function_ref<Reading(const Polynomial &, const Polynomial &)> combine) {
    Reading lhs = read(op->getOperand(0));
    Reading rhs = lhs ? read(op->getOperand(1)) : std::nullopt;
    return rhs ? combine(*lhs, *rhs) : std::nullopt;
  }

  Reading readOp(Operation *op) {
    return llvm::TypeSwitch<Operation *, Reading>(op)
        .Case([&](AddOp) {
          return readBoth(op, [](auto &l, auto &r) { return add(l, r, 1); });
        })
        .Case([&](SubtractOp) {
          return readBoth(op, [](auto &l, auto &r) { return add(l, r, -1); });
        })
        .Case([&](MulOp) {
          return readBoth(op, [](auto &l, auto &r) { return multiply(l, r); });
        })
        .Case([&](DivOp) -> Reading {
          std::optional<double> divisor = splatOf(op->getOperand(1));
          Reading lhs = read(op->getOperand(0));
          if (!lhs || !divisor || *divisor == 0)
            return std::nullopt;
          return add({}, *lhs, 1 / *divisor);
        })
        .Case([&](PowOp) { return readPower(op); })
        .Case([&](ConvertOp) -> Reading {
          // Not through types that hold less than bf16 does.
          Type type = getElementTypeOrSelf(op->getResult(0));
          if (!type.isBF16() && !type.isF32() && !type.isF64())
            return std::nullopt;
          return read(op->getOperand(0));
        })
        .Case([&](TanhOp) -> Reading {
          Reading argument = read(op->getOperand(0));
          if (!argument ||
              !isClose(*argument, {{{1, 0}, kLinear}, {{3, 0}, kCubic}}))
            return std::nullopt;
          return Polynomial{{{0, 1}, 1}};
        })
        .Default([](Operation *) { return std::nullopt; });
  }

  Reading readPower(Operation *op) {
    std::optional<double> exponent = splatOf(op->getOperand(1));
    Reading base = read(op->getOperand(0)), result = Polynomial{{{0, 0}, 1}};
    if (!base || !exponent || (*exponent != 2 && *exponent != 3))
      return std::nullopt;
    for (int i = 0; i < int(*exponent) && result; ++i)
      result = multiply(*result, *base);
    return result;
  }

  Value x;
  size_t left = kMaxOps;
  llvm::DenseMap<Value, Reading> readings;
};

} // namespace

std::optional<llvm::SetVector<Operation *>> findTanhGelu(Value root, Value x) {
  Reader reader(x);
  Reading reading = reader.read(root);
  if (!reading || !isClose(*reading, {{{1, 0}, 0.5}, {{1, 1}, 0.5}}))
    return std::nullopt;
  return reader.ops;
}

} // namespace mlir::sp
