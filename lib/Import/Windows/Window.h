/// Windows of a few places that move along a dimension.
#ifndef SP_LIB_IMPORT_WINDOW_H
#define SP_LIB_IMPORT_WINDOW_H

#include "sp/StableHLO/Builders.h"
#include "sp/StableHLO/StableHLO.h"

namespace mlir::sp {

/// Places of a window, and of its result where the window is the longer one.
constexpr int64_t kMostPlaces = 16;

/// An entry of a window's attribute, 1 where there is none.
inline int64_t entryOf(std::optional<ArrayRef<int64_t>> values, unsigned dim) {
  return values ? (*values)[dim] : 1;
}

/// A window that moves along one dimension.
struct Window {
  int64_t dim = 0, size = 0, dilation = 1, stride = 1, low = 0;
  /// Of the dimension, and of the result's.
  int64_t rows = 0, results = 0;
  /// How many of padding lie between two rows, which `rows` counts too.
  int64_t between = 0;

  /// The window whose results are the places of this one: place p of result r
  /// reads the same row as place r of result p.
  Window swapped() const {
    return {dim, results, stride, dilation, low, rows, size, between};
  }
  /// What is added in front, and behind, so that `place` reads every
  /// `stride`-th row for the results.
  std::pair<int64_t, int64_t> edges(int64_t place) const {
    int64_t front = low - place * dilation;
    return {front, (results - 1) * stride + 1 - rows - front};
  }
  /// Whether every place reads some row.
  bool readsRows() const {
    return llvm::all_of(llvm::seq(size), [&](int64_t place) {
      auto [front, behind] = edges(place);
      int64_t read = rows + front + behind;
      return front > -rows && behind > -rows && front < read && behind < read;
    });
  }
};

/// The rows that a place of the window reads, for each result.
Value rowsAt(OpBuilder &builder, Location loc, Value value, Value padding,
             const Window &window, int64_t place);

/// Writes a convolution of sequences out where its window, or its result, is
/// short.
void splitConvolution(stablehlo::ConvolutionOp op);

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_WINDOW_H
