/// The last turn of a ring that goes round in a group, which all others are
/// unlike: blocks that others need have been everywhere, and nothing is sent.
#ifndef SPRT_LIB_WALK_GROUPTURNS_H
#define SPRT_LIB_WALK_GROUPTURNS_H

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

#endif // SPRT_LIB_WALK_GROUPTURNS_H
