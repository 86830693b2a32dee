/// Results that become inputs of the next step where they are.
#ifndef SPRT_LIB_EXECUTOR_FEEDS_H
#define SPRT_LIB_EXECUTOR_FEEDS_H

#include "executor/Rank.h"
#include "sprt/sprt.h"

#include <atomic>

namespace sprt {

/// Which result each input is next. Any thread may ask, one at a time adds.
class Feeds {
public:
  explicit Feeds(const Program &program);

  /// What the program donates.
  Status addDonated();
  /// Documented at `sprt_session_feed`.
  Status add(int64_t result, int64_t input);
  /// The result that feeds an input, or -1.
  int64_t resultOf(int64_t input) const;

  /// Moves results of a rank to the inputs without data that they feed.
  Status move(Rank &rank, const sprt_array *inputs) const;

private:
  const Program &program;
  std::vector<std::atomic<int64_t>> results; ///< by input, or -1
};

} // namespace sprt

#endif // SPRT_LIB_EXECUTOR_FEEDS_H
