/// Rows of values that travel in a collective.
#ifndef SPRT_LIB_WALK_MOVEDROWS_H
#define SPRT_LIB_WALK_MOVEDROWS_H

#include "sprt/algebra/Redeal.h"
#include "sprt/plan_generated.h"
#include "support/Message.h"

namespace sprt {

inline void append(Message &message, const Message &more) {
  message.insert(message.end(), more.begin(), more.end());
}

/// Some of the rows of `whole`.
inline void addRows(Message &message, Piece whole, const algebra::Range &rows) {
  whole.base += rows.first * whole.strides[1];
  whole.counts[1] = rows.count;
  whole.strides[1] *= rows.stride;
  if (whole.bytes() > 0)
    message.push_back(whole);
}

/// How an exchange from rows to rows deals those of a value.
inline algebra::Redeal redealOf(const std::vector<algebra::Layout> &layouts,
                                const plan::ExchangeT &exchange,
                                const plan::MovedT &moved) {
  return {layouts[moved.layout], layouts[static_cast<size_t>(exchange.onto)],
          exchange.by};
}

} // namespace sprt

#endif // SPRT_LIB_WALK_MOVEDROWS_H
