/// Windows of a few places that move along a dimension.
#ifndef SP_LIB_IMPORT_WINDOW_H
#define SP_LIB_IMPORT_WINDOW_H

#include "sp/StableHLO/StableHLO.h"

namespace mlir::sp {

/// Places of a window, and of its result where the window is the longer one.
constexpr int64_t kMostPlaces = 16;

/// An entry of a window's attribute, 1 where there is none.
inline int64_t entryOf(std::optional<ArrayRef<int64_t>> values, unsigned dim) {
  return values ? (*values)[dim] : 1;
}

/// A window that moves by one along one dimension.
struct Window {
  int64_t dim = 0, size = 0, dilation = 1, low = 0;
  /// Of the dimension, and of the result's.
  int64_t rows = 0, results = 0;

  /// What is added in front, and behind, so that row i is the one that place
  /// `place` reads for result i.
  std::pair<int64_t, int64_t> edges(int64_t place) const {
    int64_t front = low - place * dilation;
    return {front, results - rows - front};
  }
  /// Whether every place reads some row.
  bool readsRows() const {
    return llvm::all_of(llvm::seq(size), [&](int64_t place) {
      auto [front, behind] = edges(place);
      return front > -rows && behind > -rows && front < results &&
             behind < results;
    });
  }
};

/// Rows of a dimension of `value` with others in front and behind.
Value padRows(OpBuilder &builder, Location loc, Value value, Value padding,
              unsigned dim, std::pair<int64_t, int64_t> edges);

/// Writes a convolution of sequences out where its window, or its result, is
/// short.
void splitConvolution(stablehlo::ConvolutionOp op);

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_WINDOW_H
