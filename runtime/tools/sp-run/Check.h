/// Comparison of results with a reference.
#ifndef SP_RUN_CHECK_H
#define SP_RUN_CHECK_H

#include "Arrays.h"

/// The largest differences over all results.
struct Errors {
  bool compared = false;
  double maxAbs = 0;
  double maxRel = 0; ///< max|a-b| / max|b| of one result
};

/// Compares every result with the reference file and prints one line for each.
/// False if one differs too much or cannot be compared.
bool checkResults(const sprt_program *program, const Options &options,
                  const std::vector<sprt_array> &results, Errors &out_errors);

#endif // SP_RUN_CHECK_H
