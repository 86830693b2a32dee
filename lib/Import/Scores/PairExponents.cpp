//===- PairExponents.cpp - What a score function makes of samples ---------===//

#include "Scores/PairExponents.h"

#include <cmath>

using namespace mlir;
using namespace mlir::sp;

PairExponents::Part PairExponents::prepare(const Node *one) const {
  Part part;
  part.evaluator =
      std::make_unique<SampleEvaluator>(match.component->labels, draw.seed);
  prepareSamples(match, draw, *part.evaluator);
  part.evaluator->dropRowValues(match.axes.key);
  if (one)
    part.evaluator->force(one, 1.0);
  return part;
}

void PairExponents::read(Part &part, const Node *node, const Samples *samples) {
  if (samples)
    part.view =
        std::make_unique<SampleView>(part.evaluator->positions, node, *samples);
  else
    known = false;
}

PairExponents::Part PairExponents::evaluate(const Node *node, const Node *one) {
  Part part = prepare(one);
  read(part, node, part.evaluator->evaluate(node));
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
  Readings &readings = *draw.plan->readings;
  bool hasWeights = match.score->weights != ScoreAnalysis::Weights::None;
  if (!readings.isOfPairs(exponentNode, nullptr) ||
      (hasWeights && !readings.isOfPairs(component.weights(), made->node))) {
    known = false;
    return;
  }
  exponents = evaluate(exponentNode);
  if (hasWeights)
    factors = evaluate(component.weights(), made->node);
  SmallVector<Sink> found = findSinks(component, match.axes.key);
  if (!found.empty()) {
    sinks = evaluate(found.front().node);
    arePowers = found.front().isPower;
  }
}

double PairExponents::exponent(const Coordinates &at) const {
  double value = filled(at);
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
  if (!sinks.view)
    return -std::numeric_limits<double>::infinity();
  double sink = sinks.view->at(at);
  return arePowers ? std::log(drawnFill(sink)) : sink;
}

bool PairExponents::findSlopes(const Node *by, ArrayRef<const Node *> others) {
  slopes = prepare();
  slopes.tangents = std::make_unique<SampleTangents>(*slopes.evaluator);
  for (const Node *other : others)
    slopes.tangents->hold(other);
  read(slopes, exponentNode, slopes.tangents->of(exponentNode, by));
  return known;
}

double PairExponents::slope(const Coordinates &at) const {
  return slopes.view->at(at);
}
