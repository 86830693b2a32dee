// Rates of attention kernels by themselves, forward and backward, on one core:
// fractions of the f32 multiply-add peak, which is measured between any two
// runs. Only visible pairs count as work, 4 D FLOPs each forward and 10 D
// backward, none of what a score function does. Times are of the thread, so
// other work on the machine disturbs the caches and clocks but does not count
// itself.
//
//   sp-attention-rates [tokens] [turns] [part of a row's name]
#include "../Codegen/AttentionBackwardHarness.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>
#include <ctime>
#include <immintrin.h>

using namespace attention_test;

static double seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) +
         1e-9 * static_cast<double>(now.tv_nsec);
}

// Enough independent sums to hide the latency of two multiply-add units.
static constexpr int kSums = 12, kRounds = 2000000;

__attribute__((target("avx512f"))) static double peakOf512() {
  volatile float half = 0.5f;
  __m512 factor = _mm512_set1_ps(half), sums[kSums];
  for (int i = 0; i < kSums; ++i)
    sums[i] = _mm512_set1_ps(static_cast<float>(i));
  double from = seconds();
  for (int round = 0; round < kRounds; ++round) {
#pragma clang loop unroll(full)
    for (int i = 0; i < kSums; ++i)
      sums[i] = _mm512_fmadd_ps(sums[i], factor, factor);
  }
  double time = seconds() - from;
  for (int i = 0; i < kSums; ++i)
    half = half + _mm512_cvtss_f32(sums[i]);
  return 2.0 * kSums * 16 * kRounds / time;
}

__attribute__((target("avx2,fma"))) static double peakOf256() {
  volatile float half = 0.5f;
  __m256 factor = _mm256_set1_ps(half), sums[kSums];
  for (int i = 0; i < kSums; ++i)
    sums[i] = _mm256_set1_ps(static_cast<float>(i));
  double from = seconds();
  for (int round = 0; round < kRounds; ++round) {
#pragma clang loop unroll(full)
    for (int i = 0; i < kSums; ++i)
      sums[i] = _mm256_fmadd_ps(sums[i], factor, factor);
  }
  double time = seconds() - from;
  for (int i = 0; i < kSums; ++i)
    half = half + _mm256_cvtss_f32(sums[i]);
  return 2.0 * kSums * 8 * kRounds / time;
}

namespace {
/// A trained bias has a gradient.
enum class Score { none, softCap, bias, trainedBias };

struct Case {
  bool isBackward;
  Element element;
  int64_t size;
  bool isCausal;
  Score score = Score::none;

  std::string name() const {
    return std::string(isBackward ? "backward" : "forward") +
           (element == Element::f32 ? " f32" : " bf16") +
           " D=" + std::to_string(size) + (isCausal ? " causal" : " full") +
           (score == Score::softCap ? " soft cap"
            : score == Score::bias  ? " bias"
            : isTrained()           ? " trained bias"
                                    : "");
  }
  bool isBias() const { return score == Score::bias || isTrained(); }
  bool isTrained() const { return score == Score::trainedBias; }
  /// The score function, in f32, with its slope where it is for gradients.
  std::string function(bool hasSlope) const {
    if (score == Score::none)
      return "";
    std::string derivatives = isBias() ? "%one" : "%slope",
                types = "tensor<f32>";
    if (isTrained() && hasSlope) {
      derivatives += ", %one";
      types += ", tensor<f32>";
    }
    return "func.func private @score_0(%s: tensor<f32>, %head: tensor<i32>, "
           "%query: tensor<i32>, %key: tensor<i32>" +
           std::string(isBias() ? ", %a: tensor<f32>" : "") +
           ") -> (tensor<f32>" + (hasSlope ? ", " + types : "") +
           ") {\n%one = stablehlo.constant dense<1.0> : tensor<f32>\n" +
           (isBias() ? kBias : kSoftCap) + "return %e" +
           (hasSlope ? ", " + derivatives + " : tensor<f32>, " + types
                     : " : tensor<f32>") +
           "\n}";
  }

private:
  static constexpr const char *kBias =
      "%e = stablehlo.add %s, %a : tensor<f32>\n";
  static constexpr const char *kSoftCap = R"(
    %cap = stablehlo.constant dense<30.0> : tensor<f32>
    %part = stablehlo.divide %s, %cap : tensor<f32>
    %tanh = stablehlo.tanh %part : tensor<f32>
    %e = stablehlo.multiply %tanh, %cap : tensor<f32>
    %square = stablehlo.multiply %tanh, %tanh : tensor<f32>
    %slope = stablehlo.subtract %one, %square : tensor<f32>
)";
};

