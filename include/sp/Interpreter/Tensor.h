//===- Tensor.h - Values of the reference evaluator ------------*- C++ -*-===//
#ifndef SP_INTERPRETER_TENSOR_H
#define SP_INTERPRETER_TENSOR_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <complex>
#include <memory>

namespace mlir::interpreter {

/// How the elements of a tensor are held in memory. Every element type of a
/// program maps to one of five; the type itself says how results are rounded.
///
/// | storage  | C++ type             | element types           |
/// |----------|----------------------|-------------------------|
/// | Bool     | uint8_t (0 or 1)     | i1                      |
/// | Signed   | int64_t              | i2 .. i64 (signless)    |
/// | Unsigned | uint64_t             | ui2 .. ui64             |
/// | Float    | double               | f64, f32, f16, bf16, f8 |
/// | Complex  | std::complex<double> | complex<f32>, complex<f64> |
enum class Storage : uint8_t { Bool, Signed, Unsigned, Float, Complex };

/// The storage of an element type; nothing for a type that is not evaluated.
std::optional<Storage> storageOf(Type elementType);

int64_t bytesPerElement(Storage storage);

/// Carries a C++ type as a value.
template <typename T> struct Tag {
  using type = T;
};

/// Calls `fn` with the Tag of the storage's C++ type.
template <typename Fn> auto dispatch(Storage storage, Fn &&fn) {
  switch (storage) {
  case Storage::Bool:
    return fn(Tag<uint8_t>());
  case Storage::Signed:
    return fn(Tag<int64_t>());
  case Storage::Unsigned:
    return fn(Tag<uint64_t>());
  case Storage::Float:
    return fn(Tag<double>());
  case Storage::Complex:
    break;
  }
  return fn(Tag<std::complex<double>>());
}

/// A tensor: a static shape, an element type and its elements in row-major
/// order. A value type: copies share elements until one of them is written to,
/// so that passing, storing and reshaping cost nothing and a tensor nobody else
/// holds is updated in place.
class Tensor {
public:
  /// No tensor; only assignment and the boolean test are allowed.
  Tensor() = default;
  /// A tensor with unset elements. `type` is static and storageOf knows it.
  explicit Tensor(RankedTensorType type);

  /// What the elements of all tensors of this process take.
  static int64_t liveBytes();

  template <typename T> static Tensor splat(RankedTensorType type, T value) {
    Tensor result(type);
    MutableArrayRef<T> elements = result.mutableElements<T>();
    std::fill(elements.begin(), elements.end(), value);
    return result;
  }

  explicit operator bool() const { return static_cast<bool>(type); }
  RankedTensorType getType() const { return type; }
  Type getElementType() const { return type.getElementType(); }
  ArrayRef<int64_t> getShape() const { return type.getShape(); }
  int64_t getRank() const { return type.getRank(); }
  int64_t size() const { return type.getNumElements(); }
  Storage getStorage() const { return storage; }

  /// The elements; T is the C++ type of the storage.
  template <typename T> ArrayRef<T> elements() const {
    return ArrayRef<T>(static_cast<const T *>(buffer.get()), size());
  }
  /// The elements for writing, copied first if another tensor shares them.
  template <typename T> MutableArrayRef<T> mutableElements() {
    makeUnique();
    return MutableArrayRef<T>(static_cast<T *>(buffer.get()), size());
  }
  /// The value of a tensor with one element; `index` for the others.
  template <typename T> T at(int64_t index = 0) const {
    return elements<T>()[index];
  }
  /// An element of an integer or boolean tensor.
  int64_t integerAt(int64_t index) const;

  const void *data() const { return buffer.get(); }
  void *mutableData() {
    makeUnique();
    return buffer.get();
  }
  /// Bytes an element takes in memory (1, 8 or 16).
  int64_t elementBytes() const;

  /// The same elements under another type with as many elements and the same
  /// storage.
  Tensor withType(RankedTensorType newType) const;
  /// Room for a result of type `newType`: this tensor's own memory when nobody
  /// else holds it and it fits exactly (this tensor then holds nothing, but
  /// pointers to its elements stay good), else fresh memory. So element i may
  /// be written once element i has been read.
  Tensor takeFor(RankedTensorType newType);

  /// With EvaluationOptions::errors: what rounding may have done to each
  /// element, in as many elements of the same type; null: nothing.
  const Tensor *getErrors() const { return errors.get(); }
  void setErrors(Tensor values) {
    errors = std::make_shared<const Tensor>(std::move(values));
  }
  void clearErrors() { errors.reset(); }

private:
  void makeUnique();

  RankedTensorType type;
  Storage storage = Storage::Bool;
  std::shared_ptr<void> buffer;
  std::shared_ptr<const Tensor> errors;
};

/// Row-major strides, in elements, of a shape.
SmallVector<int64_t> stridesOf(ArrayRef<int64_t> shape);

} // namespace mlir::interpreter

#endif // SP_INTERPRETER_TENSOR_H
