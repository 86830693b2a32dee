// The algebra of element indices: see the header for the idea.

#include "Fusion/ElementIndex.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace mlir::sp {

/// More consecutive loops than this cost more code than they save.
static constexpr size_t kMaxCuts = 12;
/// Side of the blocks in which transposed elements are visited: a cache line of
/// f32 each way.
static constexpr int64_t kBlockSide = 16;

/// The side of a block that divides `extent`, or 0.
static int64_t blockOf(int64_t extent, int64_t wanted) {
  for (int64_t side : {wanted, wanted * 2, wanted / 2})
    if (side && extent % side == 0)
      return side;
  return 0;
}

SmallVector<unsigned> LoopPlan::order() const {
  SmallVector<unsigned> numbers;
  for (bool inner : {false, true})
    for (unsigned part = 0; part < parts.size(); ++part)
      if (parts[part].isInner == inner)
        numbers.push_back(part);
  return numbers;
}

bool LoopPlan::refine() {
  bool changed = false;
  std::vector<Part> refined;
  for (Part &part : parts) {
    // The largest divisor first: smaller ones divide the inner part next time.
    int64_t divisor = 0;
    for (int64_t candidate : part.splits)
      if (candidate > 1 && candidate < part.extent &&
          part.extent % candidate == 0)
        divisor = candidate;
    int64_t block = divisor ? 0 : part.block;
    if (block)
      divisor = block;
    if (divisor && divisor < part.extent) {
      refined.emplace_back(part.extent / divisor);
      refined.emplace_back(divisor, block != 0);
      changed = true;
      continue;
    }
    changed |= block != 0 && !part.isInner;
    part.isInner |= block != 0;
    std::set<int64_t> cuts = part.cuts;
    if (cuts.size() + part.wanted.size() <= kMaxCuts)
      cuts.insert(part.wanted.begin(), part.wanted.end());
    changed |= cuts.size() != part.cuts.size();
    refined.emplace_back(part.extent, part.isInner);
    refined.back().cuts = cuts;
  }
  parts = std::move(refined);
  return changed;
}

bool Index::operator<(const Index &other) const {
  if (constant != other.constant)
    return constant < other.constant;
  return std::lexicographical_compare(terms.begin(), terms.end(),
                                      other.terms.begin(), other.terms.end());
}

Index IndexSpace::leafIndex(unsigned leaf) {
  Index result;
  result.terms.push_back({leaf, 1});
  return result;
}

Index IndexSpace::addValue(Value value, IndexRange range) {
  if (range.low == range.high)
    return Index(range.low);
  Leaf leaf;
  leaf.value = value;
  leaf.range = range;
  leaves.push_back(leaf);
  return leafIndex(leaves.size() - 1);
}

Index IndexSpace::addLoop(Value value, IndexRange range, LoopPlan *plan,
                          unsigned part) {
  Index index = addValue(value, range);
  if (!index.isConstant()) {
    leaves.back().plan = plan;
    leaves.back().part = part;
  }
  return index;
}

void IndexSpace::addTerm(Index &sum, unsigned leaf, int64_t coefficient) {
  auto *place = llvm::lower_bound(sum.terms, std::make_pair(leaf, INT64_MIN));
  if (place != sum.terms.end() && place->first == leaf) {
    place->second += coefficient;
    if (place->second == 0)
      sum.terms.erase(place);
    return;
  }
  if (coefficient != 0)
    sum.terms.insert(place, {leaf, coefficient});
}

Index IndexSpace::fold(Index sum) {
  for (bool changed = true; changed;) {
    changed = false;
    for (auto [quotient, remainder] : divisions) {
      int64_t q = 0, r = 0;
      for (auto [leaf, coefficient] : sum.terms) {
        if (leaf == quotient)
          q = coefficient;
        if (leaf == remainder)
          r = coefficient;
      }
      if (r == 0 || q != r * leaves[quotient].divisor)
        continue;
      addTerm(sum, quotient, -q);
      addTerm(sum, remainder, -r);
      const Index source = leaves[quotient].source;
      sum.constant += source.constant * r;
      for (auto [leaf, coefficient] : source.terms)
        addTerm(sum, leaf, coefficient * r);
      changed = true;
    }
  }
  return sum;
}

Index IndexSpace::add(const Index &a, const Index &b) {
  Index sum = a;
  sum.constant += b.constant;
  for (auto [leaf, coefficient] : b.terms)
    addTerm(sum, leaf, coefficient);
  return fold(std::move(sum));
}

