//===- ModelMutator.cpp - Changes a model by its tokens -------------------===//

#include "ModelMutator.h"

#include "sp/IR/SP.h"
#include "sp/StableHLO/StableHLO.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::sp;

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

static bool isWordChar(char c) {
  return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$';
}

/// The length of the token at the front; `inShape`: after a size.
static size_t measure(StringRef text, bool inShape) {
  char first = text.front();
  auto wordLength = [](StringRef rest) {
    return rest.take_while(isWordChar).size();
  };
  if (llvm::isSpace(first))
    return text.take_while(llvm::isSpace).size();
  if (inShape && first == 'x')
    return 1;
  if (llvm::isDigit(first)) {
    size_t digits = text.take_while(llvm::isDigit).size();
    bool isFraction = text.substr(digits).starts_with(".");
    return isFraction ? digits + wordLength(text.substr(digits)) : digits;
  }
  if (StringRef("%@#!^").contains(first))
    return 1 + wordLength(text.drop_front());
  if (first == '"') {
    size_t end = text.find_first_of("\"\n", 1);
    return end == StringRef::npos ? text.size() : end + 1;
  }
  return std::max<size_t>(1, wordLength(text));
}

static TokenKind classify(char first) {
  if (llvm::isSpace(first))
    return TokenKind::Space;
  if (llvm::isDigit(first))
    return TokenKind::Number;
  if (llvm::isAlpha(first))
    return TokenKind::Name;
  switch (first) {
  case '%':
    return TokenKind::Value;
  case '@':
    return TokenKind::Symbol;
  case '"':
    return TokenKind::String;
  default:
    return TokenKind::Mark;
  }
}

std::vector<Token> mlir::sp::tokenize(StringRef text) {
  std::vector<Token> tokens;
  while (!text.empty()) {
    bool inShape =
        !tokens.empty() &&
        (tokens.back().kind == TokenKind::Number || tokens.back().text == "?");
    size_t length = measure(text, inShape);
    tokens.push_back({classify(text.front()), text.take_front(length)});
    text = text.drop_front(length);
  }
  return tokens;
}

static std::string join(ArrayRef<Token> tokens) {
  std::string text;
  for (const Token &token : tokens)
    text += token.text;
  return text;
}

static constexpr StringLiteral kNumbers[] = {"0",
                                             "1",
                                             "2",
                                             "3",
                                             "4",
                                             "7",
                                             "16",
                                             "64",
                                             "1000000",
                                             "68719476736",
                                             "2147483647",
                                             "4294967296",
                                             "9223372036854775807",
                                             "9223372036854775808",
                                             "-1",
                                             "-9223372036854775808",
                                             "0.0",
                                             "1.0e+300",
                                             "0x7F800000",
                                             "0xFF800000",
                                             "0x7FC00000"};

/// Words that are no operation: types of elements, keywords of attributes.
static constexpr StringLiteral kWords[] = {
    "f32",     "f64",      "bf16",    "f16",       "i1",
    "i8",      "i32",      "i64",     "ui8",       "ui32",
    "i128",    "index",    "none",    "tensor",    "vector",
    "memref",  "tuple",    "complex", "dense",     "array",
    "splat",   "true",     "false",   "unit",      "dense_resource",
    "sparse",  "f8E4M3FN", "f8E5M2",  "i4",        "loc",
    "private", "across",   "applies", "dimensions"};

/// The names of our operations, and the words above.
static std::vector<std::string> makeNames() {
  std::vector<std::string> names(std::begin(kWords), std::end(kWords));
  DialectRegistry registry;
  registerInputDialects(registry);
  registry.insert<SpDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  for (RegisteredOperationName name : context.getRegisteredOperations())
    names.push_back(name.getStringRef().str());
  return names;
}

//===----------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------===//

StringRef ModelMutator::drawReplacement(const Token &token,
                                        ArrayRef<Token> tokens) {
  static const std::vector<std::string> names = makeNames();
  bool fromVocabulary = draw(2) == 0;
  if (fromVocabulary && token.kind == TokenKind::Number)
    return pick(ArrayRef(kNumbers));
  if (fromVocabulary && token.kind == TokenKind::Name)
    return pick(ArrayRef(names));
  SmallVector<StringRef> same;
  for (const Token &other : tokens)
    if (other.kind == token.kind)
      same.push_back(other.text);
  return pick(ArrayRef(same));
}

Token &ModelMutator::drawToken(MutableArrayRef<Token> tokens) {
  // Every other token is a space.
  for (int attempt = 0; attempt < 4; ++attempt)
    if (Token &token = tokens[draw(tokens.size())];
        token.kind != TokenKind::Space)
      return token;
  return tokens.back();
}

std::string ModelMutator::changeToken(StringRef text) {
  std::vector<Token> tokens = tokenize(text);
  Token &token = drawToken(tokens);
  token.text = drawReplacement(token, tokens);
  return join(tokens);
}

/// All sizes 8 become 0: what belongs together stays so.
std::string ModelMutator::changeEverywhere(StringRef text) {
  std::vector<Token> tokens = tokenize(text);
  Token old = drawToken(tokens);
  StringRef replacement = drawReplacement(old, tokens);
  for (Token &token : tokens)
    if (token.text == old.text)
      token.text = replacement;
  return join(tokens);
}

std::string ModelMutator::removeOrDouble(StringRef text) {
  std::vector<Token> tokens = tokenize(text);
  size_t begin = draw(tokens.size());
  size_t count = std::min(1 + draw(6), tokens.size() - begin);
  auto first = tokens.begin() + begin;
  if (draw(2) == 0) {
    tokens.erase(first, first + count);
    return join(tokens);
  }
  std::vector<Token> copy(first, first + count);
  tokens.insert(first, copy.begin(), copy.end());
  return join(tokens);
}

std::string ModelMutator::changeLines(StringRef text) {
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  size_t from = draw(lines.size()), to = draw(lines.size());
  StringRef line = lines[from];
  switch (draw(3)) {
  case 0:
    std::swap(lines[from], lines[to]);
    break;
  case 1:
    lines.erase(lines.begin() + from);
    break;
  default:
    lines.insert(lines.begin() + to, line);
  }
  return llvm::join(lines, "\n");
}

std::string ModelMutator::mutate(StringRef text) {
  std::string result = text.str();
  for (size_t changes = 1 + draw(4); changes > 0 && !result.empty();
       --changes) {
    size_t kind = draw(8);
    if (kind < 3)
      result = changeToken(result);
    else if (kind < 5)
      result = changeEverywhere(result);
    else if (kind < 6)
      result = removeOrDouble(result);
    else
      result = changeLines(result);
  }
  return result;
}

std::string ModelMutator::splice(StringRef text, StringRef other) {
  SmallVector<StringRef> lines, others;
  text.split(lines, '\n');
  other.split(others, '\n');
  size_t begin = draw(others.size());
  size_t count = std::min(1 + draw(8), others.size() - begin);
  lines.insert(lines.begin() + draw(lines.size() + 1), others.begin() + begin,
               others.begin() + begin + count);
  return llvm::join(lines, "\n");
}
