//===- ShardingDims.cpp - Dimensions as products of atoms -----------------===//

#include "sp/IR/ShardingRules.h"

#include <numeric>

using namespace mlir;
using namespace mlir::sp;
using sprt::algebra::Layout;

bool mlir::sp::isOfBatch(DimAttr dim) {
  return llvm::any_of(dim.getAtoms(), [](AtomAttr atom) {
    return atom.getLayout() && atom.getLayout().isOfBatch();
  });
}

bool mlir::sp::isDealt(DimAttr dim) {
  return llvm::any_of(dim.getAtoms(),
                      [](AtomAttr atom) { return bool(atom.getLayout()); });
}

LayoutAttr mlir::sp::onlyLayout(DimAttr dim) {
  ArrayRef<AtomAttr> atoms = dim.getAtoms();
  return atoms.size() == 1 ? atoms[0].getLayout() : LayoutAttr();
}

DimAttr mlir::sp::dealtDim(LayoutAttr layout) {
  MLIRContext *context = layout.getContext();
  return DimAttr::get(context,
                      AtomAttr::get(context, layout.getLength(), layout));
}

int64_t mlir::sp::lengthOf(DimAttr dim) {
  int64_t size = 1;
  for (AtomAttr atom : dim.getAtoms())
    size *= atom.getSize();
  return size;
}

DimAttr mlir::sp::fitDim(DimAttr dim, int64_t size) {
  if (lengthOf(dim) == size)
    return dim;
  LayoutAttr layout = onlyLayout(dim);
  LayoutAttr first = layout ? layout.getFirst(size) : LayoutAttr();
  if (!first)
    return DimAttr();
  // A few runs of a long sequence, which few ranks hold, are shared anew.
  int64_t ranks = layout.getRanks(), even = llvm::divideCeil(size, ranks);
  if (size >= ranks && first.getMaxCount() >= 2 * even &&
      layout.getKind() != LayoutKind::Batch && layout.getTurns() == 1 &&
      layout.getBlocks() == 1)
    return dealtDim(LayoutAttr::get(dim.getContext(), LayoutKind::Contiguous,
                                    size, layout.getAxis(), ranks));
  return first.getMaxCount() == size ? DimAttr() : dealtDim(first);
}

DimAttr mlir::sp::wholeDim(DimAttr dim) {
  return DimAttr::get(
      dim.getContext(),
      AtomAttr::get(dim.getContext(), lengthOf(dim), LayoutAttr()));
}

bool mlir::sp::sharesAxis(DimAttr dim, ArrayRef<DimAttr> dims) {
  auto usesAxis = [&](DimAttr other, AxisAttr axis) {
    return llvm::any_of(other.getAtoms(), [&](AtomAttr atom) {
      return atom.getLayout() && atom.getLayout().getAxis().overlaps(axis);
    });
  };
  return llvm::any_of(dim.getAtoms(), [&](AtomAttr atom) {
    return atom.getLayout() && llvm::any_of(dims, [&](DimAttr other) {
             return usesAxis(other, atom.getLayout().getAxis());
           });
  });
}

int64_t mlir::sp::runsOf(LayoutAttr layout) {
  LayoutKind kind = layout.getKind();
  if (kind != LayoutKind::Contiguous && kind != LayoutKind::Zigzag)
    return 0;
  Layout algebra = toAlgebra(layout.getWhole());
  int64_t runs =
      Layout::granule(algebra.kind(), algebra.ring(), algebra.split()) *
      algebra.blocks().count;
  return algebra.length() % runs == 0 ? runs : 0;
}

LayoutAttr mlir::sp::inRuns(LayoutAttr layout, int64_t by) {
  int64_t runs = runsOf(layout);
  if (runs == 0 || layout.getLength() % by != 0 ||
      layout.getWhole().getLength() % (runs * by) != 0)
    return LayoutAttr();
  return LayoutAttr::get(layout.getContext(), layout.getKind(),
                         layout.getLength() / by, layout.getAxis(),
                         layout.getRanks(), layout.getSplit(),
                         layout.getWithin() / by, layout.getBlocks(),
                         layout.getTurns(), layout.getHolds());
}

