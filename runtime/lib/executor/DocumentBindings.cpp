#include "executor/DocumentBindings.h"

#include "executor/Session.h"
#include "planner/DealBatch.h"
#include "program/Placement.h"
#include "support/Sha256.h"
#include "support/Types.h"

#include <algorithm>

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

/// Adds the parts of ranges that lie in each document, as `like` says whose.
void addPieces(const algebra::Documents::Row &documents,
               const algebra::Ranges &ranges, sprt_batch_piece like,
               std::vector<sprt_batch_piece> &out) {
  auto isBefore = [](const algebra::Documents::Run &run, int64_t position) {
    return run.positions.end <= position;
  };
  for (const algebra::Range &range : ranges) {
    int64_t end = range.first + range.count;
    auto run = std::lower_bound(documents.begin(), documents.end(), range.first,
                                isBefore);
    for (; run != documents.end() && run->positions.begin < end; ++run) {
      like.document = run - documents.begin();
      like.begin = std::max(range.first, run->positions.begin);
      like.end = std::min(end, run->positions.end);
      out.push_back(like);
    }
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

DocumentBindings::DocumentBindings(const Program &program)
    : program(program), known(program.plan->document_numbers.size()),
      bound(program.bindings) {}

DocumentBindings::~DocumentBindings() = default;

Status DocumentBindings::open(const sprt_session_options &options,
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

int64_t DocumentBindings::count() const {
  int64_t count = 0;
  for (const auto &documents : known)
    if (documents)
      for (const algebra::Documents::Row &row : documents->rows())
        count += static_cast<int64_t>(row.size());
  return count;
}

bool DocumentBindings::take(size_t number, const void *data,
                            const ParameterInfo &info) {
  int64_t length = program.plan->document_numbers[number]->length;
  algebra::Documents next =
      documentsOf(data, info.dtype, *elementCount(info.shape) / length, length);
  if (known[number] == next)
    return false;
  known[number] = std::move(next);
  return true;
}

bool DocumentBindings::forget(size_t number) {
  bool wasKnown = known[number].has_value();
  known[number].reset();
  return wasKnown;
}

Status DocumentBindings::read(const sprt_array *inputs, const Feeds &feeds,
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
  if (!out_changed)
    return Status::success();
  cut();
  if (Status failure = deal(inputs))
    return failure;
  digest();
  return Status::success();
}

void DocumentBindings::digest() {
  std::string bytes;
  auto add = [&bytes](int64_t number) {
    bytes.append(reinterpret_cast<const char *>(&number), sizeof number);
  };
  for (const auto &documents : known) {
    add(documents ? static_cast<int64_t>(documents->rows().size()) : -1);
    if (!documents)
      continue;
    for (const algebra::Documents::Row &row : documents->rows()) {
      add(static_cast<int64_t>(row.size()));
      for (const algebra::Documents::Run &run : row) {
        add(run.document);
        add(run.positions.end);
      }
    }
  }
  for (const Binding &row : dealt)
    for (const algebra::Layout &layout : row.layouts)
      for (int64_t owner = 0; layout.deal() && owner < layout.ring(); ++owner) {
        add(layout.group(owner).first);
        add(layout.group(owner).size);
        for (const algebra::Range &range : layout.deal()->ranges(owner)) {
          add(range.first);
          add(range.count);
        }
      }
  Digest digest = sha256(bytes);
  hash.assign(digest.begin(), digest.end());
}

Status DocumentBindings::compute(const sprt_array *inputs, const Feeds &feeds,
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

Status
DocumentBindings::number(std::vector<std::vector<std::byte>> &out_numbers) {
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

void DocumentBindings::interrupt() {
  if (numbering)
    numbering->interrupt();
}

void DocumentBindings::cut() {
  isCut = true;
  cut(bound.whole, std::nullopt);
  size_t count = 0;
  for (const auto &documents : known)
    count = std::max(count, documents ? documents->rows().size() : 0);
  bound.rows.assign(program.usesRows ? count : 0, program.bindings.whole);
  // What goes through rows reads theirs.
  isCut |= !bound.rows.empty();
  for (size_t row = 0; row < bound.rows.size(); ++row)
    cut(bound.rows[row], row);
}

void DocumentBindings::cut(Binding &binding, std::optional<size_t> row) {
  for (size_t mask = 0; mask < binding.masks.size(); ++mask) {
    const algebra::Bands &whole = program.bindings.whole.masks[mask];
    int32_t number = program.documentsOf[mask];
    if (number < 0)
      continue;
    const plan::DocumentsT &documents =
        *program.plan->documents[static_cast<size_t>(number)];
    const auto &queries = known[documents.queries],
               &keys = known[documents.keys];
    std::optional<algebra::Bands> less;
    if (queries && keys && row)
      less = algebra::within(whole, queries->row(*row), keys->row(*row),
                             kMostBands);
    else if (queries && keys)
      less = algebra::within(whole, *queries, *keys, kMostBands);
    if (less && !saves(whole, *less))
      less.reset();
    isCut &= less.has_value();
    binding.masks[mask] = less ? std::move(*less) : whole;
  }
}

Status DocumentBindings::deal(const sprt_array *inputs) {
  const auto &batch = program.plan->batch;
  if (!batch)
    return Status::success();
  const auto &documents = known[batch->numbers];
  std::vector<Binding> before = std::move(dealt);
  hasDeal = documents.has_value();
  std::vector<int64_t> loads;
  // A program that does not go through rows has one.
  size_t count = std::max<size_t>(bound.rows.size(), 1);
  for (size_t row = 0; row < count; ++row) {
    Binding &binding = bound.rows.empty() ? bound.whole : bound.rows[row];
    if (Status failure = deal(binding, documents, row, loads))
      return std::move(failure).within("dealing documents to ranks");
    dealt.push_back({{}, binding.layouts});
  }
  if (bound.rows.size() == 1)
    bound.whole.layouts = bound.rows.front().layouts;
  bool isNew = !std::equal(before.begin(), before.end(), dealt.begin(),
                           dealt.end(), [](const Binding &a, const Binding &b) {
                             return a.layouts == b.layouts;
                           });
  for (size_t i = 0; isNew && i < program.inputs.size(); ++i)
    if (!inputs[i].data && isDealtByBatch(program, program.inputs[i]))
      return fail(SPRT_INVALID_ARGUMENT)
             << "expected \"" << program.inputs[i].parameter->name
             << "\" to be given with documents that differ from those of the "
                "last run, which said what of it each rank has";
  return list();
}

Status DocumentBindings::list() {
  listed.clear();
  if (!hasDeal)
    return Status::success();
  const algebra::Documents &documents = *known[program.plan->batch->numbers];
  for (int64_t rank = 0; rank < program.ranks(); ++rank)
    for (size_t row = 0; row < dealt.size(); ++row) {
      int64_t owner = 0;
      const algebra::Layout *layout = nullptr;
      if (Status failure = findShare(program, dealt[row], rank, layout, owner))
        return failure;
      if (!layout)
        return Status::success();
      addPieces(documents.row(row).rows().front(), layout->ranges(owner),
                {rank, static_cast<int64_t>(row), 0, 0, 0}, listed);
    }
  return Status::success();
}

Status
DocumentBindings::deal(Binding &binding,
                       const std::optional<algebra::Documents> &documents,
                       size_t row, std::vector<int64_t> &loads) {
  const plan::BatchT &batch = *program.plan->batch;
  std::shared_ptr<const algebra::Deal> deal;
  bool isTried = !documents;
  for (algebra::Layout &layout : binding.layouts) {
    if (layout.kind() != algebra::LayoutKind::batch)
      continue;
    DealOptions options{layout.ring(), layout.holds() * layout.split(),
                        batch.token_cost, batch.pair_cost, &loads};
    loads.resize(static_cast<size_t>(options.owners));
    if (!isTried)
      if (Status failure =
              dealBatch(documents->row(row).rows().front(), options, deal))
        return failure;
    isTried = true;
    bool fits = deal && algebra::checkDeal(layout, *deal).empty();
    layout = layout.dealtAs(fits ? deal : nullptr);
  }
  hasDeal &= deal != nullptr;
  return Status::success();
}

} // namespace sprt
