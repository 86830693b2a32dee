// Commands that move data between ranks.

#include "executor/StreamRun.h"

namespace sprt {

Status StreamRun::exchangeRows(const plan::ExchangeT &exchange) {
  GroupMessages messages;
  if (Status failure = resolve(exchange, messages))
    return failure;
  return sprt::exchange(*rank.communicator, number, messages.group,
                        messages.outgoing, messages.incoming);
}

Status StreamRun::reduceAll(const plan::AllReduceT &reduce) {
  Message data;
  if (Status failure = resolve(reduce, data))
    return failure;
  return allReduce(*rank.communicator, number, rank.groupOf(reduce.factors),
                   reduce.type, reduce.kind, data);
}

Status StreamRun::reduceRows(const plan::ReduceScatterT &reduce) {
  GroupMessages messages;
  if (Status failure = resolve(reduce, messages))
    return failure;
  return reduceScatter(*rank.communicator, number, messages.group, reduce.type,
                       reduce.kind, messages.outgoing,
                       messages.incoming.front());
}

} // namespace sprt
