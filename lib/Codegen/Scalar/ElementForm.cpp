#include "Scalar/ElementForm.h"

namespace mlir::sp {

bool isSupportedElement(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    element = complex.getElementType();
  if (auto integer = dyn_cast<IntegerType>(element))
    return llvm::is_contained({1, 8, 16, 32, 64}, integer.getWidth());
  return element.isF64() || element.isF32() || element.isF16() ||
         element.isBF16();
}

ElementForm::ElementForm(Type type) : element(type) {
  MLIRContext *context = type.getContext();
  Type part = type;
  if (auto complex = dyn_cast<ComplexType>(type)) {
    isComplex = true;
    part = complex.getElementType();
  }
  if (auto integer = dyn_cast<IntegerType>(part)) {
    isBool = integer.getWidth() == 1;
    isUnsigned = integer.isUnsigned();
    compute = IntegerType::get(context, integer.getWidth());
    storage = isBool ? IntegerType::get(context, 8) : compute;
    return;
  }
  isFloat = !isComplex;
  bool narrow = part.isF16() || part.isBF16();
  compute = narrow ? Float32Type::get(context) : part;
  // Rounding to bf16 is spelled out in integers: not every machine has it.
  storage = part.isBF16() ? Type(IntegerType::get(context, 16)) : part;
}

int64_t ElementForm::partBytes() const {
  return storage.getIntOrFloatBitWidth() / 8;
}

} // namespace mlir::sp
