/// Checks of what commands are made of.
#ifndef SPRT_LIB_PROGRAM_VALIDATEPARTS_H
#define SPRT_LIB_PROGRAM_VALIDATEPARTS_H

#include "program/Expression.h"

namespace sprt {

/// Upper bound of sizes and offsets: far above any machine, far below overflow.
inline constexpr int64_t kMaxBytes = int64_t(1) << 46;

/// Whether `value` is one of an enumeration's.
template <typename E> bool isEnum(E value) {
  return value >= E::MIN && value <= E::MAX;
}

/// 0 <= value <= kMaxBytes, or a failure that names it.
Status checkSize(int64_t value, const char *what, int64_t least = 0,
                 int64_t most = kMaxBytes);

/// Validates buffers, rows and expressions against a plan; text of failures
/// names `what` they are.
class PartValidator {
public:
  explicit PartValidator(const plan::PlanT &plan) : plan(plan) {}

  /// What is checked from now on may read a counter more (less).
  void enterLoop() { ++counters; }
  void leaveLoop() { --counters; }

  Status checkView(const plan::ViewT *view, const char *what, bool written,
                   int64_t leastBytes = 0, bool mayBeFar = false) const;
  Status checkStrided(const plan::StridedT *strided, const char *what,
                      bool written) const;
  Status checkRows(const plan::RowsT *rows, const char *what) const;
  Status checkExpr(const plan::ExprT *expression, const char *what) const;
  Status checkFactor(uint32_t factor) const;
  Status checkLayout(int64_t layout, const char *what) const;
  /// Documents of queries and of keys that these layouts deal.
  Status checkDocuments(int32_t documents, uint32_t queries,
                        uint32_t keys) const;

private:
  const plan::PlanT &plan;
  size_t counters = 0; ///< enclosing loops
};

} // namespace sprt

#endif // SPRT_LIB_PROGRAM_VALIDATEPARTS_H
