//===- Tensor.cpp - Values of the reference evaluator ---------------------===//
#include "sp/Interpreter/Tensor.h"
#include "llvm/Support/MathExtras.h"
#include <atomic>
#include <cstdlib>
#include <cstring>

using namespace mlir;
using namespace mlir::interpreter;

std::optional<Storage> interpreter::storageOf(Type elementType) {
  if (auto integer = dyn_cast<IntegerType>(elementType)) {
    if (integer.getWidth() == 1)
      return Storage::Bool;
    if (integer.getWidth() > 64)
      return std::nullopt;
    return integer.isUnsigned() ? Storage::Unsigned : Storage::Signed;
  }
  if (auto floating = dyn_cast<FloatType>(elementType)) {
    if (floating.getWidth() > 64)
      return std::nullopt;
    return Storage::Float;
  }
  auto complex = dyn_cast<ComplexType>(elementType);
  if (complex &&
      (complex.getElementType().isF32() || complex.getElementType().isF64()))
    return Storage::Complex;
  return std::nullopt;
}

SmallVector<int64_t> interpreter::stridesOf(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t i = int64_t(shape.size()) - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

int64_t interpreter::bytesPerElement(Storage storage) {
  return dispatch(storage, [](auto tag) -> int64_t {
    return sizeof(typename decltype(tag)::type);
  });
}

static std::atomic<int64_t> allocatedBytes{0};

int64_t Tensor::liveBytes() { return allocatedBytes; }

/// 64-byte aligned memory whose pages are not touched.
static std::shared_ptr<void> allocate(int64_t bytes) {
  size_t rounded = llvm::alignTo(std::max<int64_t>(bytes, 1), 64);
  void *memory = std::aligned_alloc(64, rounded);
  if (!memory)
    llvm::report_bad_alloc_error("not enough memory for a tensor");
  allocatedBytes += int64_t(rounded);
  return std::shared_ptr<void>(memory, [rounded](void *freed) {
    allocatedBytes -= int64_t(rounded);
    std::free(freed);
  });
}

Tensor::Tensor(RankedTensorType type)
    : type(type), storage(*storageOf(type.getElementType())),
      buffer(allocate(type.getNumElements() * bytesPerElement(storage))) {}

int64_t Tensor::elementBytes() const { return bytesPerElement(storage); }

void Tensor::makeUnique() {
  if (buffer.use_count() == 1)
    return;
  int64_t bytes = size() * elementBytes();
  std::shared_ptr<void> copy = allocate(bytes);
  std::memcpy(copy.get(), buffer.get(), bytes);
  buffer = std::move(copy);
}

Tensor Tensor::withType(RankedTensorType newType) const {
  Tensor result = *this;
  result.type = newType;
  result.storage = *storageOf(newType.getElementType());
  return result;
}

Tensor Tensor::takeFor(RankedTensorType newType) {
  if (buffer.use_count() != 1 || newType.getNumElements() != size() ||
      storageOf(newType.getElementType()) != storage)
    return Tensor(newType);
  Tensor result = withType(newType);
  *this = Tensor();
  return result;
}

int64_t Tensor::integerAt(int64_t index) const {
  if (storage == Storage::Bool)
    return at<uint8_t>(index);
  if (storage == Storage::Unsigned)
    return std::min<uint64_t>(at<uint64_t>(index), INT64_MAX);
  return at<int64_t>(index);
}
