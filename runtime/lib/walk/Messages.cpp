// What commands that move data between ranks send and receive.

#include "walk/MovedRows.h"
#include "walk/Walk.h"

#include "program/Extent.h"
#include "program/LayoutOf.h"
#include "sprt/algebra/Heads.h"
#include "sprt/types.h"

#include <algorithm>

namespace sprt {

namespace {

/// What is reduced must lie as whole elements do.
Status checkAligned(const std::byte *data, plan::DType type) {
  size_t size = sprt_dtype_size(static_cast<sprt_dtype>(type));
  if (reinterpret_cast<uintptr_t>(data) % size != 0)
    return fail(SPRT_DAMAGED)
           << "what is reduced is not aligned to " << size << " bytes";
  return Status::success();
}

/// Heads of a tensor with `headCount` heads that a member of the group holds.
algebra::Interval heldHeads(const std::vector<algebra::Layout> &layouts,
                            const plan::ExchangeT &exchange, int64_t member) {
  if (exchange.head_layout < 0)
    return {0, exchange.head_count};
  return algebra::heldHeads(layouts[static_cast<size_t>(exchange.head_layout)],
                            member, exchange.head_count);
}

/// Part of `whole`: the rows of one owner and some heads.
struct RowsOfOwner {
  const algebra::Layout &layout;
  int64_t owner;
  /// What the memory holds: every row in position order, or those of the owner
  /// in `joined`, or else the owner's own.
  bool dense;
  const algebra::Layout *joined = nullptr;
};

Message select(const Piece &whole, const RowsOfOwner &rows,
               algebra::Interval heads, int64_t firstHead) {
  Message message;
  int64_t local = 0;
  for (const algebra::Range &range : rows.layout.ranges(rows.owner)) {
    Piece piece = whole;
    int64_t row = rows.dense    ? range.first
                  : rows.joined ? rows.joined->toLocal(range.first).row
                                : local;
    piece.base +=
        row * whole.strides[1] + (heads.begin - firstHead) * whole.strides[2];
    piece.counts[1] = range.count;
    piece.counts[2] = heads.size();
    if (rows.dense)
      piece.strides[1] *= range.stride;
    local += range.count;
    if (piece.bytes() > 0)
      message.push_back(piece);
  }
  return message;
}

/// The heads of a dense tensor that `member` passes on: those that no earlier
/// member of the group also holds.
algebra::Interval ownHeads(const std::vector<algebra::Layout> &layouts,
                           const plan::ExchangeT &exchange, int64_t member) {
  algebra::Interval heads = heldHeads(layouts, exchange, member);
  for (int64_t earlier = 0; earlier < member && !heads.empty(); ++earlier)
    heads.begin =
        std::max(heads.begin, heldHeads(layouts, exchange, earlier).end);
  return heads;
}

struct BlockOnWay {
  int64_t owner, receiver;
};

/// The rows of a block that travel straight between its owner and another rank.
Status straightRows(RankView &rank, const RowOfBatch &here, const Step &step,
                    const algebra::Layout &keys, int64_t owner, int64_t peer,
                    std::vector<algebra::Interval> &out_rows) {
  const plan::NeedsT &needs = *step.command->operation.AsSendRecv()->needs;
  const plan::FactorT &ring = *rank.program.plan->factors[needs.factor];
  int64_t own = rank.coordinates[needs.factor],
          other = peer / ring.stride % ring.size;
  if (owner != own && owner != other)
    return fail(SPRT_DAMAGED)
           << "a block of owner " << owner << " that goes straight between "
           << own << " and " << other;
  out_rows = here.mask(rank.program, step)
                 .seenRows(here.layout(needs.queries),
                           owner == own ? other : own, keys, owner);
  return Status::success();
}

/// Whether a block is needed where its receiver takes it to.
bool isNeeded(RankView &rank, const RowOfBatch &here, const Step &step,
              const algebra::Layout &keys, const BlockOnWay &block) {
  const plan::NeedsT &needs = *step.command->operation.AsSendRecv()->needs;
  const plan::FactorT &ring = *rank.program.plan->factors[needs.factor];
  const algebra::Layout &queries = here.layout(needs.queries);
  algebra::RingWay way = wayOf(needs, queries, block.owner);
  int64_t taker = block.receiver / ring.stride % ring.size,
          above = way.above(taker);
  auto [entry, added] =
      rank.reaches[static_cast<size_t>(step.command->stream)].try_emplace(
          {step.id, here.number(), block.owner, above}, 0);
  if (added)
    entry->second = here.mask(rank.program, step)
                        .ringReach(queries, keys, block.owner, way, above);
  // Its own owner needs it no more after a whole turn.
  int64_t hops = way.hopsTo(block.owner, taker);
  return hops > 0 && hops <= entry->second;
}

} // namespace

Status GroupWalk::strided(const plan::StridedT &strided, int64_t rows,
                          int64_t heads, Piece &out_piece) const {
  Piece piece;
  if (Status failure = self.resolve(*strided.view, scope, piece.base))
    return failure;
  piece.counts[0] = strided.batch;
  piece.counts[1] = rows;
  piece.counts[2] = heads;
  piece.strides[0] = strided.batch_stride;
  piece.strides[1] = strided.row_stride;
  piece.strides[2] = strided.head_stride;
  piece.inner = strided.inner_bytes;
  if (heads < 0)
    return fail(SPRT_DAMAGED) << "a block of " << heads << " heads";
  Extent extent{{strided.batch, rows, heads, 1},
                {strided.batch_stride, strided.row_stride, strided.head_stride},
                strided.inner_bytes};
  if (extent.isEmpty())
    piece.inner = 0;
  out_piece = piece;
  return checkExtent(extent, strided.view->bytes,
                     "a block of " + std::to_string(strided.batch) + "x" +
                         std::to_string(rows) + "x" + std::to_string(heads) +
                         "x" + std::to_string(strided.inner_bytes));
}

Status Walk::blocks(const Step &step, const plan::SendRecvT &transfer,
                    const std::vector<std::unique_ptr<plan::BlockT>> &list,
                    int64_t sender, int64_t receiver, Message &out_message) {
  bool goesOn = transfer.needs && !transfer.needs->straight;
  for (const auto &block : list) {
    int64_t owner = 0, heads = 0;
    if (Status failure = evaluate(*block->rows->owner, scope, owner))
      return failure;
    if (Status failure = evaluate(*block->heads, scope, heads))
      return failure;
    const algebra::Layout &layout = here.layout(block->rows->layout);
    // Whoever is no owner holds nothing.
    if (owner < 0 || owner >= layout.ranks())
      continue;
    if (goesOn && !isNeeded(self, here, step, layout, {owner, receiver}))
      continue;
    std::vector<algebra::Interval> rows = {{0, layout.count(owner)}};
    if (transfer.needs && transfer.needs->straight)
      if (Status failure =
              straightRows(self, here, step, layout, owner,
                           sender == self.number ? receiver : sender, rows))
        return failure;
    Piece piece;
    if (Status failure =
            strided(*block->strided, layout.count(owner), heads, piece))
      return failure;
    for (algebra::Interval each : rows)
      addRows(out_message, piece, {each.begin, each.size(), 1});
  }
  return Status::success();
}

Status Walk::resolve(const Step &step, const plan::SendRecvT &transfer,
                     Transfer &out_transfer) {
  int64_t &to = out_transfer.to, &from = out_transfer.from;
  if (Status failure = evaluate(*transfer.to, scope, to))
    return failure;
  if (Status failure = evaluate(*transfer.from, scope, from))
    return failure;
  if (to < 0 || to >= program.ranks() || from < 0 || from >= program.ranks())
    return fail(SPRT_DAMAGED)
           << "a transfer to rank " << to << " and from rank " << from << " of "
           << program.ranks();
  if (Status failure = blocks(step, transfer, transfer.sends, self.number, to,
                              out_transfer.outgoing))
    return failure;
  if (Status failure = blocks(step, transfer, transfer.receives, from,
                              self.number, out_transfer.incoming))
    return failure;
  bool alone = to == self.number && from == self.number;
  int64_t sent = messageBytes(out_transfer.outgoing);
  int64_t received = messageBytes(out_transfer.incoming);
  if (alone && sent != received)
    return fail(SPRT_DAMAGED)
           << "sends " << sent << " bytes to itself but receives " << received;
  return Status::success();
}

GroupMessages GroupWalk::messagesOf(const plan::ExchangeT &exchange) const {
  GroupMessages messages;
  messages.group = self.groupOf({exchange.factor});
  messages.outgoing.resize(messages.group.members.size());
  messages.incoming.resize(messages.group.members.size());
  return messages;
}

Status GroupWalk::resolve(const plan::ExchangeT &exchange,
                          const plan::MovedT &moved,
                          GroupMessages &messages) const {
  return exchange.direction == plan::Direction::rowsToRows
             ? redealt(exchange, moved, messages)
             : exchanged(exchange, moved, messages);
}

Status GroupWalk::resolve(const plan::ExchangeT &exchange,
                          GroupMessages &out_messages) const {
  out_messages = messagesOf(exchange);
  for (const auto &moved : exchange.values)
    if (Status failure = resolve(exchange, *moved, out_messages))
      return failure;
  return Status::success();
}

Status GroupWalk::redealt(const plan::ExchangeT &exchange,
                          const plan::MovedT &moved,
                          GroupMessages &messages) const {
  algebra::Redeal redeal = redealOf(here.bound().layouts, exchange, moved);
  int64_t own = messages.group.index;
  Piece source, target;
  if (Status failure =
          strided(*moved.source, redeal.countBefore(own), 1, source))
    return failure;
  if (Status failure =
          strided(*moved.target, redeal.countAfter(own), 1, target))
    return failure;
  for (int64_t member = 0; member < messages.group.size(); ++member) {
    auto number = static_cast<size_t>(member);
    for (const algebra::RowPairs &rows : redeal.rows(own, member))
      addRows(messages.outgoing[number], source, rows.a);
    for (const algebra::RowPairs &rows : redeal.rows(member, own))
      addRows(messages.incoming[number], target, rows.b);
  }
  return Status::success();
}

Status GroupWalk::exchanged(const plan::ExchangeT &exchange,
                            const plan::MovedT &moved,
                            GroupMessages &messages) const {
  const Group &group = messages.group;
  const algebra::Layout &rows = here.layout(moved.layout);
  bool gathers = exchange.direction == plan::Direction::rowsToHeads;
  algebra::Interval mine =
      heldHeads(here.bound().layouts, exchange, group.index);
  // The first member's owner, where the parts of a ring owner are joined.
  int64_t firstOwner = 0, denseRows = rows.length();
  algebra::Layout joined = algebra::joined(rows);
  if (exchange.owner) {
    if (Status failure = evaluate(*exchange.owner, scope, firstOwner))
      return failure;
    if (firstOwner < 0 || firstOwner >= rows.ranks() ||
        rows.split() != group.size() ||
        firstOwner % group.size() != group.index)
      return fail(SPRT_DAMAGED)
             << "member " << group.index << " of an exchange owns part "
             << firstOwner << " of " << rows.str();
    firstOwner -= group.index;
    denseRows = joined.count(firstOwner / rows.split());
  }

  // One side holds own rows of all heads, the other all rows of own heads.
  const plan::StridedT &rowSide = gathers ? *moved.source : *moved.target;
  const plan::StridedT &headSide = gathers ? *moved.target : *moved.source;
  Piece ownPiece, densePiece;
  int64_t own = firstOwner + group.index;
  if (Status failure =
          strided(rowSide, rows.count(own), exchange.head_count, ownPiece))
    return failure;
  if (Status failure = strided(headSide, denseRows, mine.size(), densePiece))
    return failure;

  for (int64_t member = 0; member < group.size(); ++member) {
    algebra::Interval theirs =
        gathers ? heldHeads(here.bound().layouts, exchange, member)
                : ownHeads(here.bound().layouts, exchange, member);
    algebra::Interval passed =
        gathers ? mine : ownHeads(here.bound().layouts, exchange, group.index);
    // An all-gather back to rows needs no transfer: every member has its own
    // rows.
    if (!gathers && exchange.head_layout < 0)
      theirs = passed = member == group.index ? mine : algebra::Interval();
    int64_t owner = firstOwner + member;
    Message fromRows = select(ownPiece, {rows, own, false}, theirs, 0);
    Message fromDense = select(
        densePiece,
        {rows, owner, !exchange.owner, exchange.owner ? &joined : nullptr},
        passed, mine.begin);
    if (!gathers)
      std::swap(fromRows, fromDense);
    append(messages.outgoing[static_cast<size_t>(member)], fromRows);
    append(messages.incoming[static_cast<size_t>(member)], fromDense);
  }
  return Status::success();
}

Status GroupWalk::resolve(const plan::AllReduceT &reduce, Message &out_data) {
  for (const auto &view : reduce.views) {
    std::byte *data = nullptr;
    if (Status failure = self.resolve(*view, scope, data))
      return failure;
    if (Status failure = checkAligned(data, reduce.type))
      return failure;
    out_data.push_back(denseMessage(data, view->bytes).front());
  }
  return Status::success();
}

Status GroupWalk::resolve(const plan::ReduceScatterT &reduce,
                          GroupMessages &out_messages) {
  Group &group = out_messages.group;
  group = self.groupOf({reduce.factor});
  out_messages.outgoing.resize(group.members.size());
  Message &kept = out_messages.incoming.emplace_back();
  for (const auto &moved : reduce.values) {
    const algebra::Layout &rows = here.layout(moved->layout);
    Piece source, target;
    if (Status failure = strided(*moved->source, rows.length(), 1, source))
      return failure;
    if (Status failure =
            strided(*moved->target, rows.count(group.index), 1, target))
      return failure;
    for (const Piece &piece : {source, target})
      if (Status failure = checkAligned(piece.base, reduce.type))
        return failure;
    for (int64_t member = 0; member < group.size(); ++member)
      append(out_messages.outgoing[static_cast<size_t>(member)],
             select(source, {rows, member, true}, {0, 1}, 0));
    append(kept, select(target, {rows, group.index, false}, {0, 1}, 0));
  }
  return Status::success();
}

} // namespace sprt
