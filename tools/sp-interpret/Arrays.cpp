//===- Arrays.cpp - Files of arrays as tensors and back -------------------===//
#include "Arrays.h"
#include "sp/Interpreter/RankProgram.h"
#include "sp/Interpreter/TensorBytes.h"
#include "sprt/sprt.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::interpreter;

namespace {
struct ArraysDeleter {
  void operator()(sprt_arrays *arrays) const { sprt_arrays_free(arrays); }
};
using ArraysHandle = std::unique_ptr<sprt_arrays, ArraysDeleter>;
} // namespace

/// Moves a status into text.
static LogicalResult check(sprt_status *status, std::string &error) {
  if (!status)
    return success();
  error = sprt_status_text(status);
  sprt_status_free(status);
  return failure();
}

static std::optional<sprt_dtype> dtypeOf(Type type) {
  if (type.isF64())
    return SPRT_F64;
  if (type.isF32())
    return SPRT_F32;
  if (type.isF16())
    return SPRT_F16;
  if (type.isBF16())
    return SPRT_BF16;
  if (auto floating = dyn_cast<FloatType>(type))
    return floating.getWidth() == 8 ? std::optional(SPRT_V1) : std::nullopt;
  if (auto complex = dyn_cast<ComplexType>(type)) {
    if (complex.getElementType().isF32())
      return SPRT_C64;
    return complex.getElementType().isF64() ? std::optional(SPRT_C128)
                                            : std::nullopt;
  }
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return std::nullopt;
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return SPRT_I1;
  case 8:
    return isUnsigned ? SPRT_U8 : SPRT_I8;
  case 16:
    return isUnsigned ? SPRT_U16 : SPRT_I16;
  case 32:
    return isUnsigned ? SPRT_U32 : SPRT_I32;
  case 64:
    return isUnsigned ? SPRT_U64 : SPRT_I64;
  default:
    return std::nullopt;
  }
}

FailureOr<Parameters> interpreter::parametersOf(func::FuncOp function) {
  Parameters parameters;
  bool isOfRanks = isRankProgram(function);
  if (isOfRanks) {
    FailureOr<SmallVector<RankedTensorType>> types =
        globalArgumentTypes(function);
    if (failed(types))
      return failure();
    parameters.types = std::move(*types);
  }
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || !type.hasStaticShape() || !dtypeOf(type.getElementType()) ||
        !storageOf(type.getElementType()))
      return emitError(argument.getLoc())
             << "expected argument " << argument.getArgNumber()
             << " to be a static tensor of integers, floats or complex "
                "numbers but got "
             << argument.getType();
    if (!isOfRanks)
      parameters.types.push_back(type);
    auto name = argument.getLoc()->findInstanceOf<NameLoc>();
    parameters.names.push_back(name ? name.getName().str() : "");
  }
  return parameters;
}

static std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "(";
  llvm::interleaveComma(shape, stream);
  stream << ")";
  return text;
}

/// Checks one array of the file against its parameter.
static FailureOr<Tensor> toTensor(const sprt_array &array, const char *name,
                                  RankedTensorType type, Precision precision,
                                  std::string &error) {
  Type element = type.getElementType();
  ArrayRef<int64_t> shape(array.shape, array.dimensions);
  std::string prefix = "array '" + std::string(name) + "': ";
  if (shape != type.getShape()) {
    error = prefix + "expected shape " + shapeText(type.getShape()) +
            " but got " + shapeText(shape);
    return failure();
  }
  sprt_dtype expected = *dtypeOf(element);
  Type given = element;
  if (precision == Precision::F64 && isa<FloatType>(element) &&
      array.dtype == SPRT_F64) {
    given = Float64Type::get(type.getContext());
  } else if (!sprt_dtype_accepts(expected, array.dtype)) {
    error = prefix + "expected elements of type " + sprt_dtype_name(expected) +
            " but got " + sprt_dtype_name(array.dtype);
    return failure();
  }
  auto fileType = RankedTensorType::get(shape, given);
  size_t bytes = fileType.getNumElements() * sprt_dtype_size(array.dtype);
  Tensor tensor = tensorFromBytes(
      fileType, ArrayRef<char>(static_cast<const char *>(array.data), bytes));
  return tensor.withType(type);
}

