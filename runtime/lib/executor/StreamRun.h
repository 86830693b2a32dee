/// One stream of one rank on the CPU, or all of them: walks the program in
/// order and runs its own commands.
///
/// Where ranks have to share cores, one thread runs all streams of a rank. A
/// transfer is then posted where the program has it, and completed where its
/// event is waited for, or its stream goes on. That place is the same for all
/// ranks, so that the one which is behind all others never waits for them.
///
///     comm       shift .............. (done)          shift  post
///     compute    ready  attend  wait(shift)     ->    attend
///                                                     wait   completes it
#ifndef SPRT_LIB_EXECUTOR_STREAMRUN_H
#define SPRT_LIB_EXECUTOR_STREAMRUN_H

#include "executor/CpuRank.h"
#include "executor/ProgramRun.h"

#include <optional>

namespace sprt {

class StreamRun : public ProgramRun {
public:
  /// Without a stream: of all.
  explicit StreamRun(CpuRank &rank, std::optional<plan::Stream> stream = {})
      : ProgramRun(rank), cpu(rank), stream(stream),
        number(static_cast<int>(stream.value_or(plan::Stream::compute))),
        recorded(program.plan->events) {}

  /// The status names rank, command and step.
  Status run();

private:
  /// A SendRecv that has been posted but not completed.
  struct Posted {
    const Step *step;
    std::vector<int64_t> counters; ///< where it was posted
    Requests requests;
    Clock::time_point arrived, begin; ///< set by `perform`
  };

  bool isOwn(const plan::CommandT &command) const {
    return !stream || command.stream == *stream;
  }
  Status settle(const Step &step, Requests requests) override;
  /// Completes what a stream has posted, if anything.
  Status completePosted(plan::Stream of);
  /// The command is done: its times, and its event.
  void note(const Step &step, const std::vector<int64_t> &at,
            Clock::time_point arrived, Clock::time_point begin);
  void record(const plan::CommandT &command);

  Status visit(const Step &step) override;
  /// All streams walk into a Loop, While or Case.
  Status enter(const Step &step);
  /// What the stream that owns `step` reads; the same on all streams.
  Status decide(const Step &step, const plan::ViewT &view, plan::DType type,
                int64_t &out_value) override;

  /// An own command: waits, work, times.
  Status perform(const Step &step);
  Status await(const plan::CommandT &command);

  /// Tiles of a kernel, for as long as the session lets a rank compute.
  Status compute(int64_t tiles, const TilePool::Work &work);

  Status launch(const plan::LaunchT &launch) override;
  Status attend(const Step &step, const plan::AttendT &attend) override;
  Status attendBackward(const Step &step,
                        const plan::AttendBackwardT &backward) override;
  /// The step's table and whether it was only now made, without an order.
  template <typename TableT>
  std::pair<SliceTable &, bool> slicesOf(const Step &step, const TableT &attend,
                                         const AttendShape &shape);
  Status multiply(const plan::GemmT &gemm, const GemmData &data) override;
  Status move(const Message &target, const Message &source) override;
  Status fill(std::byte *target, uint8_t value, int64_t bytes) override;
  Status write(std::byte *target, const std::vector<std::byte> &bytes) override;
  Status exchangeRows(const plan::ExchangeT &exchange) override;
  Status reduceAll(const plan::AllReduceT &reduce) override;
  Status reduceRows(const plan::ReduceScatterT &reduce) override;

  CpuRank &cpu;
  const std::optional<plan::Stream> stream;
  const int number;                       ///< of the stream, or the first
  std::optional<Posted> posted[kStreams]; ///< of a run of all streams
  std::vector<int64_t> recorded;          ///< recorders passed, by event
  size_t decisions = 0;
};

} // namespace sprt

#endif // SPRT_LIB_EXECUTOR_STREAMRUN_H
