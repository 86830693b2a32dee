//===- ReadFusedAttention.cpp - What a call of cuDNN's attention says -----===//
//
//   stablehlo.custom_call @__cudnn$fmhaSoftmax(%q, %k, %v)
//     {backend_config = "{\22cudnn_fmha_backend_config\22: {...}}"}
//
// JAX writes the configuration of XLA as JSON; sizes follow from the operands,
// and where heads are, from the dimensions of the first product.
//
//===----------------------------------------------------------------------===//

#include "Input/FusedAttention.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mlir::stablehlo;
namespace json = llvm::json;

/// Of '{' and '['; the reader of JSON recurses.
static constexpr int kDeepestNesting = 64;
/// Positions are i32.
static constexpr int64_t kMostTokens = std::numeric_limits<int32_t>::max();
/// Of one value, as for values that the program writes itself.
static constexpr __int128 kMostElements = __int128(1) << 56;

bool stablehlo::isFusedAttention(StringRef target) {
  return target.starts_with("__cudnn$fmha");
}

//===----------------------------------------------------------------------===//
// The call's text
//===----------------------------------------------------------------------===//

static LogicalResult verifyTarget(CustomCallOp call) {
  StringRef target = call.getCallTargetName();
  if (target == "__cudnn$fmhaSoftmax" ||
      target == "__cudnn$fmhaScaleBiasSoftmax")
    return success();
  InFlightDiagnostic diag = call.emitError() << "custom call '@" << target
                                             << "' is not supported";
  if (target.contains("F8"))
    return diag << ", for it computes in FP8; export the model with attention "
                   "in bf16 or f16";
  if (target.contains("Dropout"))
    return diag << ", for its random numbers are the device's; export the "
                   "model with dropout_rate=0";
  if (target.contains("Backward"))
    return diag << "; export the gradient with implementation='xla' of "
                   "attention";
  return diag << "; export the model with implementation='xla' of attention";
}

/// How deep objects and arrays lie in each other.
static int nestingOf(StringRef text) {
  int depth = 0, deepest = 0;
  bool isQuoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"')
      isQuoted = !isQuoted;
    else if (isQuoted)
      i += text[i] == '\\';
    else if (text[i] == '{' || text[i] == '[')
      deepest = std::max(deepest, ++depth);
    else if (text[i] == '}' || text[i] == ']')
      --depth;
  }
  return deepest;
}

/// The value of 'backend_config'.
static FailureOr<json::Value> parseConfig(CustomCallOp call) {
  auto invalid = [&] {
    return call.emitError() << "expected 'backend_config' of custom call '@"
                            << call.getCallTargetName() << "' to be JSON";
  };
  auto text = dyn_cast_or_null<StringAttr>(call.getBackendConfigAttr());
  if (!text)
    return invalid() << " text";
  if (nestingOf(text) > kDeepestNesting)
    return invalid() << " of at most " << kDeepestNesting << " nested values";
  llvm::Expected<json::Value> parsed = json::parse(text);
  if (!parsed)
    return invalid() << ": " << llvm::toString(parsed.takeError());
  return std::move(*parsed);
}

/// Protocol buffers print some integers as text.
static std::optional<int64_t> toInteger(const json::Value &value) {
  int64_t integer = 0;
  if (std::optional<StringRef> text = value.getAsString())
    return llvm::to_integer(*text, integer, 10) ? std::optional(integer)
                                                : std::nullopt;
  return value.getAsInteger();
}

static std::optional<SmallVector<int64_t>>
toIntegers(const json::Value *value) {
  const json::Array *array = value ? value->getAsArray() : nullptr;
  if (!array)
    return std::nullopt;
  SmallVector<int64_t> integers;
  for (const json::Value &element : *array) {
    std::optional<int64_t> integer = toInteger(element);
    if (!integer)
      return std::nullopt;
    integers.push_back(*integer);
  }
  return integers;
}

namespace {
/// Reads 'cudnn_fmha_backend_config' of a call; what is wrong is an error.
class ConfigReader {
public:
  ConfigReader(CustomCallOp call, const json::Object &config)
      : call(call), config(config) {}

  LogicalResult read(FusedAttention &attention, bool &hasLengths) {
    return failure(failed(refuseVariants()) || failed(readScale(attention)) ||
                   failed(readMask(attention, hasLengths)) ||
                   failed(readLayout(attention)));
  }

private:
  LogicalResult invalid(StringRef key, const Twine &expected) {
    InFlightDiagnostic diag =
        call.emitError() << "expected '" << key
                         << "' in 'cudnn_fmha_backend_config' of custom call '@"
                         << call.getCallTargetName() << "' to be " << expected;
    if (const json::Value *value = config.get(key))
      return diag << " but got " << llvm::formatv("{0}", *value).str();
    return diag << " but there is none";
  }

  /// What is left out is 0, as in protocol buffers.
  FailureOr<int64_t> readInteger(StringRef key) {
    const json::Value *value = config.get(key);
    std::optional<int64_t> integer = value ? toInteger(*value) : 0;
    if (!integer || *integer < 0)
      return invalid(key, "an integer that is not negative");
    return *integer;
  }

