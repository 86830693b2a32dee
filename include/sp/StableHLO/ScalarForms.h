//===- ScalarForms.h - Functions of floats in operations --------*- C++ -*-===//
//
// One table of what is known of `stablehlo.tanh` and its like, whoever asks:
// the interpreter, samples of the importer, score functions and their
// derivatives, and kernels of a GPU. What an operation does to integers is its
// own affair.
//
//===----------------------------------------------------------------------===//
#ifndef SP_STABLEHLO_SCALARFORMS_H
#define SP_STABLEHLO_SCALARFORMS_H

#include "sp/StableHLO/StableHLO.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

#include <complex>

namespace mlir::stablehlo {

/// A value of a program, or a number that all of its elements are.
struct ScalarTerm {
  Value value;
  double number = 0;

  ScalarTerm(double number = 0) : number(number) {}
  ScalarTerm(Value value) : value(value) {}
  bool isNumber() const { return !value; }
  bool isNumber(double other) const { return !value && number == other; }
};

/// Arithmetic on terms: on numbers at once, else as operations of a program,
/// where zero times anything is zero: a slope of zero passes nothing on.
class ScalarArithmetic {
public:
  /// Of numbers alone.
  ScalarArithmetic() = default;
  ScalarArithmetic(OpBuilder &builder, Location location)
      : builder(&builder), location(location) {}

  ScalarTerm add(ScalarTerm a, ScalarTerm b);
  ScalarTerm subtract(ScalarTerm a, ScalarTerm b);
  ScalarTerm multiply(ScalarTerm a, ScalarTerm b);
  ScalarTerm divide(ScalarTerm a, ScalarTerm b);
  /// A function that has a form, as slopes of others are made of.
  template <typename Op> ScalarTerm apply(ScalarTerm a);
  /// `a` where x is the greater (the lesser) of x and y, half of it where they
  /// are equal, else 0.
  ScalarTerm ofWinner(ScalarTerm a, ScalarTerm x, ScalarTerm y, bool isLesser);
  /// Of values of `type`.
  ScalarTerm choose(Value condition, ScalarTerm a, ScalarTerm b, Type type);

  Value materialise(ScalarTerm term, Type type);

private:
  template <typename Op> ScalarTerm create(ScalarTerm a, ScalarTerm b);

  OpBuilder *builder = nullptr;
  std::optional<Location> location;
};

/// Where a function is analytic, as far as that is used.
enum class Analytic {
  /// Wherever it is defined.
  Everywhere,
  /// Where its operand is positive.
  OfPositive,
  No
};

/// y = f(x), and what is known to change: operand `number`, or y.
struct ScalarChange {
  ScalarArithmetic &arithmetic;
  ArrayRef<ScalarTerm> x;
  ScalarTerm y;
  unsigned number;
  ScalarTerm by;
};

/// A function of floats.
struct ScalarForm {
  using Real = double (*)(ArrayRef<double>);
  using Complex = std::complex<double> (*)(ArrayRef<std::complex<double>>);
  /// The change times the derivative of y by x[number], by JAX's rules, so that
  /// the same products overflow.
  using Derivative = ScalarTerm (*)(const ScalarChange &);

  Real real = nullptr;
  Complex complex = nullptr; ///< null where complex numbers have none
  Analytic analytic = Analytic::No;
  Derivative derivative = nullptr; ///< null where it is not known
  StringRef cudaWord;              ///< in score functions; see ScoreMath.cuh
  StringRef quickCudaWord; ///< where elements have 16 bits; empty: the same
};

/// Those of all operations.
const llvm::DenseMap<TypeID, ScalarForm> &scalarForms();
/// Null where an operation applies none: comparisons, choices, bits.
const ScalarForm *scalarFormOf(Operation *op);
/// Whether its derivative is zero wherever it has one.
bool isFlat(Operation *op);

} // namespace mlir::stablehlo

#endif // SP_STABLEHLO_SCALARFORMS_H
