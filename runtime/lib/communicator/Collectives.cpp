#include "communicator/Collectives.h"

#include "sprt/algebra/Layout.h"

#include <iterator>
#include <numeric>

namespace sprt {

namespace {

/// Blocks of a reduction: what a rank keeps beside its arena.
constexpr int64_t kBlockBytes = 64 * 1024;

Status waitAll(Communicator &communicator, std::vector<RequestPtr> &requests) {
  for (RequestPtr &request : requests)
    if (Status failure = communicator.wait(*request))
      return failure;
  return Status::success();
}

/// Adds peers' parts to `target`, which already holds the own part.
Status reduceParts(Communicator &communicator, int channel, const Group &group,
                   plan::DType type, plan::Reduction kind,
                   const std::vector<Message> &parts, const Message &target) {
  std::vector<RequestPtr> sends;
  for (int64_t step = 1; step < group.size(); ++step) {
    size_t to = static_cast<size_t>((group.index + step) % group.size());
    for (const Message &block : splitRows(parts[to], kBlockBytes))
      if (Status failure = communicator.send(group.members[to], channel, block,
                                             sends.emplace_back()))
        return failure;
  }
  int64_t elementBytes =
      static_cast<int64_t>(sprt_dtype_size(static_cast<sprt_dtype>(type)));
  std::vector<Message> blocks = splitRows(target, kBlockBytes);
  std::vector<std::byte> staging;
  for (int64_t step = 1; step < group.size(); ++step) {
    int64_t from =
        group.members[static_cast<size_t>((group.index + step) % group.size())];
    for (const Message &block : blocks) {
      staging.resize(static_cast<size_t>(messageBytes(block)));
      RequestPtr request;
      Message dense =
          denseMessage(staging.data(), static_cast<int64_t>(staging.size()));
      if (Status failure = communicator.receive(from, channel, dense, request))
        return failure;
      if (Status failure = communicator.wait(*request))
        return failure;
      const std::byte *operand = staging.data();
      forEachRun(block, [&](std::byte *at, int64_t bytes) {
        reduceInto(type, kind, bytes / elementBytes, at, operand);
        operand += bytes;
      });
    }
  }
  return waitAll(communicator, sends);
}

} // namespace

Group allRanks(const Communicator &communicator) {
  Group group;
  group.members.resize(static_cast<size_t>(communicator.ranks()));
  std::iota(group.members.begin(), group.members.end(), 0);
  group.index = communicator.rank();
  return group;
}

Status barrier(Communicator &communicator, int channel, const Group &group) {
  // Dissemination: after round d a member knows that 2d others have arrived.
  int64_t size = group.size();
  for (int64_t distance = 1; distance < size; distance *= 2) {
    int64_t to =
        group.members[static_cast<size_t>((group.index + distance) % size)];
    int64_t from = group.members[static_cast<size_t>(
        (group.index - distance + size) % size)];
    RequestPtr sent, received;
    if (Status failure = communicator.send(to, channel, {}, sent))
      return failure;
    if (Status failure = communicator.receive(from, channel, {}, received))
      return failure;
    if (Status failure = communicator.wait(*received))
      return failure;
    if (Status failure = communicator.wait(*sent))
      return failure;
  }
  return Status::success();
}

Status exchange(Communicator &communicator, int channel, const Group &group,
                const std::vector<Message> &outgoing,
                const std::vector<Message> &incoming) {
  // Before peers read: in place, the own part is where it belongs already.
  size_t own = static_cast<size_t>(group.index);
  if (contiguousData(incoming[own]) != contiguousData(outgoing[own]) ||
      !contiguousData(outgoing[own]))
    copyMessage(incoming[own], outgoing[own]);
  if (Status failure =
          exchangeWithPeers(communicator, channel, group, outgoing, incoming))
    return failure;
  return communicator.synchronise(channel);
}

Status exchangeWithPeers(Communicator &communicator, int channel,
                         const Group &group,
                         const std::vector<Message> &outgoing,
                         const std::vector<Message> &incoming) {
  std::vector<RequestPtr> requests;
  if (Status failure = postToPeers(communicator, channel, group, outgoing,
                                   incoming, requests))
    return failure;
  return orderAll(communicator, requests);
}

Status postToPeers(Communicator &communicator, int channel, const Group &group,
                   const std::vector<Message> &outgoing,
                   const std::vector<Message> &incoming,
                   std::vector<RequestPtr> &requests) {
  std::vector<RequestPtr> sends;
  // Starting behind oneself spreads the load; the order does not change
  // results.
  for (int64_t step = 1; step < group.size(); ++step) {
    size_t to = static_cast<size_t>((group.index + step) % group.size());
    size_t from =
        static_cast<size_t>((group.index - step + group.size()) % group.size());
    if (messageBytes(outgoing[to]) > 0)
      if (Status failure = communicator.send(
              group.members[to], channel, outgoing[to], sends.emplace_back()))
        return failure;
    if (messageBytes(incoming[from]) > 0)
      if (Status failure =
              communicator.receive(group.members[from], channel, incoming[from],
                                   requests.emplace_back()))
        return failure;
  }
  std::move(sends.begin(), sends.end(), std::back_inserter(requests));
  return Status::success();
}

Status orderAll(Communicator &communicator, std::vector<RequestPtr> &requests) {
  for (RequestPtr &request : requests)
    if (Status failure = communicator.order(*request))
      return failure;
  return Status::success();
}

Status allReduce(Communicator &communicator, int channel, const Group &group,
                 plan::DType type, plan::Reduction kind, const Message &data) {
  Communicator::OnHost memory(communicator, channel);
  int64_t elementBytes =
      static_cast<int64_t>(sprt_dtype_size(static_cast<sprt_dtype>(type)));
  std::vector<Message> parts(group.members.size());
  forEachRun(data, [&](std::byte *at, int64_t bytes) {
    algebra::Layout deal(algebra::LayoutKind::contiguous, bytes / elementBytes,
                         group.size());
    for (int64_t member = 0; member < group.size(); ++member) {
      Piece piece;
      piece.base = at;
      piece.counts[1] = deal.count(member);
      piece.strides[1] = elementBytes;
      piece.inner = elementBytes;
      at += piece.bytes();
      if (piece.bytes() > 0)
        parts[static_cast<size_t>(member)].push_back(piece);
    }
  });
  const Message &own = parts[static_cast<size_t>(group.index)];
  if (Status failure =
          reduceParts(communicator, channel, group, type, kind, parts, own))
    return failure;
  // The own part is where it belongs.
  std::vector<Message> outgoing(parts.size(), own);
  if (Status failure =
          exchangeWithPeers(communicator, channel, group, outgoing, parts))
    return failure;
  return communicator.synchronise(channel);
}

Status reduceScatter(Communicator &communicator, int channel,
                     const Group &group, plan::DType type, plan::Reduction kind,
                     const std::vector<Message> &parts, const Message &target) {
  Communicator::OnHost memory(communicator, channel);
  copyMessage(target, parts[static_cast<size_t>(group.index)]);
  return reduceParts(communicator, channel, group, type, kind, parts, target);
}

Status gatherBytes(Communicator &communicator, int channel, const Group &group,
                   const std::string &mine, std::vector<std::string> &out_all) {
  if (group.index != 0) {
    RequestPtr size, content;
    int64_t bytes = static_cast<int64_t>(mine.size());
    std::string copy = mine;
    if (Status failure =
            communicator.send(group.members[0], channel,
                              denseMessage(&bytes, sizeof bytes), size))
      return failure;
    if (Status failure =
            communicator.send(group.members[0], channel,
                              denseMessage(copy.data(), bytes), content))
      return failure;
    if (Status failure = communicator.wait(*size))
      return failure;
    return communicator.wait(*content);
  }
  out_all.assign(1, mine);
  for (size_t member = 1; member < group.members.size(); ++member) {
    int64_t bytes = 0;
    RequestPtr size, content;
    if (Status failure =
            communicator.receive(group.members[member], channel,
                                 denseMessage(&bytes, sizeof bytes), size))
      return failure;
    if (Status failure = communicator.wait(*size))
      return failure;
    std::string &received =
        out_all.emplace_back(static_cast<size_t>(bytes), '\0');
    if (Status failure =
            communicator.receive(group.members[member], channel,
                                 denseMessage(received.data(), bytes), content))
      return failure;
    if (Status failure = communicator.wait(*content))
      return failure;
  }
  return Status::success();
}

} // namespace sprt
