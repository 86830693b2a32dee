#include "communicator/Rendezvous.h"

#include "communicator/Handshake.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <thread>

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
/// What is sent here ends at its limit alone.
const std::atomic<bool> kNever{false};

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

/// A connection that has not said who it is: anybody may connect.
struct Stranger {
  Socket socket;
  Nonce challenge;
  Clock::time_point limit; ///< to say so
  Arrival arrival{/*most=*/sizeof(Greeting)};
};

/// Process 0's part: waits for all others.
class Gathering {
public:
  Gathering(const ProcessAddress &address, Links &links)
      : address(address), links(links) {}

  Status run(Clock::time_point end);

private:
  /// Adds a connection to `strangers`, if there is one.
  static Status greet(const Socket &listener, std::vector<Stranger> &strangers);
  /// Makes a link of who proves that it belongs here. A status is a reason to
  /// end the run, which strangers cannot give.
  Status admit(Stranger &stranger);
  /// Why the run does not begin.
  Status missing() const;
  /// Tells everybody who came why nobody may.
  Status refuse(const Status &reason, const Socket &other);

  const ProcessAddress &address;
  Links &links;
  std::map<int64_t, Digest> welcomes; ///< proofs that this is process 0
  int64_t turnedAway = 0;             ///< processes that have another secret
};

Status Gathering::refuse(const Status &reason, const Socket &other) {
  Frame frame;
  frame.kind = Frame::refusal;
  frame.bytes = static_cast<int64_t>(reason->text.size());
  Clock::time_point end = Clock::now() + kRefusal;
  // Who cannot be told finds out when the connection ends.
  (void)other.send(frame, reason->text.data(), end, kNever);
  for (auto &[number, link] : links)
    (void)link->socket.send(frame, reason->text.data(), end, kNever);
  return Status(*reason.operator->());
}

Status Gathering::greet(const Socket &listener,
                        std::vector<Stranger> &strangers) {
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
                            kNever))
    strangers.push_back(std::move(stranger));
  return Status::success();
}

Status Gathering::admit(Stranger &stranger) {
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
  if (frame.to != address.processes)
    return fail(SPRT_INVALID_ARGUMENT)
           << "expected WORLD_SIZE " << address.processes
           << " of every process but process " << frame.from << " has "
           << frame.to;
  if (frame.from <= 0 || frame.from >= address.processes ||
      links.count(frame.from))
    return fail(SPRT_INVALID_ARGUMENT)
           << "expected a RANK of its own for every process but two have "
           << frame.from;
  auto link = std::make_unique<Link>();
  Frame welcome;
  welcome.kind = Frame::welcome;
  welcome.to = frame.from;
  welcomes[frame.from] =
      prove(address.secret, welcome, stranger.challenge, greeting.nonce);
  link->socket = std::move(stranger.socket);
  links[frame.from] = std::move(link);
  return Status::success();
}

Status Gathering::missing() const {
  std::vector<int64_t> numbers;
  for (int64_t other = 1; other < address.processes; ++other)
    if (!links.count(other))
      numbers.push_back(other);
  Failure failure(SPRT_TIMEOUT);
  failure << "expected " << address.processes << " processes at port "
          << address.port << " but " << numbers.size()
          << " have not come: ranks " << list(numbers);
  if (turnedAway > 0)
    failure << "; " << turnedAway << " came with another SPRT_SECRET";
  return failure;
}

Status Gathering::run(Clock::time_point end) {
  Socket listener;
  if (Status failure = Socket::listen(address.host, address.port,
                                      address.audience, listener))
    return failure;
  std::vector<Stranger> strangers;
  while (static_cast<int64_t>(links.size()) + 1 < address.processes) {
    Clock::time_point now = Clock::now();
    if (now > end)
      return refuse(missing(), Socket());
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
        if (Status failure = admit(stranger))
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
    const Digest &welcome = welcomes[number];
    frame.bytes = static_cast<int64_t>(welcome.size());
    if (Status failure = link->socket.send(frame, welcome.data(), end, kNever))
      return std::move(failure).within("with process " +
                                       std::to_string(number));
  }
  return Status::success();
}

/// The frame of that kind which process 0 sends next, as so many bytes.
Status hear(Link &link, const ProcessAddress &address, Frame::Kind kind,
            size_t bytes, Clock::time_point end) {
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

/// Every other process's part: connects to process 0.
Status reach(const ProcessAddress &address, Clock::time_point end, Link &link) {
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
  if (Status failure =
          hear(link, address, Frame::challenge, challenge.size(), end))
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
  if (Status failure = link.socket.send(hello, &greeting, end, kNever))
    return std::move(failure).within("with process 0");
  Digest proof;
  if (Status failure = hear(link, address, Frame::welcome, proof.size(), end))
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

} // namespace

Status readAddress(ProcessAddress &out_address) {
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
  ProcessAddress address;
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

Status meet(const ProcessAddress &address, Clock::time_point end,
            Links &out_links) {
  if (address.process == 0)
    return Gathering(address, out_links).run(end);
  out_links[0] = std::make_unique<Link>();
  return reach(address, end, *out_links[0]);
}

} // namespace sprt
