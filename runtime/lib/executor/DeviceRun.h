/// One run of one rank on a device: walks the program in order and puts every
/// command on its stream. Loops are unrolled; what depends on data is read once
/// the stream that owns the command is empty.
///
/// An event of the plan is one event of the device, recorded anew by every
/// recorder that is passed: a wait means the latest record before it in the
/// program's order, which is what the device's wait means.
#ifndef SPRT_LIB_EXECUTOR_DEVICERUN_H
#define SPRT_LIB_EXECUTOR_DEVICERUN_H

#include "executor/DeviceRank.h"
#include "executor/ProgramRun.h"

namespace sprt {

/// Which of an attention's kernels the device runs.
struct AttendKernel;

class DeviceRun : public ProgramRun {
public:
  explicit DeviceRun(DeviceRank &rank)
      : ProgramRun(rank), deviceRank(rank), device(*rank.device) {}

  /// Puts every command on its stream; what depends on data waits. The status
  /// names rank, command and step.
  Status give() { return walk(program.steps); }
  /// Waits for all streams.
  Status finish();
  /// Waits for a stream; a failure of its work names the command.
  Status synchronise(int stream);

private:
  Status visit(const Step &step) override;
  Status decide(const Step &step, const plan::ViewT &view, plan::DType type,
                int64_t &out_value) override;

  Status perform(const Step &step);
  /// The work of a command, between the events that time it.
  Status timed(const Step &step);
  Status await(const plan::CommandT &command);
  Status record(const plan::CommandT &command);
  /// What follows is put on this command's stream.
  void enter(const Step &step);

  Status launch(const plan::LaunchT &launch) override;
  Status attend(const Step &step, const plan::AttendT &attend) override;
  Status attendBackward(const Step &, const plan::AttendBackwardT &) override {
    return fail(SPRT_UNSUPPORTED)
           << "expected no gradient of attention in a plan for GPUs; compile "
              "without --target";
  }
  Status tableOf(const Step &step, const plan::AttendT &attend,
                 const AttendShape &shape, const AttendKernel &kernel,
                 DeviceRank::AttendTable &out_table);
  /// Numbers for kernels, in memory of the device that stays. Drivers may wait
  /// for the stream where they copy pageable memory, for ever if a kernel does
  /// not end: so whoever does that waits for the stream before.
  Status upload(const std::byte *values, int64_t bytes,
                const std::byte *&out_data);
  Status multiply(const plan::GemmT &gemm, const GemmData &data) override;
  Status move(const Message &target, const Message &source) override;
  Status fill(std::byte *target, uint8_t value, int64_t bytes) override;
  Status write(std::byte *target, const std::vector<std::byte> &bytes) override;

  Status exchangeRows(const plan::ExchangeT &exchange) override;
  /// Reductions are the host's, so they wait for the stream.
  Status reduceAll(const plan::AllReduceT &reduce) override;
  Status reduceRows(const plan::ReduceScatterT &reduce) override;

  Device::Stream &stream() const { return deviceRank.stream(number); }

  DeviceRank &deviceRank;
  Device &device;
  int number = 0; ///< of the stream of the current command
};

} // namespace sprt

#endif // SPRT_LIB_EXECUTOR_DEVICERUN_H
