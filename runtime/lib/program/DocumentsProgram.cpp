// The program inside a program that computes numbers of documents.

#include "program/Program.h"
#include "support/Types.h"

#include <cerrno>
#include <cstring>

#include <sys/mman.h>
#include <unistd.h>

namespace sprt {

namespace {

/// Bytes as a file that only this process sees.
class MemoryFile {
public:
  ~MemoryFile() {
    if (file >= 0)
      ::close(file);
  }

  Status write(const std::vector<uint8_t> &bytes) {
    file = memfd_create("sprt-documents", MFD_CLOEXEC);
    if (file < 0)
      return fail(SPRT_IO) << "memory for the program that numbers documents: "
                           << std::strerror(errno);
    for (size_t done = 0; done < bytes.size();) {
      ssize_t part = ::write(file, bytes.data() + done, bytes.size() - done);
      if (part < 0 && errno != EINTR)
        return fail(SPRT_IO) << "the program that numbers documents: "
                             << std::strerror(errno);
      done += part > 0 ? static_cast<size_t>(part) : 0;
    }
    return Status::success();
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(file); }

private:
  int file = -1;
};

} // namespace

Status Program::loadDocumentsProgram() {
  if (!plan->documents_program)
    return Status::success();
  MemoryFile file;
  if (Status failure = file.write(plan->documents_program->artifact))
    return failure;
  documentsProgram = std::make_unique<Program>();
  if (Status failure = documentsProgram->load(file.path()))
    return failure;
  return checkDocumentsProgram();
}

Status Program::checkDocumentsProgram() const {
  const Program &numbering = *documentsProgram;
  const std::vector<uint32_t> &taken = plan->documents_program->inputs;
  bool fits = numbering.ranks() == 1 && !numbering.isForDevice() &&
              !numbering.documentsProgram &&
              numbering.inputs.size() == taken.size();
  for (size_t i = 0; fits && i < taken.size(); ++i)
    fits = numbering.inputs[i].dtype == inputs[taken[i]].dtype &&
           numbering.inputs[i].shape == inputs[taken[i]].shape;
  for (const auto &numbers : plan->document_numbers) {
    if (!fits || numbers->result < 0)
      continue;
    auto result = static_cast<size_t>(numbers->result);
    fits =
        result < numbering.results.size() &&
        numbering.results[result].dtype >= SPRT_I64 &&
        numbering.results[result].dtype <= SPRT_I1 &&
        *elementCount(numbering.results[result].shape) % numbers->length == 0;
  }
  if (!fits)
    return fail(SPRT_DAMAGED)
           << "the program that numbers documents does not fit the plan";
  return Status::success();
}

} // namespace sprt
