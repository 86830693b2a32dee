/// What the masks of a program show once a run's documents are known.
#ifndef SPRT_LIB_EXECUTOR_DOCUMENTMASKS_H
#define SPRT_LIB_EXECUTOR_DOCUMENTMASKS_H

#include "executor/Feeds.h"
#include "sprt/algebra/Documents.h"

#include <map>

namespace sprt {

class DocumentMasks {
public:
  explicit DocumentMasks(const Program &program);

  /// Reads the inputs that say documents: those without data are as before,
  /// unless results feed them, which nobody knows yet. Whether masks changed.
  bool read(const sprt_array *inputs, const Feeds &feeds);

  const Masks &masks() const { return shown; }
  /// Of all rows of all inputs that say documents.
  int64_t count() const;
  /// Documented at `sprt_documents`.
  bool areSkipping() const { return isCut; }

private:
  /// A mask of more bands costs more than it saves.
  static constexpr size_t kMostBands = size_t(1) << 16;

  void cut();

  const Program &program;
  std::map<uint32_t, int64_t> lengths; ///< of documents, by input
  std::map<uint32_t, algebra::Documents> known;
  Masks shown;
  bool isCut = false;
};

} // namespace sprt

#endif // SPRT_LIB_EXECUTOR_DOCUMENTMASKS_H
