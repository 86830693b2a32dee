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
constexpr size_t kFirstBytes = size_t(1) << 16; ///< of a payload
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

bool isLoopback(const addrinfo &address) {
  if (address.ai_family == AF_INET6)
    return IN6_IS_ADDR_LOOPBACK(
        &reinterpret_cast<const sockaddr_in6 *>(address.ai_addr)->sin6_addr);
  const auto *four = reinterpret_cast<const sockaddr_in *>(address.ai_addr);
  return ntohl(four->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

bool isAny(const addrinfo &address) {
  if (address.ai_family == AF_INET6)
    return IN6_IS_ADDR_UNSPECIFIED(
        &reinterpret_cast<const sockaddr_in6 *>(address.ai_addr)->sin6_addr);
  const auto *four = reinterpret_cast<const sockaddr_in *>(address.ai_addr);
  return four->sin_addr.s_addr == htonl(INADDR_ANY);
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

bool Socket::listenAt(const addrinfo &address, bool takesBoth,
                      Socket &out_socket) {
  Socket socket(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  int on = 1, one = !takesBoth;
  setsockopt(socket.handle, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address.ai_family == AF_INET6)
    setsockopt(socket.handle, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
  if (!socket.isOpen() ||
      bind(socket.handle, address.ai_addr, address.ai_addrlen) != 0 ||
      ::listen(socket.handle, kWaiting) != 0)
    return false;
  socket.prepare();
  out_socket = std::move(socket);
  return true;
}

Status Socket::listen(const std::string &host, int port, Audience otherwise,
                      Socket &out_socket) {
  Addresses named, any;
  if (Status failure = resolve(host.c_str(), port, named))
    return failure;
  int error = EADDRNOTAVAIL;
  auto tryAll = [&](const Addresses &addresses, bool takesAny,
                    bool takesLoopback) {
    // Sockets of IPv6 take both where they take any address; loopback most
    // often means that of IPv4.
    for (int family :
         {takesAny ? AF_INET6 : AF_INET, takesAny ? AF_INET : AF_INET6})
      for (addrinfo *each = addresses.first; each; each = each->ai_next) {
        if (each->ai_family != family || isAny(*each) != takesAny ||
            (isLoopback(*each) && !takesLoopback))
          continue;
        if (listenAt(*each, takesAny, out_socket))
          return true;
        error = errno;
        // Who is there instead would be taken for us.
        if (error == EADDRINUSE)
          return false;
      }
    return false;
  };
  auto isOver = [&](bool found) { return found || error == EADDRINUSE; };
  bool found = tryAll(named, /*takesAny=*/false, isLoopback(host));
  if (!isOver(found) && otherwise == machine)
    found = tryAll(named, /*takesAny=*/false, /*takesLoopback=*/true);
  if (!isOver(found) && otherwise == everybody) {
    if (Status failure = resolve(nullptr, port, any))
      return failure;
    found = tryAll(any, /*takesAny=*/true, /*takesLoopback=*/false);
  }
  if (found)
    return Status::success();
  if (error == EADDRNOTAVAIL && otherwise != everybody)
    return fail(SPRT_INVALID_ARGUMENT)
           << "MASTER_ADDR \"" << host
           << "\" does not say which interface of this machine to listen on; "
              "give the address of one, or set SPRT_SECRET to the same text "
              "for "
              "every process to listen on all of them";
  return fail(SPRT_FAILED) << "port " << port << " of " << host << ": "
                           << std::strerror(error)
                           << "; name a port that is free in SPRT_PORT";
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
    size_t wanted = inPayload ? static_cast<size_t>(frame.bytes) : sizeof frame;
    while (got < wanted) {
      if (inPayload && got == payload.size() && !grow(wanted))
        return lost;
      std::byte *to =
          inPayload ? payload.data() : reinterpret_cast<std::byte *>(&frame);
      size_t room = inPayload ? payload.size() : sizeof frame;
      ssize_t bytes =
          recv(socket.descriptor(), to + got, room - got, MSG_DONTWAIT);
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
    payload.clear();
    inPayload = true;
  }
}

bool Arrival::grow(size_t wanted) {
  try {
    payload.resize(std::min(wanted, std::max(kFirstBytes, 2 * got)));
    return true;
  } catch (const std::bad_alloc &) {
    return false;
  }
}

} // namespace sprt
