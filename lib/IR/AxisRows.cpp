//===- AxisRows.cpp - Where operations take dealt rows --------------------===//

#include "AxisTransfer.h"
#include "sp/IR/ShardingRules.h"

#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/TensorTypes.h"

using namespace mlir;
using namespace mlir::sp;

static bool has(ArrayRef<std::pair<unsigned, unsigned>> places, unsigned number,
                unsigned dim) {
  return llvm::is_contained(places, std::pair(number, dim));
}

/// Rows in the dimension of a result that a factor takes them to, if as many
/// are there; where rows move those of a whole dimension.
static std::optional<DealtRows> placedBy(const Factor &factor,
                                         const DealtRows &rows, Value operand,
                                         Value result, unsigned number) {
  for (auto [other, dim] : factor.results) {
    if (other != number)
      continue;
    int64_t before = shapeOf(operand)[rows.dim], after = shapeOf(result)[dim];
    if (before == after)
      return DealtRows{rows.layout, dim, rows.inner, rows.size};
    if (factor.moves && rows.inner == 1 && rows.size == before)
      return DealtRows{rows.layout, dim, 1, after};
  }
  return std::nullopt;
}

/// Whether `inner` deals the rows that `outer` gives a rank to ranks of another
/// axis.
static bool dealsAgain(const DealtRows &inner, const DealtRows &outer) {
  return inner.isInPlaceOf(outer) && inner.layout != outer.layout &&
         inner.layout.getLength() == outer.layout.getMaxCount();
}

/// Whether that is how two layouts deal rows of one value.
static bool areNested(ArrayRef<DealtRows> all, LayoutAttr a, LayoutAttr b) {
  auto by = [&](LayoutAttr layout) {
    return llvm::find_if(
        all, [&](const DealtRows &rows) { return rows.layout == layout; });
  };
  const DealtRows *x = by(a), *y = by(b);
  return x != all.end() && y != all.end() &&
         (dealsAgain(*x, *y) || dealsAgain(*y, *x));
}

AxisTransfer::Placed
AxisTransfer::place(Operation *op, ArrayRef<Factor> factors, unsigned number) {
  Placed placed;
  AxisSet reduced = 0;
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    const AxisType &type = known(operand);
    AxisSet gone = 0, kept = 0;
    size_t known = placed.rows.size();
    for (const DealtRows &rows : type.rows) {
      AxisSet axes = mesh.of(rows.layout);
      auto factor = llvm::find_if(factors, [&, index = index](const Factor &f) {
        return has(f.operands, index, rows.dim);
      });
      if (factor != factors.end() && factor->reduction) {
        placed.kind = *factor->reduction;
        gone |= axes;
        continue;
      }
      std::optional<DealtRows> moved;
      if (factor != factors.end())
        moved = placedBy(*factor, rows, operand, op->getResult(number), number);
      if (!moved) {
        placed.lost |= axes;
        continue;
      }
      kept |= axes;
      ArrayRef<DealtRows> others = ArrayRef(placed.rows).take_front(known);
      if (llvm::is_contained(others, *moved))
        continue;
      // Of another operand, with other rows.
      for (const DealtRows &other : others)
        if (AxisSet both = mesh.of(other.layout) & axes) {
          placed.lost |= both;
          kept &= ~both;
        }
      placed.rows.push_back(*moved);
    }
    reduced |= gone & ~kept;
  }
  AxisSet own = 0;
  for (const DealtRows &rows : placed.rows)
    own |= mesh.of(rows.layout);
  auto areOfOne = [&](LayoutAttr a, LayoutAttr b) {
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      return areNested(known(operand).rows, a, b);
    });
  };
  AxisSet clashing = 0;
  for (size_t i = 0; i < placed.rows.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (placed.rows[i].isInPlaceOf(placed.rows[j]) &&
          !(placed.rows[i] == placed.rows[j]) &&
          !areOfOne(placed.rows[i].layout, placed.rows[j].layout))
        clashing |= mesh.of(placed.rows[i].layout);
  clashing |= reduced & own;
  llvm::erase_if(placed.rows, [&](const DealtRows &rows) {
    return (mesh.of(rows.layout) & clashing) != 0;
  });
  placed.reduced = reduced & ~own;
  placed.lost |= clashing;
  return placed;
}

bool AxisTransfer::isUniform(Operation *op, const Factor &factor) {
  return llvm::all_of(factor.operands, [&](std::pair<unsigned, unsigned> at) {
    return operandType(op, at.first).uniform >> at.second & 1;
  });
}

AxisSet AxisTransfer::variesBy(Operation *op) {
  AxisSet varying = 0;
  for (Value operand : op->getOperands())
    varying |= known(operand).varying;
  // What functions of scalars read from outside.
  if (op->getNumRegions() > 0)
    forEachRead(op, [&](Value value) {
      if (!op->isAncestor(value.getParentBlock()->getParentOp()) &&
          !llvm::is_contained(op->getOperands(), value))
        varying |= known(value).unequal();
    });
  return varying;
}

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

namespace {

/// Elements of a tensor from one to a multiple of it, in dense order.
struct Span {
  int64_t begin, end;
};

} // namespace

/// Of each dimension.
static SmallVector<Span> rangesOf(ArrayRef<int64_t> shape) {
  SmallVector<Span> ranges(shape.size());
  int64_t inner = 1;
  for (size_t dim = shape.size(); dim-- > 0;) {
    ranges[dim] = {inner, inner * shape[dim]};
    inner *= shape[dim];
  }
  return ranges;
}

