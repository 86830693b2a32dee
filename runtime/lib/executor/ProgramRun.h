/// A walk that runs the commands, as every executor makes it: what they are for
/// memory and the communicator, and when a loop has taken too long. How a
/// kernel is run and data moved is the executor's.
#ifndef SPRT_LIB_EXECUTOR_PROGRAMRUN_H
#define SPRT_LIB_EXECUTOR_PROGRAMRUN_H

#include "executor/Rank.h"
#include "walk/Walk.h"

#include <optional>

namespace sprt {

struct GemmData;

/// The two halves of a transfer under way, either of which may be none.
struct Requests {
  RequestPtr received, sent;
};

/// What data of a type decide: which branch, or whether a loop goes on.
int64_t decisionOf(plan::DType type, const std::byte *data);

class ProgramRun : public Walk {
protected:
  explicit ProgramRun(Rank &rank) : Walk(rank), rank(rank) {}

  /// Commands that every executor does in its own way.
  virtual Status launch(const plan::LaunchT &launch) = 0;
  virtual Status attend(const Step &step, const plan::AttendT &attend) = 0;
  virtual Status attendBackward(const Step &step,
                                const plan::AttendBackwardT &backward) = 0;
  virtual Status exchangeRows(const plan::ExchangeT &exchange) = 0;
  virtual Status reduceAll(const plan::AllReduceT &reduce) = 0;
  virtual Status reduceRows(const plan::ReduceScatterT &reduce) = 0;
  /// What the other commands come to.
  virtual Status multiply(const plan::GemmT &gemm, const GemmData &data) = 0;
  /// One of them, if dense, may lie in far memory.
  virtual Status move(const Message &target, const Message &source) = 0;
  virtual Status fill(std::byte *target, uint8_t value, int64_t bytes) = 0;
  virtual Status write(std::byte *target,
                       const std::vector<std::byte> &bytes) = 0;
  /// What `step` has posted has to be complete before anything that waits for
  /// the command.
  virtual Status settle(const Step &, Requests requests) {
    return complete(requests);
  }
  Status complete(Requests &requests);
  /// The command that `step` is.
  Status work(const Step &step);
  /// As Walk's, for as long as the session lets a loop take.
  Status control(const Step &step) override;

  Status tooLong(const char *what) const;

  /// Fails or stalls where a test wants it.
  Status inject(const Step &step) const;

  Rank &rank;
  /// When the outermost loop under way has taken too long, if there is a limit.
  std::optional<Clock::time_point> loopEnd;

private:
  Status gemm(const plan::GemmT &gemm);
  Status sendRecv(const Step &step, const plan::SendRecvT &transfer);
  /// Rows that do not travel become zeros.
  Status clear(const plan::SendRecvT &transfer);
  Status copy(const plan::CopyT &copy);
  Status fill(const plan::FillT &fill);
  Status rowsTable(const plan::RowsTableT &table);

  /// A loop that counts its own time, or is part of one that does.
  Status withLimit(const std::function<Status()> &loop);
  /// That its time is not over, and nobody ended the run.
  Status turned(const Step &step) override;
};

} // namespace sprt

#endif // SPRT_LIB_EXECUTOR_PROGRAMRUN_H
