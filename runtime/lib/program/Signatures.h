/// What an artifact's kernels touch, as the compiler that made them says.
#ifndef SPRT_LIB_PROGRAM_SIGNATURES_H
#define SPRT_LIB_PROGRAM_SIGNATURES_H

#include "sprt/plan_generated.h"
#include "support/Status.h"

#include <map>
#include <string>

namespace sprt {

class Signatures {
public:
  /// Reads `size` bytes of plan.fbs' table Signatures, its size the first four.
  Status read(const void *bytes, size_t size);

  /// Null where there is none of that name.
  const plan::SignatureT *find(const std::string &symbol) const;
  /// The most that any kernel wants.
  int64_t scratchBytes() const;

private:
  plan::SignaturesT table;
  std::map<std::string, const plan::SignatureT *> bySymbol;
};

} // namespace sprt

#endif // SPRT_LIB_PROGRAM_SIGNATURES_H
