/// What single executions of commands come to, as a trace tells them.
#ifndef SPRT_LIB_WALK_STEPWORK_H
#define SPRT_LIB_WALK_STEPWORK_H

#include "walk/Prediction.h"
#include "walk/TouchingWalk.h"
#include "walk/TurnSums.h"

namespace sprt {

/// Numbers of one execution; `touchedBytes` are none.
struct StepWork : Prediction {
  /// Ranks of a SendRecv, or -1.
  int64_t to = -1, from = -1;
};

/// Looks at commands of a rank one by one, in any order.
class StepCounter : Walk {
public:
  /// Of a rank that `imagined` stands for, with its bindings.
  explicit StepCounter(Imagined &imagined);

  /// Of a command at these counters of the loops around it.
  Status count(const Step &step, const std::vector<int64_t> &at,
               StepWork &out_work);

private:
  Status visit(const Step &) override { return Status::success(); }
  Status decide(const Step &, const plan::ViewT &, plan::DType,
                int64_t &) override;
  template <typename TableT>
  Status countPairs(const Step &step, const TableT &attend, StepWork &work);
  template <typename TableT>
  Status countSums(const TableT &collective, StepWork &work);

  TurnSums sums;
};

} // namespace sprt

#endif // SPRT_LIB_WALK_STEPWORK_H