/// The parts of dimensions that a range of elements comes to lie in, as (begin,
/// end); nothing where a dimension would hold a part that does not divide it.
static std::optional<SmallVector<std::pair<unsigned, Span>>>
spread(Span range, ArrayRef<Span> dims) {
  SmallVector<std::pair<unsigned, Span>> parts;
  for (auto [dim, whole] : llvm::enumerate(dims)) {
    Span part = {std::max(range.begin, whole.begin),
                 std::min(range.end, whole.end)};
    if (part.begin >= part.end)
      continue;
    if (part.begin % whole.begin || part.begin % range.begin ||
        part.end % part.begin || whole.end % part.end || range.end % part.end)
      return std::nullopt;
    parts.push_back({static_cast<unsigned>(dim), part});
  }
  if (parts.empty())
    return std::nullopt;
  return parts;
}

/// Rows that were in several dimensions are together in one.
static void addRows(SmallVectorImpl<DealtRows> &all, DealtRows rows) {
  for (DealtRows &other : all) {
    if (other.layout != rows.layout || other.dim != rows.dim)
      continue;
    bool isInside = rows.inner * rows.size == other.inner,
         isOutside = other.inner * other.size == rows.inner;
    if (!isInside && !isOutside)
      continue;
    other.size *= rows.size;
    other.inner = std::min(other.inner, rows.inner);
    return;
  }
  all.push_back(rows);
}

void mlir::sp::joinRuns(SmallVectorImpl<DealtRows> &all) {
  SmallVector<DealtRows> before(all.begin(), all.end());
  for (DealtRows &rows : all) {
    bool isInnermost = llvm::none_of(before, [&](const DealtRows &other) {
      return other.dim == rows.dim && other.inner < rows.inner;
    });
    LayoutAttr layout = isInnermost && rows.inner > 1
                            ? ofRuns(rows.layout, rows.inner)
                            : LayoutAttr();
    if (layout)
      rows = {layout, rows.dim, 1, rows.size * rows.inner};
  }
}

/// The dimension in which the one row that a layout gives a rank is said to
/// lie.
static std::optional<unsigned> toldDim(DictionaryAttr oneRow, LayoutAttr layout,
                                       ArrayRef<Span> dims) {
  auto dim = oneRow ? oneRow.getAs<IntegerAttr>(layout.getAxis().getText())
                    : IntegerAttr();
  if (!dim || dim.getInt() >= static_cast<int64_t>(dims.size()))
    return std::nullopt;
  return dim.getInt();
}

/// Whether a dimension has a row of so many elements.
static bool hasRow(Span dim, int64_t elements) {
  return dim.begin <= elements && elements <= dim.end &&
         elements % dim.begin == 0 && dim.end % elements == 0;
}

AxisType mlir::sp::reshaped(const AxisType &from, ArrayRef<int64_t> shape,
                            ArrayRef<int64_t> newShape, const MeshFactors &mesh,
                            DictionaryAttr oneRow) {
  AxisType type = from;
  type.rows.clear();
  type.dealt = 0;
  SmallVector<Span> before = rangesOf(shape), after = rangesOf(newShape);
  for (const DealtRows &rows : from.rows) {
    int64_t begin = before[rows.dim].begin * rows.inner;
    auto parts = spread({begin, begin * rows.size}, after);
    AxisSet axes = mesh.of(rows.layout);
    std::optional<unsigned> told = toldDim(oneRow, rows.layout, after);
    if (rows.size == 1 && told && hasRow(after[*told], begin))
      parts = {{*told, {begin, begin}}};
    if (!parts) {
      type.varying |= axes;
      continue;
    }
    // Whole runs of rows are dealt as rows, wherever the positions end: what
    // cuts the last ones off may leave the rows of each rank as they were.
    auto [outer, part] = parts->front();
    Span first = part;
    if (told && *told != outer && hasRow(after[*told], first.end)) {
      outer = *told;
      first.begin = first.end;
    }
    int64_t run = first.begin / begin;
    // What another axis deals inside of a run does not make that shorter.
    const auto *inner = llvm::find_if(from.rows, [&](const DealtRows &other) {
      return dealsAgain(other, rows);
    });
    std::optional<unsigned> inside = inner != from.rows.end()
                                         ? toldDim(oneRow, inner->layout, after)
                                         : std::nullopt;
    if (told && inside && told != inside) {
      if (run != rows.size) {
        type.varying |= axes;
        continue;
      }
      run = rows.layout.getMaxCount();
    }
    LayoutAttr runs =
        run > 1 ? inRuns(rows.layout.getWhole(), run) : LayoutAttr();
    if (runs) {
      addRows(type.rows, {runs, outer, first.begin / after[outer].begin,
                          first.end / first.begin});
      type.dealt |= axes;
      continue;
    }
    for (auto [dim, part] : *parts)
      addRows(type.rows, {rows.layout, dim, part.begin / after[dim].begin,
                          part.end / part.begin});
    type.dealt |= axes;
  }
  type.varying &= ~type.dealt;
  joinRuns(type.rows);
  // Rows that are alike beside one another are so together.
  type.uniform = 0;
  for (auto [dim, whole] : llvm::enumerate(after)) {
    int64_t at = whole.begin;
    bool isUniform = whole.begin == whole.end && from.uniform != 0;
    for (size_t i = before.size(); i-- > 0 && at < whole.end;)
      if (before[i].begin <= at && at < before[i].end) {
        if (!(from.uniform >> i & 1))
          break;
        at = before[i].end;
      }
    isUniform |= whole.begin < whole.end && at >= whole.end;
    type.uniform |= uint64_t(isUniform) << dim;
  }
  return type;
}
