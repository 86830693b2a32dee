#include "communicator/MpiWorld.h"

#include <algorithm>
#include <cstdlib>
#include <thread>

#include <dlfcn.h>

namespace sprt {

namespace {
constexpr int kThreadMultiple = 3;
constexpr int kAnySource = -1;
constexpr int kFailureTag = 100;
constexpr int kSuccess = 0;
/// How long after a failure other processes may still report theirs.
constexpr auto kAbortGrace = std::chrono::milliseconds(500);
} // namespace

struct MpiWorld::Symbols {
  int (*initialized)(int *);
  int (*initThread)(int *, char ***, int, int *);
  int (*finalize)();
  int (*abort)(Handle, int);
  int (*commRank)(Handle, int *);
  int (*commSize)(Handle, int *);
  int (*setErrorHandler)(Handle, Handle);
  int (*isend)(const void *, int, Handle, int, int, Handle, Handle *);
  int (*irecv)(void *, int, Handle, int, int, Handle, Handle *);
  int (*test)(Handle *, int *, MpiStatus *);
  int (*iprobe)(int, int, Handle, int *, MpiStatus *);
};

Status MpiWorld::open(std::shared_ptr<World> &out_world) {
  // MPI starts once per process and ends with it.
  static std::mutex mutex;
  static std::shared_ptr<MpiWorld> instance;
  std::lock_guard<std::mutex> lock(mutex);
  if (!instance) {
    std::shared_ptr<MpiWorld> fresh(new MpiWorld);
    if (Status failure = fresh->load())
      return failure;
    if (Status failure = fresh->initialise())
      return failure;
    instance = std::move(fresh);
  }
  out_world = instance;
  return Status::success();
}

Status MpiWorld::load() {
  void *library = nullptr;
  for (const char *name : {"libmpi.so.40", "libmpi.so"})
    if (!library)
      library = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
  if (!library)
    return fail(SPRT_UNSUPPORTED)
           << "communicator \"mpi\" needs Open MPI (Debian: libopenmpi3): "
           << dlerror();
  auto symbols = std::make_unique<Symbols>();
  std::string missing;
  auto find = [&](const char *name, auto &function) {
    void *address = dlsym(library, name);
    if (!address)
      missing = name;
    function = reinterpret_cast<std::decay_t<decltype(function)>>(address);
  };
  find("MPI_Initialized", symbols->initialized);
  find("MPI_Init_thread", symbols->initThread);
  find("MPI_Finalize", symbols->finalize);
  find("MPI_Abort", symbols->abort);
  find("MPI_Comm_rank", symbols->commRank);
  find("MPI_Comm_size", symbols->commSize);
  find("MPI_Comm_set_errhandler", symbols->setErrorHandler);
  find("MPI_Isend", symbols->isend);
  find("MPI_Irecv", symbols->irecv);
  find("MPI_Test", symbols->test);
  find("MPI_Iprobe", symbols->iprobe);
  Handle errorsReturn = nullptr;
  find("ompi_mpi_comm_world", world);
  find("ompi_mpi_byte", byteType);
  find("ompi_mpi_errors_return", errorsReturn);
  if (!missing.empty())
    return fail(SPRT_UNSUPPORTED) << "communicator \"mpi\" needs Open MPI, but "
                                     "the MPI library found has no \""
                                  << missing << "\"";
  mpi = std::move(symbols);
  return Status::success();
}

Status MpiWorld::initialise() {
  int already = 0;
  int provided = kThreadMultiple;
  mpi->initialized(&already);
  if (!already)
    if (Status failure =
            check(mpi->initThread(nullptr, nullptr, kThreadMultiple, &provided),
                  "MPI_Init_thread"))
      return failure;
  concurrent = !already && provided == kThreadMultiple;
  Handle errorsReturn = dlsym(RTLD_DEFAULT, "ompi_mpi_errors_return");
  mpi->setErrorHandler(world, errorsReturn);
  int number = 0;
  int size = 1;
  if (Status failure = check(mpi->commRank(world, &number), "MPI_Comm_rank"))
    return failure;
  if (Status failure = check(mpi->commSize(world, &size), "MPI_Comm_size"))
    return failure;
  join(number, size);
  const char *local = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  localRanks = local ? std::max(1L, std::strtol(local, nullptr, 10)) : size;
  if (const char *mine = std::getenv("OMPI_COMM_WORLD_LOCAL_RANK"))
    localRank = std::strtol(mine, nullptr, 10);
  return Status::success();
}

std::unique_ptr<Communicator> MpiWorld::endpoint() {
  return std::make_unique<MpiCommunicator>(
      std::static_pointer_cast<MpiWorld>(shared_from_this()));
}

MpiWorld::~MpiWorld() {
  if (!mpi || !world)
    return;
  if (failing.load()) {
    // Finalizing would wait for transfers that never complete.
    std::this_thread::sleep_for(kAbortGrace);
    mpi->abort(world, 1);
    return;
  }
  mpi->finalize();
}

Status MpiWorld::check(int code, const char *call) const {
  if (code == kSuccess)
    return Status::success();
  return fail(SPRT_FAILED).about(rank) << call << " failed with code " << code;
}

Status MpiWorld::send(const void *data, int64_t bytes, int64_t peer, int tag,
                      Handle &out_request) {
  std::unique_lock<std::mutex> lock(serial, std::defer_lock);
  if (!concurrent)
    lock.lock();
  return check(
      mpi->isend(data, static_cast<int>(bytes), byteType,
                 static_cast<int>(processOf[static_cast<size_t>(peer)]), tag,
                 world, &out_request),
      "MPI_Isend");
}

Status MpiWorld::receive(void *data, int64_t bytes, int64_t peer, int tag,
                         Handle &out_request) {
  std::unique_lock<std::mutex> lock(serial, std::defer_lock);
  if (!concurrent)
    lock.lock();
  return check(
      mpi->irecv(data, static_cast<int>(bytes), byteType,
                 static_cast<int>(processOf[static_cast<size_t>(peer)]), tag,
                 world, &out_request),
      "MPI_Irecv");
}

Status MpiWorld::test(Handle &request, bool &out_done, int64_t &out_bytes) {
  std::unique_lock<std::mutex> lock(serial, std::defer_lock);
  if (!concurrent)
    lock.lock();
  int done = 0;
  MpiStatus status = {};
  int code = mpi->test(&request, &done, &status);
  out_done = done != 0;
  out_bytes = static_cast<int64_t>(status.bytes);
  return check(code, "MPI_Test");
}

void MpiWorld::tellOthers() {
  for (int64_t peer = 0; peer < ranks; ++peer) {
    Handle request = nullptr;
    // A peer that cannot be told finds out when its own limit ends.
    if (peer != rank && send(nullptr, 0, peer, kFailureTag, request))
      continue;
  }
}

bool MpiWorld::failureAnnounced() {
  std::unique_lock<std::mutex> lock(serial, std::defer_lock);
  if (!concurrent)
    lock.lock();
  int found = 0;
  MpiStatus status = {};
  mpi->iprobe(kAnySource, kFailureTag, world, &found, &status);
  int64_t none = -1;
  if (found != 0)
    announcer.compare_exchange_strong(none, status.source);
  return found != 0;
}

} // namespace sprt
