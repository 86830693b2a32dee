#include "communicator/Socket.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sprt {

namespace {

/// How long to sleep between two looks at whether to go on.
constexpr int kLookMilliseconds = 50;
constexpr int kWaiting = 1024; ///< processes that may connect at once
/// How long one address may take to answer.
constexpr timeval kAnswer = {2, 0};

struct Addresses {
  addrinfo *first = nullptr;
  ~Addresses() {
    if (first)
      freeaddrinfo(first);
  }
};

Status resolve(const char *host, int port, Addresses &out_addresses) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = host ? 0 : AI_PASSIVE;
  int code = getaddrinfo(host, std::to_string(port).c_str(), &hints,
                         &out_addresses.first);
  if (code == 0)
    return Status::success();
  return fail(SPRT_FAILED) << "host \"" << (host ? host : "")
                           << "\": " << gai_strerror(code);
}

bool isLoopback(const std::string &host) {
  return host == "localhost" || host == "::1" || host.rfind("127.", 0) == 0;
}

} // namespace

Socket &Socket::operator=(Socket &&other) noexcept {
  std::swap(handle, other.handle);
  return *this;
}

void Socket::close() {
  if (handle >= 0)
    ::close(handle);
  handle = -1;
}

void Socket::prepare() const {
  int on = 1;
  setsockopt(handle, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  fcntl(handle, F_SETFL, fcntl(handle, F_GETFL) | O_NONBLOCK);
}

Status Socket::listen(const std::string &host, int port, Socket &out_socket) {
  // What other machines must reach is not looked up: the name of a machine may
  // mean loopback on the machine itself.
  Addresses addresses;
  bool isLocal = isLoopback(host);
  if (Status failure =
          resolve(isLocal ? host.c_str() : nullptr, port, addresses))
    return failure;
  int error = EADDRNOTAVAIL;
  // Sockets of IPv6 take both where they take any address.
  for (bool takesFirst : {true, false}) {
    int family = takesFirst == isLocal ? AF_INET : AF_INET6;
    for (addrinfo *each = addresses.first; each; each = each->ai_next) {
      if (each->ai_family != family)
        continue;
      Socket socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
      int on = 1, off = 0;
      setsockopt(socket.handle, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
      if (family == AF_INET6)
        setsockopt(socket.handle, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
      if (socket.isOpen() &&
          bind(socket.handle, each->ai_addr, each->ai_addrlen) == 0 &&
          ::listen(socket.handle, kWaiting) == 0) {
        socket.prepare();
        out_socket = std::move(socket);
        return Status::success();
      }
      error = errno;
    }
    // Who is there instead would be taken for us.
    if (error == EADDRINUSE)
      break;
  }
  return fail(SPRT_FAILED) << "port " << port << " of " << host << ": "
                           << std::strerror(error);
}

Status Socket::connect(const std::string &host, int port, Socket &out_socket) {
  Addresses addresses;
  if (Status failure = resolve(host.c_str(), port, addresses))
    return failure;
  int error = EADDRNOTAVAIL;
  for (addrinfo *each = addresses.first; each; each = each->ai_next) {
    Socket socket(::socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    setsockopt(socket.handle, SOL_SOCKET, SO_SNDTIMEO, &kAnswer,
               sizeof kAnswer);
    if (socket.isOpen() &&
        ::connect(socket.handle, each->ai_addr, each->ai_addrlen) == 0) {
      socket.prepare();
      out_socket = std::move(socket);
      return Status::success();
    }
    error = errno;
  }
  return fail(SPRT_FAILED) << "port " << port << " of " << host << ": "
                           << std::strerror(error);
}

Socket Socket::accept() const {
  Socket socket(::accept4(handle, nullptr, nullptr, SOCK_CLOEXEC));
  if (socket.isOpen())
    socket.prepare();
  return socket;
}

Status Socket::sendAll(const void *data, size_t bytes, Clock::time_point end,
                       const std::atomic<bool> &stop) const {
  const char *at = static_cast<const char *>(data);
  while (bytes > 0) {
    ssize_t sent = ::send(handle, at, bytes, MSG_NOSIGNAL);
    if (sent > 0) {
      at += sent;
      bytes -= static_cast<size_t>(sent);
      continue;
    }
    if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
      return fail(SPRT_FAILED) << "connection lost: " << std::strerror(errno);
    if (stop.load())
      return fail(SPRT_FAILED).asConsequence() << "stopped";
    if (Clock::now() > end)
      return fail(SPRT_TIMEOUT) << "the other end reads nothing";
    pollfd wanted = {handle, POLLOUT, 0};
    poll(&wanted, 1, kLookMilliseconds);
  }
  return Status::success();
}

Status Socket::send(const Frame &frame, const void *data, Clock::time_point end,
                    const std::atomic<bool> &stop) const {
  if (Status failure = sendAll(&frame, sizeof frame, end, stop))
    return failure;
  return sendAll(data, static_cast<size_t>(frame.bytes), end, stop);
}

Arrival::Progress Arrival::read(const Socket &socket) {
  for (;;) {
    std::byte *to =
        inPayload ? payload.data() : reinterpret_cast<std::byte *>(&frame);
    size_t wanted = inPayload ? payload.size() : sizeof frame;
    while (got < wanted) {
      ssize_t bytes =
          recv(socket.descriptor(), to + got, wanted - got, MSG_DONTWAIT);
      if (bytes > 0) {
        got += static_cast<size_t>(bytes);
        continue;
      }
      if (bytes < 0 && errno == EINTR)
        continue;
      return bytes < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? more
                                                                    : lost;
    }
    got = 0;
    if (inPayload) {
      inPayload = false;
      return complete;
    }
    if (frame.magic != Frame::kMagic || frame.bytes < 0 || frame.bytes > most)
      return lost;
    try {
      payload.resize(static_cast<size_t>(frame.bytes));
    } catch (const std::bad_alloc &) {
      return lost;
    }
    inPayload = true;
  }
}

} // namespace sprt
