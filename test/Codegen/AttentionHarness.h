/// Compiles attention kernels into a shared object and runs them beside a plain
/// double-precision reference.
#ifndef SP_TEST_CODEGEN_ATTENTIONHARNESS_H
#define SP_TEST_CODEGEN_ATTENTIONHARNESS_H

#include "sprt/kernel.h"
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace attention_test {

enum class Element { f64, f32, bf16, f16 };

constexpr int64_t kNoLow = std::numeric_limits<int64_t>::min();
constexpr int64_t kNoHigh = std::numeric_limits<int64_t>::max();

struct KernelConfig {
  Element element = Element::f32;
  int64_t headSize = 64, valueSize = 64, vectorBits = 512;
  int64_t queryBlock = 0, keyBlock = 0;
  bool bf16Dots = false;
  /// A score function @score_0 as text, and how many of its terms are values of
  /// queries, of keys, of heads and of pairs.
  std::string score = {};
  int64_t perQuery = 0, perKey = 0, perHead = 0, pair = 0;
  bool keepsSums = false;
};

struct Kernel {
  KernelConfig config;
  sprt_kernel function = nullptr;
  int64_t queryBlock = 0, scratchBytes = 0;
};

/// Compiles (once per configuration in a process) and loads; fails the test and
/// returns a null function where that does not work.
Kernel loadKernel(const KernelConfig &config);

/// True where the machine runs such kernels.
bool canRun(int64_t vectorBits, bool bf16Dots = false);

/// One launch on one block of keys; several share a Problem's queries.
struct Call {
  int64_t keyFirst = 0, keyCount = 0; ///< rows of k and v that it is given
  std::vector<sprt_slice> slices;     ///< in rows of the call
  bool init = true;
};

enum class TermElement { f64, f32, bf16, f16, i32, i1 };

/// What a score function reads, with strides in elements over batch, local
/// head, query row, and key: its row where the term is of keys alone, its
/// position otherwise. Values are numbers that the element type holds.
struct TermArray {
  TermElement element = TermElement::f32;
  int64_t strides[4] = {0, 0, 0, 0};
  std::vector<double> values;

  double at(int64_t batch, int64_t head, int64_t query, int64_t key) const {
    return values[batch * strides[0] + head * strides[1] + query * strides[2] +
                  key * strides[3]];
  }
};

/// A term as memory holds it.
std::vector<uint8_t> encode(const TermArray &term);
/// What f32 or f64 in memory are.
std::vector<double> decode(TermElement element,
                           const std::vector<uint8_t> &bytes);

/// What the reference of a score function is told of a pair.
struct Pair {
  int64_t batch, head, globalHead;
  int64_t query, queryPosition, key, keyPosition;
};
struct Scored {
  double exponent, weight = 1, slope = 1;
  std::vector<double> derivatives = {}; ///< by elements of terms
};

/// What a score function is given, and its reference; nothing without one.
struct Scoring {
  std::vector<TermArray> terms;
  std::vector<int32_t> queryPositions, keyPositions; ///< of all rows
  std::function<Scored(double score, const Pair &pair)> score;
};

/// The terms of a launch: `values` keeps them in memory.
struct LaunchTerms {
  std::vector<std::vector<uint8_t>> values;

  /// Appends them to a launch that is given keys from `keyFirst` on.
  void append(const Scoring &scoring, int64_t perQuery, int64_t perKey,
              int64_t keyFirst, std::vector<void *> &buffers,
              std::vector<int64_t> &sizes);
};

/// A whole attention: memory is poisoned with NaN outside the valid rows.
struct Problem : Scoring {
  KernelConfig kernel;
  int64_t batch = 1, queries = 1, keys = 1;
  int64_t headsTotal = 1, headFirst = 0, heads = 1, kvTotal = 1;
  double scale = 0.125;
  double magnitude = 1; ///< of the elements of q
  bool headsOutside =
      false; ///< batch, head, row order instead of batch, row, head
  unsigned seed = 1;
  std::vector<Call> calls;
};

/// Runs it and checks o and lse against the reference, to `tolerance` of the
/// largest element (lse's by default the same), and that nothing but the valid
/// rows was written.
void check(const Problem &problem, double tolerance, double lseTolerance = 0);

/// Whether a slice shows key row b to query row a.
bool isVisible(const sprt_slice &slice, int64_t a, int64_t b);

/// A full slice of queries x keys.
sprt_slice band(int64_t queries, int64_t keys, int64_t lo = kNoLow,
                int64_t hi = kNoHigh);

} // namespace attention_test

#endif // SP_TEST_CODEGEN_ATTENTIONHARNESS_H
