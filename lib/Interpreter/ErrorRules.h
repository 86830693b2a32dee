//===- ErrorRules.h - What makes errors of operations ----------*- C++ -*-===//
#ifndef SP_LIB_INTERPRETER_ERRORRULES_H
#define SP_LIB_INTERPRETER_ERRORRULES_H

#include "Evaluator.h"
#include <cmath>

namespace mlir::interpreter {

inline bool isFloating(const Tensor &tensor) {
  return tensor.getStorage() == Storage::Float ||
         tensor.getStorage() == Storage::Complex;
}

/// Calls `fn` with the Tag of the C++ type of a tensor of floats.
template <typename Fn> auto dispatchFloating(const Tensor &x, Fn fn) {
  return x.getStorage() == Storage::Float ? fn(Tag<double>())
                                          : fn(Tag<std::complex<double>>());
}

/// fn(magnitude of each element), as a tensor of the same type.
template <typename Fn> Tensor magnitudes(const Tensor &x, Fn fn) {
  Tensor result(x.getType());
  dispatchFloating(x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    ArrayRef<T> from = x.elements<T>();
    MutableArrayRef<T> to = result.mutableElements<T>();
    for (auto [in, out] : llvm::zip_equal(from, to))
      out = fn(std::abs(in));
  });
  return result;
}

inline double square(double x) { return x * x; }

inline Tensor zeros(RankedTensorType type) {
  Tensor result(type);
  dispatchFloating(result, [&](auto tag) {
    using T = typename decltype(tag)::type;
    llvm::fill(result.mutableElements<T>(), T(0));
  });
  return result;
}

inline Tensor errorsOf(const Tensor &x) {
  return x.getErrors() ? *x.getErrors() : zeros(x.getType());
}

/// Magnitude of element i; of the only element of a scalar beside tensors.
inline double magnitudeAt(const Tensor &x, int64_t i) {
  i = x.size() == 1 ? 0 : i;
  return x.getStorage() == Storage::Float
             ? std::abs(x.at<double>(i))
             : std::abs(x.at<std::complex<double>>(i));
}

/// What rounding to a type does.
struct Rounding {
  explicit Rounding(Type type) {
    if (auto complex = dyn_cast<ComplexType>(type))
      type = complex.getElementType();
    const llvm::fltSemantics &format =
        cast<FloatType>(type).getFloatSemantics();
    unit = std::ldexp(1.0, -int(APFloat::semanticsPrecision(format)));
    // Narrow types are computed in f32, whose denormals may be lost.
    // Errors of f64 that have no square in it are not told apart.
    smallest = type.isF64()
                   ? 0x1p-511
                   : std::max(0x1p-126, toDouble(APFloat::getSmallest(format)));
    sumUnit = std::min(unit, 0x1p-24);
  }

  double unit, sumUnit, smallest;
};

/// Squares of errors of one result, as they add up.
class Squares {
public:
  explicit Squares(const Tensor &result)
      : result(result), sums(result.size(), 0.0),
        rounding(result.getElementType()) {}

  /// A tensor of squares.
  void add(const Tensor &squares) {
    for (size_t i = 0; i < sums.size(); ++i)
      sums[i] += magnitudeAt(squares, i);
  }
  void addAt(int64_t i, double error) {
    if (std::isfinite(error))
      sums[i] += error * error;
  }
  /// Sums of `count` terms whose magnitudes add up to `terms`.
  void addSums(const Tensor &terms, double count) {
    double growth = std::max(1.0, std::sqrt(count) / 4) * rounding.sumUnit;
    for (size_t i = 0; i < sums.size(); ++i) {
      double whole = magnitudeAt(terms, i);
      addAt(i, growth * whole);
      addAt(i, rounding.unit * magnitudeAt(result, i));
      addAt(i, whole == 0 ? 0 : count * rounding.smallest);
    }
  }
  /// The result with its errors; what is infinite or no number has none.
  Tensor take() {
    Tensor errors(result.getType());
    dispatchFloating(result, [&](auto tag) {
      using T = typename decltype(tag)::type;
      MutableArrayRef<T> to = errors.mutableElements<T>();
      for (size_t i = 0; i < sums.size(); ++i) {
        bool has = std::isfinite(magnitudeAt(result, i)) && sums[i] >= 0;
        to[i] = has ? std::sqrt(sums[i]) : 0;
      }
    });
    result.setErrors(std::move(errors));
    return std::move(result);
  }

  Tensor result;
  std::vector<double> sums;
  Rounding rounding;
};

/// One operation and what it is evaluated with.
struct Evaluation {
  const Handler &handler;
  Operation *op;
  Evaluator &evaluator;

  FailureOr<Tensors> run(Tensors operands) const {
    for (Tensor &operand : operands)
      operand.clearErrors();
    return handler(op, operands, evaluator);
  }
  /// The same in f64.
  FailureOr<Tensors> runExactly(Tensors operands) const {
    return evaluator.exactly([&] { return run(std::move(operands)); });
  }
};

/// What an operation is to errors.
enum class ErrorKind {
  /// Regions and calls: the values in them carry their errors.
  Carries,
  /// Element by element: without rounding, with one, with a function's.
  Exact,
  Arithmetic,
  Function,
  /// Elements in other places.
  Moves,
  /// Sums of elements or of products.
  Adds,
  /// Largest or smallest elements.
  Extreme,
  Others
};

ErrorKind errorKindOf(Operation *op);

// One function a kind of rule; the header of RoundingErrors.h has them.
FailureOr<Tensors> evaluateElements(const Evaluation &evaluation,
                                    ErrorKind kind, const Tensors &operands);
FailureOr<Tensors> evaluateSums(const Evaluation &evaluation,
                                const Tensors &operands);

} // namespace mlir::interpreter

#endif // SP_LIB_INTERPRETER_ERRORRULES_H
