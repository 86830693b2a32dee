/// Calls of the C ABI that use a session.
#ifndef SPRT_LIB_CAPI_SESSIONCALL_H
#define SPRT_LIB_CAPI_SESSIONCALL_H

#include "capi/Handles.h"
#include "executor/Session.h"

namespace sprt {

/// `body` as the only call that uses the session, as `use` says.
template <typename Body>
sprt_status *alone(const sprt_session *session, const Body &body,
                   Session::Use use = Session::called) {
  return guarded([&]() -> Status {
    if (!session)
      return nullArgument("session");
    Session::Claim claim(*session, Session::idle, use);
    return claim.failure ? std::move(claim.failure) : body(claim);
  });
}

} // namespace sprt

#endif // SPRT_LIB_CAPI_SESSIONCALL_H
