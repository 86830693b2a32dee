//===- ModelText.cpp - What other versions of MLIR print ------------------===//

#include "sp/StableHLO/ModelText.h"

#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::sp;

/// Brackets inside each other. Programs have some ten; what is deeper ends the
/// stack of a parser that recurses.
static constexpr unsigned deepestNesting = 256;

/// The text after a string or a comment that it begins with, or nothing.
static std::optional<StringRef> skipQuoted(StringRef text) {
  if (text.starts_with("//"))
    return text.drop_until([](char c) { return c == '\n'; });
  if (!text.consume_front("\""))
    return std::nullopt;
  for (size_t at = text.find_first_of("\"\\\n"); at != StringRef::npos;
       at = text.find_first_of("\"\\\n")) {
    bool ends = text[at] != '\\';
    text = text.drop_front(ends ? at + 1 : at + 2);
    if (ends)
      return text;
  }
  return StringRef();
}

/// The place at which brackets are nested too deeply, or nothing.
static std::optional<size_t> findDeepNesting(StringRef text) {
  unsigned depth = 0;
  for (StringRef rest = text; !rest.empty();) {
    if (std::optional<StringRef> behind = skipQuoted(rest)) {
      rest = *behind;
      continue;
    }
    bool isArrow = rest.consume_front("->");
    char next = isArrow ? ' ' : rest.front();
    if (StringRef("([{<").contains(next) && ++depth > deepestNesting)
      return text.size() - rest.size();
    if (StringRef(")]}>").contains(next) && depth > 0)
      --depth;
    if (!isArrow)
      rest = rest.drop_front();
  }
  return std::nullopt;
}

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

/// Packs all booleans; nothing where there is nothing to pack.
static std::optional<std::string> packBooleans(StringRef text) {
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

/// The text without the rules by which JAX shards what its custom calls take:
/// `#sdy.op_sharding_rule<([i, j])->([i, j]) {i=2, j=8}, custom>` becomes
/// `unit` in the same columns. Nothing where there are none.
static std::optional<std::string> blankRules(StringRef text) {
  static constexpr StringLiteral rule = "#sdy.op_sharding_rule<";
  std::string blanked;
  for (size_t at = text.find(rule); at != StringRef::npos;
       at = text.find(rule, at + rule.size())) {
    size_t end = at + rule.size();
    while (end < text.size() && (text[end] != '>' || text[end - 1] == '-'))
      ++end;
    if (end == text.size())
      break;
    if (blanked.empty())
      blanked = text.str();
    std::fill(blanked.begin() + at, blanked.begin() + end + 1, ' ');
    blanked.replace(at, 4, "unit");
  }
  if (blanked.empty())
    return std::nullopt;
  return blanked;
}

std::unique_ptr<llvm::MemoryBuffer>
mlir::sp::readModel(std::unique_ptr<llvm::MemoryBuffer> text,
                    std::string *error) {
  StringRef read = text->getBuffer(), name = text->getBufferIdentifier();
  // MLIR's reader of bytecode trusts what it reads.
  if (read.starts_with("ML\xefR")) {
    *error = name.str() + ": expected StableHLO as text but got bytecode; "
                          "spmlir.Exported.load reads portable artifacts";
    return nullptr;
  }
  bool isCompressed = read.starts_with("\x1f\x8b");
  if (isCompressed || read.take_front(1024).contains('\0')) {
    *error = name.str() + ": expected StableHLO as text but got " +
             (isCompressed ? "a compressed file; gunzip it first"
                           : "binary data; spmlir.export writes text");
    return nullptr;
  }
  if (std::optional<size_t> place = findDeepNesting(read)) {
    size_t line = read.take_front(*place).count('\n') + 1;
    *error = name.str() + ":" + std::to_string(line) + ": expected at most " +
             std::to_string(deepestNesting) +
             " brackets inside each other; write nested values as aliases, "
             "and nested regions as functions";
    return nullptr;
  }
  std::optional<std::string> blanked = blankRules(read);
  std::optional<std::string> packed =
      packBooleans(blanked ? StringRef(*blanked) : read);
  if (packed || blanked)
    return llvm::MemoryBuffer::getMemBufferCopy(packed ? *packed : *blanked,
                                                name);
  return text;
}

std::unique_ptr<llvm::MemoryBuffer> mlir::sp::openModel(StringRef path,
                                                        std::string *error) {
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(path, error);
  return file ? readModel(std::move(file), error) : nullptr;
}
