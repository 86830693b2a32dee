#include "walk/RankView.h"

namespace sprt {

Status RankView::resolve(const plan::ViewT &view, const Scope &scope,
                         std::byte *&out_data) const {
  int64_t offset = 0;
  if (Status failure = evaluate(*view.offset, scope, offset))
    return failure;
  bool inArena = view.space == plan::Space::arena;
  int64_t space =
      inArena ? program.plan->arena_bytes : program.plan->constant_bytes;
  if (offset < 0 || offset > space - view.bytes)
    return fail(SPRT_DAMAGED)
           << "bytes " << offset << " to " << offset + view.bytes << " of "
           << (inArena ? "an arena" : "constants") << " of " << space;
  out_data =
      (inArena ? arenaData : const_cast<std::byte *>(constantData)) + offset;
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
