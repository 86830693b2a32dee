// Who is let into a run, and what strangers can do at its port: nothing.

#include "Ranks.h"

#include "communicator/Handshake.h"
#include "communicator/SocketWorld.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace sprt::test {
namespace {

std::string hexOf(const Digest &digest) {
  std::string text;
  for (uint8_t byte : digest)
    for (int half : {byte >> 4, byte & 15})
      text += "0123456789abcdef"[half];
  return text;
}

TEST(Sha256, isThatOfTheStandard) {
  EXPECT_EQ(hexOf(sha256("")), "e3b0c44298fc1c149afbf4c8996fb924"
                               "27ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hexOf(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223"
                                  "b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(
      hexOf(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
      "248d6a61d20638b8e5c026930c3e6039"
      "a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hexOf(sha256(std::string(1000000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67"
            "f1809a48a497200e046d39ccc7112cd0");
  // RFC 4231, cases 2 and 6.
  EXPECT_EQ(hexOf(hmacSha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c7"
            "5a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hexOf(hmacSha256(
                std::string(131, '\xaa'),
                "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f"
            "8e0bc6213728c5140546040f0ee37f54");
}

class Port : public testing::Test {
protected:
  Port() {
    address.host = "127.0.0.1";
    address.port = freePort();
    address.processes = 2;
  }
  Status join(int64_t process, const std::string &secret,
              std::shared_ptr<World> &world, double limit = 30) const {
    ProcessAddress mine = address;
    mine.process = process;
    mine.secret = secret;
    return SocketWorld::join(mine, SocketWorld::Limit(limit), world);
  }
  /// A connection, as soon as somebody listens.
  Socket connect() const {
    Socket socket;
    while (Socket::connect(address.host, address.port, socket))
      std::this_thread::yield();
    return socket;
  }
  static void say(const Socket &socket, const Frame &frame, const void *data) {
    EXPECT_FALSE(socket.send(frame, data,
                             Clock::now() + std::chrono::seconds(5),
                             std::atomic<bool>(false)));
  }
  /// What comes next; false where the other end hangs up.
  static bool hear(const Socket &socket, Arrival &arrival) {
    Arrival::Progress progress = Arrival::more;
    while ((progress = arrival.read(socket)) == Arrival::more)
      std::this_thread::yield();
    return progress == Arrival::complete;
  }

  ProcessAddress address;
};

TEST_F(Port, strangersAreDroppedAndTheRunBegins) {
  std::vector<Socket> strangers;
  std::thread come([&] {
    Frame hello;
    hello.kind = Frame::hello;
    hello.from = 1;
    hello.to = 2;
    Arrival arrival;
    // Says nothing.
    strangers.push_back(connect());
    // Says rubbish.
    std::vector<char> noise(4096, 'x');
    Frame other;
    other.magic = 0;
    other.bytes = static_cast<int64_t>(noise.size());
    strangers.push_back(connect());
    say(strangers.back(), other, noise.data());
    // Says half of a hello.
    strangers.push_back(connect());
    EXPECT_EQ(send(strangers.back().descriptor(), &hello, sizeof hello / 2, 0),
              static_cast<ssize_t>(sizeof hello / 2));
    // Promises more bytes than there are.
    strangers.push_back(connect());
    Frame large = hello;
    large.bytes = int64_t(1) << 41;
    EXPECT_EQ(send(strangers.back().descriptor(), &large, sizeof large, 0),
              static_cast<ssize_t>(sizeof large));
    EXPECT_TRUE(hear(strangers.back(), arrival));
    EXPECT_FALSE(hear(strangers.back(), arrival));
    // Is of a version that proved nothing.
    strangers.push_back(connect());
    Frame old = hello;
    old.version = 1;
    say(strangers.back(), old, nullptr);
    EXPECT_TRUE(hear(strangers.back(), arrival));
    EXPECT_FALSE(hear(strangers.back(), arrival));
    // Has another secret, and would end the run as one that has its rank.
    for (int64_t processes : {2, 7}) {
      strangers.push_back(connect());
      EXPECT_TRUE(hear(strangers.back(), arrival));
      ASSERT_EQ(arrival.frame.kind, Frame::challenge);
      Nonce challenge;
      ASSERT_EQ(arrival.payload.size(), challenge.size());
      std::memcpy(challenge.data(), arrival.payload.data(), challenge.size());
      Greeting greeting;
      EXPECT_FALSE(drawNonce(greeting.nonce));
      hello.to = processes;
      hello.bytes = sizeof greeting;
      greeting.proof = prove("open", hello, challenge, greeting.nonce);
      say(strangers.back(), hello, &greeting);
      EXPECT_FALSE(hear(strangers.back(), arrival));
    }
    // Says what another process has said.
    strangers.push_back(connect());
    EXPECT_TRUE(hear(strangers.back(), arrival));
    Greeting heard;
    EXPECT_FALSE(drawNonce(heard.nonce));
    heard.proof = prove("sesame", hello, Nonce(), heard.nonce);
    say(strangers.back(), hello, &heard);
    EXPECT_FALSE(hear(strangers.back(), arrival));
  });
  std::thread late([&] {
    come.join();
    std::shared_ptr<World> world;
    Status failure = join(1, "sesame", world);
    EXPECT_FALSE(failure) << failure->text;
  });
  std::shared_ptr<World> world;
  Status failure = join(0, "sesame", world);
  EXPECT_FALSE(failure) << failure->text;
  late.join();
}

TEST_F(Port, anotherSecretIsNamedOnBothSides) {
  std::string text;
  std::thread other([&] {
    std::shared_ptr<World> world;
    if (Status failure = join(1, "open", world))
      text = failure->text;
  });
  std::shared_ptr<World> world;
  Status failure = join(0, "sesame", world, 0.5);
  other.join();
  std::string port = std::to_string(address.port);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->text, "process 0: expected 2 processes at port " + port +
                               " but 1 have not come: ranks 1; 1 came with "
                               "another SPRT_SECRET");
  EXPECT_EQ(text,
            "process 1: process 0 has ended, has another SPRT_SECRET than this "
            "process, or port " +
                port +
                " of 127.0.0.1 is another program's; name one that is free in "
                "SPRT_PORT");
}

TEST_F(Port, whoOnlyPretendsToBeProcessZeroIsNotBelieved) {
  Socket listener;
  ASSERT_FALSE(
      Socket::listen(address.host, address.port, Socket::nobody, listener));
  std::thread impostor([&] {
    Socket socket;
    while (!(socket = listener.accept()).isOpen())
      std::this_thread::yield();
    Nonce challenge{};
    Frame frame;
    frame.kind = Frame::challenge;
    frame.bytes = challenge.size();
    say(socket, frame, challenge.data());
    Arrival arrival;
    EXPECT_TRUE(hear(socket, arrival));
    frame.kind = Frame::welcome;
    say(socket, frame, challenge.data());
    EXPECT_FALSE(hear(socket, arrival));
  });
  std::shared_ptr<World> world;
  Status failure = join(1, "sesame", world);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->text, "process 1: port " + std::to_string(address.port) +
                               " of 127.0.0.1 is another program's, which does "
                               "not know SPRT_SECRET");
  world.reset();
  impostor.join();
}

TEST_F(Port, memoryIsTakenAsBytesArrive) {
  Socket listener, there, here = {};
  ASSERT_FALSE(
      Socket::listen(address.host, address.port, Socket::nobody, listener));
  there = connect();
  while (!(here = listener.accept()).isOpen())
    std::this_thread::yield();
  Frame frame;
  frame.bytes = int64_t(1) << 40;
  std::vector<char> some(100000, 'x');
  ASSERT_EQ(send(there.descriptor(), &frame, sizeof frame, 0),
            static_cast<ssize_t>(sizeof frame));
  ASSERT_EQ(send(there.descriptor(), some.data(), some.size(), 0),
            static_cast<ssize_t>(some.size()));
  there.close();
  Arrival arrival;
  EXPECT_FALSE(hear(here, arrival));
  EXPECT_GE(arrival.payload.size(), some.size());
  EXPECT_LE(arrival.payload.size(), 4 * some.size());
}

/// Addresses that IPv4 has on this machine.
std::vector<std::string> ownAddresses() {
  std::vector<std::string> found;
  ifaddrs *first = nullptr;
  EXPECT_EQ(getifaddrs(&first), 0);
  for (ifaddrs *each = first; each; each = each->ifa_next)
    if (each->ifa_addr && each->ifa_addr->sa_family == AF_INET) {
      char text[INET_ADDRSTRLEN];
      inet_ntop(AF_INET,
                &reinterpret_cast<sockaddr_in *>(each->ifa_addr)->sin_addr,
                text, sizeof text);
      found.emplace_back(text);
    }
  freeifaddrs(first);
  return found;
}

TEST_F(Port, isOpenOnTheInterfaceOfTheAddressOnly) {
  // All of 127 is loopback's.
  std::vector<std::string> hosts = ownAddresses();
  hosts.insert(hosts.end(), {"127.0.0.1", "127.0.0.2"});
  for (const std::string &host : hosts) {
    Socket listener, caller;
    ASSERT_FALSE(
        Socket::listen(host, address.port, Socket::everybody, listener))
        << host;
    EXPECT_FALSE(Socket::connect(host, address.port, caller)) << host;
    for (const std::string &other : hosts)
      if (other != host)
        EXPECT_TRUE(Socket::connect(other, address.port, caller))
            << other << " reaches " << host;
  }
}

TEST_F(Port, isOpenEverywhereOnlyWithASecret) {
  // Of no machine: kept for documentation.
  Socket listener, caller;
  Status failure =
      Socket::listen("192.0.2.1", address.port, Socket::nobody, listener);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->text,
            "MASTER_ADDR \"192.0.2.1\" does not say which interface of this "
            "machine to listen on; give the address of one, or set SPRT_SECRET "
            "to the same text for every process to listen on all of them");
  EXPECT_TRUE(
      Socket::listen("192.0.2.1", address.port, Socket::machine, listener));
  failure =
      Socket::listen("192.0.2.1", address.port, Socket::everybody, listener);
  ASSERT_FALSE(failure) << failure->text;
  EXPECT_FALSE(Socket::connect("127.0.0.1", address.port, caller));
}

} // namespace
} // namespace sprt::test
