// How the processes of a launcher find each other.

#include "communicator/SocketWorld.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <poll.h>

namespace sprt {

namespace {

constexpr auto kRetry = std::chrono::milliseconds(50);
/// How long a refusal may take to be sent.
constexpr auto kRefusal = std::chrono::seconds(2);

/// A variable of the environment that is a number from `least` to `most`.
Status readNumber(const char *name, int64_t least, int64_t most,
                  int64_t &out_number) {
  const char *text = std::getenv(name);
  char *end = nullptr;
  errno = 0;
  int64_t number = text ? std::strtoll(text, &end, 10) : 0;
  if (!text || end == text || *end || errno || number < least || number > most)
    return fail(SPRT_INVALID_ARGUMENT)
           << "expected a number from " << least << " to " << most << " in "
           << name << " of the environment but got "
           << (text ? "\"" + std::string(text) + "\"" : "none");
  out_number = number;
  return Status::success();
}

int millisecondsUntil(Clock::time_point end) {
  auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 1000));
}

std::string list(const std::vector<int64_t> &numbers) {
  constexpr size_t kMost = 16;
  std::string text;
  for (size_t i = 0; i < std::min(kMost, numbers.size()); ++i)
    text += (i ? ", " : "") + std::to_string(numbers[i]);
  return numbers.size() > kMost ? text + ", …" : text;
}

} // namespace