LayoutAttr mlir::sp::ofRuns(LayoutAttr layout, int64_t by) {
  if (runsOf(layout) == 0)
    return LayoutAttr();
  return LayoutAttr::get(layout.getContext(), layout.getKind(),
                         layout.getLength() * by, layout.getAxis(),
                         layout.getRanks(), layout.getSplit(),
                         layout.getWithin() * by, layout.getBlocks(),
                         layout.getTurns(), layout.getHolds());
}

namespace {

/// What is left of atoms, read from the outermost on. Whole atoms may be cut,
/// and dealt ones where ranks have whole runs of what follows.
class AtomReader {
public:
  explicit AtomReader(ArrayRef<DimAttr> dims) {
    for (DimAttr dim : dims)
      for (AtomAttr atom : dim.getAtoms())
        if (atom.getSize() != 1 || atom.getLayout())
          atoms.push_back(atom);
    std::reverse(atoms.begin(), atoms.end());
  }

  bool isDone() const { return atoms.empty(); }
  AtomAttr next() const { return atoms.back(); }
  bool hasDealt() const {
    return llvm::any_of(atoms,
                        [](AtomAttr atom) { return bool(atom.getLayout()); });
  }

  /// The first `size` positions of the next atom, or null.
  AtomAttr take(int64_t size) {
    AtomAttr atom = atoms.back();
    if (size == 0 || atom.getSize() % size != 0)
      return atom.getSize() == size ? atoms.pop_back_val() : AtomAttr();
    int64_t rest = atom.getSize() / size;
    LayoutAttr layout = atom.getLayout();
    if (layout && rest != 1 && !(layout = inRuns(layout, rest)))
      return AtomAttr();
    atoms.pop_back();
    if (rest != 1)
      atoms.push_back(AtomAttr::get(atom.getContext(), rest, LayoutAttr()));
    return AtomAttr::get(atom.getContext(), size, layout);
  }

private:
  /// The next one last.
  SmallVector<AtomAttr> atoms;
};

/// A product of atoms in one form: whole ones that follow each other are one,
/// and so is a dealt one with the whole one behind it, where a layout says it.
class AtomProduct {
public:
  void append(AtomAttr atom) {
    bool isWhole = !atom.getLayout();
    if (isWhole && atom.getSize() == 1)
      return;
    LayoutAttr joined;
    if (isWhole && !atoms.empty())
      if (LayoutAttr last = atoms.back().getLayout())
        joined = ofRuns(last, atom.getSize());
    if (joined || (isWhole && !atoms.empty() && !atoms.back().getLayout()))
      atom = AtomAttr::get(atom.getContext(),
                           atoms.pop_back_val().getSize() * atom.getSize(),
                           joined);
    atoms.push_back(atom);
  }

  DimAttr finish(MLIRContext *context) const {
    if (atoms.empty())
      return DimAttr::get(context, AtomAttr::get(context, 1, LayoutAttr()));
    return DimAttr::get(context, atoms);
  }

  /// Whether an axis deals several of the atoms.
  bool repeatsAxis() const {
    for (ArrayRef<AtomAttr> rest = atoms; !rest.empty();
         rest = rest.drop_front())
      for (AtomAttr other : rest.drop_front())
        if (rest.front().getLayout() && other.getLayout() &&
            rest.front().getLayout().getAxis().overlaps(
                other.getLayout().getAxis()))
          return true;
    return false;
  }

private:
  SmallVector<AtomAttr> atoms;
};

/// The atoms of a dimension of that size.
FailureOr<DimAttr> readDim(AtomReader &reader, MLIRContext *context,
                           int64_t size) {
  // A dealt atom of one position may be a dimension of its own.
  bool isSingle = size == 1 && !reader.isDone() && reader.next().getSize() == 1;
  AtomProduct parts;
  while (size != 1 || isSingle) {
    if (reader.isDone())
      return failure();
    AtomAttr next = reader.next();
    int64_t piece = next.getLayout() ? std::min(size, next.getSize())
                                     : std::gcd(size, next.getSize());
    isSingle = false;
    if ((piece == 1 && next.getSize() != 1) || size % piece != 0)
      return failure();
    AtomAttr atom = reader.take(piece);
    if (!atom)
      return failure();
    parts.append(atom);
    size /= piece;
  }
  return parts.finish(context);
}

bool isEmpty(ArrayRef<DimAttr> dims) {
  return llvm::any_of(dims, [](DimAttr dim) {
    return llvm::any_of(dim.getAtoms(),
                        [](AtomAttr atom) { return atom.getSize() == 0; });
  });
}

} // namespace

