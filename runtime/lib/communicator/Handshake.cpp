#include "communicator/Handshake.h"

#include <cerrno>
#include <cstring>

#include <sys/random.h>

namespace sprt {

Status drawNonce(Nonce &out_nonce) {
  if (getentropy(out_nonce.data(), out_nonce.size()) != 0)
    return fail(SPRT_FAILED) << "getentropy: " << std::strerror(errno);
  return Status::success();
}

Digest prove(const std::string &secret, const Frame &frame,
             const Nonce &challenge, const Nonce &answer) {
  std::string said = "sp-mlir";
  auto say = [&](int64_t number) {
    said.append(reinterpret_cast<const char *>(&number), sizeof number);
  };
  say(frame.kind);
  say(frame.version);
  say(frame.from);
  say(frame.to);
  said.append(challenge.begin(), challenge.end());
  said.append(answer.begin(), answer.end());
  return hmacSha256(secret, said);
}

} // namespace sprt
