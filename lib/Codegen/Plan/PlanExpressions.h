/// Index values as expressions of a rank's coordinates and loop counters, and
/// tensors as views of a rank's memories.
#ifndef SP_LIB_CODEGEN_PLANEXPRESSIONS_H
#define SP_LIB_CODEGEN_PLANEXPRESSIONS_H

#include "Plan/PlanTables.h"

namespace mlir::sp {

using ExprPtr = std::unique_ptr<sprt::plan::ExprT>;
using ViewPtr = std::unique_ptr<sprt::plan::ViewT>;

ExprPtr constant(int64_t value);
ExprPtr combine(ExprPtr a, ExprPtr b, sprt::plan::ExprOp op);
/// `number` of those that begin behind `before` others.
ExprPtr behind(int64_t before, ExprPtr number);

class PlanExpressions {
public:
  explicit PlanExpressions(PlanTables &tables)
      : tables(tables), mesh(tables.getMesh()) {}

  ExprPtr expression(Value index);
  ExprPtr coordinate(AxisAttr axis);
  /// This rank's coordinate along the layout's axis; 0 for a dense layout.
  ExprPtr owner(LayoutAttr layout);
  ExprPtr rowCount(LayoutAttr layout, ExprPtr owner);
  /// The first head of `kvHeads` that this rank's query heads read, and how
  /// many it holds.
  ExprPtr firstKvHead(LayoutAttr heads, int64_t kvHeads);
  ExprPtr kvHeadCount(LayoutAttr heads, int64_t kvHeads);
  /// First of `length` things dealt contiguously by `layout`.
  ExprPtr firstOf(LayoutAttr layout);
  /// The rank at `coordinate` along `axis` and with this rank's others.
  ExprPtr rankAt(AxisAttr axis, ExprPtr coordinate);
  /// The ring owner whose block comes from `distance` before along a factor of
  /// the layout's axis, where that of `owner` is handed on.
  ExprPtr ownerBehind(LayoutAttr layout, AxisAttr axis, ExprPtr owner,
                      int64_t distance);
  /// The owner `distance` before one in its group of a layout by batches.
  ExprPtr groupSource(LayoutAttr layout, ExprPtr owner, ExprPtr distance);
  ExprPtr groupSize(LayoutAttr layout, ExprPtr owner);
  std::unique_ptr<sprt::plan::RowsT> rows(LayoutAttr layout, ExprPtr owner);
  ViewPtr view(Value value);
  sprt::plan::CopyT copy(Value from, Value to);
  /// So many bytes of a stack, from row `at` of dimension `dim` on.
  ViewPtr rows(Value stack, Value at, int64_t dim, int64_t bytes);

  PlanTables &getTables() { return tables; }

private:
  PlanTables &tables;
  MeshOp mesh;
};

} // namespace mlir::sp

#endif // SP_LIB_CODEGEN_PLANEXPRESSIONS_H
