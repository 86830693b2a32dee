/// What goes into a run and comes out of it: global arrays.
#ifndef SPRT_LIB_EXECUTOR_RUNARRAYS_H
#define SPRT_LIB_EXECUTOR_RUNARRAYS_H

#include "executor/Rank.h"
#include "sprt/sprt.h"

namespace sprt {

class RunArrays {
public:
  explicit RunArrays(const Program &program) : program(program) {}

  /// `isDistributed`: the rank of this process, `speaker`, is one of several
  /// processes.
  Status open(bool isDistributed, int64_t speaker);

  /// Inputs without data are refused unless they `mayKeep` what they are.
  Status checkInputs(const sprt_array *inputs, int64_t count,
                     bool mayKeep) const;
  /// Checks results, and makes memory for those without data.
  Status prepareResults(sprt_array *results, int64_t count) const;
  /// Checks results of which only those with data are asked for.
  Status checkResults(const sprt_array *results, int64_t count) const;

  /// Brings inputs with data to a rank.
  Status place(Rank &rank, const sprt_array *inputs) const;
  /// Brings the `wanted` results to rank 0. Every rank calls this.
  Status collect(Rank &rank, const sprt_array *results,
                 const std::vector<bool> &wanted) const;

private:
  Status send(Rank &rank, bool holds, const std::byte *local,
              int64_t bytes) const;
  Status receive(Rank &rank, size_t result, std::byte *global) const;

  const Program &program;
  bool isDistributed = false;
  int64_t speaker = 0;
  std::vector<std::vector<bool>> holders; ///< by result, then by rank
};

/// Where a rank has an input or a result.
Status bufferOf(const Rank &rank, const ParameterInfo &info,
                std::byte *&out_data);

} // namespace sprt

#endif // SPRT_LIB_EXECUTOR_RUNARRAYS_H
