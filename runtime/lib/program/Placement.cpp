#include "program/Placement.h"

#include "support/Types.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace sprt {

namespace {

Status ownersOf(const Program &program, const ParameterInfo &info, int64_t rank,
                std::vector<int64_t> &out_owners) {
  std::vector<int64_t> coordinates = program.coordinates(rank);
  std::vector<int64_t> counters;
  Scope scope{&coordinates, &counters, &program.bindings.whole.layouts};
  for (const auto &dim : info.parameter->dims)
    for (const auto &atom : dim->atoms) {
      if (atom->layout < 0)
        continue;
      int64_t owner = 0;
      if (Status failure = evaluate(*atom->owner, scope, owner))
        return std::move(failure).within("the owner of \"" +
                                         info.parameter->name + "\"");
      out_owners.push_back(owner);
    }
  return Status::success();
}

/// Positions of an atom's local indices, -1 behind the valid ones.
std::vector<int64_t> atomIndices(const Binding &bound, const plan::AtomT &atom,
                                 int64_t owner) {
  std::vector<int64_t> positions;
  if (atom.layout < 0) {
    for (int64_t i = 0; i < atom.size; ++i)
      positions.push_back(i);
    return positions;
  }
  for (const algebra::Range &range :
       bound.layouts[static_cast<size_t>(atom.layout)].ranges(owner))
    for (int64_t i = 0; i < range.count; ++i)
      positions.push_back(range.at(i));
  positions.resize(static_cast<size_t>(atom.local_size), -1);
  return positions;
}

bool isOfBatch(const Program &program, const plan::AtomT &atom) {
  return atom.layout >= 0 &&
         program.plan->layouts[static_cast<size_t>(atom.layout)]->kind ==
             plan::LayoutKind::batch;
}

} // namespace

Status Placement::findRows(const Program &program, const ParameterInfo &info,
                           int64_t count, int &out_dim) {
  out_dim = -1;
  const auto &dims = info.parameter->dims;
  for (size_t d = 0; count > 1 && d < dims.size(); ++d) {
    const auto &atoms = dims[d]->atoms;
    for (size_t a = 0; a < atoms.size(); ++a) {
      if (!isOfBatch(program, *atoms[a]) ||
          (a > 0 && atoms[a - 1]->size == count))
        continue;
      size_t first = 0;
      while (first < d && info.shape[first] == 1)
        ++first;
      if (first < d && info.shape[first] == count)
        out_dim = static_cast<int>(first);
      if (out_dim < 0)
        return fail(SPRT_UNSUPPORTED)
               << "\"" << info.parameter->name << "\" is dealt by " << count
               << " rows of documents but has no first dimension of them";
      return Status::success();
    }
  }
  return Status::success();
}

Status Placement::create(const Program &program, const Bindings &bindings,
                         const ParameterInfo &info, int64_t rank,
                         Placement &out_placement) {
  Placement placement;
  if (Status failure = ownersOf(program, info, rank, placement.ownerOf))
    return failure;
  const auto &dims = info.parameter->dims;
  int64_t elementBytes = static_cast<int64_t>(sprt_dtype_size(info.dtype));
  placement.bytes = *elementCount(info.localShape) * elementBytes;
  if (placement.bytes == 0) {
    out_placement = std::move(placement);
    return Status::success();
  }

  // Trailing dimensions that no rank cuts move as one run.
  size_t mapped = dims.size();
  placement.runBytes = elementBytes;
  auto whole = [](const plan::DimT &dim) {
    for (const auto &atom : dim.atoms)
      if (atom->layout >= 0)
        return false;
    return true;
  };
  while (mapped > 0 && whole(*dims[mapped - 1]))
    placement.runBytes *= info.shape[--mapped];

  auto rows = static_cast<int64_t>(bindings.rows.size());
  if (Status failure = findRows(program, info, rows, placement.rowDim))
    return failure;
  for (int64_t row = 0; row < (placement.rowDim < 0 ? 1 : rows); ++row) {
    size_t nextOwner = 0;
    std::vector<Indices> &leading = placement.indices.emplace_back();
    for (size_t d = 0; d < mapped; ++d) {
      Indices found = {0};
      for (const auto &atom : dims[d]->atoms) {
        int64_t owner = atom->layout < 0 ? 0 : placement.ownerOf[nextOwner++];
        Indices joined;
        for (int64_t high : found) {
          bool isOfRow = rows > 1 && atom.get() != dims[d]->atoms.front().get();
          const Binding &bound = placement.rowDim >= 0
                                     ? bindings.rows[static_cast<size_t>(row)]
                                 : isOfRow && high >= 0 && high < rows
                                     ? bindings.rows[static_cast<size_t>(high)]
                                     : bindings.whole;
          for (int64_t low : atomIndices(bound, *atom, owner))
            joined.push_back(high < 0 || low < 0 ? -1
                                                 : high * atom->size + low);
        }
        found = std::move(joined);
      }
      leading.push_back(std::move(found));
    }
  }
  placement.globalStrides.resize(mapped);
  int64_t stride = placement.runBytes;
  for (size_t d = mapped; d-- > 0;) {
    placement.globalStrides[d] = stride;
    stride *= info.shape[d];
  }
  out_placement = std::move(placement);
  return Status::success();
}

