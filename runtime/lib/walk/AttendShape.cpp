// What commands of attention mean for one rank at one step.

#include "program/Extent.h"
#include "sprt/types.h"
#include "walk/Walk.h"

namespace sprt {

namespace {

/// Elements [batch, row, head, inner] of an operand or result of attention.
struct Operand {
  const char *name;
  const plan::ViewT *view;
  const std::vector<int64_t> &strides;
  int64_t rows, heads, inner, elementBytes;
};

Status checkOperand(const Operand &operand, int64_t batch) {
  Extent extent{{batch, operand.rows, operand.heads, 1},
                {},
                operand.inner * operand.elementBytes};
  for (size_t dim = 0; dim < 3; ++dim)
    extent.strides[dim] = operand.strides[dim] * operand.elementBytes;
  return checkExtent(extent, operand.view->bytes,
                     "\"" + std::string(operand.name) + "\"");
}

/// What a score function reads of a term for one rank's rows and heads.
Extent extentOf(const plan::ScoreTermT &term, const plan::TermForm &form,
                const AttendShape &shape, int64_t positions) {
  int64_t size = sizeOf(form.type());
  bool isPair = form.kind() == plan::TermKind::pair;
  Extent extent{{1, 1, 1, 1}, {}, size};
  for (size_t dim = 0; dim < 4; ++dim)
    extent.strides[dim] = term.strides[dim] * size;
  if (form.kind() == plan::TermKind::table) {
    extent.inner = form.elements() * size;
    return extent;
  }
  extent.counts[0] = shape.batch;
  if (form.kind() == plan::TermKind::head || isPair)
    extent.counts[1] = shape.heads;
  if (form.kind() == plan::TermKind::query || isPair)
    extent.counts[2] = shape.queries;
  if (form.kind() == plan::TermKind::key)
    extent.counts[3] = shape.keys;
  if (isPair)
    extent.counts[3] = positions;
  return extent;
}

Status checkTerm(const plan::ScoreTermT &term, Extent extent,
                 const AttendShape &shape, const char *what) {
  if (extent.isEmpty())
    return Status::success();
  // The rank begins at its own first head.
  algebra::Area before = static_cast<algebra::Area>(shape.headFirst) *
                         static_cast<algebra::Area>(term.head_bytes);
  if (before > static_cast<algebra::Area>(term.view->bytes))
    before = static_cast<algebra::Area>(term.view->bytes);
  extent.inner += static_cast<int64_t>(before);
  return checkExtent(extent, term.view->bytes, what, /*areApart=*/false);
}

/// Of attention and its gradients: all but blocks and kv heads.
template <typename TableT>
Status pairsOf(const Scope &scope, const TableT &attend,
               AttendShape &out_shape) {
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
  const std::vector<algebra::Layout> &layouts = *scope.layouts;
  const algebra::Layout &queries = layouts[attend.queries->layout],
                        &keys = layouts[attend.keys->layout];
  // Whoever is no owner holds nothing, as owner -1 does.
  for (auto [owner, layout] : {std::pair(&shape.queryOwner, &queries),
                               std::pair(&shape.keyOwner, &keys)})
    if (*owner < 0 || *owner >= layout->ranks())
      *owner = -1;
  shape.queries = queries.count(shape.queryOwner);
  shape.keys = keys.count(shape.keyOwner);
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

/// That a score function reads nothing beside its terms.
template <typename TableT>
Status checkTerms(const RankView &rank, const Scope &scope,
                  const TableT &attend, const AttendShape &shape) {
  const Program &program = rank.program;
  const plan::SignatureT *signature = program.signatureOf[attend.kernel];
  if (!signature)
    return Status::success();
  int64_t positions = (*scope.layouts)[attend.keys->layout].length();
  for (size_t i = 0; i < attend.terms.size(); ++i) {
    const plan::ScoreTermT &term = *attend.terms[i];
    const plan::TermForm &form = signature->terms[i];
    if (Status failure = checkTerm(term, extentOf(term, form, shape, positions),
                                   shape, "a term of a score function"))
      return failure;
    std::byte *data = nullptr;
    if (Status failure = rank.resolve(*term.view, scope, data))
      return failure;
    int64_t size = sizeOf(form.type());
    if (reinterpret_cast<intptr_t>(data) % size != 0 ||
        term.head_bytes % size != 0)
      return fail(SPRT_DAMAGED)
             << "a term of a score function is not aligned to " << size
             << " bytes";
  }
  return Status::success();
}

/// That each lies in its buffer and overlaps with no other one.
Status checkTermGradients(const RankView &rank, const Scope &scope,
                          const plan::AttendBackwardT &backward,
                          const AttendShape &shape, std::vector<Taken> others) {
  auto resolved = [&](const char *name, const plan::ScoreTermT &term,
                      Taken &out_taken) {
    out_taken = {name, nullptr, term.view->bytes};
    return rank.resolve(*term.view, scope, out_taken.begin);
  };
  if (!backward.term_gradients.empty())
    for (const auto &term : backward.terms)
      if (Status failure = resolved("a term", *term, others.emplace_back()))
        return failure;
  // Each pair of a query row and a key position may have its own.
  plan::DType type =
      backward.type == plan::DType::f64 ? plan::DType::f64 : plan::DType::f32;
  plan::TermForm form(plan::TermKind::pair, type, 1);
  int64_t positions = (*scope.layouts)[backward.keys->layout].length();
  for (const auto &term : backward.term_gradients) {
    Taken own;
    if (Status failure = resolved("a gradient of a term", *term, own))
      return failure;
    if (Status failure =
            checkTerm(*term, extentOf(*term, form, shape, positions), shape,
                      "a gradient of a term"))
      return failure;
    if (reinterpret_cast<intptr_t>(own.begin) % sizeOf(type) != 0 ||
        term->head_bytes % sizeOf(type) != 0)
      return fail(SPRT_DAMAGED) << "a gradient of a term is not aligned to "
                                << sizeOf(type) << " bytes";
    // Threads share them out.
    for (auto [count, stride, name] :
         {std::tuple(shape.batch, term->strides[0], "batches"),
          {shape.heads, term->strides[1], "heads"}})
      if (count > 1 && stride == 0)
        return fail(SPRT_DAMAGED)
               << "expected a gradient of a term to have elements of its own "
                  "for each of "
               << count << " " << name;
    for (const Taken &other : others)
      if (own.overlaps(other))
        return fail(SPRT_DAMAGED)
               << "a gradient of a term overlaps with \"" << other.name << "\"";
    others.push_back(own);
  }
  return Status::success();
}

} // namespace

Status Walk::shapeOf(const plan::AttendT &attend,
                     AttendShape &out_shape) const {
  AttendShape &shape = out_shape;
  if (Status failure = pairsOf(scope, attend, shape))
    return failure;
  shape.blocks = (shape.queries + attend.query_block - 1) / attend.query_block;
  if (shape.heads == 0 || shape.queries == 0)
    shape.batch = 0;
  if (shape.batch == 0)
    return Status::success();

  int64_t firstKv =
      algebra::kvHeadOf(shape.headFirst, attend.heads_total, attend.kv_total);
  shape.kvHeads = algebra::kvHeadOf(shape.headFirst + shape.heads - 1,
                                    attend.heads_total, attend.kv_total) -
                  shape.kvFirst + 1;
  if (firstKv < shape.kvFirst)
    return fail(SPRT_DAMAGED)
           << "kv heads from " << shape.kvFirst << " of " << attend.kv_total
           << " for query heads from " << shape.headFirst << " of "
           << attend.heads_total;
  // Of an unknown kernel no element is smaller.
  const plan::SignatureT *signature = program.signatureOf[attend.kernel];
  int64_t size = signature ? sizeOf(signature->type) : 2;
  int64_t state = std::max<int64_t>(size, 4);
  int64_t out = signature               ? sizeOf(signature->out_type)
                : program.isForDevice() ? size
                                        : state;
  int64_t numbers = signature && signature->sums ? 2 : 1;
  for (const Operand &operand :
       {Operand{"q", attend.q.get(), attend.q_strides, shape.queries,
                shape.heads, attend.head_size, size},
        Operand{"k", attend.k.get(), attend.k_strides, shape.keys,
                shape.kvHeads, attend.head_size, size},
        Operand{"v", attend.v.get(), attend.v_strides, shape.keys,
                shape.kvHeads, attend.value_size, size},
        Operand{"out", attend.out.get(), attend.o_strides, shape.queries,
                shape.heads, attend.value_size, out},
        Operand{"lse", attend.lse.get(), attend.lse_strides, shape.queries,
                shape.heads, numbers, state}})
    if (Status failure = checkOperand(operand, shape.batch))
      return failure;
  return checkTerms(self, scope, attend, shape);
}

Status Walk::shapeOf(const plan::AttendBackwardT &backward,
                     AttendShape &out_shape) const {
  AttendShape &shape = out_shape;
  if (Status failure = pairsOf(scope, backward, shape))
    return failure;
  if (Status failure = evaluate(*backward.kv_heads, scope, shape.kvHeads))
    return failure;
  auto kvHeadOf = [&](int64_t head) {
    return algebra::kvHeadOf(head, backward.heads_total, backward.kv_total);
  };
  int64_t last = shape.headFirst + shape.heads - 1, tiles = 0;
  if (shape.keys == 0 && (shape.heads == 0 || shape.queries == 0))
    shape.batch = 0;
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
  return checkTerms(self, scope, backward, shape);
}

Status Walk::resolve(const plan::AttendBackwardT &backward,
                     const AttendShape &shape,
                     std::vector<void *> &out_buffers) const {
  int64_t size = sizeOf(backward.type), wide = std::max<int64_t>(size, 4);
  const Operand operands[] = {
      {"q", backward.q.get(), backward.q_strides, shape.queries, shape.heads,
       backward.head_size, size},
      {"k", backward.k.get(), backward.k_strides, shape.keys, shape.kvHeads,
       backward.head_size, size},
      {"v", backward.v.get(), backward.v_strides, shape.keys, shape.kvHeads,
       backward.value_size, size},
      {"do", backward.d_out.get(), backward.d_out_strides, shape.queries,
       shape.heads, backward.value_size, size},
      {"lse", backward.lse.get(), backward.lse_strides, shape.queries,
       shape.heads, backward.scored ? 2 : 1, wide},
      {"delta", backward.delta.get(), backward.delta_strides, shape.queries,
       shape.heads, 1, wide},
      {"dq", backward.dq.get(), backward.dq_strides, shape.queries, shape.heads,
       backward.head_size, wide},
      {"dk", backward.dk.get(), backward.dk_strides, shape.keys, shape.kvHeads,
       backward.head_size, wide},
      {"dv", backward.dv.get(), backward.dv_strides, shape.keys, shape.kvHeads,
       backward.value_size, wide}};
  static_assert(std::size(operands) == SPRT_BACKWARD_SLICES);
  std::vector<Taken> taken;
  for (size_t i = 0; i < std::size(operands); ++i) {
    const Operand &operand = operands[i];
    std::byte *begin = nullptr;
    if (Status failure = aligned(*operand.view, begin))
      return failure;
    out_buffers[i] = begin;
    if (Status failure = checkOperand(operand, shape.batch))
      return failure;
    taken.push_back({operand.name, begin, operand.view->bytes});
    for (size_t other = 0; other < i && i >= SPRT_BACKWARD_DQ; ++other)
      if (taken[i].overlaps(taken[other]))
        return fail(SPRT_DAMAGED)
               << "\"" << operand.name << "\" overlaps with \""
               << taken[other].name << "\"";
  }
  return checkTermGradients(self, scope, backward, shape, std::move(taken));
}

} // namespace sprt