  LogicalResult refuseVariants() {
    const json::Value *paged = config.get("is_paged_attention");
    if (paged && paged->getAsBoolean() != false)
      return invalid("is_paged_attention",
                     "false, keys and values without pages,");
    FailureOr<int64_t> segments = readInteger("max_seg_per_batch");
    if (failed(segments))
      return failure();
    if (*segments > 1)
      return invalid("max_seg_per_batch", "1, sequences that are not packed,");
    const json::Value *dropout = config.get("dropout_rate");
    if (dropout && dropout->getAsNumber() != 0.0)
      return invalid("dropout_rate", "0");
    return success();
  }

  LogicalResult readScale(FusedAttention &attention) {
    std::optional<double> scale = config.getNumber("fmha_scale");
    if (!scale || std::fabs(*scale) > std::numeric_limits<float>::max())
      return invalid("fmha_scale", "a number within f32");
    attention.scale = float(*scale);
    return success();
  }

  LogicalResult readMask(FusedAttention &attention, bool &hasLengths) {
    StringRef mask = config.getString("mask_type").value_or("");
    if (!llvm::is_contained({"NO_MASK", "CAUSAL", "PADDING", "PADDING_CAUSAL"},
                            mask))
      return invalid("mask_type",
                     "NO_MASK, CAUSAL, PADDING or PADDING_CAUSAL, or the model "
                     "exported with implementation='xla' of attention,");
    hasLengths = mask.starts_with("PADDING");
    FailureOr<int64_t> window = readInteger("sliding_window_length");
    if (failed(window))
      return failure();
    attention.window = *window;
    // A window ends at the query; JAX then need not say CAUSAL.
    attention.isCausal = mask.ends_with("CAUSAL") || *window > 0;
    return success();
  }

  LogicalResult readLayout(FusedAttention &attention) {
    StringRef key = "bmm1_dot_dimension_numbers";
    const json::Object *numbers = config.getObject(key);
    auto isEach = [&](StringRef what, ArrayRef<int64_t> expected) {
      if (!numbers)
        return false;
      for (StringRef side : {"lhs_", "rhs_"})
        if (toIntegers(numbers->get((side + what).str())) !=
            SmallVector<int64_t>(expected))
          return false;
      return true;
    };
    attention.headsFirst = isEach("batch_dimensions", {0, 1});
    if (isEach("contracting_dimensions", {3}) &&
        (attention.headsFirst || isEach("batch_dimensions", {0, 2})))
      return success();
    return invalid(key, "those of BTNH or BNTH");
  }

  CustomCallOp call;
  const json::Object &config;
};
} // namespace

//===----------------------------------------------------------------------===//
// The call's operands and results
//===----------------------------------------------------------------------===//

/// A type that a value of the call is to have.
static LogicalResult verifyType(CustomCallOp call, const Twine &what,
                                Value value, ArrayRef<int64_t> shape,
                                Type element) {
  auto expected = RankedTensorType::get(shape, element);
  if (value.getType() == expected)
    return success();
  return call.emitError() << "expected " << what << " of custom call '@"
                          << call.getCallTargetName() << "' to be " << expected
                          << " but got " << value.getType();
}

/// A type of four known sizes.
static FailureOr<RankedTensorType> typeOf(CustomCallOp call, StringRef what,
                                          Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  auto isSize = [](int64_t size) { return size > 0 && size <= kMostTokens; };
  if (type && type.getRank() == 4 && llvm::all_of(type.getShape(), isSize))
    return type;
  return call.emitError() << "expected " << what << " of custom call '@"
                          << call.getCallTargetName()
                          << "' to have 4 dimensions of 1 to " << kMostTokens
                          << " but got " << value.getType();
}

static LogicalResult verifyCount(CustomCallOp call, StringRef what,
                                 ArrayRef<size_t> expected, size_t count) {
  if (llvm::is_contained(expected, count))
    return success();
  InFlightDiagnostic diag = call.emitError() << "expected ";
  llvm::interleave(
      expected, [&](size_t each) { diag << each; }, [&] { diag << " or "; });
  return diag << " " << what << " of custom call '@" << call.getCallTargetName()
              << "' but got " << count;
}