template <typename Visit>
void Placement::forEachRun(int64_t first, int64_t size,
                           const Visit &visit) const {
  if (size == 0)
    return;
  const std::vector<Indices> &counted = indices.front();
  std::vector<size_t> at(counted.size(), 0);
  int64_t run = first / runBytes;
  for (size_t d = at.size(); d-- > 0;) {
    int64_t count = static_cast<int64_t>(counted[d].size());
    at[d] = static_cast<size_t>(run % count);
    run /= count;
  }
  int64_t last = first + size;
  for (int64_t local = first; local < last;) {
    int64_t global = 0, row = 0;
    if (rowDim >= 0)
      row =
          counted[static_cast<size_t>(rowDim)][at[static_cast<size_t>(rowDim)]];
    const std::vector<Indices> &ofRow =
        indices[static_cast<size_t>(std::max<int64_t>(row, 0))];
    for (size_t d = 0; d < at.size() && global >= 0; ++d) {
      int64_t index = ofRow[d][at[d]];
      global = index < 0 ? -1 : global + index * globalStrides[d];
    }
    int64_t within = local % runBytes;
    int64_t width = std::min(runBytes - within, last - local);
    visit(local - first, global < 0 ? -1 : global + within,
          static_cast<size_t>(width));
    local += width;
    size_t d = at.size();
    while (d > 0 && ++at[d - 1] == counted[d - 1].size())
      at[--d] = 0;
  }
}

void Placement::scatter(const std::byte *global, std::byte *part, int64_t first,
                        int64_t size) const {
  forEachRun(first, size, [&](int64_t to, int64_t from, size_t width) {
    if (from < 0)
      std::memset(part + to, 0, width);
    else
      std::memcpy(part + to, global + from, width);
  });
}

void Placement::gather(const std::byte *part, int64_t first, int64_t size,
                       std::byte *global) const {
  forEachRun(first, size, [&](int64_t from, int64_t to, size_t width) {
    if (to >= 0)
      std::memcpy(global + to, part + from, width);
  });
}

Status findShare(const Program &program, const Binding &bound, int64_t rank,
                 const algebra::Layout *&out_layout, int64_t &out_owner) {
  out_layout = nullptr;
  std::vector<int64_t> coordinates = program.coordinates(rank), counters;
  Scope scope{&coordinates, &counters, &bound.layouts};
  for (const ParameterInfo &info : program.inputs)
    for (const auto &dim : info.parameter->dims)
      for (const auto &atom : dim->atoms)
        if (isOfBatch(program, *atom)) {
          out_layout = &bound.layouts[static_cast<size_t>(atom->layout)];
          return evaluate(*atom->owner, scope, out_owner);
        }
  return Status::success();
}

bool isDealtByBatch(const Program &program, const ParameterInfo &info) {
  for (const auto &dim : info.parameter->dims)
    for (const auto &atom : dim->atoms)
      if (isOfBatch(program, *atom))
        return true;
  return false;
}

Status firstHolders(const Program &program, const ParameterInfo &info,
                    std::vector<bool> &out_first) {
  std::set<std::vector<int64_t>> seen;
  out_first.assign(static_cast<size_t>(program.ranks()), false);
  for (int64_t rank = 0; rank < program.ranks(); ++rank) {
    std::vector<int64_t> owners;
    if (Status failure = ownersOf(program, info, rank, owners))
      return failure;
    out_first[static_cast<size_t>(rank)] =
        seen.insert(std::move(owners)).second;
  }
  return Status::success();
}

Status dealtAlike(const Program &program, const ParameterInfo &a,
                  const ParameterInfo &b, bool &out_alike) {
  const std::vector<algebra::Layout> &layouts = program.bindings.whole.layouts;
  auto sameLayout = [&](int32_t first, int32_t second) {
    if (first < 0 || second < 0)
      return first == second;
    return layouts[static_cast<size_t>(first)] ==
           layouts[static_cast<size_t>(second)];
  };
  auto sameAtom = [&](const std::unique_ptr<plan::AtomT> &x,
                      const std::unique_ptr<plan::AtomT> &y) {
    return x->size == y->size && x->local_size == y->local_size &&
           sameLayout(x->layout, y->layout);
  };
  const auto &dims = a.parameter->dims, &others = b.parameter->dims;
  out_alike = std::equal(dims.begin(), dims.end(), others.begin(), others.end(),
                         [&](const auto &x, const auto &y) {
                           return std::equal(x->atoms.begin(), x->atoms.end(),
                                             y->atoms.begin(), y->atoms.end(),
                                             sameAtom);
                         });
  for (int64_t rank = 0; out_alike && rank < program.ranks(); ++rank) {
    std::vector<int64_t> ofA, ofB;
    if (Status failure = ownersOf(program, a, rank, ofA))
      return failure;
    if (Status failure = ownersOf(program, b, rank, ofB))
      return failure;
    out_alike = ofA == ofB;
  }
  return Status::success();
}

Status rankOfElement(const Program &program, const ParameterInfo &info,
                     int64_t element, int64_t &out_rank) {
  // Digits of the element along all atoms, innermost first; then the owners.
  std::vector<int64_t> wanted;
  const auto &dims = info.parameter->dims;
  for (size_t d = dims.size(); d-- > 0;)
    for (size_t a = dims[d]->atoms.size(); a-- > 0;) {
      const plan::AtomT &atom = *dims[d]->atoms[a];
      if (atom.size == 0)
        return fail(SPRT_INVALID_ARGUMENT)
               << "\"" << info.parameter->name << "\" has no elements";
      int64_t digit = element % atom.size;
      element /= atom.size;
      if (atom.layout >= 0)
        wanted.insert(
            wanted.begin(),
            program.bindings.whole.layouts[static_cast<size_t>(atom.layout)]
                .toLocal(digit)
                .owner);
    }
  for (int64_t rank = 0; rank < program.ranks(); ++rank) {
    std::vector<int64_t> owners;
    if (Status failure = ownersOf(program, info, rank, owners))
      return failure;
    if (owners == wanted) {
      out_rank = rank;
      return Status::success();
    }
  }
  return fail(SPRT_DAMAGED) << "no rank computes element " << element
                            << " of \"" << info.parameter->name << "\"";
}

} // namespace sprt
