//===- SamplePositions.cpp - Where axes are sampled
//------------------------===//

#include "Samples/SamplePositions.h"

using namespace mlir;
using namespace mlir::sp;

void SamplePositions::set(AxisId axis, std::vector<int64_t> positions) {
  sampled[axis] = std::move(positions);
}

const std::vector<int64_t> &SamplePositions::of(AxisId axis) const {
  static const std::vector<int64_t> first = {0};
  auto known = sampled.find(axis);
  return known == sampled.end() ? first : known->second;
}

int64_t SamplePositions::count(AxisId axis) const {
  if (const AxisLabels::Derivation *derived = labels.derivation(axis))
    return extent(derived->base);
  return of(axis).size();
}

std::vector<int64_t> SamplePositions::axisIndices(AxisId axis) const {
  const AxisLabels::Derivation *derived = labels.derivation(axis);
  if (!derived)
    return of(axis);
  std::vector<int64_t> all = indices(derived->base);
  for (int64_t &index : all)
    index = std::clamp<int64_t>(derived->start + derived->stride * index, 0,
                                labels.size(axis) - 1);
  return all;
}

int64_t SamplePositions::extent(ArrayRef<AxisId> dim) const {
  int64_t product = 1;
  for (AxisId axis : labels.resolve(dim))
    product *= count(axis);
  return product;
}

std::vector<int64_t> SamplePositions::indices(ArrayRef<AxisId> dim) const {
  std::vector<int64_t> all = {0};
  for (AxisId axis : labels.resolve(dim)) {
    std::vector<int64_t> wider;
    std::vector<int64_t> own = axisIndices(axis);
    for (int64_t outer : all)
      for (int64_t inner : own)
        wider.push_back(outer * labels.size(axis) + inner);
    all = std::move(wider);
  }
  return all;
}

int64_t mlir::sp::sampleOffset(ArrayRef<int64_t> shape,
                               ArrayRef<int64_t> index) {
  int64_t offset = 0;
  for (auto [extent, i] : llvm::zip_equal(shape, index))
    offset = offset * extent + (extent == 1 ? 0 : i);
  return offset;
}

SampleView::SampleView(const SamplePositions &positions, const Node *node,
                       const Samples &samples)
    : samples(samples) {
  int64_t stride = 1;
  Axes axes = positions.labels.resolve(flatten(node->labels));
  for (AxisId axis : llvm::reverse(axes)) {
    strides.push_back({axis, stride});
    stride *= positions.of(axis).size();
  }
}

double SampleView::at(const DenseMap<AxisId, int64_t> &coordinates) const {
  int64_t offset = 0;
  for (const auto &[axis, stride] : strides)
    offset += stride * coordinates.lookup(axis);
  return samples.data[offset];
}
