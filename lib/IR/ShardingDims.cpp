//===- ShardingDims.cpp - Dimensions as products of atoms -----------------===//

#include "sp/IR/ShardingRules.h"

#include <numeric>

using namespace mlir;
using namespace mlir::sp;

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
  if (!first || first.getMaxCount() == size)
    return DimAttr();
  return dealtDim(first);
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

namespace {

/// Hands out the atoms of dimensions in row-major order; whole atoms may be
/// cut, and pieces of whole atoms join again.
class AtomReader {
public:
  explicit AtomReader(ArrayRef<DimAttr> dims) {
    for (DimAttr dim : dims)
      for (AtomAttr atom : dim.getAtoms())
        if (atom.getSize() != 1 || atom.getLayout())
          atoms.push_back(atom);
    advanceTo(0);
  }

  /// The atoms of a dimension of that size.
  FailureOr<DimAttr> read(MLIRContext *context, int64_t size) {
    SmallVector<AtomAttr> parts;
    int64_t whole = 1;
    auto flush = [&] {
      if (whole != 1)
        parts.push_back(AtomAttr::get(context, whole, LayoutAttr()));
      whole = 1;
    };
    while (size != 1) {
      if (next >= atoms.size())
        return failure();
      AtomAttr atom = atoms[next];
      if (atom.getLayout()) {
        if (size % atom.getSize() != 0)
          return failure();
        flush();
        parts.push_back(atom);
        size /= atom.getSize();
        advanceTo(next + 1);
        continue;
      }
      int64_t piece = std::gcd(size, left);
      if (piece == 1)
        return failure();
      whole *= piece;
      size /= piece;
      left /= piece;
      if (left == 1)
        advanceTo(next + 1);
    }
    flush();
    if (parts.empty())
      parts.push_back(AtomAttr::get(context, 1, LayoutAttr()));
    return DimAttr::get(context, parts);
  }

  /// The dealt atom of one position that comes next, or null.
  AtomAttr readSingle() {
    if (next >= atoms.size() || atoms[next].getSize() != 1)
      return AtomAttr();
    advanceTo(next + 1);
    return atoms[next - 1];
  }

  bool hasDealt() const {
    return llvm::any_of(ArrayRef(atoms).drop_front(next),
                        [](AtomAttr atom) { return bool(atom.getLayout()); });
  }

private:
  void advanceTo(size_t index) {
    next = index;
    left = next < atoms.size() ? atoms[next].getSize() : 1;
  }

  SmallVector<AtomAttr> atoms;
  size_t next = 0;
  /// What is left of a whole atom that was cut.
  int64_t left = 1;
};

bool isEmpty(ArrayRef<DimAttr> dims) {
  return llvm::any_of(dims, [](DimAttr dim) {
    return llvm::any_of(dim.getAtoms(),
                        [](AtomAttr atom) { return atom.getSize() == 0; });
  });
}

} // namespace

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
    AtomAttr single = size == 1 ? reader.readSingle() : AtomAttr();
    FailureOr<DimAttr> dim =
        single ? DimAttr::get(context, single) : reader.read(context, size);
    if (failed(dim))
      return failure();
    result.push_back(*dim);
  }
  if (reader.hasDealt())
    return failure();
  return result;
}

namespace {

/// What is left of a product of atoms, read from the outermost on.
struct AtomCursor {
  explicit AtomCursor(DimAttr dim) : atoms(dim.getAtoms()) { enter(); }

  bool isDone() const { return atoms.empty(); }
  LayoutAttr layout() const { return atoms.front().getLayout(); }

  void drop() {
    atoms = atoms.drop_front();
    enter();
  }
  /// Takes `size` off the whole atom at hand.
  LogicalResult take(int64_t size) {
    if (isDone() || size == 0 || left % size != 0)
      return failure(size != 1);
    left /= size;
    skipOnes();
    return success();
  }

  ArrayRef<AtomAttr> atoms;
  int64_t left = 1;

private:
  void enter() {
    left = isDone() ? 1 : atoms.front().getSize();
    skipOnes();
  }
  void skipOnes() {
    if (!isDone() && !layout() && left == 1)
      drop();
  }
};

} // namespace

/// Whether an axis deals several of the atoms.
static bool repeatsAxis(ArrayRef<AtomAttr> atoms) {
  for (; !atoms.empty(); atoms = atoms.drop_front())
    for (AtomAttr other : atoms.drop_front())
      if (atoms.front().getLayout() && other.getLayout() &&
          atoms.front().getLayout().getAxis().overlaps(
              other.getLayout().getAxis()))
        return true;
  return false;
}

static FailureOr<DimAttr> mergeAtoms(DimAttr first, DimAttr second) {
  AtomCursor a(first), b(second);
  SmallVector<AtomAttr> merged;
  int64_t whole = 1;
  auto flush = [&] {
    if (whole != 1)
      merged.push_back(AtomAttr::get(first.getContext(), whole, LayoutAttr()));
    whole = 1;
  };
  while (!a.isDone() || !b.isDone()) {
    bool dealtA = !a.isDone() && a.layout(), dealtB = !b.isDone() && b.layout();
    if (!dealtA && !dealtB) {
      int64_t piece = std::gcd(a.left, b.left);
      if (piece == 1 || failed(a.take(piece)) || failed(b.take(piece)))
        return failure();
      whole *= piece;
      continue;
    }
    if (dealtA && dealtB && a.atoms.front() != b.atoms.front())
      return failure();
    flush();
    AtomAttr atom = dealtA ? a.atoms.front() : b.atoms.front();
    merged.push_back(atom);
    if (!dealtA && failed(a.take(atom.getSize())))
      return failure();
    if (!dealtB && failed(b.take(atom.getSize())))
      return failure();
    if (dealtA)
      a.drop();
    if (dealtB)
      b.drop();
  }
  flush();
  if (repeatsAxis(merged))
    return failure();
  if (merged.empty())
    merged.push_back(AtomAttr::get(first.getContext(), 1, LayoutAttr()));
  return DimAttr::get(first.getContext(), merged);
}

FailureOr<DimAttr> mlir::sp::mergeDims(DimAttr a, DimAttr b) {
  if (a == b || !isDealt(b))
    return a;
  if (!isDealt(a))
    return b;
  return mergeAtoms(a, b);
}
