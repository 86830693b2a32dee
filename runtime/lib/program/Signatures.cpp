#include "program/Signatures.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace sprt {

Status Signatures::read(const void *bytes, size_t size) {
  std::vector<uint64_t> aligned((size + 7) / 8);
  if (size != 0)
    std::memcpy(aligned.data(), bytes, size);
  const uint8_t *data = reinterpret_cast<const uint8_t *>(aligned.data());
  flatbuffers::Verifier verifier(data, size);
  if (size < 8 || !verifier.VerifySizePrefixedBuffer<plan::Signatures>(nullptr))
    return fail(SPRT_DAMAGED)
           << "expected signatures of kernels but got " << size
           << " bytes that are none; compile the model again";
  flatbuffers::GetSizePrefixedRoot<plan::Signatures>(data)->UnPackTo(&table);
  for (const auto &signature : table.kernels)
    bySymbol[signature->symbol] = signature.get();
  return Status::success();
}

const plan::SignatureT *Signatures::find(const std::string &symbol) const {
  auto found = bySymbol.find(symbol);
  return found == bySymbol.end() ? nullptr : found->second;
}

int64_t Signatures::scratchBytes() const {
  int64_t most = 0;
  for (const auto &signature : table.kernels)
    most = std::max(most, signature->scratch_bytes);
  return most;
}

} // namespace sprt
