// .safetensors: a length, a JSON header with types, shapes and offsets, the
// data.

#include "arrays/Arrays.h"
#include "support/OutputFile.h"
#include "support/Types.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include <nlohmann/json.hpp>

namespace sprt {

namespace {

using Json = nlohmann::ordered_json;

struct TypeName {
  const char *name;
  sprt_dtype dtype;
};
constexpr TypeName kNames[] = {
    {"F64", SPRT_F64},   {"F32", SPRT_F32}, {"F16", SPRT_F16},
    {"BF16", SPRT_BF16}, {"I64", SPRT_I64}, {"I32", SPRT_I32},
    {"I16", SPRT_I16},   {"I8", SPRT_I8},   {"U64", SPRT_U64},
    {"U32", SPRT_U32},   {"U16", SPRT_U16}, {"U8", SPRT_U8},
    {"BOOL", SPRT_I1},   {"C64", SPRT_C64}, {"F8_E4M3", SPRT_V1},
    {"F8_E5M2", SPRT_V1}};

/// The name a type is written under; empty for types the format lacks.
std::string nameOf(sprt_dtype dtype) {
  if (dtype == SPRT_V2)
    return "BF16";
  if (dtype == SPRT_V1)
    return "U8";
  for (const TypeName &known : kNames)
    if (known.dtype == dtype)
      return known.name;
  return "";
}

Status parseEntry(const std::string &name, const Json &entry,
                  uint64_t dataBytes, NamedArray &array, uint64_t &out_begin) {
  if (!entry.is_object() || !entry.contains("dtype") ||
      !entry.contains("shape") || !entry.contains("data_offsets"))
    return fail(SPRT_DAMAGED)
           << "the header lacks dtype, shape or data_offsets";
  std::string type = entry["dtype"].get<std::string>();
  bool known = false;
  for (const TypeName &candidate : kNames)
    if (type == candidate.name) {
      array.dtype = candidate.dtype;
      known = true;
    }
  if (!known)
    return fail(SPRT_UNSUPPORTED)
           << "elements of type \"" << type << "\" are not supported";
  array.name = name;
  array.shape = entry["shape"].get<std::vector<int64_t>>();
  auto offsets = entry["data_offsets"].get<std::vector<uint64_t>>();
  std::optional<int64_t> count = elementCount(array.shape);
  uint64_t bytes = 0;
  if (offsets.size() != 2 || offsets[0] > offsets[1] ||
      offsets[1] > dataBytes || !count ||
      __builtin_mul_overflow(static_cast<uint64_t>(*count),
                             sprt_dtype_size(array.dtype), &bytes) ||
      bytes != offsets[1] - offsets[0])
    return fail(SPRT_DAMAGED)
           << "shape " << shapeText(array.shape) << " of " << type
           << " does not fit its data_offsets, or the file is truncated";
  out_begin = offsets[0];
  array.data.resize(bytes);
  return Status::success();
}

Status readAll(std::ifstream &file, uint64_t fileBytes,
               NamedArrays &out_arrays) {
  uint64_t headerBytes = 0;
  file.read(reinterpret_cast<char *>(&headerBytes), sizeof headerBytes);
  if (!file || headerBytes > fileBytes - sizeof headerBytes)
    return fail(SPRT_DAMAGED)
           << "expected a header within " << fileBytes << " bytes";
  std::string text(headerBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(headerBytes));
  Json header = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!file || !header.is_object())
    return fail(SPRT_DAMAGED) << "the header is not a JSON object";
  uint64_t dataStart = sizeof headerBytes + headerBytes;
  for (const auto &[name, entry] : header.items()) {
    if (name == "__metadata__")
      continue;
    NamedArray array;
    uint64_t begin = 0;
    if (Status failure =
            parseEntry(name, entry, fileBytes - dataStart, array, begin))
      return std::move(failure).within("\"" + name + "\"");
    file.seekg(static_cast<std::streamoff>(dataStart + begin));
    file.read(reinterpret_cast<char *>(array.data.data()),
              static_cast<std::streamsize>(array.data.size()));
    if (!file)
      return fail(SPRT_DAMAGED) << "\"" << name << "\" cannot be read";
    out_arrays.push_back(std::move(array));
  }
  return Status::success();
}

} // namespace

Status readSafetensors(const std::string &path, NamedArrays &out_arrays) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file)
    return fail(SPRT_IO) << path << ": " << std::strerror(errno);
  std::streamoff size = file.tellg();
  file.seekg(0);
  if (size < 8)
    return fail(SPRT_DAMAGED)
           << path << ": expected a .safetensors file but got " << size
           << " bytes";
  try {
    return readAll(file, static_cast<uint64_t>(size), out_arrays).within(path);
  } catch (const Json::exception &error) {
    return fail(SPRT_DAMAGED) << path << ": " << error.what();
  }
}

Status writeSafetensors(const NamedArrays &arrays, const std::string &path) {
  Json header = Json::object();
  uint64_t offset = 0;
  for (const NamedArray &array : arrays) {
    std::string type = nameOf(array.dtype);
    if (type.empty())
      return fail(SPRT_UNSUPPORTED)
             << path << ": the format has no elements of type "
             << sprt_dtype_name(array.dtype) << "; write an .npz file";
    header[array.name] = {
        {"dtype", type},
        {"shape", array.shape},
        {"data_offsets", {offset, offset + array.data.size()}}};
    offset += array.data.size();
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  uint64_t headerBytes = text.size();
  std::vector<std::string_view> pieces = {
      {reinterpret_cast<const char *>(&headerBytes), sizeof headerBytes}, text};
  for (const NamedArray &array : arrays)
    pieces.emplace_back(reinterpret_cast<const char *>(array.data.data()),
                        array.data.size());
  return writeOutput(path, pieces);
}

} // namespace sprt
