// Objects, plan and constants -> one ELF shared object with a trailer. Linking
// happens in a directory of its own beside nothing of the user's.

#include "sp/Codegen/ArtifactLink.h"

#include "Machine/ObjectEmission.h"
#include "sprt/artifact.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::sp {

static FailureOr<std::string> findLinker(std::string &error) {
  for (StringRef name : {"ld.lld-22", "ld.lld"}) {
    if (auto found = llvm::sys::findProgramByName(name, {SP_LLVM_TOOLS_DIR}))
      return *found;
    if (auto found = llvm::sys::findProgramByName(name))
      return *found;
  }
  error = "expected the linker ld.lld in " SP_LLVM_TOOLS_DIR
          " or on the PATH but found none; install the package lld-22";
  return failure();
}

static LogicalResult writeFile(const Twine &path, ArrayRef<char> bytes,
                               std::string &error) {
  std::error_code code;
  std::string name = path.str();
  llvm::raw_fd_ostream stream(name, code);
  if (!code) {
    stream.write(bytes.data(), bytes.size());
    stream.close();
    code = stream.error();
    stream.clear_error();
  }
  if (!code)
    return success();
  error = "cannot write '" + name + "': " + code.message();
  return failure();
}

static LogicalResult runLinker(StringRef linker,
                               ArrayRef<std::string> arguments, StringRef log,
                               std::string &error) {
  SmallVector<StringRef> command = {linker};
  command.append(arguments.begin(), arguments.end());
  std::string failed;
  int status = llvm::sys::ExecuteAndWait(
      linker, command, std::nullopt, {StringRef(), log, log},
      /*SecondsToWait=*/0, /*MemoryLimit=*/0, &failed);
  if (status == 0)
    return success();
  error = "'" + linker.str() + "' ended with status " + std::to_string(status);
  if (!failed.empty())
    error += ": " + failed;
  if (auto text = llvm::MemoryBuffer::getFile(log))
    error += ": " + (*text)->getBuffer().trim().str();
  return failure();
}

/// The linked object at `linked` with padding and trailer.
static LogicalResult seal(StringRef linked, SmallVectorImpl<char> &artifact,
                          std::string &error) {
  auto buffer = llvm::MemoryBuffer::getFile(linked);
  if (!buffer) {
    error =
        "cannot read '" + linked.str() + "': " + buffer.getError().message();
    return failure();
  }
  StringRef content = (*buffer)->getBuffer();
  artifact.assign(content.begin(), content.end());
  artifact.resize((artifact.size() + 31) / 32 * 32, '\0');
  ::sprt::ArtifactTrailer trailer =
      ::sprt::makeTrailer(artifact.data(), artifact.size());
  const auto *end = reinterpret_cast<const char *>(&trailer);
  artifact.append(end, end + sizeof trailer);
  return success();
}

LogicalResult linkArtifact(const ArtifactParts &parts,
                           SmallVectorImpl<char> &artifact,
                           std::string &error) {
  FailureOr<std::string> linker = findLinker(error);
  if (failed(linker))
    return failure();

  uint64_t planSize = parts.plan.size();
  ArrayRef<char> planSizeBytes(reinterpret_cast<const char *>(&planSize),
                               sizeof planSize);
  SmallVector<DataSymbol> symbols = {
      {::sprt::kPlanSymbol, parts.plan, 64},
      {::sprt::kPlanSizeSymbol, planSizeBytes, 8},
      {::sprt::kSignaturesSymbol, parts.signatures, 64}};
  if (!parts.constants.empty())
    symbols.push_back({::sprt::kConstantsSymbol, parts.constants, 64});
  for (const auto &[name, bytes] : parts.images)
    symbols.push_back({name, bytes, 64});
  SmallVector<char, 0> data;
  if (failed(emitDataObject(symbols, data, error)))
    return failure();

  SmallString<128> folder;
  if (std::error_code code =
          llvm::sys::fs::createUniqueDirectory("sp-link", folder)) {
    error = "cannot create a temporary folder: " + code.message();
    return failure();
  }
  auto cleanUp = llvm::scope_exit(
      [&] { (void)llvm::sys::fs::remove_directories(folder); });
  auto inFolder = [&](const Twine &name) {
    SmallString<128> file(folder);
    llvm::sys::path::append(file, name);
    return std::string(file);
  };

  // A library that only carries another's name makes the artifact depend on
  // that without needing its development files here.
  SmallVector<std::string, 2> stubs;
  std::string empty = inFolder("empty.o");
  SmallVector<char, 0> nothing;
  if (failed(emitDataObject({}, nothing, error)) ||
      failed(writeFile(empty, nothing, error)))
    return failure();
  SmallVector<StringRef> libraries = {"libm.so.6"};
  if (parts.isEmulated)
    libraries.push_back("libstdc++.so.6");
  for (StringRef library : libraries) {
    stubs.push_back(inFolder(library));
    if (failed(runLinker(*linker,
                         {"-shared", ("-soname=" + library).str(), "-o",
                          stubs.back(), empty},
                         inFolder("log"), error)))
      return failure();
  }

  std::string linked = inFolder("model.so");
  SmallVector<std::string> arguments = {"-shared",
                                        "--strip-all",
                                        "--hash-style=gnu",
                                        "--build-id=none",
                                        "-z",
                                        "noexecstack",
                                        "-z",
                                        "now",
                                        "--gc-sections",
                                        "--no-undefined-version",
                                        "-o",
                                        linked};
  for (auto [number, object] : llvm::enumerate(parts.objects)) {
    std::string name = inFolder("object" + Twine(number) + ".o");
    if (failed(writeFile(name, object, error)))
      return failure();
    arguments.push_back(name);
  }
  arguments.push_back(inFolder("data.o"));
  arguments.push_back("--no-as-needed");
  arguments.append(stubs);
  if (failed(writeFile(inFolder("data.o"), data, error)) ||
      failed(runLinker(*linker, arguments, inFolder("log"), error)))
    return failure();

  return seal(linked, artifact, error);
}

} // namespace mlir::sp

mlir::LogicalResult mlir::sp::linkProgram(const EmittedProgram &program,
                                          bool isEmulated,
                                          llvm::SmallVectorImpl<char> &artifact,
                                          std::string &error) {
  ArtifactParts parts;
  for (const auto &object : program.objects)
    parts.objects.push_back(object);
  for (const EmittedImage &image : program.images)
    parts.images.emplace_back(image.symbol, image.bytes);
  parts.plan = program.plan;
  parts.signatures = program.signatures;
  parts.constants = program.constants;
  parts.isEmulated = isEmulated;
  return linkArtifact(parts, artifact, error);
}
