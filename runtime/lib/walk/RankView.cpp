#include "walk/RankView.h"

#include "program/Space.h"

namespace sprt {

Status RankView::offsetOf(const plan::ViewT &view, const Scope &scope,
                          int64_t &out_offset) const {
  if (Status failure = evaluate(*view.offset, scope, out_offset))
    return failure;
  int64_t space = bytesOf(*program.plan, view.space);
  if (out_offset < 0 || out_offset > space - view.bytes)
    return fail(SPRT_DAMAGED)
           << "bytes " << out_offset << " to " << out_offset + view.bytes
           << " of " << nameOf(view.space) << " of " << space;
  return Status::success();
}

std::byte *RankView::baseOf(plan::Space space) const {
  switch (space) {
  case plan::Space::arena:
    return arenaData;
  case plan::Space::constant:
    return const_cast<std::byte *>(constantData);
  case plan::Space::far:
    return farData;
  }
  return nullptr;
}

Status RankView::resolve(const plan::ViewT &view, const Scope &scope,
                         std::byte *&out_data) const {
  int64_t offset = 0;
  if (Status failure = offsetOf(view, scope, offset))
    return failure;
  out_data = baseOf(view.space) + offset;
  return Status::success();
}

Group RankView::groupOf(const std::vector<uint32_t> &factors) const {
  Group group;
  group.members = {number};
  for (uint32_t each : factors) {
    const plan::FactorT &factor = *program.plan->factors[each];
    int64_t own = coordinates[each];
    std::vector<int64_t> members;
    for (int64_t member : group.members)
      for (int64_t other = 0; other < factor.size; ++other)
        members.push_back(member + (other - own) * factor.stride);
    group.members = std::move(members);
    group.index = group.index * factor.size + own;
  }
  return group;
}

} // namespace sprt
