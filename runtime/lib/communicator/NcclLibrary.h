/// The functions of NCCL that we call, from a library that is looked for at run
/// time: a machine without one has no link error, but a status.
#ifndef SPRT_LIB_COMMUNICATOR_NCCLLIBRARY_H
#define SPRT_LIB_COMMUNICATOR_NCCLLIBRARY_H

#include "support/Status.h"

#include <nccl.h>

namespace sprt {

// clang-format off
#define SPRT_NCCL_CALLS(X)                                                     \
  X(ncclCommAbort) X(ncclCommDestroy) X(ncclCommFinalize)                      \
  X(ncclCommGetAsyncError) X(ncclCommInitRankConfig) X(ncclGetErrorString)     \
  X(ncclGetLastError) X(ncclGetUniqueId) X(ncclGetVersion) X(ncclGroupEnd)     \
  X(ncclGroupStart) X(ncclRecv) X(ncclSend)
// clang-format on

class NcclLibrary {
public:
  /// Loads the library and finds every function. `emulated`: it has to work on
  /// streams of the emulated device. It stays loaded: its threads may outlive
  /// its communicators.
  Status open(bool emulated);

  /// A call's result as a status.
  Status check(ncclResult_t result, const char *call,
               ncclComm_t communicator = nullptr) const;

// NOLINTNEXTLINE(bugprone-macro-parentheses): the argument is a name
#define SPRT_NCCL_MEMBER(name) decltype(&::name) name = nullptr;
  SPRT_NCCL_CALLS(SPRT_NCCL_MEMBER)
#undef SPRT_NCCL_MEMBER
};

} // namespace sprt

#endif // SPRT_LIB_COMMUNICATOR_NCCLLIBRARY_H
