#include "executor/DocumentMasks.h"

#include "executor/Session.h"
#include "support/Types.h"

namespace sprt {

namespace {

/// A byte whose highest bit counts -128.
struct SignedByte {
  uint8_t byte;
  explicit operator int64_t() const { return int64_t(byte ^ 0x80) - 0x80; }
};

/// A byte of which any but 0 is true.
struct Truth {
  uint8_t byte;
  explicit operator int64_t() const { return byte != 0; }
};

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
    return rowsOf<SignedByte>(data, rows, length);
  case SPRT_I16:
    return rowsOf<int16_t>(data, rows, length);
  case SPRT_I32:
    return rowsOf<int32_t>(data, rows, length);
  case SPRT_U8:
    return rowsOf<uint8_t>(data, rows, length);
  case SPRT_I1:
    return rowsOf<Truth>(data, rows, length);
  case SPRT_U16:
    return rowsOf<uint16_t>(data, rows, length);
  case SPRT_U32:
    return rowsOf<uint32_t>(data, rows, length);
  default:
    return rowsOf<int64_t>(data, rows, length);
  }
}

/// Whether fewer pairs are worth so many bands.
bool saves(const algebra::Bands &whole, const algebra::Bands &less) {
  constexpr size_t kFewBands = 1024;
  constexpr algebra::Area kPairsOfBand = 4096; ///< what a band costs
  size_t bands = less.bands().size();
  return bands <= kFewBands ||
         whole.area() - less.area() >= bands * kPairsOfBand;
}

} // namespace

DocumentMasks::DocumentMasks(const Program &program)
    : program(program), known(program.plan->document_numbers.size()),
      shown(program.masks) {}

DocumentMasks::~DocumentMasks() = default;

Status DocumentMasks::open(const sprt_session_options &options,
                           const std::atomic<bool> &isStopped) {
  stopped = &isStopped;
  if (known.empty() || !program.documentsProgram)
    return Status::success();
  kept.resize(program.plan->documents_program->inputs.size());
  numbering = std::make_unique<Session>(*program.documentsProgram);
  sprt_session_options own;
  sprt_session_options_init(&own);
  own.communicator = "thread";
  own.threads_per_rank = options.threads_per_rank;
  own.timeout_seconds = options.timeout_seconds;
  return numbering->open(own);
}

int64_t DocumentMasks::count() const {
  int64_t count = 0;
  for (const auto &documents : known)
    if (documents)
      for (const algebra::Documents::Row &row : documents->rows())
        count += static_cast<int64_t>(row.size());
  return count;
}

bool DocumentMasks::take(size_t number, const void *data,
                         const ParameterInfo &info) {
  int64_t length = program.plan->document_numbers[number]->length;
  algebra::Documents next =
      documentsOf(data, info.dtype, *elementCount(info.shape) / length, length);
  if (known[number] == next)
    return false;
  known[number] = std::move(next);
  return true;
}

bool DocumentMasks::forget(size_t number) {
  bool wasKnown = known[number].has_value();
  known[number].reset();
  return wasKnown;
}

Status DocumentMasks::read(const sprt_array *inputs, const Feeds &feeds,
                           bool &out_changed) {
  out_changed = false;
  for (size_t i = 0; i < known.size(); ++i) {
    int32_t input = program.plan->document_numbers[i]->input;
    if (input < 0)
      continue;
    if (inputs[input].data)
      out_changed |= take(i, inputs[input].data,
                          program.inputs[static_cast<size_t>(input)]);
    else if (feeds.resultOf(input) >= 0)
      out_changed |= forget(i);
  }
  if (numbering)
    if (Status failure = compute(inputs, feeds, out_changed))
      return failure;
  if (out_changed)
    cut();
  return Status::success();
}

Status DocumentMasks::compute(const sprt_array *inputs, const Feeds &feeds,
                              bool &out_changed) {
  bool isKnown = true, isNew = false;
  for (size_t i = 0; i < kept.size(); ++i) {
    uint32_t number = program.plan->documents_program->inputs[i];
    const ParameterInfo &info = program.inputs[number];
    if (const auto *data =
            static_cast<const std::byte *>(inputs[number].data)) {
      kept[i] = {data, data + static_cast<size_t>(*elementCount(info.shape)) *
                                  sprt_dtype_size(info.dtype)};
      isNew = true;
    } else if (feeds.resultOf(number) >= 0) {
      kept[i].reset();
    }
    isKnown &= kept[i].has_value();
  }
  std::vector<std::vector<std::byte>> numbers;
  if (isKnown && isNew)
    if (Status failure = number(numbers))
      return std::move(failure).within("numbering documents");
  for (size_t i = 0; i < known.size(); ++i) {
    int32_t result = program.plan->document_numbers[i]->result;
    if (result < 0)
      continue;
    auto of = static_cast<size_t>(result);
    if (!isKnown)
      out_changed |= forget(i);
    else if (isNew)
      out_changed |=
          take(i, numbers[of].data(), numbering->program.results[of]);
  }
  return Status::success();
}

Status DocumentMasks::number(std::vector<std::vector<std::byte>> &out_numbers) {
  auto describe = [](const ParameterInfo &info, std::byte *data) {
    return sprt_array{sizeof(sprt_array), info.dtype,
                      static_cast<int32_t>(info.shape.size()),
                      info.shape.data(), data};
  };
  std::vector<sprt_array> inputs, results;
  for (size_t i = 0; i < kept.size(); ++i)
    inputs.push_back(describe(numbering->program.inputs[i], kept[i]->data()));
  for (const ParameterInfo &info : numbering->program.results) {
    out_numbers.emplace_back(static_cast<size_t>(*elementCount(info.shape)) *
                             sprt_dtype_size(info.dtype));
    results.push_back(describe(info, out_numbers.back().data()));
  }
  Session::Claim claim(*numbering, Session::idle, Session::beginning);
  if (claim.failure)
    return std::move(claim.failure);
  // An interrupt before the claim has found nothing to end.
  if (stopped->load())
    return fail(SPRT_INTERRUPTED) << "the run was interrupted";
  return numbering->step(inputs.data(), static_cast<int64_t>(inputs.size()),
                         results.data(), static_cast<int64_t>(results.size()));
}

void DocumentMasks::interrupt() {
  if (numbering)
    numbering->interrupt();
}

void DocumentMasks::cut() {
  isCut = true;
  for (size_t mask = 0; mask < shown.size(); ++mask) {
    int32_t number = program.documentsOf[mask];
    if (number < 0)
      continue;
    const plan::DocumentsT &documents =
        *program.plan->documents[static_cast<size_t>(number)];
    const auto &queries = known[documents.queries],
               &keys = known[documents.keys];
    std::optional<algebra::Bands> less;
    if (queries && keys)
      less = algebra::within(program.masks[mask], *queries, *keys, kMostBands);
    if (less && !saves(program.masks[mask], *less))
      less.reset();
    isCut &= less.has_value();
    shown[mask] = less ? std::move(*less) : program.masks[mask];
  }
}

} // namespace sprt
