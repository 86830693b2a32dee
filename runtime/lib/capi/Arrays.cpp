#include "arrays/Arrays.h"

#include "capi/Handles.h"
#include "support/Types.h"

#include <cstring>

using namespace sprt;

namespace {

bool endsWith(const std::string &text, const std::string &suffix) {
  return text.size() >= suffix.size() &&
         text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}

Status unknownFormat(const std::string &path) {
  return fail(SPRT_UNSUPPORTED)
         << path << ": expected a name that ends in .npz or .safetensors";
}

} // namespace

sprt_status *sprt_arrays_create(sprt_arrays **out_arrays) {
  return guarded([&]() -> Status {
    if (!out_arrays)
      return nullArgument("out_arrays");
    *out_arrays = new sprt_arrays;
    return Status::success();
  });
}

sprt_status *sprt_arrays_read(const char *path, sprt_arrays **out_arrays) {
  return guarded([&]() -> Status {
    if (!path || !out_arrays)
      return nullArgument(path ? "out_arrays" : "path");
    auto arrays = std::make_unique<sprt_arrays>();
    bool npz = endsWith(path, ".npz");
    if (!npz && !endsWith(path, ".safetensors"))
      return unknownFormat(path);
    if (Status failure = npz ? readNpz(path, arrays->list)
                             : readSafetensors(path, arrays->list))
      return failure;
    for (size_t i = 0; i < arrays->list.size(); ++i)
      arrays->index.emplace(arrays->list[i].name, static_cast<int64_t>(i));
    *out_arrays = arrays.release();
    return Status::success();
  });
}

int64_t sprt_arrays_count(const sprt_arrays *arrays) {
  return static_cast<int64_t>(arrays->list.size());
}

sprt_status *sprt_arrays_get(const sprt_arrays *arrays, int64_t index,
                             const char **out_name, sprt_array *out_array) {
  return guarded([&]() -> Status {
    if (index < 0 || index >= sprt_arrays_count(arrays))
      return fail(SPRT_INVALID_ARGUMENT)
             << "expected an index below " << arrays->list.size() << " but got "
             << index;
    const NamedArray &array = arrays->list[static_cast<size_t>(index)];
    if (out_name)
      *out_name = array.name.c_str();
    if (!out_array)
      return Status::success();
    out_array->size = sizeof *out_array;
    out_array->dtype = array.dtype;
    out_array->dimensions = static_cast<int32_t>(array.shape.size());
    out_array->shape = array.shape.data();
    out_array->data = const_cast<std::byte *>(array.data.data());
    return Status::success();
  });
}

int64_t sprt_arrays_find(const sprt_arrays *arrays, const char *name) {
  auto found = arrays->index.find(name);
  return found == arrays->index.end() ? -1 : found->second;
}

sprt_status *sprt_arrays_add(sprt_arrays *arrays, const char *name,
                             const sprt_array *array) {
  return guarded([&]() -> Status {
    if (!name || !array)
      return nullArgument(name ? "array" : "name");
    if (array->size != sizeof *array)
      return wrongSize("sprt_array", sizeof *array, array->size);
    if (sprt_arrays_find(arrays, name) >= 0)
      return fail(SPRT_INVALID_ARGUMENT)
             << "two arrays are called \"" << name << "\"";
    NamedArray added;
    added.name = name;
    added.dtype = array->dtype;
    if (array->dimensions > 0)
      added.shape.assign(array->shape, array->shape + array->dimensions);
    std::optional<int64_t> count = elementCount(added.shape);
    size_t elementBytes = sprt_dtype_size(array->dtype);
    if (!count || elementBytes == 0)
      return fail(SPRT_INVALID_ARGUMENT)
             << "\"" << name << "\" has shape " << shapeText(added.shape)
             << " and elements of type " << sprt_dtype_name(array->dtype);
    added.data.resize(static_cast<size_t>(*count) * elementBytes);
    if (array->data && !added.data.empty())
      std::memcpy(added.data.data(), array->data, added.data.size());
    arrays->index.emplace(name, sprt_arrays_count(arrays));
    arrays->list.push_back(std::move(added));
    return Status::success();
  });
}

sprt_status *sprt_arrays_write(const sprt_arrays *arrays, const char *path) {
  return guarded([&]() -> Status {
    if (!path)
      return nullArgument("path");
    if (endsWith(path, ".npz"))
      return writeNpz(arrays->list, path);
    if (endsWith(path, ".safetensors"))
      return writeSafetensors(arrays->list, path);
    return unknownFormat(path);
  });
}

void sprt_arrays_free(sprt_arrays *arrays) { delete arrays; }
