/// Where attention kernels keep the state of a row, and what they leave there.
#ifndef SPRT_CUDA_SOFTMAXSTATE_CUH
#define SPRT_CUDA_SOFTMAXSTATE_CUH

#include "sprt/cuda/AttentionArguments.h"
#include "sprt/cuda/Ptx.cuh"

#include <type_traits>

namespace sprt::cuda {

/// What a kernel leaves that is told nothing else.
template <class Score> constexpr StateForm stateFormOf() {
  return Score::kIsNone ? StateForm::Mean : StateForm::Sums;
}
/// The type of its values.
template <class Element, class Number, StateForm Form>
using OutOf = std::conditional_t<Form == StateForm::Result, Element, Number>;

/// Elements from a tensor's first one to those of a row.
SPRT_DEVICE int64_t offset(const int64_t (&strides)[3], int batch, int row,
                           int head) {
  return batch * strides[0] + row * strides[1] + head * strides[2];
}

/// The greatest exponent of a row, to base 2 unless a score function makes it,
/// and the sum of powers relative to it.
template <class Config, class Number>
SPRT_DEVICE void leaveSum(Number *lse, Number greatest, Number sum) {
  constexpr Number kLn2 = Number(0.69314718055994530942);
  if constexpr (Config::kForm == StateForm::Sums) {
    lse[0] = greatest;
    lse[1] = sum;
  } else {
    Number logarithm = Config::Score::kIsNone
                           ? (greatest + ptx::log2(sum)) * kLn2
                           : greatest + ptx::log2(sum) * kLn2;
    lse[0] = sum == 0 ? Number(-ptx::infinity()) : logarithm;
  }
}

/// What sums of values are multiplied by. Rows without a visible key give 0, or
/// NaN where it is a score function that hides all keys.
template <class Config, class Number> SPRT_DEVICE Number factorOf(Number sum) {
  if constexpr (Config::kForm == StateForm::Sums)
    return 1;
  return Config::Score::kIsNone && sum == 0 ? Number(0) : 1 / sum;
}

} // namespace sprt::cuda

#endif // SPRT_CUDA_SOFTMAXSTATE_CUH
