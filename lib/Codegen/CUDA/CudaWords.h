/// What StableHLO's types and operations on numbers are called in the C++ of
/// `sprt/cuda/ScoreMath.cuh`.
#ifndef SP_LIB_CODEGEN_CUDAWORDS_H
#define SP_LIB_CODEGEN_CUDAWORDS_H

#include "sp/StableHLO/StableHLO.h"

#include <optional>
#include <string>

namespace mlir::sp {

/// An element type in C++: what memory holds, and what is computed with.
struct CppType {
  std::string storage, number;
  bool isRounded = false; ///< after each operation
};

/// Nothing where C++ has no such type.
std::optional<CppType> cppType(Type type);

/// Empty where an operation has no name.
StringRef wordOf(Operation *op);
/// The one that it has where elements have 16 bits; empty where it has no
/// other.
StringRef quickWordOf(Operation *op);

StringRef comparison(stablehlo::ComparisonDirection direction);

} // namespace mlir::sp

#endif // SP_LIB_CODEGEN_CUDAWORDS_H
