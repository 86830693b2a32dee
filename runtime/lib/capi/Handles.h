/// Between the C ABI and the classes behind it.
#ifndef SPRT_LIB_CAPI_HANDLES_H
#define SPRT_LIB_CAPI_HANDLES_H

#include "support/Status.h"

#include <exception>
#include <new>

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

} // namespace sprt

#endif // SPRT_LIB_CAPI_HANDLES_H
