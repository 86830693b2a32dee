//===- PlanAttributes.cpp - How an attention is spread --------------------===//

#include "sp/IR/SP.h"

#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace mlir::sp;
using sprt::algebra::Layout;

LogicalResult PlanAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               AxisAttr axis, int64_t heads, int64_t outer,
                               int64_t inner, int64_t gather, LayoutKind layout,
                               Placement, int64_t groups, bool bidirectional,
                               bool queriesTravel, int64_t turns, int64_t holds,
                               int64_t rowSplit, bool direct, int64_t merge) {
  if (std::min({heads, outer, inner, gather, groups, turns, merge}) < 1)
    return emitError() << "expected positive factors of axis \""
                       << axis.getText() << "\" but got heads " << heads
                       << ", outer " << outer << ", inner " << inner
                       << ", gather " << gather << ", groups " << groups
                       << ", turns " << turns << ", merge " << merge;
  std::optional<int64_t> ranks = 1;
  for (int64_t factor : {heads, outer, inner, gather, merge})
    ranks = ranks ? llvm::checkedMul(*ranks, factor) : std::nullopt;
  if (!ranks || *ranks > Layout::maxRanks)
    return emitError() << "expected factors of axis \"" << axis.getText()
                       << "\" of at most " << Layout::maxRanks
                       << " ranks but got " << heads << " x " << outer << " x "
                       << inner << " x " << gather << " x " << merge;
  if (rowSplit < 1 || *ranks % rowSplit != 0 ||
      (rowSplit > 1 && inner * outer > 1 && heads > 1))
    return emitError() << "expected rows in parts that divide the " << *ranks
                       << " ranks, where no ring shares them with heads, but "
                          "got row_split "
                       << rowSplit;
  if (direct && (inner == 1 || outer > 1 || bidirectional || queriesTravel ||
                 turns > 1 || layout == LayoutKind::Batch))
    return emitError() << "expected one ring, in which keys travel one way for "
                          "all queries at once, to be direct";
  bool isBatch = layout == LayoutKind::Batch;
  if (isBatch ? holds < 1 : holds != 0)
    return emitError() << "expected a layout by batches alone to hold a number "
                          "of positions but got "
                       << holds;
  if (isBatch &&
      (outer > 1 || gather > 1 || merge > 1 || bidirectional || inner == 1))
    return emitError() << "expected one ring, which turns one way, for a "
                          "layout by batches but got outer "
                       << outer << ", inner " << inner << ", gather " << gather
                       << ", merge " << merge
                       << (bidirectional ? ", both ways" : "");
  return success();
}

std::pair<int64_t, int64_t> PlanAttr::getKvGroup(int64_t group,
                                                 int64_t kvHeads) const {
  Layout parts(sprt::algebra::LayoutKind::contiguous, kvHeads, getGroups());
  int64_t count = parts.count(group);
  return {count ? parts.toGlobal(group, 0) : 0, count};
}

PlanAttr PlanAttr::withQueriesTravel(bool travel) const {
  return get(getContext(), getAxis(), getHeads(), getOuter(), getInner(),
             getGather(), getLayout(), getPlacement(), getGroups(),
             getBidirectional(), travel, getTurns(), getHolds(), getRowSplit(),
             getDirect() && !travel, getMerge());
}

PlanAttr PlanAttr::withDirect() const {
  return get(getContext(), getAxis(), getHeads(), getOuter(), getInner(),
             getGather(), getLayout(), getPlacement(), getGroups(),
             getBidirectional(), getQueriesTravel(), getTurns(), getHolds(),
             getRowSplit(), /*direct=*/true, getMerge());
}

static LayoutAttr allRows(PlanAttr plan, int64_t length) {
  return LayoutAttr::get(plan.getContext(), plan.getLayout(), length,
                         plan.getAxis(), plan.getRanks(), plan.getSplit(),
                         plan.getHolds());
}

/// The layout with a block for each turn, all of one size.
static LayoutAttr inBlocks(LayoutAttr layout, PlanAttr plan) {
  int64_t length = layout.getLength();
  Layout rows = toAlgebra(allRows(plan, length));
  int64_t whole = length;
  // Those of a batch are blocks of rows, which need not be full.
  if (!layout.isOfBatch())
    whole = llvm::alignTo(
        length, plan.getTurns() *
                    Layout::granule(rows.kind(), rows.ring(), rows.split()));
  return LayoutAttr::get(plan.getContext(), layout.getKind(), length,
                         layout.getAxis(), layout.getRanks(), layout.getSplit(),
                         whole == length ? 0 : whole, plan.getTurns(), 1,
                         layout.getHolds());
}

LayoutAttr PlanAttr::getRows(int64_t length) const {
  LayoutAttr rows = allRows(*this, length);
  return getTurns() == 1 ? rows : inBlocks(rows, *this);
}

LayoutAttr PlanAttr::getQueryRows(int64_t length) const {
  return getMerge() > 1 && length < getRanks()
             ? LayoutAttr::getDense(getContext(), length)
             : getRows(length);
}

LayoutAttr PlanAttr::getRingRows(int64_t length) const {
  if (getRing() == 1)
    return LayoutAttr::get(getContext(), LayoutKind::Contiguous, length,
                           getAxis(), 1);
  // Of one that nobody shares rows with the rows are those of the ranks.
  bool isShared = sharesRingRows();
  auto rows = LayoutAttr::get(getContext(), getLayout(), length, getRingAxis(),
                              getRing(), isShared ? 1 : getSplit(),
                              getHolds() * (isShared ? getHeads() : 1));
  return getTurns() == 1 ? rows : inBlocks(rows, *this);
}

LayoutAttr PlanAttr::getRingRowsByTurn(int64_t length) const {
  return inBlocks(getRingRows(length), *this).getByTurn();
}

LayoutAttr PlanAttr::getHeadsLayout(int64_t count) const {
  return LayoutAttr::get(getContext(), LayoutKind::Contiguous, count,
                         getHeadsAxis(), getHeads());
}

AxisAttr PlanAttr::getHeadsAxis() const {
  return AxisAttr::getFactor(getAxis(), getRanks(), getRing(), getHeads());
}
AxisAttr PlanAttr::getRingAxis() const {
  return AxisAttr::getFactor(getAxis(), getRanks(), 1, getRing());
}
AxisAttr PlanAttr::getOuterAxis() const {
  return AxisAttr::getFactor(getAxis(), getRanks(), 1, getOuter());
}
AxisAttr PlanAttr::getInnerAxis() const {
  return AxisAttr::getFactor(getAxis(), getRanks(), getOuter(), getInner());
}