/// Query, key and value and what follows from them.
static LogicalResult readOperands(CustomCallOp call, FusedAttention &a) {
  FailureOr<RankedTensorType> queryType = typeOf(call, "the query", a.query);
  if (failed(queryType))
    return failure();
  Type element = queryType->getElementType();
  if (!element.isBF16() && !element.isF16())
    return call.emitError()
           << "expected the query of custom call '@" << call.getCallTargetName()
           << "' to have elements of type bf16 or f16 but got " << element;
  FailureOr<RankedTensorType> keyType = typeOf(call, "the key", a.key);
  if (failed(keyType))
    return failure();
  FailureOr<RankedTensorType> valueType = typeOf(call, "the value", a.value);
  if (failed(valueType))
    return failure();
  unsigned headDim = a.headsFirst ? 1 : 2, tokenDim = 3 - headDim;
  a.batch = queryType->getDimSize(0);
  a.heads = queryType->getDimSize(headDim);
  a.queries = queryType->getDimSize(tokenDim);
  a.kvHeads = keyType->getDimSize(headDim);
  a.keys = keyType->getDimSize(tokenDim);

  SmallVector<int64_t> shape(queryType->getShape());
  shape[headDim] = a.kvHeads;
  shape[tokenDim] = a.keys;
  if (failed(verifyType(call, "the key", a.key, shape, element)))
    return failure();
  shape[3] = valueType->getDimSize(3);
  if (failed(verifyType(call, "the value", a.value, shape, element)))
    return failure();
  if (a.heads % a.kvHeads != 0)
    return call.emitError()
           << "expected custom call '@" << call.getCallTargetName()
           << "' to have a multiple of " << a.kvHeads
           << " heads, as the key has, but got " << a.heads;
  int64_t widest = std::max({a.queries, queryType->getDimSize(3), shape[3]});
  if (__int128(a.batch) * a.heads * a.keys * widest > kMostElements)
    return call.emitError()
           << "scores of custom call '@" << call.getCallTargetName()
           << "' have more than 2^56 elements; export the model with smaller "
              "sizes";
  return success();
}

static LogicalResult readBias(CustomCallOp call, FusedAttention &a) {
  FailureOr<RankedTensorType> type = typeOf(call, "the bias", a.bias);
  if (failed(type))
    return failure();
  Type element = type->getElementType();
  if (!isa<BFloat16Type, Float16Type, Float32Type>(element))
    element = cast<RankedTensorType>(a.query.getType()).getElementType();
  SmallVector<int64_t> shape = {a.batch, a.heads, a.queries, a.keys};
  for (unsigned dim : {0, 1})
    if (type->getDimSize(dim) == 1)
      shape[dim] = 1;
  return verifyType(call, "the bias", a.bias, shape, element);
}

static LogicalResult readResults(CustomCallOp call, FusedAttention &a) {
  size_t count = call.getNumResults();
  if (failed(verifyCount(call, "results", {2, 3}, count)))
    return failure();
  a.output = call->getResult(0);
  a.workspace = call->getResult(count - 1);
  auto valueType = cast<RankedTensorType>(a.value.getType());
  SmallVector<int64_t> shape = {a.batch, a.heads, a.queries,
                                valueType.getDimSize(3)};
  if (failed(verifyType(call, "result 0", a.output, shape,
                        valueType.getElementType())))
    return failure();
  shape.pop_back();
  if (count == 3) {
    a.lse = call->getResult(1);
    if (failed(verifyType(call, "result 1", a.lse, shape,
                          Float32Type::get(call.getContext()))))
      return failure();
  }
  auto type = dyn_cast<RankedTensorType>(a.workspace.getType());
  if (type && type.hasStaticShape() && type.getElementType().isInteger(8))
    return success();
  return call.emitError() << "expected result " << count - 1
                          << " of custom call '@" << call.getCallTargetName()
                          << "' to be bytes of a known number but got "
                          << a.workspace.getType();
}

FailureOr<FusedAttention> stablehlo::readFusedAttention(CustomCallOp call) {
  if (failed(verifyTarget(call)))
    return failure();
  FailureOr<json::Value> parsed = parseConfig(call);
  if (failed(parsed))
    return failure();
  const json::Object *outer = parsed->getAsObject();
  const json::Object *config =
      outer ? outer->getObject("cudnn_fmha_backend_config") : nullptr;
  if (!config)
    return call.emitError()
           << "expected an object 'cudnn_fmha_backend_config' in "
              "'backend_config' of custom call '@"
           << call.getCallTargetName() << "'";
  FusedAttention attention{};
  bool hasLengths = false;
  if (failed(ConfigReader(call, *config).read(attention, hasLengths)))
    return failure();

  bool hasBias = call.getCallTargetName() == "__cudnn$fmhaScaleBiasSoftmax";
  OperandRange inputs = call.getInputs();
  if (failed(verifyCount(call, "operands", size_t(3 + hasBias + 2 * hasLengths),
                         inputs.size())))
    return failure();
  attention.query = inputs[0];
  attention.key = inputs[1];
  attention.value = inputs[2];
  if (failed(readOperands(call, attention)))
    return failure();
  if (hasBias) {
    attention.bias = inputs[3];
    if (failed(readBias(call, attention)))
      return failure();
  }
  if (hasLengths) {
    attention.queryLengths = inputs[inputs.size() - 2];
    attention.keyLengths = inputs[inputs.size() - 1];
    auto i32 = IntegerType::get(call.getContext(), 32);
    if (failed(verifyType(call, "the query lengths", attention.queryLengths,
                          attention.batch, i32)) ||
        failed(verifyType(call, "the key lengths", attention.keyLengths,
                          attention.batch, i32)))
      return failure();
  }
  if (failed(readResults(call, attention)))
    return failure();
  return attention;
}
