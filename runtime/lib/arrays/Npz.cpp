// .npz: a zip archive with one .npy member per array.

#include "arrays/Arrays.h"
#include "support/InputFile.h"
#include "support/OutputFile.h"
#include "support/Types.h"

#include <cerrno>
#include <cstring>
#include <memory>

#include <sys/stat.h>
#include <zip.h>

namespace sprt {

namespace {

constexpr std::string_view kSuffix = ".npy";

struct CloseMember {
  void operator()(zip_file_t *file) const { zip_fclose(file); }
};
struct DiscardArchive {
  void operator()(zip_t *archive) const { zip_discard(archive); }
};
using Member = std::unique_ptr<zip_file_t, CloseMember>;
using Archive = std::unique_ptr<zip_t, DiscardArchive>;

Status openFailure(const std::string &path, int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  bool notZip = code == ZIP_ER_NOZIP || code == ZIP_ER_INCONS;
  return fail(notZip ? SPRT_DAMAGED : SPRT_IO)
         << path << ": " << (notZip ? "expected an .npz file: " : "") << text;
}

bool readExactly(zip_file_t *file, void *data, size_t size) {
  std::byte *at = static_cast<std::byte *>(data);
  while (size > 0) {
    zip_int64_t got = zip_fread(file, at, size);
    if (got <= 0)
      return false;
    at += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

/// Whether a member can be as large as the archive says: what is stored takes
/// its own size in the file, and deflate makes at most 1 032 bytes of one.
bool isPlausible(const zip_stat_t &stat, uint64_t fileBytes) {
  constexpr uint64_t kMostOfOne = 1032;
  return stat.comp_size <= fileBytes &&
         (stat.comp_method == ZIP_CM_STORE
              ? stat.size == stat.comp_size
              : stat.size / kMostOfOne <= stat.comp_size);
}

Status readMember(zip_file_t *file, uint64_t size, NamedArray &array) {
  unsigned char prefix[8];
  if (!readExactly(file, prefix, sizeof prefix) ||
      std::memcmp(prefix, "\x93NUMPY", 6) != 0)
    return fail(SPRT_DAMAGED) << "not an array of numpy";
  unsigned char length[4] = {};
  size_t lengthBytes = prefix[6] == 1 ? 2 : 4;
  if (!readExactly(file, length, lengthBytes))
    return fail(SPRT_DAMAGED) << "the array is truncated";
  size_t headerBytes = length[0] | length[1] << 8 | length[2] << 16 |
                       static_cast<size_t>(length[3]) << 24;
  size_t before = sizeof prefix + lengthBytes + headerBytes;
  if (before > size)
    return fail(SPRT_DAMAGED) << "the array is truncated";
  std::string text(headerBytes, '\0');
  if (!readExactly(file, text.data(), text.size()))
    return fail(SPRT_DAMAGED) << "the array is truncated";
  NpyHeader header;
  if (Status failure = parseNpyHeader(text, header))
    return failure;
  std::optional<int64_t> count = elementCount(header.shape);
  uint64_t bytes = 0;
  if (!count ||
      __builtin_mul_overflow(static_cast<uint64_t>(*count),
                             sprt_dtype_size(header.dtype), &bytes) ||
      bytes != size - before)
    return fail(SPRT_DAMAGED)
           << "expected data of shape " << shapeText(header.shape)
           << " but got " << size - before << " bytes";
  array.dtype = header.dtype;
  array.shape = header.shape;
  array.data.resize(bytes);
  if (!readExactly(file, array.data.data(), bytes))
    return fail(SPRT_DAMAGED)
           << "the data cannot be read: " << zip_file_strerror(file);
  // The checksum is compared where the data ends.
  char behind = 0;
  if (zip_fread(file, &behind, 1) != 0)
    return fail(SPRT_DAMAGED)
           << "the data is damaged: " << zip_file_strerror(file);
  if (header.fortranOrder)
    toRowMajor(array.shape, sprt_dtype_size(array.dtype), array.data);
  return Status::success();
}

} // namespace

Status readNpz(const std::string &path, NamedArrays &out_arrays) {
  if (Status failure = checkInput(path))
    return failure;
  int code = 0;
  Archive archive(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (!archive)
    return openFailure(path, code);
  struct stat file = {};
  if (stat(path.c_str(), &file) != 0)
    return fail(SPRT_IO) << path << ": " << std::strerror(errno);
  auto fileBytes = static_cast<uint64_t>(file.st_size);
  zip_int64_t entries = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t i = 0; i < entries; ++i) {
    zip_stat_t found;
    if (zip_stat_index(archive.get(), static_cast<zip_uint64_t>(i), 0,
                       &found) != 0 ||
        !found.name)
      return fail(SPRT_DAMAGED) << path << ": " << zip_strerror(archive.get());
    std::string name = found.name;
    if (name.size() < kSuffix.size() ||
        name.substr(name.size() - kSuffix.size()) != kSuffix)
      return fail(SPRT_DAMAGED)
             << path << ": expected only .npy members but got \"" << name
             << "\"";
    NamedArray array;
    array.name = name.substr(0, name.size() - kSuffix.size());
    Member member(
        zip_fopen_index(archive.get(), static_cast<zip_uint64_t>(i), 0));
    if (!member)
      return fail(SPRT_DAMAGED)
             << path << ": \"" << name << "\": " << zip_strerror(archive.get());
    if (!isPlausible(found, fileBytes))
      return fail(SPRT_DAMAGED)
             << path << ": \"" << array.name << "\": expected " << found.size
             << " bytes of " << found.comp_size << " in a file of " << fileBytes
             << "; the file is truncated or damaged";
    if (Status failure = readMember(member.get(), found.size, array))
      return std::move(failure).within(path + ": \"" + array.name + "\"");
    out_arrays.push_back(std::move(array));
  }
  return Status::success();
}

namespace {

/// Errors speak of `path`, for which the archive at `draft` is meant.
Status writeArchive(const NamedArrays &arrays, const std::string &draft,
                    const std::string &path) {
  int code = 0;
  Archive archive(zip_open(draft.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code));
  if (!archive)
    return openFailure(path, code);
  // Members refer to these until the archive is closed.
  std::vector<std::string> headers;
  headers.reserve(arrays.size());
  for (const NamedArray &array : arrays) {
    const std::string &header =
        headers.emplace_back(npyHeader(array.dtype, array.shape));
    std::vector<zip_buffer_fragment_t> parts;
    auto add = [&](const void *data, size_t size) {
      if (size > 0)
        parts.push_back(
            {static_cast<zip_uint8_t *>(const_cast<void *>(data)), size});
    };
    add(header.data(), header.size());
    add(array.data.data(), array.data.size());
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *source = zip_source_buffer_fragment_create(
        parts.data(), parts.size(), 0, &error);
    zip_int64_t index = -1;
    if (source)
      index = zip_file_add(archive.get(),
                           (array.name + std::string(kSuffix)).c_str(), source,
                           ZIP_FL_ENC_UTF_8);
    if (source && index < 0)
      zip_source_free(source);
    zip_error_fini(&error);
    // A fixed time makes equal arrays equal files.
    constexpr time_t kSomeDay = 315619200; // 1980-01-02
    if (index < 0 ||
        zip_set_file_compression(archive.get(),
                                 static_cast<zip_uint64_t>(index), ZIP_CM_STORE,
                                 0) != 0 ||
        zip_file_set_mtime(archive.get(), static_cast<zip_uint64_t>(index),
                           kSomeDay, 0) != 0)
      return fail(SPRT_IO) << path << ": \"" << array.name
                           << "\": " << zip_strerror(archive.get());
  }
  zip_t *closing = archive.release();
  if (zip_close(closing) == 0)
    return Status::success();
  archive.reset(closing);
  return fail(SPRT_IO) << path << ": " << zip_strerror(closing);
}

} // namespace

Status writeNpz(const NamedArrays &arrays, const std::string &path) {
  if (arrays.empty())
    return fail(SPRT_INVALID_ARGUMENT) << path << ": no arrays to write";
  return writeOutput(path, [&](const std::string &draft) {
    return writeArchive(arrays, draft, path);
  });
}

} // namespace sprt
