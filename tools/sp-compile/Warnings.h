/// What a user loses without having asked for it.
#ifndef SP_TOOLS_SPCOMPILE_WARNINGS_H
#define SP_TOOLS_SPCOMPILE_WARNINGS_H

#include "Decisions.h"

namespace mlir::sp {

/// One cause: what was missed at one line of the source.
struct Warning {
  Decision first;
  int64_t count = 1; ///< how often it happens
  /// Of all of them, every trip of a loop; 0 where it sends nothing.
  int64_t bytes = 0;

  std::string text() const;
};

/// The losses of a compilation, one of each cause, in the order in which they
/// were found.
std::vector<Warning> findWarnings(const RemarkLog &log);

/// Prints them on stderr, each at its line; as errors where they are `strict`,
/// and fails then where there are any.
LogicalResult tell(ArrayRef<Warning> warnings, bool strict);

/// The same as the report lists it.
nlohmann::json describeWarnings(ArrayRef<Warning> warnings);

} // namespace mlir::sp

#endif // SP_TOOLS_SPCOMPILE_WARNINGS_H