/// One head of one batch.
class Subject {
public:
  Subject(const Case &c, int64_t tokens, int64_t vectorBits);
  double run();
  double flops() const {
    double rows = static_cast<double>(tokens);
    double pairs = c.isCausal ? rows * (rows + 1) / 2 : rows * rows;
    return (c.isBackward ? 10.0 : 4.0) * pairs * static_cast<double>(c.size);
  }

private:
  void runForward();
  void *rows(int64_t width);
  void addScore();

  Case c;
  int64_t tokens;
  sprt_slice slice;
  Kernel forward;
  BackwardKernel backward;
  std::vector<std::vector<uint8_t>> memory;
  std::vector<void *> forwardBuffers, backwardBuffers;
  std::vector<int64_t> forwardSizes, backwardSizes;
  std::vector<int32_t> positions;
  void *scratch = nullptr;
};
} // namespace

/// Memory of so many bytes a row, to a cache line.
void *Subject::rows(int64_t width) {
  memory.emplace_back(tokens * width + 64);
  return reinterpret_cast<void *>(llvm::alignTo(
      reinterpret_cast<uintptr_t>(memory.back().data()), uint64_t(64)));
}

Subject::Subject(const Case &c, int64_t tokens, int64_t vectorBits)
    : c(c), tokens(tokens),
      slice(band(tokens, tokens, kNoLow, c.isCausal ? 0 : kNoHigh)) {
  bool isHalf = c.element == Element::bf16;
  using Gradients = std::vector<std::pair<bool, bool>>;
  bool dots = isHalf && vectorBits == 512 && canRun(512, /*bf16Dots=*/true);
  int64_t pairs = c.isBias();
  forward = loadKernel({c.element, c.size, c.size, vectorBits, 0, 0, dots,
                        c.function(false), 0, 0, 0, pairs,
                        /*keepsSums=*/c.score != Score::none});
  backward = loadBackwardKernel({c.element, c.size, c.size, vectorBits, dots,
                                 c.function(true), 0, 0, 0, pairs,
                                 Gradients(c.isTrained(), {true, true})});
  int64_t width = isHalf ? 2 : 4;
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<void *> inputs; // q, k, v, dO
  for (int i = 0; i < 4; ++i) {
    inputs.push_back(rows(c.size * width));
    for (int64_t at = 0; at < tokens * c.size; ++at) {
      float value = normal(random);
      uint32_t bits;
      std::memcpy(&bits, &value, sizeof bits);
      if (isHalf)
        static_cast<uint16_t *>(inputs.back())[at] =
            static_cast<uint16_t>(bits >> 16);
      else
        static_cast<float *>(inputs.back())[at] = value;
    }
  }
  void *o = rows(c.size * 4), *lse = rows(8), *delta = rows(4);
  void *gradients[] = {rows(c.size * 4), rows(c.size * 4), rows(c.size * 4)};
  scratch = rows(llvm::divideCeil(
      std::max(forward.scratchBytes, backward.scratchBytes), tokens));
  forwardBuffers = {inputs[0], inputs[1], inputs[2], o, lse, &slice};
  backwardBuffers = {inputs[0],    inputs[1], inputs[2],    inputs[3],
                     lse,          delta,     gradients[0], gradients[1],
                     gradients[2], &slice};
  double scale = 1 / std::sqrt(static_cast<double>(c.size));
  int64_t numbers = c.score == Score::none ? 1 : 2; // of an lse
  forwardSizes = {1, 1, tokens, tokens, 0, 1, 0, 1, 1, 1};
  forwardSizes.resize(SPRT_ATTEND_SIZES);
  std::memcpy(&forwardSizes[SPRT_ATTEND_SCALE], &scale, sizeof scale);
  for (int at = SPRT_ATTEND_Q_STRIDES; at < SPRT_ATTEND_SIZES; at += 3)
    forwardSizes[at + 1] = at == SPRT_ATTEND_LSE_STRIDES ? numbers : c.size;
  backwardSizes = {1, 1, 1, tokens, tokens, 0, 1, 0, 1, 1, 1, 1};
  backwardSizes.resize(SPRT_BACKWARD_SIZES);
  std::memcpy(&backwardSizes[SPRT_BACKWARD_SCALE], &scale, sizeof scale);
  for (int at = SPRT_BACKWARD_Q_STRIDES; at < SPRT_BACKWARD_SIZES; at += 3)
    backwardSizes[at + 1] = at == SPRT_BACKWARD_LSE_STRIDES     ? numbers
                            : at == SPRT_BACKWARD_DELTA_STRIDES ? 1
                                                                : c.size;
  if (c.score != Score::none)
    addScore();
  runForward();
}

