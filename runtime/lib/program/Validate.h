/// Checks of a plan's parts, shared by the sources that validate it.
#ifndef SPRT_LIB_PROGRAM_VALIDATE_H
#define SPRT_LIB_PROGRAM_VALIDATE_H

#include "program/Expression.h"
#include "program/Signatures.h"

namespace sprt {

/// Upper bound of sizes and offsets: far above any machine, far below overflow.
inline constexpr int64_t kMaxBytes = int64_t(1) << 46;
/// Of heads, so that a product of two numbers of them does not overflow.
inline constexpr int64_t kMaxHeads = INT32_MAX;
/// What positions in a table of them have to fit in.
inline constexpr int64_t kMaxPosition = INT32_MAX;
inline constexpr int kMaxNesting = 64;

/// Validates commands against a plan; text of failures names the command.
class CommandValidator {
public:
  /// Without signatures kernels do what the plan says of them.
  CommandValidator(const plan::PlanT &plan,
                   const std::vector<algebra::Layout> &layouts,
                   const Signatures *signatures)
      : plan(plan), layouts(layouts), signatures(signatures),
        recorder(plan.events, -1) {}

  /// That every kernel is described, and launched as it was made.
  Status checkSignatures() const;

  Status check(const std::vector<std::unique_ptr<plan::CommandT>> &commands);

private:
  Status check(const plan::CommandT &command);
  Status checkOperation(const plan::CommandT &command);
  Status check(const plan::LaunchT &launch);
  Status check(const plan::AttendT &attend);
  Status checkForCuda(const plan::AttendT &attend);
  /// The signature is null where there are none.
  Status checkKernel(uint32_t kernel, plan::KernelKind kind,
                     int64_t scratchBytes,
                     const plan::SignatureT *&out_signature);
  Status checkOperands(const plan::LaunchT &launch,
                       const plan::SignatureT &signature);
  Status checkAttention(const plan::AttendT &attend,
                        const plan::SignatureT &signature);
  Status checkAttention(const plan::AttendBackwardT &backward,
                        const plan::SignatureT &signature);
  Status check(const plan::AttendBackwardT &backward);
  /// What attention and its gradients share.
  template <typename TableT>
  Status checkPairs(const TableT &attend, plan::KernelKind kind);
  /// What a score function reads, or its gradients; there is a head.
  Status checkTerms(const std::vector<std::unique_ptr<plan::ScoreTermT>> &terms,
                    int64_t headsTotal, bool areWritten);
  Status check(const plan::GemmT &gemm);
  Status check(const plan::SendRecvT &transfer);
  Status checkNeeds(const plan::SendRecvT &transfer);
  Status checkBands(const std::vector<plan::Band> &bands);
  Status check(const plan::ExchangeT &exchange);
  Status check(const plan::AllReduceT &reduce);
  Status check(const plan::ReduceScatterT &reduce);
  Status check(const plan::RowsTableT &table);
  Status check(const plan::LoopT &loop);
  Status check(const plan::WhileT &loop);
  Status check(const plan::CaseT &choice);

  Status checkBody(const std::vector<std::unique_ptr<plan::CommandT>> &body);
  Status checkView(const plan::ViewT *view, const char *what, bool written,
                   int64_t leastBytes = 0);
  Status checkStrided(const plan::StridedT *strided, const char *what,
                      bool written);
  Status checkRows(const plan::RowsT *rows, const char *what);
  Status checkExpr(const plan::ExprT *expression, const char *what);
  Status checkFactor(uint32_t factor);
  Status checkLayout(int64_t layout, const char *what);
  Status checkReduction(plan::DType type, plan::Reduction kind);

  const plan::PlanT &plan;
  const std::vector<algebra::Layout> &layouts;
  const Signatures *signatures;
  std::vector<int> recorder; ///< stream that records an event, or -1
  size_t counters = 0;       ///< enclosing loops
  int nesting = 0;
};

/// Whether `value` is one of an enumeration's.
template <typename E> bool isEnum(E value) {
  return value >= E::MIN && value <= E::MAX;
}

/// 0 <= value <= kMaxBytes, or a failure that names it.
Status checkSize(int64_t value, const char *what, int64_t least = 0,
                 int64_t most = kMaxBytes);

/// Three of them, each checked so.
Status checkStrides(const std::vector<int64_t> &strides, const char *what);

/// The view of an input or result, and its dimensions.
Status checkParameter(const plan::PlanT &plan,
                      const plan::ParameterT *parameter, bool isInput);

} // namespace sprt

#endif // SPRT_LIB_PROGRAM_VALIDATE_H
