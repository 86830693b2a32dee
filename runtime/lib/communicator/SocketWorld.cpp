#include "communicator/SocketWorld.h"

#include <algorithm>

#include <poll.h>

namespace sprt {

namespace {
/// How often the server looks whether it is to end.
constexpr int kPollMilliseconds = 20;
/// How long process 0 stays for the others to be done: after a failure they
/// may still be about to report theirs.
constexpr auto kGrace = std::chrono::seconds(5);
constexpr auto kFailureGrace = std::chrono::milliseconds(500);
constexpr SocketWorld::Limit kNoticeLimit(2);
} // namespace

Status SocketWorld::open(Limit limit, std::shared_ptr<World> &out_world) {
  // A launcher starts a process once, so that the port is asked for once.
  static std::mutex once;
  static std::shared_ptr<World> instance;
  std::lock_guard<std::mutex> lock(once);
  if (!instance) {
    ProcessAddress address;
    if (Status failure = readAddress(address))
      return failure;
    if (Status failure = join(address, limit, instance))
      return failure;
  }
  out_world = instance;
  return Status::success();
}

Status SocketWorld::join(const ProcessAddress &address, Limit limit,
                         std::shared_ptr<World> &out_world) {
  std::shared_ptr<SocketWorld> world(new SocketWorld);
  world->World::join(address.process, address.processes);
  world->localRank = address.localRank;
  Clock::time_point end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(limit);
  if (Status failure = meet(address, end, world->links)) {
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

SocketWorld::~SocketWorld() {
  if (!server.joinable())
    return;
  if (!failing.load()) {
    Frame frame;
    frame.kind = Frame::farewell;
    frame.from = process;
    spread(frame);
  }
  if (process == 0) {
    // The others' messages to each other pass through here.
    std::unique_lock<std::mutex> lock(mutex);
    auto grace = failing.load() || failureAnnounced()
                     ? Clock::duration(kFailureGrace)
                     : Clock::duration(kGrace);
    changed.wait_for(lock, grace, [this] {
      return static_cast<int64_t>(departed.size()) + 1 == ranks;
    });
  }
  closing.store(true);
  server.join();
}

void SocketWorld::spread(const Frame &frame) {
  // A process that cannot be told finds out when its own limit ends.
  for (auto &[number, link] : links) {
    if (number == frame.from)
      continue;
    std::lock_guard<std::mutex> lock(link->sending);
    (void)link->socket.send(
        frame, nullptr,
        Clock::now() +
            std::chrono::duration_cast<Clock::duration>(kNoticeLimit),
        closing);
  }
}

void SocketWorld::tellOthers() {
  Frame frame;
  frame.kind = Frame::failure;
  frame.from = process;
  spread(frame);
}

void SocketWorld::interrupt() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopped = true;
  }
  changed.notify_all();
  announceFailure();
}

Status SocketWorld::post(const Frame &frame, const void *data, Limit limit) {
  Link &link = linkTo(frame.to);
  std::lock_guard<std::mutex> lock(link.sending);
  return link.socket.send(
      frame, data,
      Clock::now() + std::chrono::duration_cast<Clock::duration>(limit),
      closing);
}

Status SocketWorld::send(int64_t peer, int channel, const Message &message,
                         Limit limit) {
  Frame frame;
  frame.channel = channel;
  frame.from = process;
  frame.to = processOf[static_cast<size_t>(peer)];
  frame.bytes = messageBytes(message);
  std::vector<std::byte> packed;
  const std::byte *data = contiguousData(message);
  if (!data && frame.bytes > 0) {
    packed.resize(static_cast<size_t>(frame.bytes));
    copyMessage(denseMessage(packed.data(), frame.bytes), message);
    data = packed.data();
  }
  return post(frame, data, limit);
}

int64_t SocketWorld::expect(int64_t peer, int channel) {
  std::lock_guard<std::mutex> lock(mutex);
  return expected[{processOf[static_cast<size_t>(peer)], channel}]++;
}

SocketWorld::Outcome SocketWorld::receive(int64_t peer, int channel,
                                          int64_t number, Limit limit,
                                          std::vector<std::byte> &out_bytes) {
  int64_t from = processOf[static_cast<size_t>(peer)];
  Key key{from, channel, number};
  std::unique_lock<std::mutex> lock(mutex);
  auto found = inbox.end();
  auto over = [&] { return stopped || failureAnnounced(); };
  changed.wait_for(lock, limit, [&] {
    found = inbox.find(key);
    return found != inbox.end() || over() || departed.count(from);
  });
  if (found != inbox.end()) {
    out_bytes = std::move(found->second);
    inbox.erase(found);
    return arrived;
  }
  return over() ? failed : departed.count(from) ? gone : late;
}

void SocketWorld::lose(int64_t number) {
  Frame frame;
  frame.kind = Frame::failure;
  frame.from = number;
  take(number, frame, {});
}

void SocketWorld::take(int64_t from, Frame frame,
                       std::vector<std::byte> payload) {
  // Others than process 0 speak for themselves only.
  if (process == 0)
    frame.from = from;
  if (frame.kind == Frame::data && frame.to != process) {
    auto to = links.find(frame.to);
    if (process == 0 && to != links.end() && !to->second->left)
      // Its reader will miss it, as it would if the connection were lost.
      (void)post(frame, payload.data(), kNoticeLimit);
    return;
  }
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (frame.kind == Frame::data) {
      int64_t number = delivered[{frame.from, frame.channel}]++;
      inbox[{frame.from, frame.channel, number}] = std::move(payload);
    }
    int64_t none = -1;
    if (frame.kind == Frame::failure)
      announcer.compare_exchange_strong(none, frame.from);
    if (frame.kind == Frame::farewell)
      departed[frame.from] = true;
  }
  changed.notify_all();
  if (process == 0 &&
      (frame.kind == Frame::failure || frame.kind == Frame::farewell))
    spread(frame);
}

void SocketWorld::serve() {
  std::vector<pollfd> wanted;
  std::vector<int64_t> numbers;
  while (!closing.load()) {
    wanted.clear();
    numbers.clear();
    for (auto &[number, link] : links) {
      if (!link->socket.isOpen())
        continue;
      wanted.push_back({link->socket.descriptor(), POLLIN, 0});
      numbers.push_back(number);
    }
    poll(wanted.data(), wanted.size(), kPollMilliseconds);
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (!wanted[i].revents)
        continue;
      Link &link = *links[numbers[i]];
      Arrival::Progress progress = link.arrival.read(link.socket);
      if (progress == Arrival::more)
        continue;
      if (progress == Arrival::complete) {
        Arrival &arrival = link.arrival;
        link.left |= arrival.frame.kind == Frame::farewell;
        take(numbers[i], arrival.frame, std::move(arrival.payload));
        continue;
      }
      {
        std::lock_guard<std::mutex> lock(link.sending);
        link.socket.close();
      }
      if (!link.left)
        lose(numbers[i]);
      // Whether it said so or not, it is done.
      std::lock_guard<std::mutex> lock(mutex);
      departed[numbers[i]] = true;
      changed.notify_all();
    }
  }
}

} // namespace sprt