DimAttr mlir::sp::productOf(MLIRContext *context, ArrayRef<AtomAttr> atoms) {
  AtomProduct product;
  for (AtomAttr atom : atoms)
    product.append(atom);
  return product.finish(context);
}

DimAttr mlir::sp::dimOver(MeshOp mesh, ArrayRef<AxisAttr> axes, int64_t size) {
  SmallVector<AtomAttr> atoms;
  for (auto [index, axis] : llvm::enumerate(axes)) {
    int64_t ranks = mesh.getAxisSize(axis);
    bool isLast = index + 1 == axes.size();
    if (!isLast && size % ranks != 0)
      return DimAttr();
    int64_t length = isLast ? size : ranks;
    size /= ranks;
    auto layout = LayoutAttr::get(mesh.getContext(), LayoutKind::Contiguous,
                                  length, axis, ranks);
    atoms.push_back(AtomAttr::get(mesh.getContext(), length, layout));
  }
  return productOf(mesh.getContext(), atoms);
}

FailureOr<SmallVector<DimAttr>> mlir::sp::reshapeDims(ArrayRef<DimAttr> dims,
                                                      ArrayRef<int64_t> shape) {
  if (dims.empty() || isEmpty(dims) || llvm::is_contained(shape, 0))
    return failure();
  MLIRContext *context = dims.front().getContext();
  // Where sizes agree dimensions agree, ones too: [1, S, D] to [1, S, H, d].
  size_t same = 0;
  while (same < std::min(dims.size(), shape.size()) &&
         lengthOf(dims[same]) == shape[same])
    ++same;
  SmallVector<DimAttr> result(dims.take_front(same));
  AtomReader reader(dims.drop_front(same));
  for (int64_t size : shape.drop_front(same)) {
    FailureOr<DimAttr> dim = readDim(reader, context, size);
    if (failed(dim))
      return failure();
    result.push_back(*dim);
  }
  if (reader.hasDealt())
    return failure();
  return result;
}

static FailureOr<DimAttr> mergeAtoms(DimAttr first, DimAttr second) {
  AtomReader a(first), b(second);
  AtomProduct merged;
  while (!a.isDone() && !b.isDone()) {
    LayoutAttr ofA = a.next().getLayout(), ofB = b.next().getLayout();
    int64_t sizeA = a.next().getSize(), sizeB = b.next().getSize();
    int64_t piece =
        ofA || ofB ? std::min(sizeA, sizeB) : std::gcd(sizeA, sizeB);
    if (piece == 1 && sizeA != 1 && sizeB != 1)
      return failure();
    AtomAttr atomA = a.take(piece), atomB = b.take(piece);
    if (!atomA || !atomB || (ofA && ofB && atomA != atomB))
      return failure();
    merged.append(ofA ? atomA : atomB);
  }
  for (AtomReader *rest : {&a, &b})
    while (!rest->isDone() && rest->next().getSize() == 1)
      merged.append(rest->take(1));
  if (!a.isDone() || !b.isDone() || merged.repeatsAxis())
    return failure();
  return merged.finish(first.getContext());
}

FailureOr<DimAttr> mlir::sp::mergeDims(DimAttr a, DimAttr b) {
  if (a == b || !isDealt(b))
    return a;
  if (!isDealt(a))
    return b;
  return mergeAtoms(a, b);
}
