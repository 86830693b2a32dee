/// A session: the ranks of a program in this process, ready to run.
#ifndef SPRT_LIB_EXECUTOR_SESSION_H
#define SPRT_LIB_EXECUTOR_SESSION_H

#include "executor/Rank.h"
#include "executor/Trace.h"
#include "sprt/sprt.h"

#include <thread>

namespace sprt {

/// What one rank reports of a run; travels to rank 0 as bytes.
struct RankReport {
  int64_t bytesSent = 0;
  int64_t peakBytes = 0;
  double seconds = 0;
};

class World;

class Session {
public:
  explicit Session(const Program &program) : program(program) {}
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;
  ~Session();

  Status open(const sprt_session_options &options);
  Status run(const sprt_array *inputs, int64_t inputCount, sprt_array *results,
             int64_t resultCount);

  /// The next three are documented at `sprt_session_feed` and its neighbours.
  Status feed(int64_t result, int64_t input);
  int64_t fedBy(int64_t input) const;
  Status step(const sprt_array *inputs, int64_t inputCount, sprt_array *results,
              int64_t resultCount);
  Status collect(sprt_array *results, int64_t resultCount);

  /// These are documented at `sprt_session_start` and its neighbours.
  Status start(const sprt_array *inputs, int64_t inputCount,
               sprt_array *results, int64_t resultCount);
  Status wait(double limitSeconds, bool &out_done);
  void interrupt();

  Status writeTrace(const std::string &path) const;

  /// By nobody, by a call, by one whose run is still to begin, by a run that
  /// goes on between calls, by a call that waits for it.
  enum Use { idle, called, beginning, running, awaited };
  /// One call that uses the session, or `failure` while another one does.
  class Claim {
  public:
    Claim(const Session &session, Use from, Use to)
        : failure(session.claim(from, to)), session(session), holds(!failure) {}
    Claim(const Claim &) = delete;
    Claim &operator=(const Claim &) = delete;
    ~Claim() {
      if (holds)
        session.release(next);
    }
    /// The session stays in use: a run goes on after the call.
    void keepRunning() { next = running; }

    Status failure;

  private:
    const Session &session;
    bool holds;
    Use next = idle;
  };

  const Program &program;
  std::string communicator;
  int64_t speaker = 0; ///< the rank that this process speaks for
  std::vector<RankReport> reports;
  std::vector<CommandTime> times; ///< of the slowest local rank, by command
  std::atomic<double> seconds{0};
  std::atomic<int64_t> runs{0}; ///< that are done; -1 after a failure

private:
  Status claim(Use from, Use to) const;
  void release(Use next) const;

  Status checkOptions(const sprt_session_options &options) const;
  static std::chrono::duration<double>
  limitOf(const sprt_session_options &options);
  /// Which communicator and executor run the program.
  Status choose(const sprt_session_options &options);
  Status openRanks(const sprt_session_options &options);
  /// Joins the processes of the run, which are as many as the mesh has ranks.
  Status joinWorld(const sprt_session_options &options);
  /// The communicators' ends of the local ranks, and how many ranks share this
  /// machine.
  void connect(std::vector<std::unique_ptr<Communicator>> &out_ends,
               int64_t &out_sharers) const;
  Status openOnCpu(const sprt_session_options &options);
  Status openOnCuda(const sprt_session_options &options);
  /// Inputs without data are refused unless they `mayKeep` what they are.
  Status checkInputs(const sprt_array *inputs, int64_t count,
                     bool mayKeep) const;
  Status prepareResults(sprt_array *results, int64_t count) const;
  /// Checks results of which only those with data are asked for.
  Status checkResults(const sprt_array *results, int64_t count) const;
  /// Inputs and results of the next step.
  Status checkStep(const sprt_array *inputs, int64_t inputCount,
                   const sprt_array *results, int64_t resultCount) const;
  /// That no run has failed or was interrupted.
  Status checkAlive() const;
  /// One execution: `wanted` results come to rank 0.
  Status execute(const sprt_array *inputs, const sprt_array *results,
                 std::vector<bool> wanted);
  void beginExecution(const sprt_array *inputs, const sprt_array *results,
                      std::vector<bool> wanted);
  Status finishExecution();
  /// Calls `body` for every local rank, on a thread each.
  void begin(std::function<Status(Rank &)> body);
  void runThread(size_t index);
  /// Waits for these threads; one status for all.
  Status finish();
  /// The whole life of one local rank in a run.
  Status runRank(Rank &rank, const sprt_array *inputs,
                 const sprt_array *results, const std::vector<bool> &wanted);
  Status placeInputs(Rank &rank, const sprt_array *inputs) const;
  /// Moves results to the inputs without data that they feed.
  Status feedInputs(Rank &rank, const sprt_array *inputs) const;
  Status collectResults(Rank &rank, const sprt_array *results,
                        const std::vector<bool> &wanted);
  Status bufferOf(const Rank &rank, const ParameterInfo &info,
                  std::byte *&out_data) const;
  Status sendResult(Rank &rank, bool holds, const std::byte *local,
                    int64_t bytes);
  Status receiveResult(Rank &rank, size_t result, std::byte *global);
  static RankReport reportOf(const Rank &rank);
  /// Rank 0 learns what the other processes measured.
  Status gatherReports(Rank &rank, const Group &everyone);
  void summarise();
  /// Adds to a consequence whose failure it is one of.
  void explain(Status &status) const;
  /// One status for all ranks, causes before consequences.
  Status merge(std::vector<Status> statuses) const;

  bool distributed() const { return world != nullptr; }

  std::shared_ptr<World> world; ///< null where all ranks are threads
  RunControl control;
  std::vector<std::unique_ptr<Rank>> ranks; ///< local ones
  std::vector<std::vector<bool>> holders;   ///< by result, then by rank
  bool tracing = false;
  bool sharesCores = false; ///< ranks of this process outnumber its cores
  bool hasRun = false;
  /// By input: the result that is it next, or -1.
  std::vector<std::atomic<int64_t>> feeds;
  std::vector<std::string> traces; ///< of every rank, where ranks are processes

  /// Of what the local ranks do now.
  std::function<Status(Rank &)> work;
  std::vector<std::thread> threads;
  std::vector<Status> statuses;

  mutable std::mutex mutex; ///< of what follows
  mutable std::condition_variable changed;
  mutable Use use = idle;
  size_t working = 0; ///< ranks that have not done `work`
  bool interrupted = false;
};

} // namespace sprt

struct sprt_session : sprt::Session {
  using Session::Session;
};

#endif // SPRT_LIB_EXECUTOR_SESSION_H
