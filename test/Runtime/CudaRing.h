/// Ring attention as a program for GPUs, with the plainest kernel that follows
/// sprt/cuda/Emulated.h.
#ifndef SP_TEST_RUNTIME_CUDARING_H
#define SP_TEST_RUNTIME_CUDARING_H

#include "PlanBuilder.h"

#include <atomic>

namespace sprt::test {

/// Of what `cudaRing` computes.
struct RingSetting {
  int64_t ranks, length;
  plan::LayoutKind kind;
  bool causal;
};
inline constexpr int64_t kRingHead = 8, kRingHeads = 4, kRingKvHeads = 2;

/// How often its kernel was launched.
extern std::atomic<int> cudaRingLaunches;

/// Attention of `length` tokens in bf16; blocks of k and v travel on comm
/// through two buffers in turn. Two copies, then a loop: 0 shift on comm, 1 the
/// first step of attention, 2 a later one, 3 wait for the shift.
PlanBuilder cudaRing(const RingSetting &setting);

/// Its inputs, and what it gives.
struct RingInputs {
  std::vector<double> q, k, v;

  explicit RingInputs(int64_t length);
  /// bf16 values, two in the bytes of a float.
  std::vector<std::vector<float>> arrays() const;
  double expected(const RingSetting &setting, int64_t row, int64_t head,
                  int64_t inner) const;
};

} // namespace sprt::test

#endif // SP_TEST_RUNTIME_CUDARING_H
