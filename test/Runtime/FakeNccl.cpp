// Becomes a libnccl.so.2 without GPUs: ranks are processes or threads of this
// machine, streams those of the emulated device (EmulatedStream.h).
//
// It keeps to NCCL's rules where breaking them can be missed on a machine
// without GPUs. A group starts at its end, or at a later look at the
// communicator, which is busy until then; a send ends when the other end has
// received all of it; the i-th send meets the i-th receive, and sizes that
// differ are an error that both ends see; a communicator is for one thread at a
// time, on one stream. Like NCCL between the GPUs of a machine, it does not
// notice when a peer dies.
//
// FAKE_NCCL_VERSION is the version that it says it is, FAKE_NCCL_ERROR, a rank
// and a number of groups ("2:3"), what breaks all its communicators, and
// FAKE_NCCL_CTAS the only maxCTAs that it takes.

#include "FakeNcclRank.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <set>

#include <unistd.h>

using sprt::test::Connection;
using sprt::test::FakeRank;
using sprt::test::Operation;

namespace {

std::mutex registry;
std::set<std::shared_ptr<FakeRank>> communicators;
thread_local std::string message;

/// Of the calling thread: calls wait for the end of its group.
struct Call {
  std::shared_ptr<FakeRank> communicator;
  Operation operation;
};
thread_local int depth = 0;
thread_local std::vector<Call> calls;

ncclResult_t refuse(ncclResult_t result, const char *text) {
  message = text;
  return result;
}

std::shared_ptr<FakeRank> find(ncclComm_t handle) {
  std::lock_guard<std::mutex> lock(registry);
  for (const auto &each : communicators)
    if (reinterpret_cast<ncclComm_t>(each.get()) == handle)
      return each;
  return nullptr;
}

ncclResult_t add(bool sends, void *data, size_t count, ncclDataType_t type,
                 int peer, ncclComm_t handle, cudaStream_t stream) {
  std::shared_ptr<FakeRank> found = find(handle);
  if (!found)
    return refuse(ncclInvalidArgument, "no communicator");
  std::unique_lock<std::mutex> calling(found->calling, std::try_to_lock);
  if (!calling)
    return refuse(ncclInvalidUsage, "two threads call a communicator");
  std::lock_guard<std::mutex> lock(found->working);
  auto *on = reinterpret_cast<sprt::EmulatedStream *>(stream);
  if (type != ncclUint8 || peer < 0 || peer >= found->ranks)
    return refuse(ncclInvalidArgument, "expected bytes for a peer");
  if (!found->connected() || !found->group.empty() || found->finalized)
    return refuse(ncclInvalidUsage, "the communicator is busy");
  if (depth == 0)
    return refuse(ncclInvalidUsage, "the double has groups only");
  if (found->stream && found->stream != on)
    return refuse(ncclInvalidUsage, "two streams for a communicator");
  found->stream = on;
  calls.push_back({found, {sends, peer, static_cast<char *>(data), count}});
  return ncclSuccess;
}

} // namespace

extern "C" {

extern const int sprtKnowsEmulatedStreams = 1;

ncclResult_t ncclGetVersion(int *version) {
  const char *text = std::getenv("FAKE_NCCL_VERSION");
  *version = text ? static_cast<int>(std::strtol(text, nullptr, 10))
                  : NCCL_VERSION_CODE;
  return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t result) {
  return result == ncclRemoteError       ? "remote error"
         : result == ncclInvalidArgument ? "invalid argument"
         : result == ncclInvalidUsage    ? "invalid usage"
                                         : "unknown error";
}

const char *ncclGetLastError(ncclComm_t) { return message.c_str(); }

ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
  static std::atomic<int> count{0};
  std::snprintf(id->internal, sizeof id->internal, "fake-nccl-%d-%d-%08x",
                getpid(), count++, std::random_device()());
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t *handle, int ranks,
                                    ncclUniqueId id, int rank,
                                    ncclConfig_t *config) {
  if (!config || config->size != sizeof *config || config->blocking != 0)
    return refuse(ncclInvalidArgument, "the double does not block");
  const char *blocks = std::getenv("FAKE_NCCL_CTAS");
  if (blocks && config->maxCTAs != std::atoi(blocks))
    return refuse(ncclInvalidArgument, "another maxCTAs");
  auto fresh = std::make_shared<FakeRank>();
  fresh->id = id.internal;
  fresh->rank = rank;
  fresh->ranks = ranks;
  for (int peer = 0; peer < ranks; ++peer) {
    fresh->to.push_back(std::make_unique<Connection>());
    fresh->from.push_back(std::make_unique<Connection>());
  }
  if (!fresh->listen())
    return refuse(ncclSystemError, "two ranks of one number");
  std::lock_guard<std::mutex> lock(registry);
  communicators.insert(fresh);
  *handle = reinterpret_cast<ncclComm_t>(fresh.get());
  return ncclInProgress;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t handle, ncclResult_t *state) {
  std::shared_ptr<FakeRank> found = find(handle);
  if (!found)
    return refuse(ncclInvalidArgument, "no communicator");
  std::unique_lock<std::mutex> calling(found->calling, std::try_to_lock);
  if (!calling)
    return refuse(ncclInvalidUsage, "two threads call a communicator");
  std::unique_lock<std::mutex> lock(found->working);
  *state = found->error;
  if (*state != ncclSuccess)
    return ncclSuccess;
  bool busy = !found->connected() || !found->group.empty() ||
              (found->finalized && found->running > 0);
  if (!found->connected())
    found->connect();
  *state = busy ? ncclInProgress : ncclSuccess;
  if (found->group.empty())
    return ncclSuccess;
  std::function<bool()> work = workOf(found);
  // A device that polls has a lock of its own.
  lock.unlock();
  found->stream->enqueue(std::move(work));
  return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
  ++depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (depth == 0)
    return refuse(ncclInvalidUsage, "no group to end");
  if (--depth > 0)
    return ncclSuccess;
  std::vector<Call> ended = std::move(calls);
  calls.clear();
  for (Call &call : ended) {
    std::lock_guard<std::mutex> lock(call.communicator->working);
    call.communicator->group.push_back(call.operation);
  }
  return ended.empty() ? ncclSuccess : ncclInProgress;
}

ncclResult_t ncclSend(const void *data, size_t count, ncclDataType_t type,
                      int peer, ncclComm_t handle, cudaStream_t stream) {
  return add(true, const_cast<void *>(data), count, type, peer, handle, stream);
}

ncclResult_t ncclRecv(void *data, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t handle, cudaStream_t stream) {
  return add(false, data, count, type, peer, handle, stream);
}

ncclResult_t ncclCommFinalize(ncclComm_t handle) {
  std::shared_ptr<FakeRank> found = find(handle);
  if (!found)
    return refuse(ncclInvalidArgument, "no communicator");
  std::lock_guard<std::mutex> lock(found->working);
  found->finalized = true;
  return ncclInProgress;
}

ncclResult_t ncclCommDestroy(ncclComm_t handle) {
  std::shared_ptr<FakeRank> found = find(handle);
  if (!found || !found->finalized || found->running > 0)
    return refuse(ncclInvalidUsage, "expected a finalized communicator");
  std::lock_guard<std::mutex> lock(registry);
  communicators.erase(found);
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t handle) {
  std::shared_ptr<FakeRank> found = find(handle);
  if (!found)
    return refuse(ncclInvalidArgument, "no communicator");
  {
    std::lock_guard<std::mutex> lock(found->working);
    found->aborted = true;
  }
  std::lock_guard<std::mutex> lock(registry);
  communicators.erase(found);
  return ncclSuccess;
}

} // extern "C"
