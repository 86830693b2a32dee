//===- ModelMutator.h - Changes a model by its tokens -----------*- C++ -*-===//

#ifndef SP_TEST_FUZZ_MODELMUTATOR_H
#define SP_TEST_FUZZ_MODELMUTATOR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <random>
#include <string>
#include <vector>

namespace mlir::sp {

/// What may stand for what: a number for a number, a name for a name.
enum class TokenKind { Space, Number, Name, Value, Symbol, String, Mark };

struct Token {
  TokenKind kind;
  llvm::StringRef text;
};

/// Cuts a text without loss. Sizes of a shape are numbers of their own:
///   tensor < 2 x 3 x f32 >
std::vector<Token> tokenize(llvm::StringRef text);

/// Draws small changes of a model, most of which a parser still reads.
class ModelMutator {
public:
  explicit ModelMutator(unsigned seed) : generator(seed) {}

  /// One to four changes of tokens and lines.
  std::string mutate(llvm::StringRef text);
  /// Lines of another model among those of this one.
  std::string splice(llvm::StringRef text, llvm::StringRef other);

private:
  size_t draw(size_t count) { return generator() % count; }
  template <typename T> const T &pick(llvm::ArrayRef<T> from) {
    return from[draw(from.size())];
  }
  Token &drawToken(llvm::MutableArrayRef<Token> tokens);
  llvm::StringRef drawReplacement(const Token &token,
                                  llvm::ArrayRef<Token> tokens);
  std::string changeToken(llvm::StringRef text);
  std::string changeEverywhere(llvm::StringRef text);
  std::string removeOrDouble(llvm::StringRef text);
  std::string changeLines(llvm::StringRef text);

  std::minstd_rand generator;
};

} // namespace mlir::sp

#endif // SP_TEST_FUZZ_MODELMUTATOR_H
