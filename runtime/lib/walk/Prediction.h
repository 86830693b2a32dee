/// What a run of a plan does, rank by rank, counted before it: the bytes that
/// sp-run measures, and what a rank touches of its arena.
#ifndef SPRT_LIB_WALK_PREDICTION_H
#define SPRT_LIB_WALK_PREDICTION_H

#include "program/Program.h"

namespace sprt {

struct Prediction {
  int64_t bytesSent = 0; ///< to other ranks
  int64_t flops = 0;     ///< of matrix products and attention, or INT64_MAX
  /// Of the arena, in pages: less than the arena where a rank gets no rows, no
  /// heads or no blocks of its ring.
  int64_t touchedBytes = 0;
  /// The same of far memory, and what is copied from it and to it.
  int64_t farTouchedBytes = 0, farRead = 0, farWritten = 0;
  /// False where a decision of data changes the bytes: loops of unknown counts
  /// count one turn, branches the one that sends most.
  bool isExact = true;

  /// The product of these numbers.
  void addFlops(std::initializer_list<int64_t> factors) {
    algebra::Area left = static_cast<algebra::Area>(INT64_MAX - flops),
                  more = 1;
    for (int64_t factor : factors)
      more *= static_cast<algebra::Area>(factor);
    flops = more < left ? flops + static_cast<int64_t>(more) : INT64_MAX;
  }
  /// Bytes that a copy brings from far memory or takes there.
  void addFar(const plan::CopyT &copy, int64_t times = 1) {
    if (copy.source->space == plan::Space::far)
      farRead += times * copy.source->bytes;
    if (copy.target->space == plan::Space::far)
      farWritten += times * copy.target->bytes;
  }
  bool movesAsMuch(const Prediction &other) const {
    return bytesSent == other.bytesSent && farRead == other.farRead &&
           farWritten == other.farWritten;
  }
};

/// Predictions of all ranks. What comes to the same for all is counted once;
/// one by one nothing is, which tests compare.
enum class Counting { together, oneByOne };
/// Masks show so much.
Status predict(const Program &program, const Bindings &bindings,
               std::vector<Prediction> &out,
               Counting counting = Counting::together);
/// Before documents are known: they cut nothing off.
inline Status predict(const Program &program, std::vector<Prediction> &out,
                      Counting counting = Counting::together) {
  return predict(program, program.bindings, out, counting);
}

} // namespace sprt

#endif // SPRT_LIB_WALK_PREDICTION_H
