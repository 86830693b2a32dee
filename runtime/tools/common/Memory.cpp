#include "Memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace sprt::tools {

namespace {

/// What is left of a control group's limit, or the most there is.
int64_t leftInGroup() {
  constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();
  std::ifstream limitFile("/sys/fs/cgroup/memory.max"),
      usedFile("/sys/fs/cgroup/memory.current"),
      statistics("/sys/fs/cgroup/memory.stat");
  int64_t limit = 0, used = 0;
  if (!(limitFile >> limit) || !(usedFile >> used))
    return kUnlimited;
  // Files that are cached count as used, but make way.
  std::string name;
  for (int64_t value = 0; statistics >> name >> value;)
    if (name == "inactive_file" || name == "active_file")
      used -= value;
  return std::max<int64_t>(limit - used, 0);
}

} // namespace

bool liesInMemory(const std::string &directory) {
  struct statfs system = {};
  return statfs(directory.c_str(), &system) == 0 &&
         (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC);
}

int64_t availableMemory() {
  std::ifstream file("/proc/meminfo");
  int64_t available = 0;
  bool isKnown = false;
  std::string name, unit;
  for (int64_t kibibytes = 0; file >> name >> kibibytes;) {
    std::getline(file, unit);
    isKnown |= name == "MemAvailable:";
    if (name == "MemAvailable:" || name == "SwapFree:")
      available += kibibytes * 1024;
  }
  if (!isKnown)
    available = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) *
                static_cast<int64_t>(sysconf(_SC_PAGESIZE));
  return std::min(available, leftInGroup());
}

} // namespace sprt::tools
