/// How the processes of a run know each other: by a secret, which never
/// travels.
///
///     0 to 1    challenge   a number drawn for this connection
///     1 to 0    hello       another one, and a proof
///     0 to 1    welcome     a proof
///
/// A proof is the HMAC, under the secret, of what is said and of both numbers,
/// so that neither can be said again by somebody who listens. Without a secret
/// proofs are still right or wrong, but anybody can make them.
#ifndef SPRT_LIB_COMMUNICATOR_HANDSHAKE_H
#define SPRT_LIB_COMMUNICATOR_HANDSHAKE_H

#include "communicator/Socket.h"
#include "support/Sha256.h"

namespace sprt {

using Nonce = std::array<uint8_t, 32>;

/// What follows a hello.
struct Greeting {
  Nonce nonce;
  Digest proof;
};

/// A number that nobody can foresee.
Status drawNonce(Nonce &out_nonce);

/// Of the frame's kind, version, sender and receiver; `challenge` was drawn by
/// process 0, `answer` by the other one.
Digest prove(const std::string &secret, const Frame &frame,
             const Nonce &challenge, const Nonce &answer);

} // namespace sprt

#endif // SPRT_LIB_COMMUNICATOR_HANDSHAKE_H
