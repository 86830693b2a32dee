/// What an element is in registers and in memory.
///
/// bf16 and f16 elements are computed in f32 and rounded where the program says
/// so (convert, reduce_precision) and where they are stored. Complex elements
/// are pairs. Unsigned integers are signless values; their type says the sign.
#ifndef SP_LIB_CODEGEN_ELEMENTFORM_H
#define SP_LIB_CODEGEN_ELEMENTFORM_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace mlir::sp {

/// An element, or a vector of elements, in registers.
struct Scalar {
  Value value;
  Value imag; ///< null unless complex
};

/// What an element type is in registers and in memory.
struct ElementForm {
  explicit ElementForm(Type element);

  Type element;
  Type compute; ///< of one part
  Type storage; ///< of one part
  bool isComplex = false, isFloat = false, isUnsigned = false, isBool = false;
  int64_t parts() const { return isComplex ? 2 : 1; }
  int64_t partBytes() const;
  int64_t bytes() const { return parts() * partBytes(); }
};

/// Whether kernels can hold elements of this type.
bool isSupportedElement(Type element);

} // namespace mlir::sp

#endif // SP_LIB_CODEGEN_ELEMENTFORM_H
