//===- ScalarFormsTest.cpp - The table of functions of floats -------------===//
#include "sp/StableHLO/ScalarForms.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace mlir;
using namespace mlir::stablehlo;

namespace {

/// Away from where a function jumps, bends or is not defined.
constexpr double kPoints[][2] = {{0.3, 1.7}, {1.1, 0.6}, {2.4, 3.2}};

/// Calls fn(form, operands) for each function, of as many operands as it reads.
template <typename Fn> void forEach(Fn fn) {
  MLIRContext context;
  context.loadDialect<StablehloDialect, chlo::ChloDialect>();
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    auto found = scalarForms().find(name.getTypeID());
    if (found == scalarForms().end())
      continue;
    SCOPED_TRACE(name.getStringRef().str());
    bool isBinary = name.hasTrait<OpTrait::NOperands<2>::Impl>();
    for (const auto &point : kPoints)
      fn(found->second, ArrayRef(point, isBinary ? 2 : 1));
  }
}

bool near(double x, double y, double bound) {
  return std::isnan(x) ? std::isnan(y)
                       : std::abs(x - y) <= bound * (1 + std::abs(y));
}

TEST(ScalarForms, AreTheSameOfRealAndComplexNumbers) {
  int complex = 0;
  forEach([&](const ScalarForm &form, ArrayRef<double> x) {
    if (!form.complex)
      return;
    SmallVector<std::complex<double>, 2> z(x.begin(), x.end());
    EXPECT_TRUE(near(form.complex(z).real(), form.real(x), 1e-14));
    EXPECT_TRUE(near(form.complex(z).imag(), 0, 1e-14));
    ++complex;
  });
  EXPECT_GE(complex, 15 * 3);
}

TEST(ScalarForms, HaveTheDerivativeOfTheirDifferences) {
  int derivatives = 0;
  forEach([&](const ScalarForm &form, ArrayRef<double> x) {
    if (!form.derivative)
      return;
    ScalarArithmetic arithmetic;
    SmallVector<ScalarTerm, 2> terms(x.begin(), x.end());
    for (unsigned number = 0; number < x.size(); ++number) {
      constexpr double by = 3, step = 1e-5;
      double derivative =
          form.derivative({arithmetic, terms, form.real(x), number, by}).number;
      SmallVector<double, 2> above(x), below(x);
      above[number] += step;
      below[number] -= step;
      double slope = (form.real(above) - form.real(below)) / (2 * step);
      EXPECT_TRUE(near(derivative, by * slope, 1e-8))
          << derivative << " for " << by * slope;
      ++derivatives;
    }
  });
  EXPECT_GE(derivatives, 23 * 3);
}

TEST(ScalarForms, SplitTheDerivativeOfEqualExtremes) {
  ScalarArithmetic arithmetic;
  for (bool isLesser : {false, true}) {
    EXPECT_EQ(arithmetic.ofWinner(4, 1, 1, isLesser).number, 2);
    EXPECT_EQ(arithmetic.ofWinner(4, 1, 2, isLesser).number, isLesser ? 4 : 0);
  }
}

} // namespace