Index IndexSpace::scale(const Index &a, int64_t by) {
  if (by == 0)
    return Index(0);
  Index result = a;
  result.constant *= by;
  for (auto &term : result.terms)
    term.second *= by;
  return result;
}

IndexRange IndexSpace::range(const Index &a) const {
  IndexRange result = {a.constant, a.constant};
  for (auto [leaf, coefficient] : a.terms) {
    IndexRange r = leaves[leaf].range;
    result.low += coefficient * (coefficient > 0 ? r.low : r.high);
    result.high += coefficient * (coefficient > 0 ? r.high : r.low);
  }
  return result;
}

std::pair<unsigned, unsigned> IndexSpace::divisionLeaves(const Index &source,
                                                         int64_t by) {
  for (auto [quotient, remainder] : divisions)
    if (leaves[quotient].divisor == by && leaves[quotient].source == source)
      return {quotient, remainder};
  IndexRange bounds = range(source);
  Leaf leaf;
  leaf.source = source;
  leaf.divisor = by;
  leaf.isQuotient = true;
  leaf.range = {bounds.low / by, bounds.high / by};
  leaves.push_back(leaf);
  leaf.isQuotient = false;
  leaf.range = {0, by - 1};
  leaves.push_back(leaf);
  divisions.push_back({leaves.size() - 2, leaves.size() - 1});
  return divisions.back();
}

std::pair<Index, Index> IndexSpace::divMod(const Index &a, int64_t by) {
  if (by == 1)
    return {a, Index(0)};
  // a = by * whole + rest, where rest keeps what `by` does not divide. The
  // constant goes where it brings the least rest into [0, by).
  auto floorDivide = [&](int64_t x) { return x / by - (x % by < 0); };
  Index whole, rest;
  for (auto [leaf, coefficient] : a.terms) {
    if (coefficient % by == 0)
      whole.terms.push_back({leaf, coefficient / by});
    if (coefficient % by != 0)
      rest.terms.push_back({leaf, coefficient});
  }
  whole.constant = floorDivide(range(rest).low + a.constant);
  rest.constant = a.constant - whole.constant * by;
  if (range(rest).high < by)
    return {fold(std::move(whole)), fold(std::move(rest))};

  // rest = step * leaf + low with 0 <= low < step and step | by: divide the
  // leaf.
  auto *largest =
      std::max_element(rest.terms.begin(), rest.terms.end(),
                       [](auto &x, auto &y) { return x.second < y.second; });
  int64_t step = largest->second;
  if (step > 0 && by % step == 0 && (step > 1 || rest.constant != 0)) {
    Index low = rest;
    low.terms.erase(low.terms.begin() + (largest - rest.terms.begin()));
    IndexRange lowBounds = range(low);
    if (lowBounds.low >= 0 && lowBounds.high < step) {
      auto [q, r] = divisionLeaves(leafIndex(largest->first), by / step);
      addTerm(whole, q, 1);
      addTerm(low, r, step);
      return {fold(std::move(whole)), fold(std::move(low))};
    }
  }
  auto [q, r] = divisionLeaves(rest, by);
  addTerm(whole, q, 1);
  return {fold(std::move(whole)), leafIndex(r)};
}

Index IndexSpace::linearise(ArrayRef<Index> indices, ArrayRef<int64_t> shape) {
  Index flat;
  for (auto [index, size] : llvm::zip_equal(indices, shape))
    flat = add(scale(flat, size), index);
  return flat;
}

SmallVector<Index> IndexSpace::delinearise(const Index &flat,
                                           ArrayRef<int64_t> shape) {
  SmallVector<Index> indices(shape.size());
  Index left = flat;
  for (unsigned dim = shape.size(); dim-- > 0;) {
    bool outermost = llvm::all_of(shape.take_front(dim),
                                  [](int64_t size) { return size == 1; });
    if (outermost) {
      indices[dim] = left;
      break;
    }
    std::tie(left, indices[dim]) = divMod(left, shape[dim]);
  }
  return indices;
}

std::pair<Index, Index> IndexSpace::coarse(const Index &a,
                                           int64_t bound) const {
  Index fine, rest = a;
  llvm::erase_if(rest.terms, [&](std::pair<unsigned, int64_t> term) {
    if (term.second == 1)
      fine.terms.push_back(term);
    return term.second == 1;
  });
  int64_t unit = std::gcd(bound, a.constant);
  for (auto [leaf, coefficient] : rest.terms)
    unit = std::gcd(unit, coefficient);
  IndexRange within = range(fine);
  if (within.low < 0 || within.high >= unit)
    return {a, Index(0)};
  return {rest, fine};
}

