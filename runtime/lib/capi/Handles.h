/// Between the C ABI and the classes behind it.
#ifndef SPRT_LIB_CAPI_HANDLES_H
#define SPRT_LIB_CAPI_HANDLES_H

#include "support/Status.h"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>

namespace sprt {

/// Runs `body`, which returns a Status; no exception leaves the library.
template <typename Body> sprt_status *guarded(const Body &body) {
  try {
    Status status = body();
    return status.release();
  } catch (const std::bad_alloc &) {
    return Status(SPRT_FAILED, "out of memory").release();
  } catch (const std::exception &error) {
    return Status(SPRT_FAILED, error.what()).release();
  }
}

/// A NULL argument, by its name.
inline Status nullArgument(const char *name) {
  return fail(SPRT_INVALID_ARGUMENT)
         << "expected \"" << name << "\" but got NULL";
}

/// A struct that the caller declared with another size than ours.
inline Status wrongSize(const char *name, size_t expected, size_t got) {
  return fail(SPRT_INVALID_ARGUMENT)
         << "expected a struct " << name << " of " << expected
         << " bytes but got " << got << "; set its size field";
}

/// A text that the caller frees with sprt_buffer_free.
inline Status copyText(const std::string &text, char **out_text) {
  *out_text = static_cast<char *>(std::malloc(text.size() + 1));
  if (!*out_text)
    return fail(SPRT_FAILED) << "out of memory";
  std::memcpy(*out_text, text.c_str(), text.size() + 1);
  return Status::success();
}

} // namespace sprt

#endif // SPRT_LIB_CAPI_HANDLES_H
