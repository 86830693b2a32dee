//===- HeadPart.cpp - Heads that a tensor axis deals ----------------------===//

#include "sp/IR/SP.h"
#include "sp/IR/ShardingRules.h"

using namespace mlir;
using namespace mlir::sp;

static LayoutAttr contiguous(AxisAttr axis, int64_t length, int64_t ranks) {
  if (ranks == 1)
    return LayoutAttr::getDense(axis.getContext(), length);
  return LayoutAttr::get(axis.getContext(), LayoutKind::Contiguous, length,
                         axis, ranks);
}

/// Kv heads go to `kv` parts of the axis, the query heads of each evenly to
/// `each` of the ranks of a part: only where a rank has but one kv head do the
/// heads of a rank follow each other then.
HeadPartAttr HeadPartAttr::choose(AxisAttr axis, int64_t ranks, int64_t heads,
                                  int64_t kvHeads) {
  if (heads % kvHeads != 0)
    return HeadPartAttr();
  int64_t readers = heads / kvHeads, least = heads, bestKv = 1, bestEach = 1;
  auto consider = [&](int64_t kv, int64_t each) {
    int64_t most =
        llvm::divideCeil(kvHeads, kv) * llvm::divideCeil(readers, each);
    if (most < least) {
      least = most;
      bestKv = kv;
      bestEach = each;
    }
  };
  // Padding behind the query heads of one kv head would read the next.
  for (int64_t kv = 1; kv <= ranks; ++kv)
    for (int64_t each = 1; ranks % kv == 0 && each <= ranks / kv; ++each)
      if (ranks / kv % each == 0 && (kvHeads == 1 || readers % each == 0) &&
          (each == 1 || kv >= kvHeads))
        consider(kv, each);
  if (least == heads)
    return HeadPartAttr();
  return get(
      axis.getContext(),
      contiguous(AxisAttr::getFactor(axis, ranks, 1, bestKv), kvHeads, bestKv),
      contiguous(AxisAttr::getFactor(axis, ranks, bestKv, bestEach), readers,
                 bestEach));
}

/// The first (length mod ranks) owners hold one more.
static int64_t firstOf(LayoutAttr layout, int64_t owner) {
  int64_t base = layout.getLength() / layout.getRanks(),
          more = layout.getLength() % layout.getRanks();
  return owner * base + std::min(owner, more);
}

int64_t HeadPartAttr::getFirstKvHead(int64_t kvOwner) const {
  return firstOf(getKv(), kvOwner);
}

int64_t HeadPartAttr::getFirstHead(int64_t kvOwner, int64_t eachOwner) const {
  return getFirstKvHead(kvOwner) * getEach().getLength() +
         firstOf(getEach(), eachOwner);
}

int64_t HeadPartAttr::getWholeHeads() const {
  return getFirstHead(getKv().getRanks() - 1, getEach().getRanks() - 1) +
         getHeads();
}

static AtomAttr atomOf(LayoutAttr layout) {
  return AtomAttr::get(layout.getContext(), layout.getLength(),
                       layout.isDense() ? LayoutAttr() : layout);
}

DimAttr HeadPartAttr::getQueryDim() const {
  SmallVector<AtomAttr> atoms = {atomOf(getKv())};
  if (getEach().getLength() > 1)
    atoms.push_back(atomOf(getEach()));
  return productOf(getContext(), atoms);
}

DimAttr HeadPartAttr::getKvDim() const {
  return DimAttr::get(getContext(), atomOf(getKv()));
}

HeadPartAttr mlir::sp::headPartOf(MeshOp mesh, int64_t heads, int64_t kvHeads) {
  int64_t ranks = mesh ? mesh.getAxisSize(mesh.getTensor()) : 1;
  if (ranks == 1)
    return HeadPartAttr();
  return HeadPartAttr::choose(*mesh.getTensor(), ranks, heads, kvHeads);
}
