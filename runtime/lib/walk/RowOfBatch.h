/// Which row of the batch a command is of, and what masks and layouts are
/// there.
#ifndef SPRT_LIB_WALK_ROWOFBATCH_H
#define SPRT_LIB_WALK_ROWOFBATCH_H

#include "program/Program.h"

namespace sprt {

class RowOfBatch {
public:
  explicit RowOfBatch(const Bindings &bindings) : all(&bindings) {}

  /// Goes to that of a command.
  Status goTo(const plan::CommandT &command, const Scope &scope);

  /// -1 of commands that are of all rows.
  int64_t number() const { return row; }
  const Binding &bound() const {
    return row < 0 ? all->whole : all->rows[static_cast<size_t>(row)];
  }
  const algebra::Layout &layout(uint32_t number) const {
    return bound().layouts[number];
  }
  const algebra::Bands &mask(const Program &program, const Step &step) const {
    return program.maskIn(bound(), step);
  }

private:
  const Bindings *all;
  int64_t row = -1;
};

} // namespace sprt

#endif // SPRT_LIB_WALK_ROWOFBATCH_H
