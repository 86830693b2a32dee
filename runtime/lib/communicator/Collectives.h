/// Collectives over a group of ranks, written once above send and receive.
///
/// Every member calls with the same arguments up to its own memory. Results do
/// not depend on timing: a reduction adds in the order of the group, starting
/// with the member that keeps the result. Reductions are the host's: theirs is
/// its memory.
#ifndef SPRT_LIB_COMMUNICATOR_COLLECTIVES_H
#define SPRT_LIB_COMMUNICATOR_COLLECTIVES_H

#include "communicator/Communicator.h"
#include "sprt/plan_generated.h"
#include "support/Group.h"

namespace sprt {

/// Every rank of a communicator.
Group allRanks(const Communicator &communicator);

/// Returns once every member has called it.
Status barrier(Communicator &communicator, int channel, const Group &group);

/// Sends outgoing[i] to member i and fills incoming[i] from it; the own entry
/// is copied. Empty messages do not travel.
Status exchange(Communicator &communicator, int channel, const Group &group,
                const std::vector<Message> &outgoing,
                const std::vector<Message> &incoming);

/// The same without the own entry. On a communicator for streams it returns as
/// soon as the transfers are ordered before what the channel's stream is given
/// from then on.
Status exchangeWithPeers(Communicator &communicator, int channel,
                         const Group &group,
                         const std::vector<Message> &outgoing,
                         const std::vector<Message> &incoming);

/// Its two halves. What is posted before the first is ordered a communicator
/// for streams runs in one group.
Status postToPeers(Communicator &communicator, int channel, const Group &group,
                   const std::vector<Message> &outgoing,
                   const std::vector<Message> &incoming,
                   std::vector<RequestPtr> &requests);
Status orderAll(Communicator &communicator, std::vector<RequestPtr> &requests);

/// Combines `count` elements: target = target (kind) operand.
void reduceInto(plan::DType type, plan::Reduction kind, int64_t count,
                void *target, const void *operand);

/// In place: a direct reduce-scatter, then an all-gather. Member i reduces part
/// i of a contiguous layout of each run's elements, so that what runs travel
/// together does not change a sum.
Status allReduce(Communicator &communicator, int channel, const Group &group,
                 plan::DType type, plan::Reduction kind, const Message &data);

/// Reduces parts[i] of every member at member i, into `target`. Parts have the
/// same shape for all members; `target` may not overlap them.
Status reduceScatter(Communicator &communicator, int channel,
                     const Group &group, plan::DType type, plan::Reduction kind,
                     const std::vector<Message> &parts, const Message &target);

/// Member 0 receives every member's bytes, in the order of the group.
Status gatherBytes(Communicator &communicator, int channel, const Group &group,
                   const std::string &mine, std::vector<std::string> &out_all);

} // namespace sprt

#endif // SPRT_LIB_COMMUNICATOR_COLLECTIVES_H
