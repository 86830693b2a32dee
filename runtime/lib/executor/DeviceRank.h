/// A rank of the executor for devices: memory and streams of one, which one
/// thread of the host gives the program's commands.
#ifndef SPRT_LIB_EXECUTOR_DEVICERANK_H
#define SPRT_LIB_EXECUTOR_DEVICERANK_H

#include "communicator/LocalCommunicator.h"
#include "executor/Rank.h"
#include "executor/Staging.h"

namespace sprt {

class DeviceRun;

class DeviceRank : public Rank {
public:
  DeviceRank(const Program &program, int64_t number,
             std::unique_ptr<Communicator> communicator, RunControl &control,
             std::shared_ptr<Device> device,
             std::shared_ptr<RankStreams> streams)
      : Rank(program, number, std::move(communicator), control),
        device(std::move(device)), streams(std::move(streams)),
        staging(this->device, number) {}
  ~DeviceRank() override;

  /// Reserves arena and scratch memory. `constants`: of the device, shared by
  /// its ranks.
  Status allocate(const std::byte *constants);

  void beginRun(bool tracing) override;
  void show(const Bindings &ofRun) override;
  Status execute() override;
  void beginThread() override;
  void endThread() override;
  void interrupt() override;
  int64_t peakBytes() const override {
    return program.plan->arena_bytes + program.plan->scratch_bytes;
  }
  int64_t farPeakBytes() const override { return program.plan->far_bytes; }
  Status place(const Placement &placement, const std::byte *global,
               std::byte *local) override;
  Status collect(const Placement &placement, const std::byte *local,
                 std::byte *global) override;
  Status copy(std::byte *target, const std::byte *source,
              int64_t bytes) override;
  Status store(std::byte *target, const std::byte *source,
               int64_t bytes) override;
  Status fetch(const std::byte *local, int64_t bytes,
               const std::byte *&out_data) override;

  Device::Stream &stream(int number) const {
    return *(*streams)[static_cast<size_t>(number)];
  }

  /// What attention reads of a mask, on the device.
  struct AttendTable {
    const cuda::Slice *slices = nullptr;
    /// Of blocks of queries, and which slices each of them meets.
    const int32_t *order = nullptr, *ranges = nullptr;
    /// Of local rows, where a score function reads them.
    const int32_t *queryPositions = nullptr, *keyPositions = nullptr;
    const int32_t *counter = nullptr; ///< which launches leave at 0
    int32_t sliceCount = 0, blockCount = 0, groupPairs = 0;
  };

  /// One execution of a command, as events saw it.
  struct Span {
    int32_t command;
    std::vector<int64_t> counters; ///< of the loops around it
    int stream;
    std::unique_ptr<Device::Event> begin, end;
    size_t firstFlow, lastFlow; ///< transfers of the stream's channel
  };

  const std::shared_ptr<Device> device;
  const std::shared_ptr<RankStreams> streams;
  std::vector<std::unique_ptr<Device::Event>> events; ///< of the plan
  /// By command, row of the batch and owners.
  std::map<std::tuple<int32_t, int64_t, int64_t, int64_t>, AttendTable> tables;
  /// Other numbers that the program writes, by stream and value.
  std::map<std::pair<int, std::vector<std::byte>>, const std::byte *> numbers;
  std::vector<std::byte *> tableMemory;
  std::byte *scratch = nullptr; ///< of kernels other than attention

  /// Of the last run; their events serve the next.
  std::vector<Span> spans;
  size_t spanCount = 0;

private:
  void releaseTables();
  /// Repeats the last run, which has filled tables and found algorithms,
  /// without going through the program: the second run of a session is
  /// recorded.
  Status repeat(DeviceRun &run);
  /// Reads the spans' times, counted from `origin`, which was at `begin`.
  Status measure(const Device::Event &origin, Clock::time_point begin);

  Staging staging;
  std::vector<std::byte> fetched;
  bool hasRun = false, recorded = false;
  Device::Limit firstRun{0}; ///< how long it took
};

} // namespace sprt

#endif // SPRT_LIB_EXECUTOR_DEVICERANK_H
