#include "support/InputFile.h"

#include <cerrno>
#include <cstring>

#include <sys/stat.h>
#include <unistd.h>

namespace sprt {

Status checkInput(const std::string &path) {
  struct stat found = {};
  if (stat(path.c_str(), &found) != 0 ||
      (S_ISREG(found.st_mode) && access(path.c_str(), R_OK) != 0))
    return fail(SPRT_IO) << path
                         << ": cannot be read: " << std::strerror(errno);
  if (S_ISREG(found.st_mode))
    return Status::success();
  const char *kind = S_ISDIR(found.st_mode)    ? "folder"
                     : S_ISFIFO(found.st_mode) ? "FIFO"
                     : S_ISSOCK(found.st_mode) ? "socket"
                                               : "device";
  return fail(SPRT_IO) << path << ": expected a regular file but got a "
                       << kind;
}

} // namespace sprt
