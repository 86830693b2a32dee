// The header of numpy's .npy: a Python dictionary with three keys.

#include "arrays/Arrays.h"

#include <cstring>
#include <optional>

namespace sprt {

namespace {

struct TypeCode {
  const char *code;
  sprt_dtype dtype;
};
constexpr TypeCode kCodes[] = {
    {"f8", SPRT_F64}, {"f4", SPRT_F32},   {"f2", SPRT_F16}, {"i8", SPRT_I64},
    {"i4", SPRT_I32}, {"i2", SPRT_I16},   {"i1", SPRT_I8},  {"u8", SPRT_U64},
    {"u4", SPRT_U32}, {"u2", SPRT_U16},   {"u1", SPRT_U8},  {"b1", SPRT_I1},
    {"c8", SPRT_C64}, {"c16", SPRT_C128}, {"V2", SPRT_V2},  {"V1", SPRT_V1}};

/// The text behind a key's colon, without leading blanks.
std::optional<std::string> valueOf(const std::string &text,
                                   const std::string &key) {
  for (const char *quote : {"'", "\""}) {
    size_t at = text.find(quote + key + quote);
    if (at == std::string::npos)
      continue;
    at = text.find(':', at);
    if (at == std::string::npos)
      return std::nullopt;
    at = text.find_first_not_of(" \t", at + 1);
    if (at != std::string::npos)
      return text.substr(at);
  }
  return std::nullopt;
}

Status parseType(const std::string &value, sprt_dtype &out_dtype) {
  size_t close = value.size() < 2 ? std::string::npos : value.find(value[0], 1);
  if ((value[0] != '\'' && value[0] != '"') || close == std::string::npos ||
      close < 3)
    return fail(SPRT_UNSUPPORTED) << "arrays of records are not supported";
  char order = value[1];
  std::string code = value.substr(2, close - 2);
  for (const TypeCode &known : kCodes) {
    if (code != known.code)
      continue;
    if (order == '>' && sprt_dtype_size(known.dtype) > 1)
      return fail(SPRT_UNSUPPORTED) << "big-endian elements are not supported; "
                                       "convert them with numpy's "
                                       "astype(dtype.newbyteorder('<'))";
    out_dtype = known.dtype;
    return Status::success();
  }
  return fail(SPRT_UNSUPPORTED)
         << "elements of numpy type \"" << value.substr(1, close - 1)
         << "\" are not supported";
}

bool parseShape(const std::string &value, std::vector<int64_t> &out_shape) {
  if (value.empty() || value[0] != '(')
    return false;
  const char *at = value.c_str() + 1;
  for (;;) {
    while (*at == ' ' || *at == ',')
      ++at;
    if (*at == ')')
      return true;
    char *end = nullptr;
    long long size = std::strtoll(at, &end, 10);
    if (end == at || size < 0)
      return false;
    out_shape.push_back(size);
    at = *end == 'L' ? end + 1 : end;
  }
}

} // namespace

Status parseNpyHeader(const std::string &text, NpyHeader &out_header) {
  std::optional<std::string> type = valueOf(text, "descr");
  std::optional<std::string> order = valueOf(text, "fortran_order");
  std::optional<std::string> shape = valueOf(text, "shape");
  if (!type || !order || !shape)
    return fail(SPRT_DAMAGED)
           << "the header lacks descr, fortran_order or shape";
  if (Status failure = parseType(*type, out_header.dtype))
    return failure;
  out_header.fortranOrder = order->compare(0, 4, "True") == 0;
  if (!parseShape(*shape, out_header.shape))
    return fail(SPRT_DAMAGED) << "the header's shape is not a tuple of sizes";
  return Status::success();
}

std::string npyHeader(sprt_dtype dtype, const std::vector<int64_t> &shape) {
  // numpy has no bf16: its bits are written as uint16.
  sprt_dtype written = dtype == SPRT_BF16 ? SPRT_U16 : dtype;
  std::string code;
  for (const TypeCode &known : kCodes)
    if (known.dtype == written)
      code = known.code;
  std::string order =
      sprt_dtype_size(written) == 1 || written == SPRT_V2 ? "|" : "<";
  std::string text =
      "{'descr': '" + order + code + "', 'fortran_order': False, 'shape': (";
  for (int64_t size : shape)
    text += std::to_string(size) + ",";
  text += "), }";
  constexpr size_t kPrefix = 10;
  size_t total = (kPrefix + text.size() + 1 + 63) / 64 * 64;
  text.resize(total - kPrefix - 1, ' ');
  text += '\n';
  std::string header = "\x93NUMPY";
  header += '\x01';
  header += '\0';
  header += static_cast<char>(text.size() & 255);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

void toRowMajor(const std::vector<int64_t> &shape, size_t elementBytes,
                std::vector<std::byte> &data) {
  if (data.empty() || shape.size() < 2)
    return;
  std::vector<size_t> strides(shape.size());
  size_t stride = elementBytes;
  for (size_t d = 0; d < shape.size(); ++d) {
    strides[d] = stride;
    stride *= static_cast<size_t>(shape[d]);
  }
  std::vector<std::byte> result(data.size());
  std::vector<int64_t> index(shape.size(), 0);
  for (size_t to = 0; to < result.size(); to += elementBytes) {
    size_t from = 0;
    for (size_t d = 0; d < shape.size(); ++d)
      from += static_cast<size_t>(index[d]) * strides[d];
    std::memcpy(result.data() + to, data.data() + from, elementBytes);
    for (size_t d = shape.size(); d > 0; --d) {
      if (++index[d - 1] < shape[d - 1])
        break;
      index[d - 1] = 0;
    }
  }
  data = std::move(result);
}

} // namespace sprt
