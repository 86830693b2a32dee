/// A session: the ranks of a program in this process, ready to run.
#ifndef SPRT_LIB_EXECUTOR_SESSION_H
#define SPRT_LIB_EXECUTOR_SESSION_H

#include "executor/DocumentBindings.h"
#include "executor/Measurements.h"
#include "executor/RunArrays.h"

#include <thread>

namespace sprt {

class Session {
public:
  explicit Session(const Program &program)
      : program(program), feeds(program), documents(program), arrays(program) {}
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;
  ~Session();

  Status open(const sprt_session_options &options);
  Status run(const sprt_array *inputs, int64_t inputCount, sprt_array *results,
             int64_t resultCount);

  /// These are documented at `sprt_session_feed` and its neighbours.
  Status step(const sprt_array *inputs, int64_t inputCount, sprt_array *results,
              int64_t resultCount);
  Status collect(sprt_array *results, int64_t resultCount);

  /// These are documented at `sprt_session_start` and its neighbours.
  Status start(const sprt_array *inputs, int64_t inputCount,
               sprt_array *results, int64_t resultCount);
  Status wait(double limitSeconds, bool &out_done);
  void interrupt();

  Status trace(std::string &out_text) const;

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
  Feeds feeds;
  std::vector<std::string> stateNames; ///< as they were asked for
  DocumentBindings documents;          ///< of the last run
  Measurements measured;
  std::atomic<int64_t> runs{0}; ///< that are done; -1 after a failure

private:
  Status claim(Use from, Use to) const;
  void release(Use next) const;

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
  /// Tells a rank what its masks show, once one rank of this process has read
  /// the documents.
  Status learnDocuments(Rank &rank, const sprt_array *inputs);
  /// Whether processes have been given the same ones.
  Status compareDocuments(Rank &rank, const Group &everyone);
  /// The whole life of one local rank in a run.
  Status runRank(Rank &rank, const sprt_array *inputs,
                 const sprt_array *results, const std::vector<bool> &wanted);
  /// Adds to a consequence whose failure it is one of.
  void explain(Status &status) const;

  RunArrays arrays;
  RunControl control;
  LocalRanks local;
  bool tracing = false;
  bool hasRun = false;
  bool documentsChange = false; ///< in this run

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
