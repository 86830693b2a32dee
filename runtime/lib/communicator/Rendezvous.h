/// How the processes of a launcher find each other: process 0 listens, the
/// others connect to it.
///
/// Process 0 listens to others until all are there; who does not prove that it
/// belongs to the run (Handshake.h) is a stranger, whose connection ends, and
/// nothing else.
#ifndef SPRT_LIB_COMMUNICATOR_RENDEZVOUS_H
#define SPRT_LIB_COMMUNICATOR_RENDEZVOUS_H

#include "communicator/Socket.h"

#include <map>
#include <mutex>

namespace sprt {

/// Who a process is, and where process 0 listens.
struct ProcessAddress {
  int64_t process = 0, processes = 1, localRank = -1;
  std::string host;
  int port = 0;
  std::string secret; ///< of the run; empty: none
  Socket::Audience audience = Socket::nobody;
};
/// From the environment: the port is SPRT_PORT, else the one after MASTER_PORT,
/// which the launcher itself may listen on; the secret is SPRT_SECRET.
Status readAddress(ProcessAddress &out_address);

/// A connection to another process of the run.
struct Link {
  Socket socket;
  std::mutex sending;
  Arrival arrival;
  bool left = false; ///< has said farewell
};
/// By process: those of process 0 to all others, of others to process 0.
using Links = std::map<int64_t, std::unique_ptr<Link>>;

/// Returns once everybody is there.
Status meet(const ProcessAddress &address, Clock::time_point end,
            Links &out_links);

} // namespace sprt

#endif // SPRT_LIB_COMMUNICATOR_RENDEZVOUS_H
