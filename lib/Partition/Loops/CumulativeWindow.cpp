//===- CumulativeWindow.cpp - Windows of all rows up to each --------------===//

#include "Loops/CumulativeWindow.h"
#include "sp/IR/LocalForms.h"
#include "sp/StableHLO/Builders.h"
#include "sp/StableHLO/TensorTypes.h"

using namespace mlir;
using namespace mlir::sp;

static bool areOnes(std::optional<ArrayRef<int64_t>> values) {
  return !values ||
         llvm::all_of(*values, [](int64_t value) { return value == 1; });
}

std::optional<CumulativeWindow>
CumulativeWindow::find(stablehlo::ReduceWindowOp op) {
  std::optional<Reduction> kind = reductionOf(op.getBody());
  if (op.getInputs().size() != 1 || !kind ||
      !isNeutral(op.getInitValues()[0], *kind) ||
      !areOnes(op.getWindowStrides()) || !areOnes(op.getBaseDilations()) ||
      !areOnes(op.getWindowDilations()) || !op.getPadding())
    return std::nullopt;
  std::optional<CumulativeWindow> found;
  auto edges = op.getPadding()->getValues<int64_t>();
  for (auto [dim, size] : llvm::enumerate(op.getWindowDimensions())) {
    int64_t low = edges[2 * dim], high = edges[2 * dim + 1];
    if (size == 1 && low == 0 && high == 0)
      continue;
    bool isWhole = size == shapeOf(op.getInputs()[0])[dim] &&
                   low + high == size - 1 && (low == 0 || high == 0);
    if (found || !isWhole)
      return std::nullopt;
    found = CumulativeWindow{static_cast<unsigned>(dim), low == 0, *kind};
  }
  return found;
}

Value mlir::sp::rowsBefore(OpBuilder &builder, Location loc, Value value,
                           unsigned dim, int64_t by, bool isReversed,
                           Reduction kind) {
  Value none = neutralSplat(builder, loc,
                            RankedTensorType::get({}, elementOf(value)), kind);
  std::pair<int64_t, int64_t> edges(by, -by);
  if (isReversed)
    std::swap(edges.first, edges.second);
  return padRows(builder, loc, value, none, dim, edges);
}

/// The window over rows of the parts, [.., parts, rows, ..].
static Value windowOfParts(OpBuilder &builder, stablehlo::ReduceWindowOp op,
                           Value cut, CumulativeWindow window) {
  unsigned dim = window.dim + 1;
  int64_t rows = shapeOf(cut)[dim];
  SmallVector<int64_t> sizes(rankOf(cut), 1), edges(2 * rankOf(cut), 0);
  sizes[dim] = rows;
  edges[2 * dim + window.isReversed] = rows - 1;
  auto padding = DenseIntElementsAttr::get(
      RankedTensorType::get({rankOf(cut), 2}, builder.getI64Type()), edges);
  auto made = cast<stablehlo::ReduceWindowOp>(builder.clone(*op));
  made.getInputsMutable().assign(cut);
  made.setWindowDimensions(sizes);
  made.setPaddingAttr(padding);
  made.removeWindowStridesAttr();
  made.removeBaseDilationsAttr();
  made.removeWindowDilationsAttr();
  made.getResult(0).setType(typeOf(cut));
  return made.getResult(0);
}

void mlir::sp::cutWindow(stablehlo::ReduceWindowOp op, CumulativeWindow window,
                         int64_t parts) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  SmallVector<int64_t> shape(shapeOf(op.getResult(0)));
  int64_t rows = shape[window.dim] / parts;
  shape[window.dim] = parts;
  shape.insert(shape.begin() + window.dim + 1, rows);
  Value cut = reshapeTo(builder, loc, op.getInputs()[0], shape);
  Value each = windowOfParts(builder, op, cut, window);
  // What comes of a whole part, of those up to it, and of those before.
  Value whole = rowOf(builder, loc, each, window.dim + 1,
                      window.isReversed ? 0 : rows - 1);
  auto before = [&](int64_t by) {
    return rowsBefore(builder, loc, whole, window.dim, by, window.isReversed,
                      window.kind);
  };
  for (int64_t by = 1; by < parts; by *= 2)
    whole = combine(builder, loc, before(by), whole, window.kind);
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < rankOf(each); ++dim)
    if (dim != window.dim + 1)
      dims.push_back(dim);
  Value all = stablehlo::BroadcastInDimOp::create(builder, loc, typeOf(each),
                                                  before(1), dims);
  Value made = combine(builder, loc, all, each, window.kind);
  op.getResult(0).replaceAllUsesWith(
      reshapeTo(builder, loc, made, shapeOf(op.getResult(0))));
  op.erase();
}
