#include "sprt/files.h"

#include "capi/Handles.h"
#include "support/InputFile.h"
#include "support/OutputFile.h"

using namespace sprt;

sprt_status *sprt_file_check(const char *path) {
  return guarded([&]() -> Status {
    return path ? checkOutput(path) : nullArgument("path");
  });
}

sprt_status *sprt_file_write(const char *path, const void *data, size_t bytes) {
  return guarded([&]() -> Status {
    if (!path || (!data && bytes > 0))
      return nullArgument(path ? "data" : "path");
    std::string_view all(static_cast<const char *>(data), bytes);
    return writeOutput(path, std::vector<std::string_view>{all});
  });
}

sprt_status *sprt_file_check_input(const char *path) {
  return guarded([&]() -> Status {
    return path ? checkInput(path) : nullArgument("path");
  });
}
