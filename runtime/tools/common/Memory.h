/// Memory that a tool may ask for.
#ifndef SPRT_TOOLS_COMMON_MEMORY_H
#define SPRT_TOOLS_COMMON_MEMORY_H

#include <cstdint>
#include <string>

namespace sprt::tools {

/// Bytes that this process can still take: what the system can free, swap with
/// it, within what its control group allows. More would end it, or another, by
/// a signal and without a word.
int64_t availableMemory();

/// Whether the files of a directory lie there: those of tmpfs and ramfs.
bool liesInMemory(const std::string &directory);

} // namespace sprt::tools

#endif // SPRT_TOOLS_COMMON_MEMORY_H
