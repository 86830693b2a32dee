/// Checks of what commands may ask of kernels: what these are made for, no more
/// and no less. Numbers that differ by rank are checked where a command begins.
#ifndef SPRT_LIB_PROGRAM_VALIDATEKERNELS_H
#define SPRT_LIB_PROGRAM_VALIDATEKERNELS_H

#include "program/Signatures.h"

namespace sprt {

class PartValidator;

class KernelValidator {
public:
  /// Without signatures kernels do what the plan says of them.
  KernelValidator(const plan::PlanT &plan, const Signatures *signatures)
      : plan(plan), signatures(signatures) {}

  /// That every kernel is described, and launched as it was made.
  Status checkSignatures() const;
  /// That there is one of this kind. The signature is null where there are
  /// none.
  Status check(uint32_t kernel, plan::KernelKind kind, int64_t scratchBytes,
               const plan::SignatureT *&out_signature) const;
  /// That a kernel does what an attention asks of it.
  Status checkAttention(const plan::AttendT &attend,
                        const plan::SignatureT &signature) const;
  Status checkAttention(const plan::AttendBackwardT &backward,
                        const plan::SignatureT &signature) const;

private:
  const plan::PlanT &plan;
  const Signatures *signatures;
};

/// That a launch gives a kernel the buffers that it touches.
Status checkOperands(const plan::LaunchT &launch,
                     const plan::SignatureT &signature,
                     const PartValidator &parts);

} // namespace sprt

#endif // SPRT_LIB_PROGRAM_VALIDATEKERNELS_H
