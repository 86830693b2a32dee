//===- sp-fuzz-models.cpp - libFuzzer's view of parser and Import ---------===//

#include "ModelMutator.h"
#include "ModelTrial.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir::sp;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

static llvm::StringRef asText(const uint8_t *data, size_t size) {
  return {reinterpret_cast<const char *>(data), size};
}

static size_t put(const std::string &text, uint8_t *out, size_t maxSize) {
  size_t size = std::min(text.size(), maxSize);
  std::copy_n(text.begin(), size, out);
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ModelTrial trial = tryModel(asText(data, size));
  if (!trial.defect.empty()) {
    llvm::errs() << "the model " << trial.defect << "\n";
    std::abort();
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  if (size == 0 || seed % 16 == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::string text = asText(data, size).str();
  if (seed % 32 == 1)
    text = toGenericForm(text);
  return put(ModelMutator(seed).mutate(text), data, maxSize);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t *data, size_t size,
                                            const uint8_t *other,
                                            size_t otherSize, uint8_t *out,
                                            size_t maxSize, unsigned seed) {
  return put(
      ModelMutator(seed).splice(asText(data, size), asText(other, otherSize)),
      out, maxSize);
}
