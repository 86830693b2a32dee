#include "communicator/NcclLibrary.h"

#include "support/SharedLibrary.h"

namespace sprt {

namespace {

/// The first with communicators that do not block; a third major version may
/// change what the calls mean.
constexpr int kFirstVersion = 21400, kEndOfVersions = 30000;
/// Exported by a library that knows EmulatedStream.
constexpr const char *kEmulation = "sprtKnowsEmulatedStreams";

std::string versionText(int version) {
  return std::to_string(version / 10000) + "." +
         std::to_string(version % 10000 / 100) + "." +
         std::to_string(version % 100);
}

} // namespace

Status NcclLibrary::open(bool emulated) {
  SharedLibrary library;
  if (!library.open({"libnccl.so.2"}, /*stays=*/true))
    return fail(SPRT_UNSUPPORTED)
           << "communicator \"nccl\" needs NCCL (" << library.failure
           << "); install NVIDIA's libnccl2, or name its folder in "
              "LD_LIBRARY_PATH";
#define SPRT_NCCL_FIND(name) library.find(#name, name);
  SPRT_NCCL_CALLS(SPRT_NCCL_FIND)
#undef SPRT_NCCL_FIND
  int version = 0;
  if (ncclGetVersion)
    if (Status failure = check(ncclGetVersion(&version), "ncclGetVersion"))
      return failure;
  // Before 2.9 a version had one digit for the minor number.
  if (version < kFirstVersion || version >= kEndOfVersions)
    return fail(SPRT_UNSUPPORTED)
           << "communicator \"nccl\" needs NCCL " << versionText(kFirstVersion)
           << " or later of version 2 but got "
           << (version < 10000 ? "version code " + std::to_string(version)
                               : versionText(version))
           << "; name another's folder in LD_LIBRARY_PATH";
  if (library.missing)
    return fail(SPRT_UNSUPPORTED)
           << "NCCL " << versionText(version) << " of this machine has no \""
           << library.missing << "\"; install NVIDIA's libnccl2";
  if (emulated && !library.find(kEmulation))
    return fail(SPRT_UNSUPPORTED)
           << "communicator \"nccl\" moves memory of GPUs only; run "
              "--device=emulated with --communicator=local";
  return Status::success();
}

Status NcclLibrary::check(ncclResult_t result, const char *call,
                          ncclComm_t communicator) const {
  if (result == ncclSuccess || result == ncclInProgress)
    return Status::success();
  std::string detail;
  if (ncclGetErrorString)
    detail = std::string(": ") + ncclGetErrorString(result);
  const char *last = ncclGetLastError && communicator
                         ? ncclGetLastError(communicator)
                         : nullptr;
  if (last && *last)
    detail += std::string(" (") + last + ")";
  return fail(SPRT_FAILED) << "NCCL, " << call << detail << ", code "
                           << int(result) << "; NCCL_DEBUG=INFO says more";
}

} // namespace sprt
