#include "executor/FarFile.h"

#include "sprt/pages.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace sprt {

namespace {

/// What is read or written at once.
constexpr int64_t kPieceBytes = int64_t(1) << 20;

int64_t wholePages(int64_t bytes) {
  return (bytes + kSmallPageBytes - 1) / kSmallPageBytes * kSmallPageBytes;
}

/// Bytes of a file and the whole pages that they lie on.
struct PagedPiece {
  int64_t begin, bytes;
  int64_t page, pageBytes;
  int64_t before; ///< bytes of the first page before them

  /// Whether they are only a part of a page.
  bool cuts(int64_t at) const {
    return at < before || at + kSmallPageBytes > before + bytes;
  }
};

std::vector<PagedPiece> piecesOf(int64_t offset, int64_t bytes) {
  std::vector<PagedPiece> pieces;
  for (int64_t at = offset, end = offset + bytes; at < end;) {
    int64_t page = at / kSmallPageBytes * kSmallPageBytes;
    int64_t size = std::min(page + kPieceBytes, end) - at;
    pieces.push_back({at, size, page, wholePages(at - page + size), at - page});
    at += size;
  }
  return pieces;
}

Failure failOf(const char *what, const std::string &where, int error) {
  Failure failure = fail(SPRT_FAILED);
  failure << "cannot " << what << " far memory in " << where << ": "
          << std::strerror(error);
  return failure;
}

/// All of a piece, which a system may take in parts.
template <typename Transfer>
Status transferAll(int64_t bytes, const char *what, const std::string &where,
                   const Transfer &transfer) {
  for (int64_t done = 0; done < bytes;) {
    ssize_t part = transfer(done, static_cast<size_t>(bytes - done));
    if (part < 0 && errno == EINTR)
      continue;
    if (part <= 0)
      return failOf(what, where, part < 0 ? errno : EIO);
    done += part;
  }
  return Status::success();
}

} // namespace

Status FarFile::Stage::open() {
  data = static_cast<std::byte *>(std::aligned_alloc(
      static_cast<size_t>(kSmallPageBytes), static_cast<size_t>(kPieceBytes)));
  if (!data)
    return fail(SPRT_FAILED) << "no memory to copy far memory through";
  return Status::success();
}

FarFile::Stage::~Stage() { std::free(data); }

FarFile::~FarFile() {
  if (file >= 0)
    close(file);
}

void FarFile::create(const char *directory, int flags) {
  file = ::open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC | flags, 0600);
  if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
    return;
  // File systems that have no files without names.
  std::string name = std::string(directory) + "/sp-run-far-XXXXXX";
  file = mkostemp(name.data(), O_CLOEXEC | flags);
  if (file >= 0)
    unlink(name.c_str());
}

Status FarFile::open(const std::string &directory) {
  where = directory;
  for (Stage *stage : {&in, &out})
    if (Status failure = stage->open())
      return failure;
  for (int flags : {O_DIRECT, 0})
    if (file < 0)
      create(directory.c_str(), flags);
  if (file < 0)
    return failOf("open", where, errno);
  int64_t whole = wholePages(size);
  // A system ends whose files are larger by a signal.
  struct rlimit most = {};
  bool isAllowed = getrlimit(RLIMIT_FSIZE, &most) != 0 ||
                   most.rlim_cur == RLIM_INFINITY ||
                   static_cast<rlim_t>(whole) <= most.rlim_cur;
  int error = !isAllowed                          ? EFBIG
              : fallocate(file, 0, 0, whole) == 0 ? 0
                                                  : errno;
  if (error == EOPNOTSUPP)
    error = ftruncate(file, whole) == 0 ? 0 : errno;
  if (error == 0)
    return Status::success();
  struct statvfs system = {};
  bool isFull = error == ENOSPC || error == EDQUOT, isTooLarge = error == EFBIG;
  if ((!isFull && !isTooLarge) || statvfs(directory.c_str(), &system) != 0)
    return failOf("reserve", where, error);
  Failure failure = fail(SPRT_FAILED);
  failure << "far memory of " << whole << " bytes a rank does not fit into "
          << where;
  if (isFull)
    failure << ", where "
            << static_cast<uint64_t>(system.f_bavail) * system.f_frsize
            << " are free now";
  failure << ": " << std::strerror(error) << "; give --far another directory";
  return failure;
}

void FarFile::touch(int64_t offset, int64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  touched.touch(offset, bytes);
}

int64_t FarFile::touchedBytes() const {
  std::lock_guard<std::mutex> lock(mutex);
  return touched.bytes();
}

Status FarFile::transfer(bool writes, std::byte *page, int64_t offset,
                         int64_t bytes) {
  auto part = [&](int64_t done, size_t left) {
    return writes ? pwrite(file, page + done, left, offset + done)
                  : pread(file, page + done, left, offset + done);
  };
  return transferAll(bytes, writes ? "write" : "read", where, part);
}

Status FarFile::write(int64_t offset, const std::byte *data, int64_t bytes) {
  touch(offset, bytes);
  std::lock_guard<std::mutex> lock(out.mutex);
  for (const PagedPiece &piece : piecesOf(offset, bytes)) {
    // What else is on the first page and on the last one stays.
    int64_t last = piece.pageBytes - kSmallPageBytes;
    for (int64_t page : {int64_t(0), last})
      if (piece.cuts(page))
        if (Status failure = transfer(false, out.data + page, piece.page + page,
                                      kSmallPageBytes))
          return failure;
    std::memcpy(out.data + piece.before, data + (piece.begin - offset),
                static_cast<size_t>(piece.bytes));
    if (Status failure = transfer(true, out.data, piece.page, piece.pageBytes))
      return failure;
  }
  return Status::success();
}

Status FarFile::read(std::byte *data, int64_t offset, int64_t bytes) {
  touch(offset, bytes);
  std::lock_guard<std::mutex> lock(in.mutex);
  for (const PagedPiece &piece : piecesOf(offset, bytes)) {
    if (Status failure = transfer(false, in.data, piece.page, piece.pageBytes))
      return failure;
    std::memcpy(data + (piece.begin - offset), in.data + piece.before,
                static_cast<size_t>(piece.bytes));
  }
  return Status::success();
}

} // namespace sprt
