/// A status as the library uses it: true means that something went wrong.
///
///   if (Status failure = view.check(arena))
///     return failure;
///   return fail(SPRT_DAMAGED) << "expected 4 strides but got " << n;
#ifndef SPRT_LIB_SUPPORT_STATUS_H
#define SPRT_LIB_SUPPORT_STATUS_H

#include "sprt/types.h"

#include <memory>
#include <sstream>
#include <string>

struct sprt_status {
  sprt_code code = SPRT_FAILED;
  std::string text;
  int64_t rank = -1;
  int64_t command = -1;
  int64_t peer = -1;
  /// Another rank's failure ended this one's work.
  bool consequence = false;
};

namespace sprt {

class [[nodiscard]] Status {
public:
  Status() = default;
  Status(sprt_code code, std::string text)
      : detail(std::make_unique<sprt_status>()) {
    detail->code = code;
    detail->text = std::move(text);
  }

  explicit Status(sprt_status status)
      : detail(std::make_unique<sprt_status>(std::move(status))) {}

  static Status success() { return {}; }

  explicit operator bool() const { return detail != nullptr; }
  sprt_status *operator->() { return detail.get(); }
  const sprt_status *operator->() const { return detail.get(); }
  /// Hands the status to a caller of the C ABI.
  sprt_status *release() { return detail.release(); }

  /// The same status, with `context` and a colon before its text.
  Status within(const std::string &context) && {
    if (detail)
      detail->text = context + ": " + detail->text;
    return std::move(*this);
  }

private:
  std::unique_ptr<sprt_status> detail;
};

/// Collects the text of a status.
class Failure {
public:
  explicit Failure(sprt_code code) : code(code) {}
  Failure &about(int64_t rankNumber, int64_t peerRank = -1) {
    rank = rankNumber;
    peer = peerRank;
    return *this;
  }
  Failure &asConsequence() {
    consequence = true;
    return *this;
  }
  template <typename T> Failure &operator<<(const T &part) {
    text << part;
    return *this;
  }
  operator Status() const {
    Status status(code, text.str());
    status->rank = rank;
    status->peer = peer;
    status->consequence = consequence;
    return status;
  }

private:
  sprt_code code;
  int64_t rank = -1;
  int64_t peer = -1;
  bool consequence = false;
  std::ostringstream text;
};

inline Failure fail(sprt_code code) { return Failure(code); }

} // namespace sprt

#endif // SPRT_LIB_SUPPORT_STATUS_H
