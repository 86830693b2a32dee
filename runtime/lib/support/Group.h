/// Ranks that do something together.
#ifndef SPRT_LIB_SUPPORT_GROUP_H
#define SPRT_LIB_SUPPORT_GROUP_H

#include <cstdint>
#include <vector>

namespace sprt {

/// The ranks of a group and which of them is this one.
struct Group {
  std::vector<int64_t> members;
  int64_t index = 0;

  int64_t size() const { return static_cast<int64_t>(members.size()); }
};

} // namespace sprt

#endif // SPRT_LIB_SUPPORT_GROUP_H
