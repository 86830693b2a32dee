// What commands of attention mean for one rank at one step.

#include "executor/ProgramWalk.h"
#include "sprt/types.h"

namespace sprt {

template <typename TableT>
Status ProgramWalk::pairsOf(const TableT &attend,
                            AttendShape &out_shape) const {
  AttendShape &shape = out_shape;
  for (auto [expression, out] :
       {std::pair(attend.batch.get(), &shape.batch),
        {attend.heads.get(), &shape.heads},
        {attend.head_first.get(), &shape.headFirst},
        {attend.kv_first.get(), &shape.kvFirst},
        {attend.queries->owner.get(), &shape.queryOwner},
        {attend.keys->owner.get(), &shape.keyOwner}})
    if (Status failure = evaluate(*expression, scope, *out))
      return failure;
  shape.queries =
      program.layouts[attend.queries->layout].count(shape.queryOwner);
  shape.keys = program.layouts[attend.keys->layout].count(shape.keyOwner);
  if (shape.batch < 0 || shape.heads < 0 || shape.headFirst < 0 ||
      shape.headFirst > attend.heads_total - shape.heads || shape.kvFirst < 0 ||
      shape.kvFirst > attend.kv_total)
    return fail(SPRT_DAMAGED)
           << "heads " << shape.headFirst << " to "
           << shape.headFirst + shape.heads << " of " << attend.heads_total
           << ", kv heads from " << shape.kvFirst << " of " << attend.kv_total
           << ", batch " << shape.batch;
  return Status::success();
}

Status ProgramWalk::shapeOf(const plan::AttendT &attend,
                            AttendShape &out_shape) const {
  if (Status failure = pairsOf(attend, out_shape))
    return failure;
  out_shape.blocks =
      (out_shape.queries + attend.query_block - 1) / attend.query_block;
  return Status::success();
}

Status ProgramWalk::shapeOf(const plan::AttendBackwardT &backward,
                            AttendShape &out_shape) const {
  AttendShape &shape = out_shape;
  if (Status failure = pairsOf(backward, shape))
    return failure;
  if (Status failure = evaluate(*backward.kv_heads, scope, shape.kvHeads))
    return failure;
  auto kvHeadOf = [&](int64_t head) {
    return static_cast<__int128>(head) * backward.kv_total /
           backward.heads_total;
  };
  int64_t last = shape.headFirst + shape.heads - 1, tiles = 0;
  bool isHeld =
      shape.heads == 0 || (kvHeadOf(shape.headFirst) >= shape.kvFirst &&
                           kvHeadOf(last) - shape.kvFirst < shape.kvHeads);
  if (shape.kvHeads < 0 || shape.kvHeads > backward.kv_total - shape.kvFirst ||
      !isHeld || __builtin_mul_overflow(shape.batch, shape.kvHeads, &tiles))
    return fail(SPRT_DAMAGED)
           << shape.kvHeads << " kv heads from " << shape.kvFirst << " of "
           << backward.kv_total << " for " << shape.heads
           << " query heads from " << shape.headFirst << " of "
           << backward.heads_total << ", batch " << shape.batch;
  return Status::success();
}

Status ProgramWalk::resolve(const plan::AttendBackwardT &backward,
                            const AttendShape &shape,
                            std::vector<void *> &out_buffers) const {
  struct Buffer {
    const char *name;
    const plan::ViewT *view;
    const std::vector<int64_t> &strides;
    int64_t rows, heads, inner;
    bool isOperand; ///< of the operands' type
  };
  const Buffer buffers[] = {
      {"q", backward.q.get(), backward.q_strides, shape.queries, shape.heads,
       backward.head_size, true},
      {"k", backward.k.get(), backward.k_strides, shape.keys, shape.kvHeads,
       backward.head_size, true},
      {"v", backward.v.get(), backward.v_strides, shape.keys, shape.kvHeads,
       backward.value_size, true},
      {"do", backward.d_out.get(), backward.d_out_strides, shape.queries,
       shape.heads, backward.value_size, true},
      {"lse", backward.lse.get(), backward.lse_strides, shape.queries,
       shape.heads, backward.scored ? 2 : 1, false},
      {"delta", backward.delta.get(), backward.delta_strides, shape.queries,
       shape.heads, 1, false},
      {"dq", backward.dq.get(), backward.dq_strides, shape.queries, shape.heads,
       backward.head_size, false},
      {"dk", backward.dk.get(), backward.dk_strides, shape.keys, shape.kvHeads,
       backward.head_size, false},
      {"dv", backward.dv.get(), backward.dv_strides, shape.keys, shape.kvHeads,
       backward.value_size, false}};
  static_assert(std::size(buffers) == SPRT_BACKWARD_SLICES);
  std::byte *begins[std::size(buffers)];
  algebra::Area size = sprt_dtype_size(static_cast<sprt_dtype>(backward.type));
  for (size_t i = 0; i < std::size(buffers); ++i) {
    const Buffer &buffer = buffers[i];
    if (Status failure = aligned(*buffer.view, begins[i]))
      return failure;
    out_buffers[i] = begins[i];
    int64_t counts[] = {shape.batch, buffer.rows, buffer.heads};
    algebra::Area elements = static_cast<algebra::Area>(buffer.inner);
    for (size_t dim = 0; dim < std::size(counts); ++dim)
      elements += static_cast<algebra::Area>(counts[dim] - 1) *
                  static_cast<algebra::Area>(buffer.strides[dim]);
    bool isEmpty = std::count(std::begin(counts), std::end(counts), 0) != 0;
    algebra::Area bytes =
        elements * (buffer.isOperand ? size : std::max<algebra::Area>(size, 4));
    if (!isEmpty && bytes > static_cast<algebra::Area>(buffer.view->bytes))
      return fail(SPRT_DAMAGED)
             << "\"" << buffer.name << "\" of " << algebra::toString(bytes)
             << " bytes does not fit into its buffer of " << buffer.view->bytes;
    for (size_t other = 0; other < i && i >= SPRT_BACKWARD_DQ; ++other)
      if (begins[i] < begins[other] + buffers[other].view->bytes &&
          begins[other] < begins[i] + buffer.view->bytes)
        return fail(SPRT_DAMAGED)
               << "\"" << buffer.name << "\" overlaps with \""
               << buffers[other].name << "\"";
  }
  std::vector<Extent> others;
  for (size_t i = 0; i < std::size(buffers); ++i)
    others.push_back({buffers[i].name, begins[i], buffers[i].view->bytes});
  return checkTermGradients(backward, shape, std::move(others));
}

Status ProgramWalk::checkTermGradients(const plan::AttendBackwardT &backward,
                                       const AttendShape &shape,
                                       std::vector<Extent> others) const {
  auto resolved = [&](const char *name, const plan::ScoreTermT &term,
                      Extent &out_extent) {
    out_extent = {name, nullptr, term.view->bytes};
    return rank.resolve(*term.view, scope, out_extent.begin);
  };
  if (!backward.term_gradients.empty())
    for (const auto &term : backward.terms)
      if (Status failure = resolved("a term", *term, others.emplace_back()))
        return failure;
  algebra::Area size = std::max<algebra::Area>(
      sprt_dtype_size(static_cast<sprt_dtype>(backward.type)), 4);
  for (const auto &term : backward.term_gradients) {
    Extent own;
    if (Status failure = resolved("a gradient of a term", *term, own))
      return failure;
    // Of each batch, head, query row and key position.
    int64_t counts[] = {shape.batch, shape.heads, shape.queries,
                        program.layouts[backward.keys->layout].length()};
    algebra::Area last = 0;
    for (size_t dim = 0; dim < std::size(counts); ++dim)
      last += static_cast<algebra::Area>(counts[dim] - 1) *
              static_cast<algebra::Area>(term->strides[dim]);
    algebra::Area bytes = static_cast<algebra::Area>(shape.headFirst) *
                              static_cast<algebra::Area>(term->head_bytes) +
                          (last + 1) * size;
    bool isEmpty = std::count(std::begin(counts), std::end(counts), 0) != 0;
    if (!isEmpty && bytes > static_cast<algebra::Area>(own.bytes))
      return fail(SPRT_DAMAGED)
             << "a gradient of a term of " << algebra::toString(bytes)
             << " bytes does not fit into its buffer of " << own.bytes;
    // Threads share them out.
    for (auto [count, stride, name] :
         {std::tuple(shape.batch, term->strides[0], "batches"),
          {shape.heads, term->strides[1], "heads"}})
      if (count > 1 && stride == 0)
        return fail(SPRT_DAMAGED)
               << "expected a gradient of a term to have elements of its own "
                  "for each of "
               << count << " " << name;
    for (const Extent &other : others)
      if (own.begin < other.begin + other.bytes &&
          other.begin < own.begin + own.bytes)
        return fail(SPRT_DAMAGED)
               << "a gradient of a term overlaps with \"" << other.name << "\"";
    others.push_back(own);
  }
  return Status::success();
}

} // namespace sprt
