#ifndef SP_LIB_IMPORT_SCORE_H
#define SP_LIB_IMPORT_SCORE_H

#include "Masks/MaskAnalysis.h"

namespace mlir::sp {

/// What makes the weights of a component: exp(exponent), multiplied by what the
/// weights are where the exponential is 1.
struct Exponential {
  const Node *node = nullptr;
  const Node *exponent() const { return node->operands[0]; }
};

/// The one exponential over keys that the weights consist of, not those inside
/// row values.
std::optional<Exponential> findExponential(const Component &component,
                                           AxisId keys);

/// What a row sum has beside the exponentials of pairs: exp(sink - shift), or a
/// number that is not negative, which is the power of a sink of its logarithm.
struct Sink {
  const Node *node = nullptr;
  bool isPower = false; ///< the node is exp(sink)

  bool operator==(const Sink &other) const {
    return node == other.node && isPower == other.isPower;
  }
};
SmallVector<Sink> findSinks(const Component &component, AxisId keys);
/// Exponents of pairs without weight.
struct HiddenExponents {
  bool hasInfinite = false, hasFinite = false;
  double least = 0, greatest = 0; ///< finite ones

  void add(double exponent);
  bool isUniform() const { return least == greatest; }
};

/// A component whose weights are not the exponential of a scaled product: they
/// are what a score function makes of it, between bands that hide pairs
/// whatever the function's inputs are.
///
/// Masks are functions too. Where every key is hidden from a row, a model gives
/// NaN or 0 if it fills with -inf. A large finite fill gives the mean over all
/// keys, also those that bands hide: `hidesUpTo` then turns fills into -inf,
/// and an empty row gives the mean.
class ScoreAnalysis : public VisibilityOracle {
public:
  ScoreAnalysis(Component &component, const AttentionAxes &axes)
      : component(component), axes(axes) {}

  void setThresholds(ArrayRef<Threshold> known,
                     std::shared_ptr<Readings> readings) override;
  std::optional<bool> visible(unsigned truths) override;
  /// What the cells asked for say together; `hasEmptyRows` is of the bands.
  /// Whether the bands can be kept.
  bool finish(bool hasEmptyRows);

  /// Whether pairs of weight 0 count as visible where their exponent is not
  /// hidden, as after dropout.
  bool keepsZeros = false;
  /// Whether there are such pairs.
  bool hasZeros = false;
  enum class Weights { None, Multiply, Hide };
  Weights weights = Weights::None;
  double hidesUpTo = -std::numeric_limits<double>::infinity();
  /// Finite fills are added to scores which they absorb in the program's type,
  /// not in that of the check.
  bool absorbs = false;
  /// Of thresholds by their number: truth wherever a pair is visible.
  std::vector<std::optional<bool>> settled;

private:
  bool draw(unsigned truths, unsigned number, bool &isShown);
  bool hasNumbersOfRows(const Node *exponent) const;

  Component &component;
  const AttentionAxes &axes;
  ArrayRef<Threshold> thresholds;
  std::shared_ptr<Readings> readings;
  std::vector<unsigned> shown;
  HiddenExponents byBands, byData;
  bool isWeighted = false;
};

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_SCORE_H
