// Commands that move data between ranks of a device.

#include "executor/DeviceRun.h"

namespace sprt {

/// A message's bytes on the host, once the stream is synchronised.
static Status bring(Device::Stream &stream, const Message &message,
                    std::vector<std::byte> &out_bytes) {
  int64_t bytes = messageBytes(message);
  out_bytes.resize(static_cast<size_t>(bytes));
  return stream.copy(denseMessage(out_bytes.data(), bytes), message);
}

Status DeviceRun::exchangeRows(const plan::ExchangeT &exchange) {
  // A message for each value: several in one would be packed, in memory beside
  // the arena.
  std::vector<RequestPtr> requests;
  for (const auto &moved : exchange.values) {
    GroupMessages messages = messagesOf(exchange);
    if (Status failure = resolve(exchange, *moved, messages))
      return failure;
    // Before peers read: in place, the own part is where it belongs already.
    size_t own = static_cast<size_t>(messages.group.index);
    const Message &from = messages.outgoing[own], &to = messages.incoming[own];
    if (!contiguousData(from) || contiguousData(from) != contiguousData(to))
      if (Status failure = stream().copy(to, from))
        return failure;
    if (Status failure =
            postToPeers(*rank.communicator, number, messages.group,
                        messages.outgoing, messages.incoming, requests))
      return failure;
  }
  return orderAll(*rank.communicator, requests);
}

Status DeviceRun::reduceAll(const plan::AllReduceT &reduce) {
  Message data;
  if (Status failure = resolve(reduce, data))
    return failure;
  if (Status failure = synchronise(number))
    return failure;
  std::vector<std::byte> local;
  if (Status failure = bring(stream(), data, local))
    return failure;
  if (Status failure = synchronise(number))
    return failure;
  Message values;
  std::byte *at = local.data();
  for (const Piece &value : data) {
    values.push_back(denseMessage(at, value.bytes()).front());
    at += value.bytes();
  }
  if (Status failure =
          allReduce(*rank.communicator, number, rank.groupOf(reduce.factors),
                    reduce.type, reduce.kind, values))
    return failure;
  for (size_t i = 0; i < data.size(); ++i)
    if (Status failure =
            stream().upload(data[i].base, values[i].base, data[i].bytes()))
      return failure;
  return Status::success();
}

Status DeviceRun::reduceRows(const plan::ReduceScatterT &reduce) {
  GroupMessages messages;
  if (Status failure = resolve(reduce, messages))
    return failure;
  if (Status failure = synchronise(number))
    return failure;
  std::vector<std::vector<std::byte>> parts(messages.outgoing.size());
  std::vector<Message> outgoing;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (Status failure = bring(stream(), messages.outgoing[i], parts[i]))
      return failure;
    outgoing.push_back(
        denseMessage(parts[i].data(), static_cast<int64_t>(parts[i].size())));
  }
  if (Status failure = synchronise(number))
    return failure;
  const Message &target = messages.incoming.front();
  int64_t bytes = messageBytes(target);
  std::vector<std::byte> local(static_cast<size_t>(bytes));
  Message result = denseMessage(local.data(), bytes);
  if (Status failure =
          reduceScatter(*rank.communicator, number, messages.group, reduce.type,
                        reduce.kind, outgoing, result))
    return failure;
  if (Status failure = stream().copy(target, result))
    return failure;
  // The result's memory must outlive the copy.
  return synchronise(number);
}

} // namespace sprt
