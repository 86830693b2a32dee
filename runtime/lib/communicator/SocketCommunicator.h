/// A rank of a SocketWorld, for memory of the host.
#ifndef SPRT_LIB_COMMUNICATOR_SOCKETCOMMUNICATOR_H
#define SPRT_LIB_COMMUNICATOR_SOCKETCOMMUNICATOR_H

#include "communicator/SocketWorld.h"

namespace sprt {

class SocketCommunicator : public Communicator {
public:
  explicit SocketCommunicator(std::shared_ptr<SocketWorld> world)
      : Communicator(world->rank, world->ranks), world(std::move(world)) {}

  void interrupt() override { world->interrupt(); }

protected:
  Status postSend(int64_t peer, int channel, Message message,
                  RequestPtr &out_request) override;
  Status postReceive(int64_t peer, int channel, Message message,
                     RequestPtr &out_request) override;
  Status finish(Request &request) override;

private:
  std::shared_ptr<SocketWorld> world;
  std::map<int64_t, int64_t> sendCount[kChannels];
};

} // namespace sprt

#endif // SPRT_LIB_COMMUNICATOR_SOCKETCOMMUNICATOR_H
