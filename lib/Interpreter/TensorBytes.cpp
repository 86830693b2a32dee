//===- TensorBytes.cpp - Tensors in the program's own formats -------------===//
#include "sp/Interpreter/TensorBytes.h"
#include "Numerics.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace mlir;
using namespace mlir::interpreter;

//===----------------------------------------------------------------------===//
// Bytes
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

Tensor interpreter::tensorFromBytes(RankedTensorType type,
                                    ArrayRef<char> bytes) {
  Tensor result(type);
  Type element = type.getElementType();
  int64_t step = bytesInFile(element);
  const char *from = bytes.data();
  int64_t count = result.size();
  if (result.getStorage() == Storage::Complex) {
    auto part = cast<FloatType>(cast<ComplexType>(element).getElementType());
    auto out = result.mutableElements<std::complex<double>>();
    for (int64_t i = 0; i < count; ++i, from += step)
      out[i] = {floatFromBits(loadBits(from, step / 2), part),
                floatFromBits(loadBits(from + step / 2, step / 2), part)};
    return result;
  }
  if (result.getStorage() == Storage::Float) {
    auto floating = cast<FloatType>(element);
    auto out = result.mutableElements<double>();
    for (int64_t i = 0; i < count; ++i, from += step)
      out[i] = floatFromBits(loadBits(from, step), floating);
    return result;
  }
  if (result.getStorage() == Storage::Bool) {
    auto out = result.mutableElements<uint8_t>();
    for (int64_t i = 0; i < count; ++i, from += step)
      out[i] = *from != 0;
    return result;
  }
  unsigned width = element.getIntOrFloatBitWidth();
  auto out = result.mutableElements<uint64_t>();
  for (int64_t i = 0; i < count; ++i, from += step) {
    uint64_t bits = loadBits(from, step);
    out[i] = result.getStorage() == Storage::Signed ? wrapSigned(bits, width)
                                                    : wrapUnsigned(bits, width);
  }
  return result;
}

std::vector<char> interpreter::bytesOf(const Tensor &tensor) {
  Type element = tensor.getElementType();
  int64_t step = bytesInFile(element);
  std::vector<char> result(tensor.size() * step);
  char *to = result.data();
  auto store = [&](uint64_t bits, int64_t bytes) {
    std::memcpy(to, &bits, bytes);
    to += bytes;
  };
  if (tensor.getStorage() == Storage::Complex) {
    auto part = cast<FloatType>(cast<ComplexType>(element).getElementType());
    for (std::complex<double> value : tensor.elements<std::complex<double>>()) {
      store(floatToBits(value.real(), part), step / 2);
      store(floatToBits(value.imag(), part), step / 2);
    }
    return result;
  }
  if (tensor.getStorage() == Storage::Float) {
    auto floating = cast<FloatType>(element);
    for (double value : tensor.elements<double>())
      store(floatToBits(value, floating), step);
    return result;
  }
  if (tensor.getStorage() == Storage::Bool) {
    for (uint8_t value : tensor.elements<uint8_t>())
      store(value, step);
    return result;
  }
  for (uint64_t value : tensor.elements<uint64_t>())
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

FailureOr<Tensor> interpreter::tensorFromAttribute(ElementsAttr value,
                                                   std::string &reason) {
  auto type = cast<RankedTensorType>(value.getType());
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    std::optional<ArrayRef<char>> bytes = resourceBytes(resource, reason);
    if (!bytes)
      return failure();
    return tensorFromBytes(type, *bytes);
  }
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (!dense) {
    reason = "expected a dense constant";
    return failure();
  }
  Tensor result(type);
  switch (result.getStorage()) {
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
