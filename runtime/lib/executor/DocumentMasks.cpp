#include "executor/DocumentMasks.h"

#include "support/Types.h"

namespace sprt {

namespace {

template <typename T>
algebra::Documents rowsOf(const void *data, int64_t rows, int64_t length) {
  algebra::Documents documents;
  for (int64_t row = 0; row < rows; ++row)
    documents.addRow(static_cast<const T *>(data) + row * length, length);
  return documents;
}

/// Numbers keep their values, so that those of two types compare.
algebra::Documents documentsOf(const void *data, sprt_dtype type, int64_t rows,
                               int64_t length) {
  switch (type) {
  case SPRT_I8:
    return rowsOf<int8_t>(data, rows, length);
  case SPRT_I16:
    return rowsOf<int16_t>(data, rows, length);
  case SPRT_I32:
    return rowsOf<int32_t>(data, rows, length);
  case SPRT_U8:
  case SPRT_I1:
    return rowsOf<uint8_t>(data, rows, length);
  case SPRT_U16:
    return rowsOf<uint16_t>(data, rows, length);
  case SPRT_U32:
    return rowsOf<uint32_t>(data, rows, length);
  default:
    return rowsOf<int64_t>(data, rows, length);
  }
}

} // namespace

DocumentMasks::DocumentMasks(const Program &program)
    : program(program), shown(program.masks) {
  if (program.isForDevice())
    return;
  for (const auto &each : program.plan->documents) {
    lengths[each->queries] = each->query_length;
    lengths[each->keys] = each->key_length;
  }
}

int64_t DocumentMasks::count() const {
  int64_t count = 0;
  for (const auto &[input, documents] : known)
    for (const algebra::Documents::Row &row : documents.rows())
      count += static_cast<int64_t>(row.size());
  return count;
}

bool DocumentMasks::read(const sprt_array *inputs, const Feeds &feeds) {
  bool changes = false;
  for (auto [input, length] : lengths) {
    const sprt_array &array = inputs[input];
    if (!array.data) {
      if (feeds.resultOf(input) >= 0)
        changes |= known.erase(input) > 0;
      continue;
    }
    int64_t rows = *elementCount(program.inputs[input].shape) / length;
    algebra::Documents next =
        documentsOf(array.data, program.inputs[input].dtype, rows, length);
    auto [entry, isNew] = known.try_emplace(input);
    if (!isNew && entry->second == next)
      continue;
    entry->second = std::move(next);
    changes = true;
  }
  if (changes)
    cut();
  return changes;
}

void DocumentMasks::cut() {
  isCut = true;
  for (size_t mask = 0; mask < shown.size(); ++mask) {
    int32_t number = program.documentsOf[mask];
    if (number < 0)
      continue;
    const plan::DocumentsT &documents =
        *program.plan->documents[static_cast<size_t>(number)];
    auto queries = known.find(documents.queries),
         keys = known.find(documents.keys);
    std::optional<algebra::Bands> less;
    if (queries != known.end() && keys != known.end())
      less = algebra::within(program.masks[mask], queries->second, keys->second,
                             kMostBands);
    isCut &= less.has_value();
    shown[mask] = less ? std::move(*less) : program.masks[mask];
  }
}

} // namespace sprt
