/// Writing of files, as sprt/files.h says.
#ifndef SPRT_LIB_SUPPORT_OUTPUTFILE_H
#define SPRT_LIB_SUPPORT_OUTPUTFILE_H

#include "support/Status.h"

#include <functional>
#include <string_view>
#include <vector>

namespace sprt {

Status checkOutput(const std::string &path);

/// Writes the pieces one after the other.
Status writeOutput(const std::string &path,
                   const std::vector<std::string_view> &pieces);

/// For those who write by name: `fill` is given the name of an empty file,
/// which then takes the place of `path` or is copied into it.
Status writeOutput(const std::string &path,
                   const std::function<Status(const std::string &draft)> &fill);

} // namespace sprt

#endif // SPRT_LIB_SUPPORT_OUTPUTFILE_H