Status SocketWorld::readAddress(Address &out_address) {
  std::string missing;
  for (const char *name : {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"})
    if (!std::getenv(name))
      missing += (missing.empty() ? "" : ", ") + std::string(name);
  if (!missing.empty())
    return fail(SPRT_UNSUPPORTED)
           << "communicator \"nccl\" needs a process for each rank, but the "
              "environment has no "
           << missing
           << "; start with mpirun -n N, or with torchrun --no-python "
              "--nproc-per-node=N";
  Address address;
  constexpr int64_t kMostProcesses = 1 << 20;
  int64_t masterPort = 0, port = 0;
  if (Status failure =
          readNumber("WORLD_SIZE", 1, kMostProcesses, address.processes))
    return failure;
  if (Status failure =
          readNumber("RANK", 0, address.processes - 1, address.process))
    return failure;
  if (std::getenv("LOCAL_RANK"))
    if (Status failure = readNumber("LOCAL_RANK", 0, address.processes - 1,
                                    address.localRank))
      return failure;
  if (Status failure = readNumber("MASTER_PORT", 1, 65535, masterPort))
    return failure;
  port = masterPort < 65535 ? masterPort + 1 : masterPort - 1;
  if (std::getenv("SPRT_PORT"))
    if (Status failure = readNumber("SPRT_PORT", 1, 65535, port))
      return failure;
  address.port = static_cast<int>(port);
  address.host = std::getenv("MASTER_ADDR");
  out_address = std::move(address);
  return Status::success();
}

Status SocketWorld::open(Limit limit, std::shared_ptr<World> &out_world) {
  // A launcher starts a process once, so that the port is asked for once.
  static std::mutex once;
  static std::shared_ptr<World> instance;
  std::lock_guard<std::mutex> lock(once);
  if (!instance) {
    Address address;
    if (Status failure = readAddress(address))
      return failure;
    if (Status failure = join(address, limit, instance))
      return failure;
  }
  out_world = instance;
  return Status::success();
}

Status SocketWorld::join(const Address &address, Limit limit,
                         std::shared_ptr<World> &out_world) {
  std::shared_ptr<SocketWorld> world(new SocketWorld);
  world->World::join(address.process, address.processes);
  world->localRank = address.localRank;
  Clock::time_point end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(limit);
  if (Status failure = address.process == 0 ? world->gather(address, end)
                                            : world->reach(address, end)) {
    // Nobody waits for this one.
    world->failing.store(true);
    failure->rank = address.process;
    return std::move(failure).within("process " +
                                     std::to_string(address.process));
  }
  world->server = std::thread([server = world.get()] { server->serve(); });
  out_world = std::move(world);
  return Status::success();
}

Status SocketWorld::refuse(const Status &reason, const Socket &other) {
  Frame frame;
  frame.kind = Frame::refusal;
  frame.bytes = static_cast<int64_t>(reason->text.size());
  Clock::time_point end = Clock::now() + kRefusal;
  // Who cannot be told finds out when the connection ends.
  (void)other.send(frame, reason->text.data(), end, closing);
  for (auto &[number, link] : links)
    (void)link->socket.send(frame, reason->text.data(), end, closing);
  return Status(*reason.operator->());
}

Status SocketWorld::gather(const Address &address, Clock::time_point end) {
  Socket listener;
  if (Status failure = Socket::listen(address.host, address.port, listener)) {
    failure->text += "; name a port that is free in SPRT_PORT";
    return failure;
  }
  // Connections that have not said who they are: anybody may connect.
  struct Stranger {
    Socket socket;
    Arrival arrival{/*most=*/0};
  };
  std::vector<Stranger> strangers;
  while (static_cast<int64_t>(links.size()) + 1 < ranks) {
    if (Clock::now() > end) {
      std::vector<int64_t> missing;
      for (int64_t other = 1; other < ranks; ++other)
        if (!links.count(other))
          missing.push_back(other);
      return refuse(fail(SPRT_TIMEOUT)
                        << "expected " << ranks << " processes at port "
                        << address.port << " but " << missing.size()
                        << " have not come: ranks " << list(missing),
                    Socket());
    }
    std::vector<pollfd> wanted = {{listener.descriptor(), POLLIN, 0}};
    for (const Stranger &stranger : strangers)
      wanted.push_back({stranger.socket.descriptor(), POLLIN, 0});
    poll(wanted.data(), wanted.size(), millisecondsUntil(end));
    for (size_t i = strangers.size(); i-- > 0;) {
      Stranger &stranger = strangers[i];
      Arrival::Progress progress = stranger.arrival.read(stranger.socket);
      if (progress == Arrival::more)
        continue;
      const Frame &frame = stranger.arrival.frame;
      if (progress == Arrival::complete && frame.kind == Frame::hello) {
        if (frame.version != Frame::kVersion)
          return refuse(fail(SPRT_FAILED) << "process " << frame.from
                                          << " runs another version of sp-mlir",
                        stranger.socket);
        if (frame.to != ranks)
          return refuse(fail(SPRT_INVALID_ARGUMENT)
                            << "expected WORLD_SIZE " << ranks
                            << " of every process but process " << frame.from
                            << " has " << frame.to,
                        stranger.socket);
        if (frame.from <= 0 || frame.from >= ranks || links.count(frame.from))
          return refuse(fail(SPRT_INVALID_ARGUMENT)
                            << "expected a RANK of its own for every process "
                               "but two have "
                            << frame.from,
                        stranger.socket);
        auto link = std::make_unique<Link>();
        link->socket = std::move(stranger.socket);
        links[frame.from] = std::move(link);
      }
      strangers.erase(strangers.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (Socket socket = listener.accept(); socket.isOpen())
      strangers.emplace_back().socket = std::move(socket);
  }
  Frame frame;
  frame.kind = Frame::welcome;
  for (auto &[number, link] : links)
    if (Status failure = link->socket.send(frame, nullptr, end, closing))
      return std::move(failure).within("with process " +
                                       std::to_string(number));
  return Status::success();
}

Status SocketWorld::reach(const Address &address, Clock::time_point end) {
  auto link = std::make_unique<Link>();
  while (Status failure =
             Socket::connect(address.host, address.port, link->socket)) {
    if (Clock::now() > end)
      return fail(SPRT_TIMEOUT).about(address.process, 0)
             << "process 0 does not answer (" << failure->text
             << "); set SPRT_PORT to another port if MASTER_ADDR is right";
    std::this_thread::sleep_for(kRetry);
  }
  Frame frame;
  frame.kind = Frame::hello;
  frame.from = address.process;
  frame.to = address.processes;
  if (Status failure = link->socket.send(frame, nullptr, end, closing))
    return std::move(failure).within("with process 0");
  Arrival &arrival = link->arrival;
  Arrival::Progress progress = Arrival::more;
  while ((progress = arrival.read(link->socket)) == Arrival::more) {
    if (Clock::now() > end)
      return fail(SPRT_TIMEOUT).about(address.process, 0)
             << "process 0 waits for others at port " << address.port;
    pollfd wanted = {link->socket.descriptor(), POLLIN, 0};
    poll(&wanted, 1, millisecondsUntil(end));
  }
  if (progress == Arrival::lost)
    return fail(SPRT_FAILED).about(address.process, 0)
           << "process 0 has ended, or port " << address.port << " of "
           << address.host
           << " is another program's; name one that is free in SPRT_PORT";
  if (arrival.frame.kind == Frame::refusal)
    return fail(SPRT_FAILED).about(address.process, 0)
           << std::string(reinterpret_cast<char *>(arrival.payload.data()),
                          arrival.payload.size());
  links[0] = std::move(link);
  return Status::success();
}

} // namespace sprt
