/// A set of named arrays, and the files it comes from and goes to.
#ifndef SPRT_LIB_ARRAYS_ARRAYS_H
#define SPRT_LIB_ARRAYS_ARRAYS_H

#include "sprt/arrays.h"
#include "support/Status.h"

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

namespace sprt {

struct NamedArray {
  std::string name;
  sprt_dtype dtype = SPRT_F32;
  std::vector<int64_t> shape;
  std::vector<std::byte> data;
};

using NamedArrays = std::vector<NamedArray>;

Status readNpz(const std::string &path, NamedArrays &out_arrays);
Status writeNpz(const NamedArrays &arrays, const std::string &path);
Status readSafetensors(const std::string &path, NamedArrays &out_arrays);
Status writeSafetensors(const NamedArrays &arrays, const std::string &path);

/// The header of a .npy member.
struct NpyHeader {
  sprt_dtype dtype = SPRT_F32;
  bool fortranOrder = false;
  std::vector<int64_t> shape;
};

/// Parses the dictionary text of a header.
Status parseNpyHeader(const std::string &text, NpyHeader &out_header);
/// Magic, version, length and text, padded so that data starts 64-byte aligned.
std::string npyHeader(sprt_dtype dtype, const std::vector<int64_t> &shape);
/// Reorders column-major data to row-major.
void toRowMajor(const std::vector<int64_t> &shape, size_t elementBytes,
                std::vector<std::byte> &data);

} // namespace sprt

struct sprt_arrays {
  sprt::NamedArrays list;
  /// By name; of those with one name the first.
  std::unordered_map<std::string, int64_t> index;
};

#endif // SPRT_LIB_ARRAYS_ARRAYS_H
