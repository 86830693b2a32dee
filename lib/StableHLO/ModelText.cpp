//===- ModelText.cpp - What other versions of MLIR print ------------------===//

#include "sp/StableHLO/ModelText.h"

#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::sp;

static constexpr StringLiteral opening = "dense<\"0x";

/// The number of elements of the `i1` tensor type that `text`, what follows the
/// hex digits, gives them; nothing if they are no booleans.
static std::optional<size_t> countBooleans(StringRef text) {
  if (!text.consume_front("\""))
    return std::nullopt;
  text = text.ltrim();
  if (!text.consume_front(">"))
    return std::nullopt;
  text = text.ltrim();
  if (!text.consume_front(":"))
    return std::nullopt;
  text = text.ltrim();
  if (!text.consume_front("tensor<"))
    return std::nullopt;
  size_t count = 1, extent = 0;
  while (!text.consumeInteger(10, extent) && text.consume_front("x"))
    count *= extent;
  if (!text.consume_front("i1>"))
    return std::nullopt;
  return count;
}

/// "0001…" (two digits an element) as hex with a bit an element; nothing if a
/// byte is neither 0 nor 1.
static std::optional<std::string> pack(StringRef digits) {
  std::string bytes((digits.size() / 2 + 7) / 8, '\0');
  for (size_t i = 0; i < digits.size() / 2; ++i) {
    char bit = digits[2 * i + 1];
    if (digits[2 * i] != '0' || (bit != '0' && bit != '1'))
      return std::nullopt;
    bytes[i / 8] |= (bit - '0') << (i % 8);
  }
  return llvm::toHex(bytes);
}

std::optional<std::string> mlir::sp::packBooleans(StringRef text) {
  std::string packed;
  size_t done = 0;
  for (size_t at = text.find(opening); at != StringRef::npos;
       at = text.find(opening, at)) {
    at += opening.size();
    StringRef digits = text.substr(at).take_while(llvm::isHexDigit);
    size_t end = at + digits.size();
    std::optional<size_t> count = countBooleans(text.substr(end));
    if (!count || digits.size() != 2 * *count)
      continue;
    std::optional<std::string> bits = pack(digits);
    if (!bits)
      continue;
    packed += text.slice(done, at);
    packed += *bits + "\"";
    packed.append(digits.size() - bits->size(), ' ');
    done = end + 1;
  }
  if (done == 0)
    return std::nullopt;
  packed += text.substr(done);
  return packed;
}

std::unique_ptr<llvm::MemoryBuffer> mlir::sp::openModel(StringRef path,
                                                        std::string *error) {
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(path, error);
  if (!file)
    return nullptr;
  if (std::optional<std::string> packed = packBooleans(file->getBuffer()))
    return llvm::MemoryBuffer::getMemBufferCopy(*packed,
                                                file->getBufferIdentifier());
  return file;
}
