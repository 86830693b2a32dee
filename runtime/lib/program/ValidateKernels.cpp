#include "program/ValidateKernels.h"

#include "program/Target.h"
#include "program/ValidateParts.h"

namespace sprt {

namespace {

Status differs(const char *what, int64_t kernels, int64_t plans,
               const plan::SignatureT &signature) {
  return fail(SPRT_DAMAGED)
         << "expected " << what << " " << kernels << " for kernel \""
         << signature.symbol << "\" but got " << plans;
}

/// What a kernel says of an attention and what a plan says of it.
struct Pairing {
  const char *what;
  int64_t kernels, plans;
};

template <typename TableT>
Status checkForm(const TableT &attend, const plan::SignatureT &signature) {
  for (auto [what, kernels, plans] :
       {Pairing{"head size", signature.head_size, attend.head_size},
        {"value size", signature.value_size, attend.value_size},
        {"\"scored\"", signature.scored, attend.scored},
        {"a number of terms", static_cast<int64_t>(signature.terms.size()),
         static_cast<int64_t>(attend.terms.size())}})
    if (kernels != plans)
      return differs(what, kernels, plans, signature);
  return Status::success();
}

} // namespace

Status KernelValidator::check(uint32_t kernel, plan::KernelKind kind,
                              int64_t scratchBytes,
                              const plan::SignatureT *&out_signature) const {
  out_signature = nullptr;
  if (kernel >= plan.kernels.size())
    return fail(SPRT_DAMAGED)
           << "kernel " << kernel << " of " << plan.kernels.size();
  if (scratchBytes < 0 || scratchBytes > plan.scratch_bytes)
    return fail(SPRT_DAMAGED)
           << "scratch of " << scratchBytes << " bytes, the plan promises "
           << plan.scratch_bytes;
  if (!signatures)
    return Status::success();
  const plan::SignatureT *signature =
      signatures->find(plan.kernels[kernel]->symbol);
  if (!signature || signature->kind != kind)
    return fail(SPRT_DAMAGED) << "expected a kernel for a command of kind "
                              << plan::EnumNameKernelKind(kind) << " but got \""
                              << plan.kernels[kernel]->symbol << "\"";
  if (scratchBytes < signature->scratch_bytes)
    return differs("bytes of scratch memory,", signature->scratch_bytes,
                   scratchBytes, *signature);
  out_signature = signature;
  return Status::success();
}

Status checkOperands(const plan::LaunchT &launch,
                     const plan::SignatureT &signature,
                     const PartValidator &parts) {
  if (launch.tiles != signature.tiles)
    return differs("a number of tiles,", signature.tiles, launch.tiles,
                   signature);
  if (launch.buffers.size() != signature.operands.size())
    return differs("a number of buffers,",
                   static_cast<int64_t>(signature.operands.size()),
                   static_cast<int64_t>(launch.buffers.size()), signature);
  for (size_t i = 0; i < launch.buffers.size(); ++i) {
    const plan::Operand &operand = signature.operands[i];
    if (Status failure = parts.checkView(launch.buffers[i].get(), "a buffer",
                                         operand.written(), operand.bytes()))
      return failure;
  }
  return Status::success();
}

Status
KernelValidator::checkAttention(const plan::AttendT &attend,
                                const plan::SignatureT &signature) const {
  if (Status failure = checkForm(attend, signature))
    return failure;
  if (attend.query_block != signature.query_block)
    return differs("blocks of queries of", signature.query_block,
                   attend.query_block, signature);
  if (attend.key_block != signature.key_block)
    return differs("blocks of keys of", signature.key_block, attend.key_block,
                   signature);
  const plan::PortableKernelT *portable = attend.portable.get();
  if (!portable)
    return Status::success();
  const plan::SignatureT *other = nullptr;
  if (Status failure = check(portable->kernel, plan::KernelKind::attend,
                             attend.scratch_bytes, other))
    return failure;
  if (portable->query_block != other->query_block)
    return differs("blocks of queries of", other->query_block,
                   portable->query_block, *other);
  if (other->type != signature.type || other->sums != signature.sums ||
      other->out_type != signature.out_type)
    return fail(SPRT_DAMAGED)
           << "expected kernels \"" << signature.symbol << "\" and \""
           << other->symbol << "\" to have one state and one type";
  return checkForm(attend, *other);
}

Status
KernelValidator::checkAttention(const plan::AttendBackwardT &backward,
                                const plan::SignatureT &signature) const {
  if (Status failure = checkForm(backward, signature))
    return failure;
  if (backward.type != signature.type)
    return differs("the type", static_cast<int64_t>(signature.type),
                   static_cast<int64_t>(backward.type), signature);
  if (backward.term_gradients.size() != signature.term_gradients)
    return differs("a number of gradients of terms", signature.term_gradients,
                   static_cast<int64_t>(backward.term_gradients.size()),
                   signature);
  return Status::success();
}

Status KernelValidator::checkSignatures() const {
  if (!signatures)
    return Status::success();
  for (const auto &kernel : plan.kernels) {
    const plan::SignatureT *signature = signatures->find(kernel->symbol);
    if (!signature)
      return fail(SPRT_DAMAGED)
             << "the plan calls kernel \"" << kernel->symbol
             << "\" but the artifact does not say what it touches";
    if (!isForDevice(plan))
      continue;
    if (kernel->threads != signature->threads)
      return differs("a number of threads,", signature->threads,
                     kernel->threads, *signature);
    if (kernel->shared_bytes != signature->shared_bytes)
      return differs("bytes of shared memory,", signature->shared_bytes,
                     kernel->shared_bytes, *signature);
  }
  if (plan.scratch_bytes > signatures->scratchBytes())
    return fail(SPRT_DAMAGED)
           << "expected at most " << signatures->scratchBytes()
           << " bytes of scratch memory but got " << plan.scratch_bytes;
  return Status::success();
}

} // namespace sprt
