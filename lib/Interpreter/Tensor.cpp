//===- Tensor.cpp - Values of the reference evaluator ---------------------===//
#include "sp/Interpreter/Tensor.h"
#include "Numerics.h"
#include "mlir/IR/DialectResourceBlobManager.h"
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

//===----------------------------------------------------------------------===//
// Bytes in the program's own formats
//===----------------------------------------------------------------------===//

static int64_t bytesInFile(Type elementType) {
  if (auto complex = dyn_cast<ComplexType>(elementType))
    return 2 * bytesInFile(complex.getElementType());
  return llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8);
}

static uint64_t loadBits(const char *from, int64_t bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, from, bytes);
  return bits;
}

Tensor Tensor::fromBytes(RankedTensorType type, ArrayRef<char> bytes) {
  Tensor result(type);
  Type element = type.getElementType();
  int64_t step = bytesInFile(element);
  const char *from = bytes.data();
  int64_t count = result.size();
  if (result.storage == Storage::Complex) {
    auto part = cast<FloatType>(cast<ComplexType>(element).getElementType());
    auto out = result.mutableElements<std::complex<double>>();
    for (int64_t i = 0; i < count; ++i, from += step)
      out[i] = {floatFromBits(loadBits(from, step / 2), part),
                floatFromBits(loadBits(from + step / 2, step / 2), part)};
    return result;
  }
  if (result.storage == Storage::Float) {
    auto floating = cast<FloatType>(element);
    auto out = result.mutableElements<double>();
    for (int64_t i = 0; i < count; ++i, from += step)
      out[i] = floatFromBits(loadBits(from, step), floating);
    return result;
  }
  if (result.storage == Storage::Bool) {
    auto out = result.mutableElements<uint8_t>();
    for (int64_t i = 0; i < count; ++i, from += step)
      out[i] = *from != 0;
    return result;
  }
  unsigned width = element.getIntOrFloatBitWidth();
  auto out = result.mutableElements<uint64_t>();
  for (int64_t i = 0; i < count; ++i, from += step) {
    uint64_t bits = loadBits(from, step);
    out[i] = result.storage == Storage::Signed ? wrapSigned(bits, width)
                                               : wrapUnsigned(bits, width);
  }
  return result;
}

std::vector<char> Tensor::toBytes() const {
  Type element = getElementType();
  int64_t step = bytesInFile(element);
  std::vector<char> result(size() * step);
  char *to = result.data();
  auto store = [&](uint64_t bits, int64_t bytes) {
    std::memcpy(to, &bits, bytes);
    to += bytes;
  };
  if (storage == Storage::Complex) {
    auto part = cast<FloatType>(cast<ComplexType>(element).getElementType());
    for (std::complex<double> value : elements<std::complex<double>>()) {
      store(floatToBits(value.real(), part), step / 2);
      store(floatToBits(value.imag(), part), step / 2);
    }
    return result;
  }
  if (storage == Storage::Float) {
    auto floating = cast<FloatType>(element);
    for (double value : elements<double>())
      store(floatToBits(value, floating), step);
    return result;
  }
  if (storage == Storage::Bool) {
    for (uint8_t value : elements<uint8_t>())
      store(value, step);
    return result;
  }
  for (uint64_t value : elements<uint64_t>())
    store(value, step);
  return result;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// Bytes of a `dense_resource`, or nothing with the reason.
static std::optional<ArrayRef<char>>
resourceBytes(DenseResourceElementsAttr resource, std::string &reason) {
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  if (!blob) {
    reason = "expected the value of dense_resource '" +
             resource.getRawHandle().getKey().str() + "' in the file";
    return std::nullopt;
  }
  auto type = cast<RankedTensorType>(resource.getType());
  int64_t expected = type.getNumElements() * bytesInFile(type.getElementType());
  if (int64_t(blob->getData().size()) != expected) {
    reason = "expected " + std::to_string(expected) +
             " bytes in dense_resource '" +
             resource.getRawHandle().getKey().str() + "' but got " +
             std::to_string(blob->getData().size());
    return std::nullopt;
  }
  return blob->getData();
}

/// Fills `out` from the attribute's elements, one conversion for a splat.
template <typename T, typename From, typename Fn>
static void fill(DenseElementsAttr dense, MutableArrayRef<T> out, Fn convert) {
  if (dense.isSplat()) {
    std::fill(out.begin(), out.end(), convert(dense.getSplatValue<From>()));
    return;
  }
  for (auto [slot, value] : llvm::zip_equal(out, dense.getValues<From>()))
    slot = convert(value);
}

FailureOr<Tensor> Tensor::fromAttribute(ElementsAttr value,
                                        std::string &reason) {
  auto type = cast<RankedTensorType>(value.getType());
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    std::optional<ArrayRef<char>> bytes = resourceBytes(resource, reason);
    if (!bytes)
      return failure();
    return fromBytes(type, *bytes);
  }
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (!dense) {
    reason = "expected a dense constant";
    return failure();
  }
  Tensor result(type);
  switch (result.storage) {
  case Storage::Bool:
    fill<uint8_t, bool>(dense, result.mutableElements<uint8_t>(),
                        [](bool v) -> uint8_t { return v; });
    return result;
  case Storage::Signed:
    fill<int64_t, APInt>(dense, result.mutableElements<int64_t>(),
                         [](const APInt &v) { return v.getSExtValue(); });
    return result;
  case Storage::Unsigned:
    fill<uint64_t, APInt>(dense, result.mutableElements<uint64_t>(),
                          [](const APInt &v) { return v.getZExtValue(); });
    return result;
  case Storage::Float:
    fill<double, APFloat>(dense, result.mutableElements<double>(), toDouble);
    return result;
  case Storage::Complex:
    fill<std::complex<double>, std::complex<APFloat>>(
        dense, result.mutableElements<std::complex<double>>(),
        [](const std::complex<APFloat> &v) {
          return std::complex<double>(toDouble(v.real()), toDouble(v.imag()));
        });
    return result;
  }
  llvm_unreachable("every storage returns above");
}
