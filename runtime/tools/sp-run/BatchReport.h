/// What each step made of its documents, a line of JSON each.
#ifndef SP_RUN_BATCHREPORT_H
#define SP_RUN_BATCHREPORT_H

#include "Check.h"

class BatchReport {
public:
  /// Keeps what the session's last run made of its documents. False after a
  /// diagnostic.
  bool add(const sprt_program *program, const sprt_session *session);
  /// Writes all lines.
  bool write(const std::string &path) const;

private:
  int64_t steps = 0;
  std::string lines;
};

#endif // SP_RUN_BATCHREPORT_H