/// Positions and, of a bias, an element for each pair.
void Subject::addScore() {
  for (int64_t row = 0; row < tokens; ++row)
    positions.push_back(static_cast<int32_t>(row));
  for (auto *buffers : {&forwardBuffers, &backwardBuffers})
    buffers->insert(buffers->end(), 2, positions.data());
  if (!c.isBias())
    return;
  void *elements = rows(tokens * 4);
  std::fill_n(static_cast<float *>(elements), tokens * tokens, 0.5F);
  for (auto *buffers : {&forwardBuffers, &backwardBuffers})
    buffers->push_back(elements);
  for (auto *sizes : {&forwardSizes, &backwardSizes})
    sizes->insert(sizes->end(), {0, 0, tokens, 1});
  if (!c.isTrained())
    return;
  backwardBuffers.push_back(rows(tokens * 4));
  backwardSizes.insert(backwardSizes.end(), {0, 0, tokens, 1});
}

void Subject::runForward() {
  int64_t tiles = llvm::divideCeil(tokens, forward.queryBlock);
  forward.function(forwardBuffers.data(), forwardSizes.data(), 0, tiles,
                   scratch);
}

/// Seconds of a launch.
double Subject::run() {
  double from = seconds();
  if (c.isBackward)
    backward.function(backwardBuffers.data(), backwardSizes.data(), 0, 1,
                      scratch);
  else
    runForward();
  return seconds() - from;
}

int main(int argc, char **argv) {
  int64_t tokens = argc > 1 ? std::atoll(argv[1]) : 4096;
  int64_t turns = argc > 2 ? std::atoll(argv[2]) : 5;
  std::string part = argc > 3 ? argv[3] : "";
  if (tokens < 1 || turns < 1 || !canRun(256)) {
    llvm::errs() << "expected positive tokens and turns on a machine with AVX2 "
                    "and FMA\n";
    return 1;
  }
  int64_t vectorBits = canRun(512) ? 512 : 256;
  auto peak = [&] { return vectorBits == 512 ? peakOf512() : peakOf256(); };
  llvm::outs() << "| kernel | fraction of peak | median | GFLOP/s | peak |\n"
                  "|---|---|---|---|---|\n";
  std::vector<Case> cases;
  for (bool isBackward : {false, true})
    for (Element element : {Element::f32, Element::bf16}) {
      for (int64_t size : {64, 128})
        for (bool isCausal : {false, true})
          cases.push_back({isBackward, element, size, isCausal});
      for (Score score : {Score::softCap, Score::bias})
        cases.push_back({isBackward, element, 64, /*isCausal=*/false, score});
      if (isBackward)
        cases.push_back({true, element, 64, false, Score::trainedBias});
    }
  for (const Case &c : cases) {
    if (c.name().find(part) == std::string::npos)
      continue;
    Subject subject(c, tokens, vectorBits);
    std::vector<double> fractions;
    double best = 0, top = peak();
    for (int64_t turn = 0; turn < turns; ++turn) {
      double before = peak(), rate = subject.flops() / subject.run();
      double after = peak();
      fractions.push_back(rate / std::max(before, after));
      best = std::max(best, rate);
      top = std::max({top, before, after});
    }
    std::sort(fractions.begin(), fractions.end());
    llvm::outs() << "| " << c.name() << " | "
                 << llvm::format("%.3f | %.3f | %.1f | %.1f |\n", best / top,
                                 fractions[fractions.size() / 2], best / 1e9,
                                 top / 1e9);
  }
}
