/// What tests of gradients with score functions share.
#ifndef SP_TEST_CODEGEN_ATTENTIONBACKWARDSCORE_H
#define SP_TEST_CODEGEN_ATTENTIONBACKWARDSCORE_H

#include "AttentionBackwardHarness.h"
#include "AttentionScore.h"

namespace attention_test {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

class AttentionBackwardScore : public ScoreTest<BackwardConfig> {
protected:
  /// Onto gradients that are there, in a causal slice and a striped one.
  BackwardProblem problem(const std::string &terms, const std::string &body,
                          int results = 2) const {
    auto p = problemOf<BackwardProblem>(terms, body, results);
    p.initQueries = p.initKeys = false;
    p.slices = {{0, kQueries, 0, 90, kNoLow, 17, 1, 1, 0},
                {5, kQueries, 90, kKeys, -200, 150, 3, 2, 0}};
    return p;
  }
  double tolerance() const {
    return GetParam().bf16Dots ? 4e-3 : isDouble() ? 1e-10 : 2e-5;
  }
  void run(const BackwardProblem &p) { BackwardRun(p).check(tolerance()); }
};

inline const BackwardConfig kBackwardConfigs[] = {
    {Element::f32, 20, 20, 512},  {Element::f32, 16, 12, 256},
    {Element::f64, 20, 20, 512},  {Element::f64, 8, 8, 256},
    {Element::bf16, 20, 20, 512}, {Element::bf16, 20, 40, 512, true},
    {Element::f16, 8, 8, 256},
};

} // namespace attention_test

#endif // SP_TEST_CODEGEN_ATTENTIONBACKWARDSCORE_H
