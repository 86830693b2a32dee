// model.spx on disk: everything that can be checked without running any of its
// code is checked before dlopen maps it.

#include "sprt/artifact.h"

#include "program/Program.h"

#include <atomic>
#include <cerrno>
#include <cstring>

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sprt {

namespace {

/// A whole file, mapped for reading.
class MappedFile {
public:
  ~MappedFile() {
    if (data)
      munmap(data, size);
  }
  Status open(const std::string &path) {
    int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0)
      return fail(SPRT_IO) << std::strerror(errno);
    struct stat info = {};
    bool known = fstat(file, &info) == 0;
    if (known && S_ISREG(info.st_mode) && info.st_size > 0) {
      size = static_cast<size_t>(info.st_size);
      void *mapped = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
      data = mapped == MAP_FAILED ? nullptr : mapped;
    }
    ::close(file);
    if (!known || (size > 0 && !data))
      return fail(SPRT_IO) << "the file cannot be mapped";
    if (!S_ISREG(info.st_mode))
      return fail(SPRT_IO) << "expected a regular file";
    return Status::success();
  }

  void *data = nullptr;
  size_t size = 0;
};

Status checkTrailer(const MappedFile &file) {
  ArtifactTrailer trailer;
  if (file.size < sizeof trailer)
    return fail(SPRT_DAMAGED)
           << "expected an artifact of sp-compile but got a file of "
           << file.size << " bytes";
  const char *bytes = static_cast<const char *>(file.data);
  std::memcpy(&trailer, bytes + file.size - sizeof trailer, sizeof trailer);
  if (std::memcmp(trailer.magic, kTrailerMagic, sizeof trailer.magic) != 0)
    return fail(SPRT_DAMAGED)
           << "no artifact trailer at the end of " << file.size
           << " bytes: the file is truncated or was not written by sp-compile";
  if (trailer.abiVersion != SPRT_ABI_VERSION) {
    bool newer = trailer.abiVersion > SPRT_ABI_VERSION;
    return fail(SPRT_UNSUPPORTED)
           << "the artifact was compiled for runtime ABI " << trailer.abiVersion
           << " but this runtime has " << SPRT_ABI_VERSION << "; "
           << (newer ? "update the runtime, or compile" : "compile")
           << " the model again with this version";
  }
  uint64_t content = file.size - sizeof trailer;
  if (trailer.contentBytes != content)
    return fail(SPRT_DAMAGED)
           << "expected " << trailer.contentBytes
           << " bytes before the trailer but got " << content
           << "; the file is damaged, compile the model again";
  if (trailer.contentHash != contentHash(bytes, content))
    return fail(SPRT_DAMAGED) << "the content hash does not match: the file is "
                                 "damaged, compile the "
                                 "model again";
  return Status::success();
}

/// Finds a symbol and checks, as far as the object says, that it has `size`
/// bytes.
Status findData(void *library, const char *symbol, uint64_t size,
                const void *&out_data) {
  out_data = dlsym(library, symbol);
  if (!out_data)
    return fail(SPRT_DAMAGED)
           << "the artifact does not define \"" << symbol << "\"";
  Dl_info info;
  const ElfW(Sym) *entry = nullptr;
  if (dladdr1(out_data, &info,
              reinterpret_cast<void **>(const_cast<ElfW(Sym) **>(&entry)),
              RTLD_DL_SYMENT) &&
      entry && entry->st_size != 0 && entry->st_size < size)
    return fail(SPRT_DAMAGED) << "expected " << size << " bytes of \"" << symbol
                              << "\" but got " << entry->st_size;
  return Status::success();
}

/// What the artifact's kernels touch: a table behind its size.
Status readSignatures(void *library, Signatures &out_signatures) {
  const void *data = nullptr;
  uint32_t size = 0;
  if (Status failure = findData(library, kSignaturesSymbol, sizeof size, data))
    return failure;
  std::memcpy(&size, data, sizeof size);
  uint64_t whole = sizeof size + uint64_t(size);
  if (Status failure = findData(library, kSignaturesSymbol, whole, data))
    return failure;
  return out_signatures.read(data, whole);
}

/// A spelling of `path` that was never loaded: dlopen takes a name that it
/// knows for what it loaded by it, though another file may have come in its
/// place.
std::string newSpelling(const std::string &path) {
  static std::atomic<uint64_t> loads = 1;
  size_t fileBegin = path.rfind('/') + 1;
  // A name without a slash would be searched for in the library path.
  std::string name = fileBegin == 0 ? "./" : path.substr(0, fileBegin);
  for (uint64_t digits = loads++; digits > 0; digits /= 2)
    name += digits % 2 == 0 ? "/" : "./";
  return name + path.substr(fileBegin);
}

sprt_kernel findKernel(const char *symbol, void *library) {
  return reinterpret_cast<sprt_kernel>(dlsym(library, symbol));
}

} // namespace

Program::~Program() {
  if (library)
    dlclose(library);
}

Status Program::load(const std::string &path) {
  {
    MappedFile file;
    if (Status failure = file.open(path))
      return std::move(failure).within(path);
    if (Status failure = checkTrailer(file))
      return std::move(failure).within(path);
  }
  library = dlopen(newSpelling(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return fail(SPRT_DAMAGED) << path << ": " << dlerror();
  const void *planSize = nullptr;
  const void *planData = nullptr;
  if (Status failure =
          findData(library, kPlanSizeSymbol, sizeof(uint64_t), planSize))
    return std::move(failure).within(path);
  uint64_t size;
  std::memcpy(&size, planSize, sizeof size);
  if (Status failure = findData(library, kPlanSymbol, size, planData))
    return std::move(failure).within(path);
  auto known = std::make_unique<Signatures>();
  if (Status failure = readSignatures(library, *known))
    return std::move(failure).within(path);
  const void *constantData = dlsym(library, kConstantsSymbol);
  if (Status failure = create(planData, size, constantData, findKernel, library,
                              std::move(known)))
    return std::move(failure).within(path);
  for (const auto &image : plan->images) {
    const void *data = nullptr;
    if (Status failure = findData(library, image->symbol.c_str(),
                                  static_cast<uint64_t>(image->bytes), data))
      return std::move(failure).within(path);
  }
  if (plan->constant_bytes > 0)
    if (Status failure =
            findData(library, kConstantsSymbol,
                     static_cast<uint64_t>(plan->constant_bytes), constantData))
      return std::move(failure).within(path);
  return loadDocumentsProgram().within(path);
}

} // namespace sprt
