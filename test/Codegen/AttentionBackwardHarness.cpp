// Kernels for gradients, and runs of them.
#include "AttentionBackwardHarness.h"
#include "AttentionCompile.h"
#include "CPU/Attention/Backward/AttentionBackwardKernel.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/MathExtras.h"
#include "gtest/gtest.h"
#include <cmath>
#include <map>

using namespace attention_test;

static BackwardKernel compile(const BackwardConfig &config) {
  mlir::MLIRContext context;
  mlir::sp::AttentionBackwardConfig kernel;
  kernel.headSize = config.headSize;
  kernel.valueSize = config.valueSize;
  kernel.elementType = elementType(context, config.element);
  kernel.vectorBits = config.vectorBits;
  kernel.bf16Dots = config.bf16Dots;
  auto loc = mlir::UnknownLoc::get(&context);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(loc),
                                    scores;
  if (!config.score.empty()) {
    scores = parseScore(context, config.score);
    if (!scores)
      return {};
    setScore(config, *scores, kernel);
    for (auto [perQuery, perKey] : config.termGradients)
      kernel.termGradients.push_back({perQuery, perKey});
  }
  if (failed(mlir::sp::verifyAttentionBackwardKernel(loc, kernel)))
    return {};
  mlir::sp::buildAttentionBackwardKernel(*module, loc, kernel);
  return {compileModule(*module, mlir::sp::attentionBackwardKernelName(kernel),
                        config.vectorBits, config.bf16Dots),
          mlir::sp::attentionBackwardScratchBytes(kernel)};
}

BackwardKernel
attention_test::loadBackwardKernel(const BackwardConfig &config) {
  static std::map<std::pair<std::vector<int64_t>, std::string>, BackwardKernel>
      loaded;
  std::vector<int64_t> key = {static_cast<int64_t>(config.element),
                              config.headSize,
                              config.valueSize,
                              config.vectorBits,
                              config.bf16Dots,
                              config.perQuery,
                              config.perKey,
                              config.perHead,
                              config.pair};
  for (auto [perQuery, perKey] : config.termGradients)
    key.push_back(2 * perQuery + perKey);
  auto [entry, isNew] = loaded.try_emplace({key, config.score});
  if (isNew)
    entry->second = compile(config);
  EXPECT_NE(entry->second.function, nullptr) << "the kernel did not compile";
  return entry->second;
}

static Element stateOf(Element element) {
  return element == Element::f64 ? Element::f64 : Element::f32;
}

BackwardRun::BackwardRun(const BackwardProblem &p)
    : p(p), q(p.kernel.element, p.batch, p.queries, p.heads, p.kernel.headSize,
              2, p.headsOutside),
      k(p.kernel.element, p.batch, p.keys, p.kvHeads(), p.kernel.headSize, 1,
        false),
      v(p.kernel.element, p.batch, p.keys, p.kvHeads(), p.kernel.valueSize, 2,
        p.headsOutside),
      dO(p.kernel.element, p.batch, p.queries, p.heads, p.kernel.valueSize, 1,
         false),
      lse(stateOf(p.kernel.element), p.batch, p.queries, p.heads,
          p.score ? 2 : 1, 2, !p.headsOutside),
      delta(stateOf(p.kernel.element), p.batch, p.queries, p.heads, 1, 1,
            p.headsOutside),
      dq(stateOf(p.kernel.element), p.batch, p.queries, p.heads,
         p.kernel.headSize, 2, false),
      dk(stateOf(p.kernel.element), p.batch, p.keys, p.kvHeads(),
         p.kernel.headSize, 2, p.headsOutside),
      dv(stateOf(p.kernel.element), p.batch, p.keys, p.kvHeads(),
         p.kernel.valueSize, 1, false),
      dTerms(p.termGradients) {
  std::mt19937 random(p.seed);
  for (Array *array : {&q, &k, &v, &dO, &delta})
    array->fill(random, 1);
  if (!p.initQueries)
    dq.fill(random, 1);
  if (!p.initKeys)
    for (Array *array : {&dk, &dv})
      array->fill(random, 1);
  chooseLse();
}

std::vector<double> attention_test::rowOf(const Array &array, int64_t b,
                                          int64_t r, int64_t h) {
  std::vector<double> row(array.inner);
  for (int64_t i = 0; i < array.inner; ++i)
    row[i] = array.get(array.index(b, r, h) + i);
  return row;
}

