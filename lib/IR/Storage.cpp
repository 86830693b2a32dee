//===- Storage.cpp - Size of tensors as buffers hold them -----------------===//

#include "sp/IR/Storage.h"

using namespace mlir;

int64_t mlir::sp::elementBytes(Type type) {
  if (auto complexType = dyn_cast<ComplexType>(type))
    return 2 * elementBytes(complexType.getElementType());
  return (type.getIntOrFloatBitWidth() + 7) / 8;
}

int64_t mlir::sp::storageBytes(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() * elementBytes(tensor.getElementType());
}

int64_t mlir::sp::storageBytes(TypeRange types) {
  int64_t bytes = 0;
  for (Type type : types)
    bytes += storageBytes(type);
  return bytes;
}

int64_t mlir::sp::rowBytesOf(RankedTensorType type, int64_t dim) {
  int64_t bytes = elementBytes(type.getElementType());
  for (int64_t size : type.getShape().drop_front(dim + 1))
    bytes *= size;
  return bytes;
}
