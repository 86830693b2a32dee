/// Numbers at some positions of every axis.
#ifndef SP_LIB_IMPORT_SAMPLEPOSITIONS_H
#define SP_LIB_IMPORT_SAMPLEPOSITIONS_H

#include "Expression/Component.h"

#include "llvm/ADT/DenseMap.h"

namespace mlir::sp {

/// Row-major numbers; one extent a dimension of the node they belong to.
struct Samples {
  SmallVector<int64_t, 6> shape;
  std::vector<double> data;
};

/// The positions that axes are sampled at.
///
/// A dimension over axes (a, b) has |positions(a)| * |positions(b)| samples. An
/// axis that is a window of others is sampled where these are.
class SamplePositions {
public:
  explicit SamplePositions(const AxisLabels &labels) : labels(labels) {}

  const AxisLabels &labels;

  /// Position 0 is sampled unless others are set.
  void set(AxisId axis, std::vector<int64_t> positions);
  const std::vector<int64_t> &of(AxisId axis) const;

  /// Number of samples of an axis or a dimension, and the index each stands
  /// for.
  int64_t count(AxisId axis) const;
  int64_t extent(ArrayRef<AxisId> dim) const;
  std::vector<int64_t> indices(ArrayRef<AxisId> dim) const;

private:
  std::vector<int64_t> axisIndices(AxisId axis) const;

  llvm::DenseMap<AxisId, std::vector<int64_t>> sampled;
};

/// Reads samples of a node by the coordinates of its axes.
class SampleView {
public:
  SampleView(const SamplePositions &positions, const Node *node,
             const Samples &samples);
  double at(const DenseMap<AxisId, int64_t> &coordinates) const;

private:
  SmallVector<std::pair<AxisId, int64_t>, 6> strides;
  const Samples &samples;
};

/// Steps through every index of a shape in row-major order.
class IndexWalk {
public:
  explicit IndexWalk(ArrayRef<int64_t> shape)
      : shape(shape), index(shape.size(), 0) {}
  ArrayRef<int64_t> operator*() const { return index; }
  void next() {
    for (size_t dim = shape.size(); dim-- > 0;) {
      if (++index[dim] < shape[dim])
        return;
      index[dim] = 0;
    }
  }

private:
  ArrayRef<int64_t> shape;
  SmallVector<int64_t, 8> index;
};

/// Row-major offset of an index; dimensions with one sample are read at 0.
int64_t sampleOffset(ArrayRef<int64_t> shape, ArrayRef<int64_t> index);

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_SAMPLEPOSITIONS_H
