#include "support/OutputFile.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace sprt {

namespace {

Status writeFailure(const std::string &path, int code = errno) {
  return fail(SPRT_IO) << path
                       << ": cannot be written: " << std::strerror(code);
}

class Descriptor {
public:
  explicit Descriptor(int number = -1) : number(number) {}
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  ~Descriptor() { close(); }

  explicit operator bool() const { return number >= 0; }
  int get() const { return number; }
  /// False with errno if what was written could not be kept.
  bool close() {
    int closed = std::exchange(number, -1);
    return closed < 0 || ::close(closed) == 0;
  }

private:
  int number;
};

/// A pipe whose reader has gone is an error like others, not a signal.
class WithoutPipeSignal {
public:
  WithoutPipeSignal() {
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    wasPending = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
  }
  ~WithoutPipeSignal() {
    int code = errno;
    timespec now = {};
    if (!wasPending)
      while (sigtimedwait(&pipe, nullptr, &now) < 0 && errno == EINTR)
        ;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = code;
  }

private:
  sigset_t pipe, before;
  bool wasPending = false;
};

bool writeAll(int file, std::string_view bytes) {
  WithoutPipeSignal quiet;
  while (!bytes.empty()) {
    ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

std::string folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos)
    return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// Where a path leads, and how to write there.
struct Place {
  std::string path;
  bool exists = false;
  mode_t mode = 0;       ///< of what exists
  bool isOpened = false; ///< and written, where it is; else it is replaced
};

/// Whether a link is one of those by which /proc shows what a process has
/// open: such a file may have another name by now, or none.
bool isOpenFile(const std::string &link) {
  struct statfs system = {};
  return statfs(folderOf(link).c_str(), &system) == 0 &&
         system.f_type == PROC_SUPER_MAGIC;
}

std::optional<std::string> readLink(const std::string &link) {
  std::string target(4096, '\0');
  ssize_t length = readlink(link.c_str(), target.data(), target.size());
  if (length < 0)
    return std::nullopt;
  target.resize(static_cast<size_t>(length));
  return target[0] == '/' ? target : folderOf(link) + "/" + target;
}

Status findPlace(const std::string &path, Place &out_place) {
  constexpr int kMostLinks = 40;
  std::string at = path;
  struct stat found = {};
  for (int links = 0;; ++links) {
    if (lstat(at.c_str(), &found) != 0) {
      if (errno != ENOENT)
        return writeFailure(path);
      out_place = {at, false, 0, false};
      return Status::success();
    }
    if (!S_ISLNK(found.st_mode) || isOpenFile(at))
      break;
    std::optional<std::string> next = readLink(at);
    if (!next || links == kMostLinks)
      return writeFailure(path, next ? ELOOP : errno);
    at = *next;
  }
  if (S_ISLNK(found.st_mode) && stat(at.c_str(), &found) != 0)
    return writeFailure(path);
  if (S_ISDIR(found.st_mode))
    return writeFailure(path, EISDIR);
  if (access(at.c_str(), W_OK) != 0)
    return writeFailure(path);
  struct stat itself = {};
  bool isRegular = lstat(at.c_str(), &itself) == 0 && S_ISREG(itself.st_mode);
  out_place = {at, true, found.st_mode & 07777, !isRegular};
  return Status::success();
}

/// An empty file in `folder` with a name of its own.
Descriptor createDraft(const std::string &folder, std::string &out_path) {
  static std::atomic<unsigned> count{0};
  for (;;) {
    out_path = folder + "/.sprt-" + std::to_string(getpid()) + "-" +
               std::to_string(count++);
    int file =
        ::open(out_path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0 || errno != EEXIST)
      return Descriptor(file);
  }
}

/// The file that will replace another, removed unless it does.
class Draft {
public:
  Draft(const std::string &folder) : file(createDraft(folder, path)) {}
  ~Draft() {
    if (file || isThere)
      unlink(path.c_str());
  }
  explicit operator bool() const { return bool(file); }
  int descriptor() const { return file.get(); }
  const std::string &name() const { return path; }

  /// Ends writing through the descriptor.
  bool close() {
    isThere = true;
    return file.close();
  }
  bool replace(const Place &place) {
    if (place.exists && chmod(path.c_str(), place.mode) != 0)
      return false;
    isThere = rename(path.c_str(), place.path.c_str()) != 0;
    return !isThere;
  }

private:
  std::string path;
  Descriptor file;
  bool isThere = false;
};

/// Where nothing may be created beside an existing file, it is written as it
/// is.
bool openInstead(Place &place) {
  bool isClosed = errno == EACCES || errno == EPERM || errno == EROFS;
  place.isOpened = place.exists && isClosed;
  return place.isOpened;
}

Status writeInto(const std::string &path, const Place &place,
                 const std::vector<std::string_view> &pieces) {
  Descriptor file(
      ::open(place.path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY));
  if (!file)
    return writeFailure(path);
  for (std::string_view piece : pieces)
    if (!writeAll(file.get(), piece))
      return writeFailure(path);
  return file.close() ? Status::success() : writeFailure(path);
}

Status copyInto(const std::string &path, const Place &place,
                const std::string &from) {
  Descriptor source(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
  Descriptor file(
      ::open(place.path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY));
  if (!source || !file)
    return writeFailure(path);
  std::vector<char> block(1 << 20);
  for (;;) {
    ssize_t got = ::read(source.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR)
      continue;
    if (got == 0)
      return file.close() ? Status::success() : writeFailure(path);
    if (got < 0 ||
        !writeAll(file.get(), {block.data(), static_cast<size_t>(got)}))
      return writeFailure(path);
  }
}

std::string temporaryFolder() {
  const char *folder = std::getenv("TMPDIR");
  return folder && *folder ? folder : "/tmp";
}

} // namespace

Status checkOutput(const std::string &path) {
  Place place;
  if (Status failure = findPlace(path, place))
    return failure;
  if (place.isOpened || Draft(folderOf(place.path)) || openInstead(place))
    return Status::success();
  return writeFailure(path);
}

Status writeOutput(const std::string &path,
                   const std::vector<std::string_view> &pieces) {
  Place place;
  if (Status failure = findPlace(path, place))
    return failure;
  if (place.isOpened)
    return writeInto(path, place, pieces);
  Draft draft(folderOf(place.path));
  if (!draft)
    return openInstead(place) ? writeInto(path, place, pieces)
                              : writeFailure(path);
  for (std::string_view piece : pieces)
    if (!writeAll(draft.descriptor(), piece))
      return writeFailure(path);
  return draft.close() && draft.replace(place) ? Status::success()
                                               : writeFailure(path);
}

Status
writeOutput(const std::string &path,
            const std::function<Status(const std::string &draft)> &fill) {
  Place place;
  if (Status failure = findPlace(path, place))
    return failure;
  if (!place.isOpened) {
    Draft draft(folderOf(place.path));
    if (draft) {
      (void)draft.close();
      if (Status failure = fill(draft.name()))
        return failure;
      return draft.replace(place) ? Status::success() : writeFailure(path);
    }
    if (!openInstead(place))
      return writeFailure(path);
  }
  Draft draft(temporaryFolder());
  if (!draft)
    return writeFailure(draft.name());
  (void)draft.close();
  if (Status failure = fill(draft.name()))
    return failure;
  return copyInto(path, place, draft.name());
}

} // namespace sprt
