/// Where nodes of a match are sampled, and what is drawn.
#ifndef SP_LIB_IMPORT_SAMPLEPLAN_H
#define SP_LIB_IMPORT_SAMPLEPLAN_H

#include "Scores/AttentionMatch.h"

namespace mlir::sp {

/// Chooses positions of a match: its ends, both sides of what its mask cuts,
/// and a pair of each kind that the mask tells apart.
void samplePositions(AttentionMatch &match, const MaskAnalysis &mask);
/// How nodes of a request are read, and at which positions.
struct SamplePlan {
  std::shared_ptr<Readings> readings;
  std::vector<int64_t> queries, keys;
};
/// One draw of all that is no position: random, but boolean data may have one
/// truth everywhere.
struct SampleDraw {
  std::shared_ptr<const SamplePlan> plan;
  uint64_t seed;
  std::optional<bool> truths;
  double magnitude;   ///< of scaled scores, about
  double offset = 0;  ///< of all scaled scores
  double factors = 1; ///< magnitude of cotangents and of what they meet
  /// Nothing is rounded to the program's types, as derivatives by data need.
  bool isExact = false;
};
/// As many draws as decide whether two nodes of the last request are equal;
/// `opened` are what something is differentiated by.
SmallVector<SampleDraw> samplesOf(const AttentionMatch &match, uint64_t seed,
                                  ArrayRef<const Node *> opened = {});
/// Further draws for gradients by scores, at a few offsets where exponents that
/// are more than scaled grow least like anywhere else, up to +-1e5: a function
/// may be straight on all small scores. Numbers that overflow there say
/// nothing.
SmallVector<SampleDraw> farSamplesOf(const AttentionMatch &match, uint64_t seed,
                                     ArrayRef<const Node *> opened = {});
/// Has an evaluator look at the positions of a match.
void prepareSamples(const AttentionMatch &match, const SampleDraw &draw,
                    SampleEvaluator &evaluator);

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_SAMPLEPLAN_H