bool IndexSpace::requestCut(const Index &a, int64_t bound) {
  if (a.terms.empty())
    return false;
  // Past the largest term, everything must fit below its step.
  auto largest =
      *std::max_element(a.terms.begin(), a.terms.end(),
                        [](auto &x, auto &y) { return x.second < y.second; });
  const Leaf &leaf = leaves[largest.first];
  int64_t step = largest.second;
  Index low = a;
  addTerm(low, largest.first, -step);
  low.constant = 0;
  IndexRange bounds = range(low);
  int64_t distance = bound - a.constant;
  if (step <= 0 || bounds.low < 0 || bounds.high >= step || distance % step)
    return false;
  int64_t cut = distance / step;
  if (leaf.divisor && !leaf.isQuotient) {
    // The remainder of a loop: the loop must be split first.
    if (leaf.source.terms.size() == 1 && leaf.source.constant == 0 &&
        leaf.source.terms[0].second == 1) {
      const Leaf &loop = leaves[leaf.source.terms[0].first];
      if (loop.plan && loop.plan->parts[loop.part].extent % leaf.divisor == 0) {
        loop.plan->parts[loop.part].splits.insert(leaf.divisor);
        return true;
      }
    }
    return false;
  }
  if (!leaf.plan || cut <= 0 || cut >= leaf.plan->parts[leaf.part].extent)
    return false;
  return leaf.plan->parts[leaf.part].wanted.insert(cut).second;
}

bool IndexSpace::requestBlocks(const Index &address, Value innermost,
                               const Index &row) {
  const Leaf *inner = nullptr, *unit = nullptr;
  for (auto [id, coefficient] : address.terms) {
    const Leaf &leaf = leaves[id];
    if (leaf.plan && leaf.value == innermost &&
        std::abs(coefficient) >= kBlockSide)
      inner = &leaf;
    if (leaf.value && leaf.value != innermost && std::abs(coefficient) == 1)
      unit = &leaf;
  }
  if (!inner || !unit)
    return false;
  if (!unit->plan)
    return row.terms.size() == 1 && unit == &leaves[row.terms[0].first];
  LoopPlan::Part &along = inner->plan->parts[inner->part];
  LoopPlan::Part &across = unit->plan->parts[unit->part];
  bool isNew = inner->plan == unit->plan && !along.isInner && !across.isInner;
  // Half as many lines as they are long: a cache set has no more ways, and a
  // power of two puts them all into one set.
  int64_t lines = blockOf(along.extent, kBlockSide / 2);
  int64_t length = blockOf(across.extent, kBlockSide);
  if (isNew && lines && length) {
    along.block = lines;
    across.block = length;
  }
  return false;
}

Value IndexSpace::materialise(OpBuilder &builder, Location loc,
                              const Index &a) {
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, value, 64);
  };
  auto flags = arith::IntegerOverflowFlags::nsw;
  Value sum;
  for (auto [id, coefficient] : a.terms) {
    Value value = leaves[id].value;
    if (!value) {
      const Leaf leaf = leaves[id];
      if (leaf.source.terms.size() == 1 && leaf.source.constant == 0 &&
          leaf.source.terms[0].second == 1) {
        const Leaf &loop = leaves[leaf.source.terms[0].first];
        if (loop.plan)
          loop.plan->parts[loop.part].splits.insert(leaf.divisor);
      }
      Value source = materialise(builder, loc, leaf.source);
      Value divisor = number(leaf.divisor);
      value = leaf.isQuotient
                  ? arith::DivUIOp::create(builder, loc, source, divisor)
                        .getResult()
                  : arith::RemUIOp::create(builder, loc, source, divisor)
                        .getResult();
    }
    if (coefficient != 1)
      value = arith::MulIOp::create(builder, loc, value, number(coefficient),
                                    flags);
    sum =
        sum ? arith::AddIOp::create(builder, loc, sum, value, flags).getResult()
            : value;
  }
  if (!sum)
    return number(a.constant);
  if (a.constant == 0)
    return sum;
  return arith::AddIOp::create(builder, loc, sum, number(a.constant), flags);
}

void IndexSpace::collectValues(const Index &a,
                               SmallVectorImpl<Value> &values) const {
  for (auto [id, coefficient] : a.terms) {
    (void)coefficient;
    if (leaves[id].value)
      values.push_back(leaves[id].value);
    if (!leaves[id].value)
      collectValues(leaves[id].source, values);
  }
}

} // namespace mlir::sp
