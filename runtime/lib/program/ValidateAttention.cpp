// What a plan may say of attention.

#include "program/Target.h"
#include "program/Validate.h"
#include "sprt/cuda/AttentionArguments.h"
#include "sprt/types.h"

namespace sprt {

Status checkStrides(const std::vector<int64_t> &strides, const char *what) {
  if (strides.size() != 3)
    return fail(SPRT_DAMAGED)
           << "expected 3 strides of " << what << " but got " << strides.size();
  for (int64_t stride : strides)
    if (Status failure = checkSize(stride, "a stride"))
      return failure;
  return Status::success();
}

Status checkBands(const std::vector<plan::Band> &bands) {
  for (const plan::Band &band : bands)
    for (int64_t position : {band.q0(), band.q1(), band.k0(), band.k1()})
      if (Status failure = checkSize(position, "a position of a band"))
        return failure;
  return Status::success();
}

/// What a score function reads, or its gradients; there is a head.
static Status
checkTerms(const PartValidator &parts,
           const std::vector<std::unique_ptr<plan::ScoreTermT>> &terms,
           int64_t headsTotal, bool areWritten) {
  const std::string what = areWritten ? "a gradient of a term" : "a term";
  for (const auto &term : terms) {
    if (term->strides.size() != 4)
      return fail(SPRT_DAMAGED) << "expected 4 strides of " << what
                                << " but got " << term->strides.size();
    for (int64_t stride : term->strides)
      if (Status failure = checkSize(stride, ("a stride of " + what).c_str()))
        return failure;
    if (Status failure =
            checkSize(term->head_bytes, ("a head of " + what).c_str()))
      return failure;
    if (Status failure =
            parts.checkView(term->view.get(), what.c_str(), areWritten))
      return failure;
    if (term->head_bytes > term->view->bytes / headsTotal)
      return fail(SPRT_DAMAGED)
             << "expected " << what << " of " << headsTotal << " heads of "
             << term->head_bytes << " bytes but got " << term->view->bytes
             << " bytes";
  }
  return Status::success();
}

template <typename TableT>
Status CommandValidator::checkPairs(const TableT &attend,
                                    plan::KernelKind kind) {
  const plan::SignatureT *signature = nullptr;
  if (Status failure =
          kernels.check(attend.kernel, kind, attend.scratch_bytes, signature))
    return failure;
  for (const plan::ViewT *view :
       {attend.q.get(), attend.k.get(), attend.v.get()})
    if (Status failure =
            parts.checkView(view, "an operand of attention", /*written=*/false))
      return failure;
  for (const plan::ExprT *expression :
       {attend.batch.get(), attend.heads.get(), attend.head_first.get(),
        attend.kv_first.get()})
    if (Status failure = parts.checkExpr(expression, "a size of attention"))
      return failure;
  for (const plan::RowsT *rows : {attend.queries.get(), attend.keys.get()})
    if (Status failure = parts.checkRows(rows, "rows of attention"))
      return failure;
  for (const auto *strides : {&attend.q_strides, &attend.k_strides,
                              &attend.v_strides, &attend.lse_strides})
    if (Status failure = checkStrides(*strides, "attention"))
      return failure;
  for (int64_t value : {attend.heads_total, attend.kv_total, attend.head_size,
                        attend.value_size})
    if (Status failure = checkSize(value, "a size of attention", 1, kMaxHeads))
      return failure;
  if (signature)
    if (Status failure = kernels.checkAttention(attend, *signature))
      return failure;
  if (!attend.scored && !attend.terms.empty())
    return fail(SPRT_DAMAGED) << "terms without a score function";
  if (Status failure = checkSize(layouts[attend.keys->layout].maxCount(),
                                 "keys of a rank", 0, kMaxPosition))
    return failure;
  for (uint32_t layout : {attend.queries->layout, attend.keys->layout})
    if (attend.scored)
      if (Status failure =
              checkSize(layouts[layout].length(),
                        "positions for a score function", 0, kMaxPosition))
        return failure;
  if (Status failure = checkTerms(parts, attend.terms, attend.heads_total,
                                  /*areWritten=*/false))
    return failure;
  if (Status failure = parts.checkDocuments(
          attend.documents, attend.queries->layout, attend.keys->layout))
    return failure;
  return checkBands(attend.bands);
}

static Status checkForDevice(const plan::PlanT &plan,
                             const plan::AttendT &attend) {
  // What a copy brings at once has at most 256 rows.
  constexpr int64_t kMaxRows = 256;
  if (attend.key_block < 0 || attend.key_block > kMaxRows)
    return fail(SPRT_DAMAGED) << "expected blocks of 0 to " << kMaxRows
                              << " keys but got " << attend.key_block;
  constexpr size_t kMostTerms = cuda::ScoreArguments::kMostTerms;
  if (attend.terms.size() > kMostTerms)
    return fail(SPRT_UNSUPPORTED)
           << "expected at most " << kMostTerms
           << " terms for a score function but got " << attend.terms.size();
  if (const plan::PortableKernelT *portable = attend.portable.get()) {
    if (portable->kernel >= plan.kernels.size())
      return fail(SPRT_DAMAGED) << "portable kernel " << portable->kernel
                                << " of " << plan.kernels.size();
    if (Status failure =
            checkSize(portable->query_block, "a size of attention", 1))
      return failure;
  }
  if (attend.key_block > 0 && !(attend.scale > 0))
    return fail(SPRT_UNSUPPORTED)
           << "expected a scale above 0 in a plan for GPUs but got "
           << attend.scale;
  return Status::success();
}

Status CommandValidator::check(const plan::AttendT &attend) {
  if (Status failure = checkPairs(attend, plan::KernelKind::attend))
    return failure;
  for (const plan::ViewT *view : {attend.out.get(), attend.lse.get()})
    if (Status failure =
            parts.checkView(view, "the state of attention", /*written=*/true))
      return failure;
  if (Status failure = checkStrides(attend.o_strides, "attention"))
    return failure;
  if (Status failure = checkSize(attend.query_block, "a size of attention", 1))
    return failure;
  if (!isEnum(attend.order))
    return fail(SPRT_DAMAGED)
           << "unknown order of blocks " << int(attend.order);
  if (isForDevice(plan))
    if (Status failure = checkForDevice(plan, attend))
      return failure;
  return Status::success();
}

Status CommandValidator::check(const plan::AttendBackwardT &backward) {
  if (Status failure = checkPairs(backward, plan::KernelKind::attendBackward))
    return failure;
  for (const plan::ViewT *view :
       {backward.d_out.get(), backward.lse.get(), backward.delta.get()})
    if (Status failure =
            parts.checkView(view, "an operand of attention", /*written=*/false))
      return failure;
  for (const plan::ViewT *view :
       {backward.dq.get(), backward.dk.get(), backward.dv.get()})
    if (Status failure =
            parts.checkView(view, "a gradient of attention", /*written=*/true))
      return failure;
  if (!backward.scored && !backward.term_gradients.empty())
    return fail(SPRT_DAMAGED) << "gradients of terms without a score function";
  if (Status failure =
          checkTerms(parts, backward.term_gradients, backward.heads_total,
                     /*areWritten=*/true))
    return failure;
  if (Status failure =
          parts.checkExpr(backward.kv_heads.get(), "a size of attention"))
    return failure;
  for (const auto *strides :
       {&backward.d_out_strides, &backward.delta_strides, &backward.dq_strides,
        &backward.dk_strides, &backward.dv_strides})
    if (Status failure = checkStrides(*strides, "attention"))
      return failure;
  bool isKnown =
      backward.type == plan::DType::f64 || backward.type == plan::DType::f32 ||
      backward.type == plan::DType::f16 || backward.type == plan::DType::bf16;
  if (!isKnown)
    return fail(SPRT_DAMAGED)
           << "a gradient of attention of type " << int(backward.type);
  for (const plan::Band &band : backward.bands)
    if (band.uniform())
      return fail(SPRT_DAMAGED) << "a uniform band in a gradient of attention";
  return Status::success();
}

} // namespace sprt
