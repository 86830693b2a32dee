/// One stream of one rank: walks the program in order and runs its own
/// commands.
#ifndef SPRT_LIB_EXECUTOR_STREAMRUN_H
#define SPRT_LIB_EXECUTOR_STREAMRUN_H

#include "executor/Rank.h"

namespace sprt {

class StreamRun {
public:
  StreamRun(Rank &rank, plan::Stream stream)
      : rank(rank), program(rank.program), stream(stream),
        number(static_cast<int>(stream)),
        scope{&rank.coordinates, &counters, &program.layouts},
        recorded(program.plan->events) {}

  /// The status names rank, command and step.
  Status run();

private:
  Status walk(const std::vector<Step> &steps);
  Status visit(const Step &step);
  /// A Loop, While or Case: all streams walk into it.
  Status control(const Step &step);
  Status loop(const Step &step, const plan::LoopT &loop);
  Status whileLoop(const Step &step, const plan::WhileT &loop);
  Status choose(const Step &step, const plan::CaseT &choice);
  /// What the stream that owns `step` reads from `view`; the same on all
  /// streams.
  Status decide(const Step &step, const plan::ViewT &view, plan::DType type,
                int64_t &out_value);

  /// An own command: waits, work, times.
  Status perform(const Step &step);
  Status await(const plan::CommandT &command);
  Status inject(const Step &step) const;
  Status work(const Step &step);

  Status launch(const plan::LaunchT &launch);
  Status attend(const Step &step, const plan::AttendT &attend);
  const SliceTable &slicesOf(const Step &step, const plan::AttendT &attend,
                             int64_t queryOwner, int64_t keyOwner);
  Status gemm(const plan::GemmT &gemm);
  Status sendRecv(const Step &step, const plan::SendRecvT &transfer);
  /// The blocks that travel to `receiver`, as one message.
  Status blocks(const Step &step, const plan::SendRecvT &transfer,
                const std::vector<std::unique_ptr<plan::BlockT>> &list,
                int64_t receiver, Message &out_message);
  /// Whether the block of an owner is needed where `receiver` takes it to.
  bool isNeeded(const Step &step, const plan::NeedsT &needs,
                const algebra::Layout &keys, int64_t owner, int64_t receiver);
  Status exchangeRows(const plan::ExchangeT &exchange);
  Status reduceAll(const plan::AllReduceT &reduce);
  Status reduceRows(const plan::ReduceScatterT &reduce);
  Status copy(const plan::CopyT &copy);
  Status fill(const plan::FillT &fill);
  Status rowsTable(const plan::RowsTableT &table);

  Status aligned(const plan::ViewT &view, std::byte *&out_data) const;
  Status strided(const plan::StridedT &strided, int64_t rows, int64_t heads,
                 Piece &out_piece) const;
  /// Whether `when` lets the command run.
  Status enabled(const plan::CommandT &command, bool &out_enabled) const;
  /// Adds rank, command and step to a failure.
  Status located(Status failure, const Step &step) const;

  Rank &rank;
  const Program &program;
  const plan::Stream stream;
  const int number;
  std::vector<int64_t> counters;
  Scope scope;
  std::vector<int64_t> recorded; ///< recorders passed, by event
  size_t decisions = 0;
};

} // namespace sprt

#endif // SPRT_LIB_EXECUTOR_STREAMRUN_H
