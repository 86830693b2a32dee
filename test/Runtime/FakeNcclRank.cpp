#include "FakeNcclRank.h"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <set>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace sprt::test {

static sockaddr_un addressOf(const std::string &id, int rank,
                             socklen_t &out_length) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  // A name that starts with a zero is no file's.
  int length = std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1,
                             "%s-%d", id.c_str(), rank);
  out_length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 +
                                      static_cast<size_t>(length));
  return address;
}

Connection::~Connection() {
  if (socket >= 0)
    close(socket);
}

size_t Connection::write(const void *data, size_t bytes) const {
  ssize_t moved = send(socket, data, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
  return moved < 0 ? 0 : static_cast<size_t>(moved);
}

size_t Connection::read(void *data, size_t bytes) const {
  ssize_t moved = recv(socket, data, bytes, MSG_DONTWAIT);
  return moved < 0 ? 0 : static_cast<size_t>(moved);
}

bool FakeRank::listen() {
  socklen_t length = 0;
  sockaddr_un address = addressOf(id, rank, length);
  listener.socket = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
  return bind(listener.socket, reinterpret_cast<sockaddr *>(&address),
              length) == 0 &&
         ::listen(listener.socket, ranks) == 0;
}

void FakeRank::connect() {
  socklen_t length = 0;
  for (int peer = 0; peer < ranks; ++peer) {
    if (peer == rank || to[static_cast<size_t>(peer)]->isOpen())
      continue;
    sockaddr_un address = addressOf(id, peer, length);
    Connection tried;
    tried.socket = socket(AF_UNIX, SOCK_STREAM, 0);
    if (::connect(tried.socket, reinterpret_cast<sockaddr *>(&address),
                  length) == 0 &&
        tried.write(&rank, sizeof rank) == sizeof rank)
      std::swap(tried.socket, to[static_cast<size_t>(peer)]->socket);
  }
  int accepted = accept4(listener.socket, nullptr, nullptr, SOCK_NONBLOCK);
  if (accepted < 0)
    return;
  int peer = -1;
  // It has been sent before anybody could see the connection.
  while (recv(accepted, &peer, sizeof peer, 0) < 0)
    continue;
  if (peer < 0)
    close(accepted);
  else
    from[static_cast<size_t>(peer)]->socket = accepted;
}

bool FakeRank::connected() const {
  for (size_t peer = 0; peer < to.size(); ++peer)
    if (static_cast<int>(peer) != rank &&
        !(to[peer]->isOpen() && from[peer]->isOpen()))
      return false;
  return true;
}

bool FakeRank::move(Operation &at) {
  const Connection &line =
      *(at.sends ? to : from)[static_cast<size_t>(at.peer)];
  char agree = at.bytes == at.theirs;
  void *data = at.phase == Operation::size
                   ? static_cast<void *>(at.sends ? &at.bytes : &at.theirs)
               : at.phase == Operation::content ? static_cast<void *>(at.data)
                                                : static_cast<void *>(&agree);
  size_t bytes = at.phase == Operation::size      ? sizeof at.bytes
                 : at.phase == Operation::content ? at.bytes
                                                  : 1;
  char *first = static_cast<char *>(data) + at.moved;
  bool writes = at.sends == (at.phase != Operation::answer);
  at.moved += writes ? line.write(first, bytes - at.moved)
                     : line.read(first, bytes - at.moved);
  if (at.moved < bytes)
    return false;
  at.moved = 0;
  if (at.phase == Operation::answer) {
    if (!agree)
      error = ncclInvalidArgument;
    at.phase = Operation::done;
    return false;
  }
  bool differ =
      !at.sends && at.phase == Operation::size && at.bytes != at.theirs;
  at.phase = at.phase == Operation::content || differ ? Operation::answer
                                                      : Operation::content;
  return true;
}

bool FakeRank::progress(std::vector<Operation> &operations) {
  bool all = true;
  std::set<std::pair<bool, int>> busy;
  for (Operation &each : operations) {
    if (each.phase == Operation::done)
      continue;
    // Behind another of its kind it waits.
    if (busy.emplace(each.sends, each.peer).second)
      while (move(each))
        continue;
    if (each.phase == Operation::done)
      busy.erase({each.sends, each.peer});
    else
      all = false;
  }
  return all;
}

/// Whether the environment wants this rank to break after so many groups.
static bool breaks(int rank, int groups) {
  const char *text = std::getenv("FAKE_NCCL_ERROR");
  return text && text == std::to_string(rank) + ":" + std::to_string(groups);
}

/// What a group puts on its stream.
std::function<bool()> workOf(const std::shared_ptr<FakeRank> &self) {
  auto operations =
      std::make_shared<std::vector<Operation>>(std::move(self->group));
  self->group.clear();
  ++self->running;
  bool broken = breaks(self->rank, self->groups++);
  return [self, operations, broken, over = false]() mutable {
    std::lock_guard<std::mutex> lock(self->working);
    if (broken)
      self->error = ncclRemoteError;
    if (over)
      return true;
    over = self->aborted ||
           (self->error == ncclSuccess && self->progress(*operations));
    self->running -= over;
    return over;
  };
}

} // namespace sprt::test
