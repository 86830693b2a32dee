/// What a plan means by one rank: who it is, and where its memory begins.
#ifndef SPRT_LIB_WALK_RANKVIEW_H
#define SPRT_LIB_WALK_RANKVIEW_H

#include "program/Expression.h"
#include "program/Program.h"
#include "support/Group.h"

#include <array>
#include <map>
#include <tuple>

namespace sprt {

class RankView {
public:
  RankView(const Program &program, int64_t number)
      : program(program), number(number),
        coordinates(program.coordinates(number)) {}

  /// Where a view begins in its space, into which it fits.
  Status offsetOf(const plan::ViewT &view, const Scope &scope,
                  int64_t &out_offset) const;
  /// Where a view lies, whoever may follow that address.
  Status resolve(const plan::ViewT &view, const Scope &scope,
                 std::byte *&out_data) const;
  /// The ranks that differ from this one along these factors only, the first
  /// one outermost.
  Group groupOf(const std::vector<uint32_t> &factors) const;

  const Program &program;
  const int64_t number;
  const std::vector<int64_t> coordinates;
  /// By stream, then by command, row of the batch, owner and window: how far
  /// along a ring a block is needed.
  using Reaches = std::array<
      std::map<std::tuple<int32_t, int64_t, int64_t, int64_t>, int64_t>,
      kStreams>;
  Reaches reaches;
  /// What masks and layouts are in a run.
  const Bindings *bindings = &program.bindings;

protected:
  std::byte *baseOf(plan::Space space) const;

  /// Of whoever runs the commands.
  std::byte *arenaData = nullptr, *farData = nullptr;
  const std::byte *constantData = nullptr;
};

} // namespace sprt

#endif // SPRT_LIB_WALK_RANKVIEW_H
