// .safetensors: a length, a JSON header with types, shapes and offsets, the
// data.

#include "arrays/Arrays.h"
#include "support/InputFile.h"
#include "support/OutputFile.h"
#include "support/Types.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <tuple>

#include <nlohmann/json.hpp>

namespace sprt {

namespace {

using Json = nlohmann::json;

/// The format's own bound, some 500 000 arrays.
constexpr uint64_t kMostHeaderBytes = 100'000'000;

/// What the header needs for itself.
constexpr char kMetadata[] = "__metadata__";

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

/// An array of the header, and where its data is.
struct Entry {
  NamedArray array;
  uint64_t begin = 0, end = 0;
};

Status parseEntry(const std::string &name, const Json &json, uint64_t dataBytes,
                  Entry &entry) {
  if (!json.is_object() || !json.contains("dtype") || !json.contains("shape") ||
      !json.contains("data_offsets"))
    return fail(SPRT_DAMAGED)
           << "the header lacks dtype, shape or data_offsets";
  NamedArray &array = entry.array;
  std::string type = json["dtype"].get<std::string>();
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
  array.shape = json["shape"].get<std::vector<int64_t>>();
  auto offsets = json["data_offsets"].get<std::vector<uint64_t>>();
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
  entry.begin = offsets[0];
  entry.end = offsets[1];
  return Status::success();
}

/// The arrays of the header in the order of their data.
Status parseHeader(const std::string &text, uint64_t dataBytes,
                   std::vector<Entry> &out_entries) {
  Json header = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!header.is_object())
    return fail(SPRT_DAMAGED) << "the header is not a JSON object";
  for (const auto &[name, json] : header.items()) {
    if (name == kMetadata)
      continue;
    if (Status failure =
            parseEntry(name, json, dataBytes, out_entries.emplace_back()))
      return std::move(failure).within("\"" + name + "\"");
  }
  std::sort(out_entries.begin(), out_entries.end(),
            [](const Entry &a, const Entry &b) {
              return std::tie(a.begin, a.end, a.array.name) <
                     std::tie(b.begin, b.end, b.array.name);
            });
  // Nothing is shared, nothing left over.
  uint64_t end = 0;
  const std::string *last = nullptr;
  for (const Entry &entry : out_entries) {
    if (last && entry.begin < end)
      return fail(SPRT_DAMAGED) << "\"" << entry.array.name
                                << "\" shares data with \"" << *last << "\"";
    if (entry.begin != end)
      return fail(SPRT_DAMAGED)
             << "expected the data of \"" << entry.array.name << "\" at byte "
             << end << " but got " << entry.begin;
    end = entry.end;
    last = &entry.array.name;
  }
  if (end != dataBytes)
    return fail(SPRT_DAMAGED)
           << "expected " << end << " bytes of data but got " << dataBytes;
  return Status::success();
}

Status readAll(std::ifstream &file, uint64_t fileBytes,
               NamedArrays &out_arrays) {
  uint64_t headerBytes = 0;
  file.read(reinterpret_cast<char *>(&headerBytes), sizeof headerBytes);
  if (!file || headerBytes > fileBytes - sizeof headerBytes ||
      headerBytes > kMostHeaderBytes)
    return fail(SPRT_DAMAGED)
           << "expected a header of at most " << kMostHeaderBytes
           << " bytes within " << fileBytes << " but got " << headerBytes;
  std::string text(headerBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(headerBytes));
  if (!file)
    return fail(SPRT_DAMAGED) << "the header cannot be read";
  uint64_t dataStart = sizeof headerBytes + headerBytes;
  std::vector<Entry> entries;
  if (Status failure = parseHeader(text, fileBytes - dataStart, entries))
    return failure;
  for (Entry &entry : entries) {
    NamedArray &array = entry.array;
    array.data.resize(entry.end - entry.begin);
    file.seekg(static_cast<std::streamoff>(dataStart + entry.begin));
    file.read(reinterpret_cast<char *>(array.data.data()),
              static_cast<std::streamsize>(array.data.size()));
    if (!file)
      return fail(SPRT_DAMAGED) << "\"" << array.name << "\" cannot be read";
    out_arrays.push_back(std::move(array));
  }
  return Status::success();
}

} // namespace

Status readSafetensors(const std::string &path, NamedArrays &out_arrays) {
  if (Status failure = checkInput(path))
    return failure;
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
  std::string text;
  uint64_t offset = 0;
  for (const NamedArray &array : arrays) {
    std::string type = nameOf(array.dtype);
    if (type.empty())
      return fail(SPRT_UNSUPPORTED)
             << path << ": the format has no elements of type "
             << sprt_dtype_name(array.dtype) << "; write an .npz file";
    if (array.name == kMetadata)
      return fail(SPRT_UNSUPPORTED)
             << path << ": the format has no array \"" << kMetadata
             << "\"; write an .npz file, or call it otherwise";
    Json entry = {{"dtype", type},
                  {"shape", array.shape},
                  {"data_offsets", {offset, offset + array.data.size()}}};
    text += (text.empty() ? "{" : ",") + Json(array.name).dump() + ":" +
            entry.dump();
    offset += array.data.size();
  }
  text += text.empty() ? "{}" : "}";
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
