// What collectives send and touch, without a message for each member: so that a
// rank of thousands is looked at as fast as one of two.

#include "walk/MovedRows.h"
#include "walk/Walk.h"

namespace sprt {

Status GroupWalk::touchRows(const plan::MovedT &moved, int64_t read,
                            int64_t written, int64_t heads,
                            Message &touched) const {
  Piece source, target;
  if (Status failure = strided(*moved.source, read, heads, source))
    return failure;
  if (Status failure = strided(*moved.target, written, heads, target))
    return failure;
  addRows(touched, source, {0, read, 1});
  addRows(touched, target, {0, written, 1});
  return Status::success();
}

int64_t GroupWalk::bytesSent(const plan::AllReduceT &reduce) const {
  Group group = self.groupOf(reduce.factors);
  int64_t size = sizeOf(reduce.type), bytes = 0;
  for (const auto &view : reduce.views) {
    int64_t elements = view->bytes / size;
    algebra::Layout parts(algebra::LayoutKind::contiguous, elements,
                          group.size());
    int64_t own = parts.count(group.index);
    bytes += (elements + own * (group.size() - 2)) * size;
  }
  return bytes;
}

Status GroupWalk::sum(const plan::ExchangeT &exchange, GroupSums &out_sums) {
  bool isRedealt = exchange.direction == plan::Direction::rowsToRows;
  // Without heads or parts of an owner every member gets all rows.
  if (!isRedealt && (exchange.direction != plan::Direction::rowsToHeads ||
                     exchange.head_layout >= 0 || exchange.owner)) {
    GroupMessages messages;
    if (Status failure = resolve(exchange, messages))
      return failure;
    out_sums.bytes = messages.bytesToOthers();
    for (const auto *list : {&messages.outgoing, &messages.incoming})
      for (const Message &message : *list)
        append(out_sums.touched, message);
    return Status::success();
  }
  const plan::FactorT &factor = *program.plan->factors[exchange.factor];
  int64_t own = self.coordinates[exchange.factor];
  for (const auto &moved : exchange.values) {
    const algebra::Layout &rows = here.layout(moved->layout);
    if (!isRedealt) {
      if (Status failure = touchRows(*moved, rows.count(own), rows.length(),
                                     exchange.head_count, out_sums.touched))
        return failure;
      out_sums.bytes += rows.count(own) * (factor.size - 1) *
                        moved->source->batch * exchange.head_count *
                        moved->source->inner_bytes;
      continue;
    }
    algebra::Redeal redeal = redealOf(here.bound().layouts, exchange, *moved);
    Piece source, target;
    if (Status failure =
            strided(*moved->source, redeal.countBefore(own), 1, source))
      return failure;
    if (Status failure =
            strided(*moved->target, redeal.countAfter(own), 1, target))
      return failure;
    out_sums.bytes +=
        redeal.rowsToOthers(own) * source.counts[0] * source.inner;
    for (algebra::Interval given : redeal.given(own))
      addRows(out_sums.touched, source, {given.begin, given.size(), 1});
    for (algebra::Interval received : redeal.received(own))
      addRows(out_sums.touched, target, {received.begin, received.size(), 1});
  }
  return Status::success();
}

Status GroupWalk::sum(const plan::ReduceScatterT &reduce, GroupSums &out_sums) {
  for (const auto &moved : reduce.values) {
    const algebra::Layout &rows = here.layout(moved->layout);
    int64_t own = rows.count(self.coordinates[reduce.factor]);
    if (Status failure =
            touchRows(*moved, rows.length(), own, 1, out_sums.touched))
      return failure;
    out_sums.bytes += (rows.length() - own) * moved->source->batch *
                      moved->source->inner_bytes;
  }
  return Status::success();
}

} // namespace sprt
