// How the processes of a launcher find each other.

#include "communicator/SocketWorld.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <poll.h>

namespace sprt {

namespace {

constexpr auto kRetry = std::chrono::milliseconds(50);
/// How long a connection may take to say who it is, and how many may do so at
/// once: others wait at the port.
constexpr auto kIntroduction = std::chrono::seconds(10);
constexpr size_t kStrangers = 256;
/// What process 0 says before its welcome is no longer, in bytes.
constexpr int64_t kLongestText = 4096;
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
  if (const char *secret = std::getenv("SPRT_SECRET"))
    address.secret = secret;
  const char *here = std::getenv("LOCAL_WORLD_SIZE");
  address.audience = !address.secret.empty() ? Socket::everybody
                     : here && here == std::to_string(address.processes)
                         ? Socket::machine
                         : Socket::nobody;
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

Status SocketWorld::greet(const Socket &listener,
                          std::vector<Stranger> &strangers) const {
  Stranger stranger;
  stranger.socket = listener.accept();
  if (!stranger.socket.isOpen())
    return Status::success();
  if (Status failure = drawNonce(stranger.challenge))
    return failure;
  Frame frame;
  frame.kind = Frame::challenge;
  frame.bytes = static_cast<int64_t>(stranger.challenge.size());
  stranger.limit = Clock::now() + kIntroduction;
  // Whoever has gone again is no loss.
  if (!stranger.socket.send(frame, stranger.challenge.data(), Clock::now(),
                            closing))
    strangers.push_back(std::move(stranger));
  return Status::success();
}

Status SocketWorld::admit(const Address &address, Stranger &stranger) {
  const Frame &frame = stranger.arrival.frame;
  Greeting greeting;
  if (frame.kind != Frame::hello || frame.bytes != sizeof greeting)
    return Status::success();
  std::memcpy(&greeting, stranger.arrival.payload.data(), sizeof greeting);
  if (!equal(greeting.proof, prove(address.secret, frame, stranger.challenge,
                                   greeting.nonce))) {
    ++turnedAway;
    return Status::success();
  }
  if (frame.version != Frame::kVersion)
    return fail(SPRT_FAILED)
           << "process " << frame.from << " runs another version of sp-mlir";
  if (frame.to != ranks)
    return fail(SPRT_INVALID_ARGUMENT) << "expected WORLD_SIZE " << ranks
                                       << " of every process but process "
                                       << frame.from << " has " << frame.to;
  if (frame.from <= 0 || frame.from >= ranks || links.count(frame.from))
    return fail(SPRT_INVALID_ARGUMENT)
           << "expected a RANK of its own for every process but two have "
           << frame.from;
  auto link = std::make_unique<Link>();
  Frame welcome;
  welcome.kind = Frame::welcome;
  welcome.to = frame.from;
  link->welcome =
      prove(address.secret, welcome, stranger.challenge, greeting.nonce);
  link->socket = std::move(stranger.socket);
  links[frame.from] = std::move(link);
  return Status::success();
}

Status SocketWorld::missing(const Address &address) const {
  std::vector<int64_t> numbers;
  for (int64_t other = 1; other < ranks; ++other)
    if (!links.count(other))
      numbers.push_back(other);
  Failure failure(SPRT_TIMEOUT);
  failure << "expected " << ranks << " processes at port " << address.port
          << " but " << numbers.size() << " have not come: ranks "
          << list(numbers);
  if (turnedAway > 0)
    failure << "; " << turnedAway << " came with another SPRT_SECRET";
  return failure;
}

Status SocketWorld::gather(const Address &address, Clock::time_point end) {
  Socket listener;
  if (Status failure = Socket::listen(address.host, address.port,
                                      address.audience, listener))
    return failure;
  std::vector<Stranger> strangers;
  while (static_cast<int64_t>(links.size()) + 1 < ranks) {
    Clock::time_point now = Clock::now();
    if (now > end)
      return refuse(missing(address), Socket());
    std::vector<pollfd> wanted;
    for (const Stranger &stranger : strangers)
      wanted.push_back({stranger.socket.descriptor(), POLLIN, 0});
    if (strangers.size() < kStrangers)
      wanted.push_back({listener.descriptor(), POLLIN, 0});
    poll(wanted.data(), wanted.size(), millisecondsUntil(end));
    for (size_t i = strangers.size(); i-- > 0;) {
      Stranger &stranger = strangers[i];
      Arrival::Progress progress = stranger.arrival.read(stranger.socket);
      if (progress == Arrival::more && now < stranger.limit)
        continue;
      if (progress == Arrival::complete)
        if (Status failure = admit(address, stranger))
          return refuse(failure, stranger.socket);
      strangers.erase(strangers.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (strangers.size() < kStrangers)
      if (Status failure = greet(listener, strangers))
        return failure;
  }
  for (auto &[number, link] : links) {
    Frame frame;
    frame.kind = Frame::welcome;
    frame.to = number;
    frame.bytes = static_cast<int64_t>(link->welcome.size());
    if (Status failure =
            link->socket.send(frame, link->welcome.data(), end, closing))
      return std::move(failure).within("with process " +
                                       std::to_string(number));
  }
  return Status::success();
}

Status SocketWorld::hear(const Address &address, Frame::Kind kind, size_t bytes,
                         Clock::time_point end) {
  Link &link = *links[0];
  Arrival::Progress progress = Arrival::more;
  bool isKnown = kind == Frame::welcome;
  while ((progress = link.arrival.read(link.socket)) == Arrival::more) {
    if (Clock::now() > end)
      return fail(SPRT_TIMEOUT).about(address.process, 0)
             << (isKnown ? "process 0 waits for others at port "
                         : "nobody says anything at port ")
             << address.port;
    pollfd wanted = {link.socket.descriptor(), POLLIN, 0};
    poll(&wanted, 1, millisecondsUntil(end));
  }
  const Arrival &arrival = link.arrival;
  if (progress == Arrival::complete && arrival.frame.kind == Frame::refusal)
    return fail(SPRT_FAILED).about(address.process, 0) << std::string(
               reinterpret_cast<const char *>(arrival.payload.data()),
               arrival.payload.size());
  if (progress == Arrival::complete && arrival.frame.kind == kind &&
      arrival.payload.size() == bytes)
    return Status::success();
  return fail(SPRT_FAILED).about(address.process, 0)
         << "process 0 has ended, "
         << (isKnown ? "has another SPRT_SECRET than this process, " : "")
         << "or port " << address.port << " of " << address.host
         << " is another program's; name one that is free in SPRT_PORT";
}

Status SocketWorld::reach(const Address &address, Clock::time_point end) {
  Link &link = *(links[0] = std::make_unique<Link>());
  while (Status failure =
             Socket::connect(address.host, address.port, link.socket)) {
    if (Clock::now() > end)
      return fail(SPRT_TIMEOUT).about(address.process, 0)
             << "process 0 does not answer (" << failure->text
             << "); set SPRT_PORT to another port if MASTER_ADDR is right";
    std::this_thread::sleep_for(kRetry);
  }
  link.arrival.most = kLongestText;
  Nonce challenge;
  if (Status failure = hear(address, Frame::challenge, challenge.size(), end))
    return failure;
  std::memcpy(challenge.data(), link.arrival.payload.data(), challenge.size());
  Greeting greeting;
  if (Status failure = drawNonce(greeting.nonce))
    return failure;
  Frame hello;
  hello.kind = Frame::hello;
  hello.from = address.process;
  hello.to = address.processes;
  hello.bytes = sizeof greeting;
  greeting.proof = prove(address.secret, hello, challenge, greeting.nonce);
  if (Status failure = link.socket.send(hello, &greeting, end, closing))
    return std::move(failure).within("with process 0");
  Digest proof;
  if (Status failure = hear(address, Frame::welcome, proof.size(), end))
    return failure;
  std::memcpy(proof.data(), link.arrival.payload.data(), proof.size());
  if (!equal(proof, prove(address.secret, link.arrival.frame, challenge,
                          greeting.nonce)))
    return fail(SPRT_FAILED).about(address.process, 0)
           << "port " << address.port << " of " << address.host
           << " is another program's, which does not know SPRT_SECRET";
  link.arrival.most = Arrival::kLargestMessage;
  return Status::success();
}

} // namespace sprt
