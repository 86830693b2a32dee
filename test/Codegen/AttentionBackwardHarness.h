/// Runs kernels for the gradients of attention beside a dense double-precision
/// reference.
#ifndef SP_TEST_CODEGEN_ATTENTIONBACKWARDHARNESS_H
#define SP_TEST_CODEGEN_ATTENTIONBACKWARDHARNESS_H

#include "AttentionArray.h"
#include <numeric>
#include <optional>

namespace attention_test {

struct BackwardConfig {
  Element element = Element::f32;
  int64_t headSize = 64, valueSize = 64, vectorBits = 512;
  bool bf16Dots = false;
  /// As in KernelConfig; the function yields exponent, slope, perhaps a weight,
  /// and derivatives.
  std::string score = {};
  int64_t perQuery = 0, perKey = 0, perHead = 0, pair = 0;
  /// Of each gradient of a term whether queries and keys have their own.
  std::vector<std::pair<bool, bool>> termGradients = {};
};

struct BackwardKernel {
  sprt_kernel function = nullptr;
  int64_t scratchBytes = 0;
};

/// As loadKernel.
BackwardKernel loadBackwardKernel(const BackwardConfig &config);

struct BackwardProblem : Scoring {
  BackwardConfig kernel;
  int64_t batch = 1, queries = 1, keys = 1;
  int64_t headsTotal = 1, headFirst = 0, heads = 1, kvTotal = 1;
  int64_t spareKvHeads = 0; ///< local kv heads that no local head reads
  double scale = 0.125;
  bool headsOutside = false; ///< batch, head, row order
  bool initQueries = true, initKeys = true;
  unsigned seed = 1;
  std::vector<sprt_slice> slices;
  /// What there is before, with strides as a term's of pairs.
  std::vector<TermArray> termGradients;

  /// So many rows, at positions from 0 on.
  void resize(int64_t newQueries, int64_t newKeys) {
    queries = newQueries;
    keys = newKeys;
    queryPositions.resize(queries);
    keyPositions.resize(keys);
    std::iota(queryPositions.begin(), queryPositions.end(), 0);
    std::iota(keyPositions.begin(), keyPositions.end(), 0);
  }

  int64_t kvFirst() const { return headFirst * kvTotal / headsTotal; }
  int64_t kvHead(int64_t head) const {
    return (headFirst + head) * kvTotal / headsTotal - kvFirst();
  }
  int64_t kvHeads() const { return kvHead(heads - 1) + 1 + spareKvHeads; }
};

/// The arrays of a problem, which a test may change before it runs them. Memory
/// outside the valid rows is NaN, so that a read of it shows.
class BackwardRun {
public:
  explicit BackwardRun(const BackwardProblem &problem);

  /// Launches tiles in ranges that end at `ends` and at the last.
  void run(std::vector<int64_t> ends = {});
  /// Runs and compares all gradients with the reference, to `tolerance` of the
  /// largest entry of each or, where factors are rounded to bf16, of the sum of
  /// the terms' sizes; nothing but the valid rows may have changed.
  void check(double tolerance);

  const BackwardProblem p;
  Array q, k, v, dO, lse, delta, dq, dk, dv;
  std::vector<TermArray> dTerms;

private:
  /// What the reference makes of a pair: a hidden one has exponent -inf.
  Scored scoreOf(double product, int64_t batch, int64_t head, int64_t query,
                 int64_t key) const;
  void chooseLse();
};

/// Elements of a row as doubles.
std::vector<double> rowOf(const Array &array, int64_t b, int64_t r, int64_t h);
double dot(const std::vector<double> &a, const std::vector<double> &b);

} // namespace attention_test

#endif // SP_TEST_CODEGEN_ATTENTIONBACKWARDHARNESS_H
