//===- PairExponents.cpp - What a score function makes of samples ---------===//

#include "PairExponents.h"

using namespace mlir;
using namespace mlir::sp;

PairExponents::Part PairExponents::evaluate(const Node *node, const Node *one,
                                            double shift) {
  const AxisLabels &labels = match.component->labels;
  Part part;
  part.evaluator = std::make_unique<SampleEvaluator>(labels, draw.seed);
  prepareSamples(match, draw, *part.evaluator);
  part.evaluator->dropRowValues(match.axes.key);
  if (one)
    part.evaluator->force(one, 1.0);
  part.evaluator->shift(match.component->scoresNode(), shift);
  if (const Samples *samples = part.evaluator->evaluate(node))
    part.view =
        std::make_unique<SampleView>(labels, *part.evaluator, node, *samples);
  else
    known = false;
  return part;
}

PairExponents::PairExponents(const AttentionMatch &match,
                             const SampleDraw &draw)
    : match(match), draw(draw) {
  const Component &component = *match.component;
  std::optional<Exponential> made = findExponential(component, match.axes.key);
  if (!made) {
    known = false;
    return;
  }
  exponentNode = made->exponent();
  exponents = evaluate(exponentNode);
  if (match.score->weights != ScoreAnalysis::Weights::None)
    factors = evaluate(component.weights(), made->node);
  SmallVector<const Node *> found = findSinks(component, match.axes.key);
  if (!found.empty())
    sinks = evaluate(found.front());
}

double PairExponents::exponent(const Coordinates &at) const {
  double value = exponents.view->at(at);
  bool isHidden = value <= match.score->hidesUpTo ||
                  (match.score->weights == ScoreAnalysis::Weights::Hide &&
                   factors.view->at(at) == 0);
  return isHidden ? -std::numeric_limits<double>::infinity() : value;
}

double PairExponents::factor(const Coordinates &at) const {
  bool multiplies = match.score->weights == ScoreAnalysis::Weights::Multiply;
  return multiplies ? factors.view->at(at) : 1.0;
}

double PairExponents::sink(const Coordinates &at) const {
  return sinks.view ? sinks.view->at(at)
                    : -std::numeric_limits<double>::infinity();
}

static constexpr double step = 1.0 / 128;

bool PairExponents::findSlopes() {
  for (double steps : {1, 2, 4}) {
    Part above = evaluate(exponentNode, nullptr, steps * step),
         below = evaluate(exponentNode, nullptr, -steps * step);
    around.emplace_back(std::move(above), std::move(below));
  }
  return known;
}

/// Central differences of one, two and four steps, extrapolated to none.
double PairExponents::slope(const Coordinates &at) const {
  double differences[3];
  for (auto [i, sides] : llvm::enumerate(around))
    differences[i] = (sides.first.view->at(at) - sides.second.view->at(at)) /
                     (step * double(2 << i));
  return (64 * differences[0] - 20 * differences[1] + differences[2]) / 45;
}
