/// A TCP connection between two processes of a run, and what travels on it.
#ifndef SPRT_LIB_COMMUNICATOR_SOCKET_H
#define SPRT_LIB_COMMUNICATOR_SOCKET_H

#include "communicator/Communicator.h"

#include <atomic>

struct addrinfo;

namespace sprt {

/// What precedes the bytes of anything sent; the processes of a run are of one
/// kind of machine.
struct Frame {
  enum Kind : uint32_t {
    data,     ///< a message of `channel`
    hello,    ///< of `from`, one of `to` processes
    welcome,  ///< everybody is there
    refusal,  ///< and why, as text
    failure,  ///< the run of `from` has failed, or `from` has died
    farewell, ///< `from` is done
    challenge ///< to whoever has connected: say who you are
  };
  static constexpr uint32_t kMagic = 0x54525053; // "SPRT"
  static constexpr uint32_t kVersion = 2;

  uint32_t magic = kMagic;
  uint32_t version = kVersion;
  Kind kind = data;
  int32_t channel = 0;
  int64_t from = 0;
  int64_t to = 0;
  int64_t bytes = 0; ///< that follow
};

class Socket {
public:
  Socket() = default;
  explicit Socket(int handle) : handle(handle) {}
  Socket(Socket &&other) noexcept : handle(other.handle) { other.handle = -1; }
  Socket &operator=(Socket &&other) noexcept;
  ~Socket() { close(); }

  bool isOpen() const { return handle >= 0; }
  int descriptor() const { return handle; }
  void close();

  /// Whom to listen to where a host's name does not say on which interface, as
  /// it means loopback on this machine, or another machine's address: to
  /// nobody, to this machine, to everybody.
  enum Audience { nobody, machine, everybody };
  /// A socket that listens on a port of the interface that has an address of
  /// `host`.
  static Status listen(const std::string &host, int port, Audience otherwise,
                       Socket &out_socket);
  /// Tries once.
  static Status connect(const std::string &host, int port, Socket &out_socket);
  /// The next process that connects, or none.
  Socket accept() const;

  /// Sends all of a frame; a status after the limit, when the other end is
  /// gone, or once `stop` is set.
  Status send(const Frame &frame, const void *data, Clock::time_point end,
              const std::atomic<bool> &stop) const;

private:
  Status sendAll(const void *data, size_t bytes, Clock::time_point end,
                 const std::atomic<bool> &stop) const;
  /// Makes calls return at once.
  void prepare() const;
  /// False, and errno, where the address or port is not free for us.
  static bool listenAt(const addrinfo &address, bool takesBoth,
                       Socket &out_socket);

  int handle = -1;
};

/// A frame that arrives bit by bit. It takes memory as its bytes come, whatever
/// it says of their number.
class Arrival {
public:
  /// No message is larger, whatever arrives.
  static constexpr int64_t kLargestMessage = int64_t(1) << 42;

  /// More bytes than `most` after a frame are no message of ours.
  explicit Arrival(int64_t most = kLargestMessage) : most(most) {}

  enum Progress { more, complete, lost };
  /// Reads what is there: at most one frame, which `frame` and `payload` then
  /// hold until the next call. `lost`: the other end is gone, or no process of
  /// ours.
  Progress read(const Socket &socket);

  Frame frame;
  std::vector<std::byte> payload;
  int64_t most;

private:
  /// Room for more of a payload; false where there is no memory.
  bool grow(size_t wanted);

  size_t got = 0; ///< of the frame, then of the payload
  bool inPayload = false;
};

} // namespace sprt

#endif // SPRT_LIB_COMMUNICATOR_SOCKET_H