FailureOr<SmallVector<Tensor>>
interpreter::readInputs(const std::string &path, const Parameters &parameters,
                        Precision precision, std::string &error) {
  sprt_arrays *opened = nullptr;
  if (failed(check(sprt_arrays_read(path.c_str(), &opened), error)))
    return failure();
  ArraysHandle arrays(opened);
  std::vector<bool> used(sprt_arrays_count(arrays.get()), false);
  SmallVector<Tensor> tensors;
  for (auto [i, type] : llvm::enumerate(parameters.types)) {
    std::string name = "arg" + std::to_string(i);
    const std::string &alias = parameters.names[i];
    int64_t index = sprt_arrays_find(arrays.get(), name.c_str());
    if (index < 0 && !alias.empty())
      index = sprt_arrays_find(arrays.get(), alias.c_str());
    if (index < 0) {
      error = path + ": expected an array '" + name + "'" +
              (alias.empty() ? "" : " (or '" + alias + "')") +
              " for argument " + std::to_string(i);
      return failure();
    }
    used[index] = true;
    sprt_array array{};
    array.size = sizeof(array);
    const char *fileName = nullptr;
    if (failed(check(sprt_arrays_get(arrays.get(), index, &fileName, &array),
                     error)))
      return failure();
    FailureOr<Tensor> tensor =
        toTensor(array, fileName, type, precision, error);
    if (failed(tensor)) {
      error = path + ": " + error;
      return failure();
    }
    tensors.push_back(std::move(*tensor));
  }
  for (size_t i = 0; i < used.size(); ++i) {
    if (used[i])
      continue;
    sprt_array array{};
    array.size = sizeof(array);
    const char *name = "";
    if (failed(check(sprt_arrays_get(arrays.get(), int64_t(i), &name, &array),
                     error)))
      return failure();
    error = path + ": array '" + name + "' is no argument: expected " +
            std::to_string(parameters.types.size()) +
            " arrays named 'arg0', 'arg1', ...";
    return failure();
  }
  return tensors;
}

FailureOr<SmallVector<Tensor>>
interpreter::drawInputs(const Parameters &parameters, uint64_t seed,
                        int64_t low, int64_t high, std::string &error) {
  SmallVector<Tensor> tensors;
  for (auto [i, type] : llvm::enumerate(parameters.types)) {
    sprt_array array{};
    array.size = sizeof(array);
    array.dtype = *dtypeOf(type.getElementType());
    array.dimensions = int32_t(type.getRank());
    array.shape = type.getShape().data();
    std::vector<char> bytes(type.getNumElements() *
                            sprt_dtype_size(array.dtype));
    array.data = bytes.data();
    if (failed(
            check(sprt_array_fill_random(&array, seed, i, low, high), error)))
      return failure();
    tensors.push_back(tensorFromBytes(type, bytes));
  }
  return tensors;
}

LogicalResult interpreter::writeArrays(const std::string &path,
                                       const std::string &stem,
                                       ArrayRef<Tensor> tensors,
                                       std::string &error) {
  sprt_arrays *created = nullptr;
  if (failed(check(sprt_arrays_create(&created), error)))
    return failure();
  ArraysHandle arrays(created);
  for (auto [i, tensor] : llvm::enumerate(tensors)) {
    std::optional<sprt_dtype> dtype = dtypeOf(tensor.getElementType());
    if (!dtype) {
      llvm::raw_string_ostream(error)
          << "cannot write elements of type " << tensor.getElementType()
          << " to " << path;
      return failure();
    }
    std::vector<char> bytes = bytesOf(tensor);
    sprt_array array{};
    array.size = sizeof(array);
    array.dtype = *dtype;
    array.dimensions = int32_t(tensor.getRank());
    array.shape = tensor.getShape().data();
    // An array without elements has no data; NULL would mean zeros.
    char none = 0;
    array.data = bytes.empty() ? &none : bytes.data();
    if (failed(
            check(sprt_arrays_add(arrays.get(),
                                  (stem + std::to_string(i)).c_str(), &array),
                  error)))
      return failure();
  }
  return check(sprt_arrays_write(arrays.get(), path.c_str()), error);
}
