// nvcc, ptxas and the host's compiler, each in a temporary folder that holds
// the source and the headers; and the cache of what they make. A file of the
// cache is named by the hash of all that went in, and holds, before the output
// and its log, the hash of these: a damaged one is made anew.

#include "CUDA/CudaCompiler.h"

#include "CUDA/CudaHeaders.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

namespace mlir::sp {

using Path = SmallString<128>;

static Path inFolder(const Twine &a, const Twine &b) {
  Path path;
  llvm::sys::path::append(path, a, b);
  return path;
}

//===----------------------------------------------------------------------===//
// Tools
//===----------------------------------------------------------------------===//

static FailureOr<std::string> findNvcc(std::string &error) {
  SmallVector<std::string, 2> folders;
  if (auto home = llvm::sys::Process::GetEnv("CUDA_HOME"))
    folders.push_back(*home + "/bin");
  folders.push_back("/usr/local/cuda/bin");
  if (auto found = llvm::sys::findProgramByName("nvcc", {folders.front()}))
    return *found;
  if (auto found = llvm::sys::findProgramByName("nvcc"))
    return *found;
  if (auto found = llvm::sys::findProgramByName("nvcc", {folders.back()}))
    return *found;
  error = "expected nvcc of the CUDA toolkit in $CUDA_HOME/bin, on the PATH or "
          "in /usr/local/cuda/bin but found none; install it, or compile on a "
          "machine that has it: the artifact needs it no more";
  return failure();
}

std::string findLibdevice() {
  std::string error;
  FailureOr<std::string> nvcc = findNvcc(error);
  Path file;
  if (failed(nvcc) || llvm::sys::fs::real_path(*nvcc, file))
    return "";
  for (int i = 0; i < 2; ++i)
    llvm::sys::path::remove_filename(file);
  llvm::sys::path::append(file, "nvvm", "libdevice", "libdevice.10.bc");
  return llvm::sys::fs::exists(file) ? std::string(file) : "";
}

static FailureOr<std::string> findHostCompiler(std::string &error) {
  std::string name =
      llvm::sys::Process::GetEnv("CXX").value_or(std::string("c++"));
  if (auto found = llvm::sys::findProgramByName(name))
    return *found;
  error = "expected the C++ compiler '" + name +
          "' on the PATH for --emulation but found none; install g++, or name "
          "one in CXX";
  return failure();
}

/// The command without its input and output.
static FailureOr<SmallVector<std::string>>
commandOf(CudaForm form, const CudaTarget &target, std::string &error) {
  FailureOr<std::string> tool =
      form == CudaForm::Host ? findHostCompiler(error) : findNvcc(error);
  if (failed(tool))
    return failure();
  if (form == CudaForm::Assembled)
    return SmallVector<std::string>{*tool, "-arch=" + target.architecture,
                                    "-Xptxas", "-v", "-cubin"};
  SmallVector<std::string> command = {*tool, "-std=c++17"};
  if (form == CudaForm::Host) {
    command.append({"-O2", "-march=x86-64-v3", "-fPIC", "-DSPRT_EMULATED", "-x",
                    "c++", "-c"});
    return command;
  }
  command.append({"-O3", "-arch=" + target.architecture,
                  "--expt-relaxed-constexpr", "-Xptxas", "-v"});
  command.push_back(form == CudaForm::Ptx ? "-ptx" : "-cubin");
  return command;
}

//===----------------------------------------------------------------------===//
// Cache
//===----------------------------------------------------------------------===//

/// The file for what `source` and `command` make, or nothing without a home.
static std::optional<Path> cacheFile(StringRef source,
                                     ArrayRef<std::string> command) {
  Path folder;
  if (!llvm::sys::path::cache_directory(folder))
    return std::nullopt;
  llvm::sys::path::append(folder, "sp-mlir");
  if (llvm::sys::fs::create_directories(folder))
    return std::nullopt;
  std::string all = source.str();
  for (const CudaHeader &header : cudaHeaders())
    all += header.text;
  for (const std::string &word : command)
    all += word + '\0';
  // Another version of the tool is another file.
  llvm::sys::fs::file_status status;
  if (!llvm::sys::fs::status(command.front(), status))
    all += std::to_string(status.getSize()) + ":" +
           std::to_string(
               status.getLastModificationTime().time_since_epoch().count());
  llvm::XXH128_hash_t hash = llvm::xxh3_128bits(
      ArrayRef(reinterpret_cast<const uint8_t *>(all.data()), all.size()));
  return inFolder(folder, llvm::utohexstr(hash.high64) +
                              llvm::utohexstr(hash.low64) + ".bin");
}

static uint64_t hashOf(StringRef content) { return llvm::xxh3_64bits(content); }

static bool readCache(StringRef file, CudaOutput &output) {
  auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  uint64_t head[2]; // hash, bytes of the output
  if (!buffer || (*buffer)->getBufferSize() < sizeof head)
    return false;
  StringRef content = (*buffer)->getBuffer();
  std::memcpy(head, content.data(), sizeof head);
  content = content.drop_front(sizeof head);
  if (hashOf(content) != head[0] || head[1] > content.size())
    return false;
  output.bytes.assign(content.begin(), content.begin() + head[1]);
  output.log = content.drop_front(head[1]).str();
  return true;
}

/// A cache that cannot be written is none.
static void writeCache(StringRef file, const CudaOutput &output) {
  std::string content(output.bytes.begin(), output.bytes.end());
  uint64_t head[2] = {hashOf(content + output.log), output.bytes.size()};
  Path partial;
  int descriptor = -1;
  if (llvm::sys::fs::createUniqueFile(file + ".%%%%%%", descriptor, partial))
    return;
  llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
  stream.write(reinterpret_cast<const char *>(head), sizeof head);
  stream << content << output.log;
  stream.close();
  bool isBad = stream.has_error();
  stream.clear_error();
  if (isBad || llvm::sys::fs::rename(partial, file))
    (void)llvm::sys::fs::remove(partial);
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

static LogicalResult writeText(const Path &file, StringRef text,
                               std::string &error) {
  std::error_code code =
      llvm::sys::fs::create_directories(llvm::sys::path::parent_path(file));
  if (!code) {
    llvm::raw_fd_ostream stream(file, code);
    stream << text;
    stream.close();
    if (!code)
      code = stream.error();
    stream.clear_error();
  }
  if (!code)
    return success();
  error = "cannot write '" + std::string(file) + "': " + code.message();
  return failure();
}

static LogicalResult runTool(StringRef source, CudaForm form,
                             SmallVector<std::string> command,
                             CudaOutput &output, std::string &error) {
  Path folder;
  if (std::error_code code =
          llvm::sys::fs::createUniqueDirectory("sp-cuda", folder)) {
    error = "cannot create a temporary folder: " + code.message();
    return failure();
  }
  auto cleanUp = llvm::scope_exit(
      [&] { (void)llvm::sys::fs::remove_directories(folder); });
  for (const CudaHeader &header : cudaHeaders())
    if (failed(writeText(inFolder(folder, header.path), header.text, error)))
      return failure();
  bool isText = form == CudaForm::Assembled;
  Path input = inFolder(folder, isText ? "kernel.ptx" : "kernel.cu"),
       made = inFolder(folder, "made"), log = inFolder(folder, "log");
  if (failed(writeText(input, source, error)))
    return failure();
  command.append(
      {"-I", std::string(folder), std::string(input), "-o", std::string(made)});
  SmallVector<StringRef> words(command.begin(), command.end());
  std::string failed;
  int status = llvm::sys::ExecuteAndWait(
      words.front(), words, std::nullopt,
      {StringRef(), StringRef(log), StringRef(log)}, /*SecondsToWait=*/0,
      /*MemoryLimit=*/0, &failed);
  if (auto text = llvm::MemoryBuffer::getFile(log))
    output.log = (*text)->getBuffer().trim().str();
  auto bytes = llvm::MemoryBuffer::getFile(made, /*IsText=*/false,
                                           /*RequiresNullTerminator=*/false);
  if (status == 0 && bytes) {
    output.bytes.assign((*bytes)->getBufferStart(), (*bytes)->getBufferEnd());
    return success();
  }
  error = "'" + command.front() + "' ended with status " +
          std::to_string(status) + (failed.empty() ? "" : ": " + failed) +
          (output.log.empty() ? "" : ": " + output.log);
  return failure();
}

LogicalResult compileCuda(StringRef source, CudaForm form,
                          const CudaTarget &target, CudaOutput &output,
                          std::string &error) {
  FailureOr<SmallVector<std::string>> command = commandOf(form, target, error);
  if (failed(command))
    return failure();
  std::optional<Path> cached;
  if (target.useCache)
    cached = cacheFile(source, *command);
  if (cached && readCache(*cached, output))
    return success();
  if (failed(runTool(source, form, *command, output, error)))
    return failure();
  if (cached)
    writeCache(*cached, output);
  return success();
}

} // namespace mlir::sp
