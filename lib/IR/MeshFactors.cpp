//===- MeshFactors.cpp - Factors of axes, and rows that they deal ---------===//

#include "AxisTransfer.h"

using namespace mlir;
using namespace mlir::sp;

/// Positions of an axis at which one of the axes named begins or ends, each of
/// which divides the next.
static SmallVector<int64_t> boundariesOf(MeshAxisAttr axis,
                                         ArrayRef<AxisAttr> named) {
  SmallVector<int64_t> all = {axis.getSize()};
  for (AxisAttr part : named)
    if (part.getName() == axis.getName() && !part.isWhole()) {
      all.push_back(part.getAbove());
      all.push_back(part.getAbove() * part.getSize());
    }
  llvm::sort(all);
  SmallVector<int64_t> chain = {1};
  for (int64_t boundary : all)
    if (boundary > chain.back() && boundary % chain.back() == 0 &&
        axis.getSize() % boundary == 0)
      chain.push_back(boundary);
  return chain;
}

MeshFactors::MeshFactors(MeshOp mesh, func::FuncOp func) {
  SmallVector<AxisAttr> named;
  auto collect = [&](DictionaryAttr attributes) {
    attributes.walk([&](AxisAttr axis) {
      if (!axis.isWhole() && !llvm::is_contained(named, axis))
        named.push_back(axis);
    });
  };
  collect(func->getAttrDictionary());
  func.walk([&](Operation *op) {
    if (isa_and_present<SpDialect>(op->getDialect()))
      collect(op->getAttrDictionary());
  });
  for (MeshAxisAttr axis : mesh.getMesh().getAxes()) {
    SmallVector<int64_t> chain = boundariesOf(axis, named);
    for (size_t i = 1; i < chain.size(); ++i) {
      int64_t above = chain[i - 1], size = chain[i] / above;
      AxisAttr whole = AxisAttr::get(mesh.getContext(), axis.getName());
      factors.push_back(
          {AxisAttr::getFactor(whole, axis.getSize(), above, size), above,
           size});
    }
  }
}

/// The factors of an axis for whose interval `fits` holds, beside that of the
/// axis.
template <typename FitsT>
AxisSet MeshFactors::collect(AxisAttr axis, FitsT fits) const {
  AxisSet set = 0;
  int64_t begin = axis.getAbove(), end = begin * axis.getSize();
  for (auto [number, part] : llvm::enumerate(factors))
    if (part.axis.getName() == axis.getName() &&
        (axis.isWhole() ||
         fits(part.above, part.above * part.size, begin, end)))
      set |= AxisSet(1) << number;
  return set;
}

AxisSet MeshFactors::of(AxisAttr axis) const {
  return collect(axis, [](int64_t low, int64_t high, int64_t begin,
                          int64_t end) { return low < end && begin < high; });
}

AxisSet MeshFactors::within(AxisAttr axis) const {
  return collect(axis, [](int64_t low, int64_t high, int64_t begin,
                          int64_t end) { return begin <= low && high <= end; });
}

AxisSet MeshFactors::of(AxisListAttr axes) const {
  AxisSet set = 0;
  for (AxisAttr axis : axes.getAxes())
    set |= of(axis);
  return set;
}

AxisSet MeshFactors::of(LayoutAttr layout) const {
  return layout.getRanks() == 1 ? 0 : of(layout.getAxis());
}

const MeshFactors::Part &MeshFactors::first(AxisSet set) const {
  return factors[llvm::countr_zero(set)];
}

AxisAttr MeshFactors::axisOf(AxisSet set) const { return first(set).axis; }

int64_t MeshFactors::ranksOf(AxisSet set) const { return first(set).size; }

bool DealtRows::agreesWith(const DealtRows &other) const {
  auto positions = [](LayoutAttr layout) {
    return layout.getOfAllTurns().getWhole();
  };
  auto isBlockOf = [](LayoutAttr part, LayoutAttr whole) {
    return whole.getBlocks() > 1 && part == whole.getBlock();
  };
  return dim == other.dim &&
         (positions(layout) == positions(other.layout) ||
          isBlockOf(layout, other.layout) || isBlockOf(other.layout, layout));
}

bool AxisType::operator==(const AxisType &other) const {
  return dealt == other.dealt && partial == other.partial &&
         counted == other.counted && varying == other.varying &&
         (!partial || kind == other.kind) && isZero == other.isZero &&
         uniform == other.uniform && rows == other.rows;
}

/// Keeps the rows of `from` that `other` has as well, or may have: where all
/// its rows are alike, they are whatever a layout gives.
static void keepRows(const AxisType &from, const AxisType &other,
                     const MeshFactors &mesh, AxisType &joined) {
  for (const DealtRows &rows : from.rows) {
    AxisSet axes = mesh.of(rows.layout);
    bool fits = llvm::is_contained(other.rows, rows) ||
                (!(other.unequal() & axes) && (other.uniform >> rows.dim & 1));
    if (!fits)
      joined.varying |= axes;
    else if (!llvm::is_contained(joined.rows, rows))
      joined.rows.push_back(rows);
  }
}

AxisType mlir::sp::join(const AxisType &a, const AxisType &b,
                        const MeshFactors &mesh) {
  if (a.isZero)
    return b;
  if (b.isZero)
    return a;
  AxisType joined;
  joined.varying = a.varying | b.varying;
  joined.uniform = a.uniform & b.uniform;
  keepRows(a, b, mesh, joined);
  keepRows(b, a, mesh, joined);
  // The maximum of equal values is each of them.
  AxisSet either = a.partial | b.partial, both = a.partial & b.partial;
  joined.kind = a.partial ? a.kind : b.kind;
  bool keepsEqual = !countsEachRank(joined.kind);
  bool agree = !(a.partial && b.partial) || a.kind == b.kind;
  joined.partial = agree ? (keepsEqual ? either : both) : 0;
  joined.partial &= ~(a.dealt | b.dealt | joined.varying);
  joined.varying |= either & ~joined.partial;
  llvm::erase_if(joined.rows, [&](const DealtRows &rows) {
    return (mesh.of(rows.layout) & joined.varying) != 0;
  });
  for (const DealtRows &rows : joined.rows)
    joined.dealt |= mesh.of(rows.layout);
  joined.varying |= (a.dealt | b.dealt) & ~joined.dealt;
  joined.counted = (a.counted | b.counted) & ~joined.unequal();
  return joined;
}

AxisType mlir::sp::typeOfDims(ArrayRef<DimAttr> dims, const MeshFactors &mesh) {
  AxisType type;
  for (auto [number, dim] : llvm::enumerate(dims)) {
    int64_t inner = 1;
    for (AtomAttr atom : llvm::reverse(dim.getAtoms())) {
      LayoutAttr layout = atom.getLayout();
      int64_t size = layout ? layout.getMaxCount() : atom.getSize();
      if (AxisSet axes = layout ? mesh.of(layout) : 0) {
        type.dealt |= axes;
        type.rows.push_back(
            {layout, static_cast<unsigned>(number), inner, size});
      }
      inner *= size;
    }
  }
  return type;
}
