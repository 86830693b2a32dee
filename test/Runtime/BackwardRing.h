/// Gradients of attention round a ring, with the plainest kernel that follows
/// sprt/kernel.h.
#ifndef SP_TEST_RUNTIME_BACKWARDRING_H
#define SP_TEST_RUNTIME_BACKWARDRING_H

#include "PlanBuilder.h"

#include <atomic>

namespace sprt::test {

namespace backward {
inline constexpr int64_t kHeads = 4, kKvHeads = 2;
inline constexpr int64_t kHead = 4, kValue = 3; ///< of q and k, of v
inline constexpr double kScale = 0.5;
} // namespace backward

/// Attention of `length` tokens.
struct BackwardRing {
  int64_t ranks, length;
  plan::LayoutKind kind;
  bool causal;
};

/// Inputs q, k, v, do, lse and delta, results dq, dk and dv. K and V travel
/// with the gradients of their blocks, which come home at last. The first two
/// commands of the loop are the steps of the gradients.
PlanBuilder backwardRing(const BackwardRing &ring);

/// One step with a gradient of a term of each pair and one of each key, of
/// which a rank's heads begin at its first.
PlanBuilder termGradients();

/// The `AttendBackward` that is the loop's command `number`.
plan::AttendBackwardT &backwardOf(plan::PlanT &plan, size_t number = 0);

/// Values for the inputs, with lse and delta as the attention leaves them.
std::vector<std::vector<float>> backwardInputs(const BackwardRing &ring);
/// What dq, dk and dv are then.
std::vector<std::vector<float>>
backwardReference(const BackwardRing &ring,
                  const std::vector<std::vector<float>> &inputs);

/// Tiles of kernels.
extern std::atomic<int> backwardTilesDone;

} // namespace sprt::test

#endif // SP_TEST_RUNTIME_BACKWARDRING_H