double attention_test::dot(const std::vector<double> &a,
                           const std::vector<double> &b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += a[i] * b[i];
  return sum;
}

Scored BackwardRun::scoreOf(double product, int64_t batch, int64_t head,
                            int64_t query, int64_t key) const {
  if (!p.score)
    return {p.scale * product};
  return p.score(p.scale * product,
                 {batch, head, p.headFirst + head, query,
                  p.queryPositions[query], key, p.keyPositions[key]});
}

/// As of an attention to these keys and some more.
void BackwardRun::chooseLse() {
  for (int64_t b = 0; b < p.batch; ++b)
    for (int64_t h = 0; h < p.heads; ++h) {
      std::vector<std::vector<double>> keys;
      for (int64_t key = 0; key < p.keys; ++key)
        keys.push_back(rowOf(k, b, key, p.kvHead(h)));
      for (int64_t a = 0; a < p.queries; ++a) {
        std::vector<double> query = rowOf(q, b, a, h), exponents;
        double greatest = -std::numeric_limits<double>::infinity();
        for (const sprt_slice &slice : p.slices)
          for (int64_t key = 0; key < p.keys; ++key)
            if (isVisible(slice, a, key)) {
              double product = dot(query, keys[key]);
              exponents.push_back(scoreOf(product, b, h, a, key).exponent);
              greatest = std::max(greatest, exponents.back());
            }
        int64_t at = lse.index(b, a, h);
        double base = p.score ? greatest : 0;
        double sum = 0.5 * static_cast<double>((a + h) % 4);
        for (double exponent : exponents)
          sum += std::exp(exponent - base);
        lse.set(at, p.score ? greatest : std::log(sum));
        if (p.score)
          lse.set(at + 1, sum);
      }
    }
}

void BackwardRun::run(std::vector<int64_t> ends) {
  BackwardKernel kernel = loadBackwardKernel(p.kernel);
  ASSERT_NE(kernel.function, nullptr);
  std::vector<int64_t> sizes = {
      p.batch,       p.heads,
      p.kvHeads(),   p.queries,
      p.keys,        p.headFirst,
      p.headsTotal,  p.kvFirst(),
      p.kvTotal,     static_cast<int64_t>(p.slices.size()),
      p.initQueries, p.initKeys};
  sizes.resize(SPRT_BACKWARD_SIZES);
  std::memcpy(&sizes[SPRT_BACKWARD_SCALE], &p.scale, sizeof(double));
  int64_t at = SPRT_BACKWARD_Q_STRIDES;
  for (const Array *array : {&q, &k, &v, &dO, &lse, &delta, &dq, &dk, &dv}) {
    std::copy(array->strides, array->strides + 3, sizes.begin() + at);
    at += 3;
  }
  std::vector<void *> buffers;
  for (Array *array : {&q, &k, &v, &dO, &lse, &delta, &dq, &dk, &dv})
    buffers.push_back(array->bytes.data());
  buffers.push_back(const_cast<sprt_slice *>(p.slices.data()));
  buffers.push_back(const_cast<int32_t *>(p.queryPositions.data()));
  buffers.push_back(const_cast<int32_t *>(p.keyPositions.data()));
  LaunchTerms terms;
  terms.append(p, p.kernel.perQuery, p.kernel.perKey, /*keyFirst=*/0, buffers,
               sizes);
  Scoring gradients;
  gradients.terms = dTerms;
  LaunchTerms launched;
  launched.append(gradients, 0, 0, 0, buffers, sizes);
  std::vector<uint8_t> scratch(kernel.scratchBytes + 128, 0xff);
  auto *aligned = reinterpret_cast<uint8_t *>(
      llvm::alignTo(reinterpret_cast<uintptr_t>(scratch.data()), 64));
  ends.push_back(p.batch * p.kvHeads());
  int64_t first = 0;
  for (int64_t end : ends) {
    kernel.function(buffers.data(), sizes.data(), first, end, aligned);
    first = end;
  }
  for (int64_t i = 0; i < 64; ++i)
    EXPECT_EQ(aligned[kernel.scratchBytes + i], 0xff) << "scratch overrun";
  for (auto [term, bytes] : llvm::zip_equal(dTerms, launched.values))
    term.values = decode(term.element, bytes);
}
