/// One stream of one rank on the CPU: walks the program in order and runs its
/// own commands.
#ifndef SPRT_LIB_EXECUTOR_STREAMRUN_H
#define SPRT_LIB_EXECUTOR_STREAMRUN_H

#include "executor/CpuRank.h"
#include "executor/ProgramWalk.h"

namespace sprt {

class StreamRun : public ProgramWalk {
public:
  StreamRun(CpuRank &rank, plan::Stream stream)
      : ProgramWalk(rank), cpu(rank), stream(stream),
        number(static_cast<int>(stream)), recorded(program.plan->events) {}

  /// The status names rank, command and step.
  Status run();

private:
  Status visit(const Step &step) override;
  /// All streams walk into a Loop, While or Case.
  Status enter(const Step &step);
  /// What the stream that owns `step` reads; the same on all streams.
  Status decide(const Step &step, const plan::ViewT &view, plan::DType type,
                int64_t &out_value) override;

  /// An own command: waits, work, times.
  Status perform(const Step &step);
  Status await(const plan::CommandT &command);

  Status launch(const plan::LaunchT &launch) override;
  Status attend(const Step &step, const plan::AttendT &attend) override;
  Status attendBackward(const Step &step,
                        const plan::AttendBackwardT &backward) override;
  const SliceTable &tableOf(const Step &step, const plan::AttendT &attend,
                            const AttendShape &shape);
  /// The step's table and whether it was only now made, without an order.
  template <typename TableT>
  std::pair<SliceTable &, bool> slicesOf(const Step &step, const TableT &attend,
                                         const AttendShape &shape);
  /// Adds what a score function reads, or its gradients, to a kernel's buffers
  /// and sizes.
  Status addTerms(const std::vector<std::unique_ptr<plan::ScoreTermT>> &terms,
                  const AttendShape &shape, std::vector<void *> &buffers,
                  std::vector<int64_t> &sizes) const;
  Status multiply(const plan::GemmT &gemm, const GemmData &data) override;
  Status move(const Message &target, const Message &source) override;
  Status fill(std::byte *target, uint8_t value, int64_t bytes) override;
  Status write(std::byte *target, const std::vector<std::byte> &bytes) override;
  Status exchangeRows(const plan::ExchangeT &exchange) override;
  Status reduceAll(const plan::AllReduceT &reduce) override;
  Status reduceRows(const plan::ReduceScatterT &reduce) override;

  CpuRank &cpu;
  const plan::Stream stream;
  const int number;
  std::vector<int64_t> recorded; ///< recorders passed, by event
  size_t decisions = 0;
};

} // namespace sprt

#endif // SPRT_LIB_EXECUTOR_STREAMRUN_H
