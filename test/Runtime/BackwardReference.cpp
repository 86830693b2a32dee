// What the gradients of attention are, one pair after the other.

#include "BackwardRing.h"

#include <cmath>

namespace sprt::test {

using namespace backward;

namespace {

/// Row `row`, head `head` of a dense tensor.
size_t at(int64_t row, int64_t head, int64_t heads, int64_t inner) {
  return static_cast<size_t>((row * heads + head) * inner);
}

double dot(const std::vector<float> &a, size_t i, const std::vector<float> &b,
           size_t j, int64_t count) {
  double sum = 0;
  for (size_t d = 0; d < static_cast<size_t>(count); ++d)
    sum += static_cast<double>(a[i + d]) * b[j + d];
  return sum;
}

int64_t keysSeen(const BackwardRing &ring, int64_t query) {
  return ring.causal ? query + 1 : ring.length;
}

} // namespace

std::vector<std::vector<float>> backwardInputs(const BackwardRing &ring) {
  std::vector<std::vector<float>> inputs;
  double step = 0.31;
  for (int64_t width : {kHeads * kHead, kKvHeads * kHead, kKvHeads * kValue,
                        kHeads * kValue, kHeads, kHeads}) {
    std::vector<float> &values = inputs.emplace_back(ring.length * width);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(std::sin(step * static_cast<double>(i)));
    step += 0.23;
  }
  const std::vector<float> &q = inputs[0], &k = inputs[1], &v = inputs[2],
                           &dOut = inputs[3];
  for (int64_t i = 0; i < ring.length; ++i)
    for (int64_t h = 0; h < kHeads; ++h) {
      double sum = 0, weighted = 0;
      for (int64_t j = 0; j < keysSeen(ring, i); ++j) {
        double power =
            std::exp(kScale * dot(q, at(i, h, kHeads, kHead), k,
                                  at(j, h / 2, kKvHeads, kHead), kHead));
        sum += power;
        weighted += power * dot(dOut, at(i, h, kHeads, kValue), v,
                                at(j, h / 2, kKvHeads, kValue), kValue);
      }
      inputs[4][at(i, h, kHeads, 1)] = static_cast<float>(std::log(sum));
      inputs[5][at(i, h, kHeads, 1)] = static_cast<float>(weighted / sum);
    }
  return inputs;
}

std::vector<std::vector<float>>
backwardReference(const BackwardRing &ring,
                  const std::vector<std::vector<float>> &inputs) {
  const std::vector<float> &q = inputs[0], &k = inputs[1], &v = inputs[2],
                           &dOut = inputs[3];
  std::vector<double> dq(q.size()), dk(k.size()), dv(v.size());
  for (int64_t i = 0; i < ring.length; ++i)
    for (int64_t h = 0; h < kHeads; ++h)
      for (int64_t j = 0; j < keysSeen(ring, i); ++j) {
        size_t query = at(i, h, kHeads, kHead), row = at(i, h, kHeads, 1),
               out = at(i, h, kHeads, kValue),
               key = at(j, h / 2, kKvHeads, kHead),
               value = at(j, h / 2, kKvHeads, kValue);
        double power = std::exp(kScale * dot(q, query, k, key, kHead) -
                                inputs[4][row]),
               dScore = power * kScale *
                        (dot(dOut, out, v, value, kValue) - inputs[5][row]);
        for (size_t d = 0; d < kHead; ++d) {
          dq[query + d] += dScore * k[key + d];
          dk[key + d] += dScore * q[query + d];
        }
        for (size_t d = 0; d < kValue; ++d)
          dv[value + d] += power * dOut[out + d];
      }
  return {
      {dq.begin(), dq.end()}, {dk.begin(), dk.end()}, {dv.begin(), dv.end()}};
}

} // namespace sprt::test
