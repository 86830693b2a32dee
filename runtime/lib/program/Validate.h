/// Checks of a plan, shared by the sources that validate it.
#ifndef SPRT_LIB_PROGRAM_VALIDATE_H
#define SPRT_LIB_PROGRAM_VALIDATE_H

#include "program/ValidateKernels.h"
#include "program/ValidateParts.h"

namespace sprt {

/// Of heads, so that a product of two numbers of them does not overflow.
inline constexpr int64_t kMaxHeads = INT32_MAX;
/// What positions in a table of them have to fit in.
inline constexpr int64_t kMaxPosition = INT32_MAX;
inline constexpr int kMaxNesting = 64;

/// Validates commands against a plan; text of failures names the command.
class CommandValidator {
public:
  CommandValidator(const plan::PlanT &plan,
                   const std::vector<algebra::Layout> &layouts,
                   const KernelValidator &kernels)
      : plan(plan), layouts(layouts), kernels(kernels), parts(plan),
        recorder(plan.events, -1) {}

  Status check(const std::vector<std::unique_ptr<plan::CommandT>> &commands);

private:
  Status check(const plan::CommandT &command);
  Status checkOperation(const plan::CommandT &command);
  Status check(const plan::LaunchT &launch);
  Status check(const plan::AttendT &attend);
  Status check(const plan::AttendBackwardT &backward);
  /// What attention and its gradients share.
  template <typename TableT>
  Status checkPairs(const TableT &attend, plan::KernelKind kind);
  Status check(const plan::GemmT &gemm);
  Status check(const plan::SendRecvT &transfer);
  Status checkNeeds(const plan::SendRecvT &transfer);
  /// A value of a collective along a factor; of `areParts` the group has the
  /// parts of one ring owner.
  Status checkMoved(const plan::MovedT *moved, uint32_t factor, bool areParts,
                    const char *what);
  Status check(const plan::ExchangeT &exchange);
  Status check(const plan::AllReduceT &reduce);
  Status check(const plan::ReduceScatterT &reduce);
  Status check(const plan::RowsTableT &table);
  Status check(const plan::LoopT &loop);
  Status check(const plan::WhileT &loop);
  Status check(const plan::CaseT &choice);
  Status checkBody(const std::vector<std::unique_ptr<plan::CommandT>> &body);

  const plan::PlanT &plan;
  const std::vector<algebra::Layout> &layouts;
  const KernelValidator &kernels;
  PartValidator parts;
  std::vector<int> recorder; ///< stream that records an event, or -1
  int nesting = 0;
};

/// Three of them, each checked so.
Status checkStrides(const std::vector<int64_t> &strides, const char *what);

/// Positions that are sizes.
Status checkBands(const std::vector<plan::Band> &bands);

/// The view of an input or result, and its dimensions.
Status checkParameter(const plan::PlanT &plan,
                      const plan::ParameterT *parameter, bool isInput);

} // namespace sprt

#endif // SPRT_LIB_PROGRAM_VALIDATE_H
