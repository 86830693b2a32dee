/// What evaluators that judge draw: numbers for elements, and orders of two.
#ifndef SP_LIB_IMPORT_SAMPLEORDER_H
#define SP_LIB_IMPORT_SAMPLEORDER_H

#include "Samples/SampleEvaluator.h"

namespace mlir::sp {

/// Where elements of a node lie in a row-major array over some of its axes.
class Projection {
public:
  Projection(const SamplePositions &positions, const Node *from,
             ArrayRef<AxisId> to);
  int64_t at(size_t element) const;

private:
  SmallVector<std::pair<int64_t, int64_t>, 6> strides; ///< count and stride
};

/// The output function of splitmix64 (Steele, Lea, Flood: Fast splittable
/// pseudorandom number generators, 2014).
uint64_t mixBits(uint64_t bits);

/// Draws 64 bits for every element: the same wherever a value of this identity
/// is met, whatever the order of its axes there.
class ElementDraw {
public:
  ElementDraw(const SamplePositions &positions, const Node *at,
              ArrayRef<const Node *> of, uint64_t identity, uint64_t seed);
  uint64_t bits(size_t element) const;
  /// In +-[0.25, 1.75).
  double number(size_t element) const;

private:
  Projection projection;
  uint64_t seed;
};

/// The order of two values at each element of a node: drawn, as what samples
/// say of it says nothing, but where numbers are fills or infinite and where it
/// follows from what the values are.
class SampleOrder {
public:
  /// A node, or a number.
  struct Side {
    const Node *node = nullptr;
    double number = 0;
  };
  SampleOrder(SampleEvaluator &evaluator, const Node *at, Side a, Side b);

  /// -1, 0 or 1 where `a` is less, equal or greater; neither may be NaN.
  int of(size_t element, double a, double b) const;

private:
  enum class Kind {
    Numeric,    ///< as the numbers say
    Drawn,      ///< any
    NotBelow,   ///< any, but never less
    SumFromOne, ///< less in empty rows only, equal where a draw says so
    Extreme,    ///< of a value and the greatest or least of its row
    Choice      ///< of a value and the greater or lesser of it and another
  };
  void read(Side a, Side b);
  bool readOneSide(Side a, Side b);
  void drawFor(Side a, Side b);
  int drawn(size_t element) const;

  SampleEvaluator &evaluator;
  const Node *at;
  Kind kind = Kind::Numeric;
  /// Whether numbers as large as fills are fills, as they are beside scores.
  bool isBounded = true;
  bool isFlipped = false; ///< what the kind says is of (b, a)
  int sense = 1;          ///< of extremes and choices: of the greatest or least
  std::optional<ElementDraw> draw;
  std::optional<Projection> row;
  const Samples *extremes = nullptr, *shifted = nullptr;
};

/// What a comparison, maximum, clip or the like makes of its operands.
void choose(SampleEvaluator &evaluator, const Node *node,
            ArrayRef<const Samples *> operands, Samples &result);
/// The derivatives of that, as ScoreDerivative has it: both halves where two
/// are equal, and nothing on the bounds of a clamp.
void chooseTangents(SampleEvaluator &evaluator, const Node *node,
                    ArrayRef<const Samples *> operands,
                    ArrayRef<const Samples *> changes, Samples &result);

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_SAMPLEORDER_H
