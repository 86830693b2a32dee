/// The turn of a ring that would take blocks home, which all others are unlike:
/// they have been everywhere, and nothing is sent. A loop over a group, of
/// which nobody knows how many it has, ends with such a turn.
#ifndef SPRT_LIB_WALK_HOMETURNS_H
#define SPRT_LIB_WALK_HOMETURNS_H

#include "program/Program.h"
#include "walk/Turns.h"

namespace sprt {

/// Whether the transfer would take blocks home.
Status goesHome(const Program &program, const plan::SendRecvT &transfer,
                const Scope &scope, bool &out_goesHome);

/// Cuts that turn off the innermost of the loops that the transfer is in.
Status leaveOutHome(const Program &program, const plan::SendRecvT &transfer,
                    const std::vector<int64_t> &coordinates, LoopBounds &loops);

} // namespace sprt

#endif // SPRT_LIB_WALK_HOMETURNS_H
