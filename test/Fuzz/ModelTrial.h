//===- ModelTrial.h - Any bytes as a model ----------------------*- C++ -*-===//

#ifndef SP_TEST_FUZZ_MODELTRIAL_H
#define SP_TEST_FUZZ_MODELTRIAL_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace mlir::sp {

/// How far a text got.
enum class Outcome { Unparsed, Refused, Imported };

struct ModelTrial {
  Outcome outcome = Outcome::Unparsed;
  /// The promise that was broken, or "".
  std::string defect;
};

/// Reads a text as `sp-compile --emit=import` does, and checks that
///   - what is refused is refused with an error,
///   - what a pass leaves is valid,
///   - what was read and what was imported print and parse back unchanged.
/// A crash, a sanitizer's report and a hang are for the caller to see.
ModelTrial tryModel(llvm::StringRef text);

/// The model with every operation in its generic form, in which more can be
/// wrong; the text as it is if it does not parse.
std::string toGenericForm(llvm::StringRef text);

} // namespace mlir::sp

#endif // SP_TEST_FUZZ_MODELTRIAL_H
