//===- AttentionCost.cpp - Exact volumes of one attention -----------------===//

#include "sp/Plan/AttentionCost.h"

#include "WaySums.h"

#include "sp/IR/ShardingRules.h"
#include "sp/IR/Storage.h"
#include "sp/StableHLO/StableHLO.h"

using namespace mlir;
using namespace mlir::sp;
using sprt::algebra::Bands;
using sprt::algebra::Layout;
using sprt::algebra::RingWay;
using Kind = sprt::algebra::LayoutKind;

namespace {

/// An attention under a plan, ready to be counted.
class Counter {
public:
  Counter(const CountedAttention &op, PlanAttr plan, int64_t batch)
      : op(op), plan(plan), batch(batch), bands(toAlgebra(op.bands)) {
    ArrayRef<int64_t> q = op.query.getShape(), v = op.value.getShape();
    kvHeads = v[2];
    queries = toAlgebra(plan.getQueryRows(q[1]));
    keys = toAlgebra(plan.getRows(v[1]));
    auto ofTerms = [&](ArrayRef<Type> terms) {
      int64_t bytes = 0;
      for (Type term : terms) {
        auto type = cast<RankedTensorType>(term);
        bytes += (type.getDimSize(0) == 1 ? 1 : batch) *
                 elementBytes(type.getElementType());
      }
      return bytes;
    };
    keyTermBytes = ofTerms(op.perKey);
    queryTermBytes = ofTerms(op.perQuery);
    // Nothing of queries is exchanged once for the forward and for gradients
    // where each has its turns.
    bool isAgain = plan.getTurns() > 1 && op.queryPartBytes > 0;
    queriesToHeads = isAgain ? op.queryBytes : op.queriesToHeads;
    termsToHeads = {ofTerms(isAgain ? op.perQuery : op.perQueryToHeads),
                    ofTerms(op.perKeyToHeads)};
    if (plan.getTurns() > 1)
      termsToHeads.first *= plan.getGroups();
    ringQueries = toAlgebra(plan.getRingRows(q[1]));
    ringKeys = toAlgebra(plan.getRingRows(v[1]));
    queriesTravel = plan.getQueriesTravel() && op.queryPartBytes > 0;
    ringBands = queriesTravel ? bands.transposed() : bands;
    if (plan.getDirect())
      distances = *bands.readerDistances(ringQueries, ringKeys, plan.getRing());
    members.resize(plan.getHeads());
    for (int64_t group = 0; group < plan.getGroups(); ++group) {
      int64_t count = plan.getKvGroup(group, v[2]).second;
      addGroup(count,
               Layout(Kind::contiguous, count * q[2] / v[2], plan.getHeads()));
    }
    for (const Member &member : members) {
      allHeads += member.heads;
      allKvHeads += member.kvHeads;
    }
  }

  int64_t area(int64_t rank) const {
    if (plan.getMerge() > 1)
      return static_cast<int64_t>(sprt::algebra::area(
          bands.restrict(Layout::dense(queries.length()), 0, keys, rank)));
    bool joins = plan.getHeads() > 1;
    return static_cast<int64_t>(sprt::algebra::area(bands.restrict(
        joins ? ringQueries : queries, joins ? rank / plan.getHeads() : rank,
        Layout::dense(keys.length()), 0)));
  }

  /// Of everything but a ring, which counts by block.
  int64_t bytesSent(int64_t rank) const {
    int64_t bytes = 0;
    if (plan.getGather() > 1)
      bytes = keys.count(rank) * rowBytes(kvHeads) * (plan.getRanks() - 1) +
              (keys.length() - keys.count(rank)) * batch * kvHeads *
                  op.keyPartBytes;
    if (plan.getHeads() > 1)
      bytes += headBytes(rank);
    if (plan.getMerge() > 1)
      bytes += mergedBytes(rank);
    return bytes;
  }

  /// Ring ranks that send something on: from a first one on along a way, so
  /// many.
  using Send =
      function_ref<void(int64_t first, const RingWay &way, int64_t ranks)>;

  /// Calls `send` with all that send the block of `source` on: each on its way
  /// but the last. In every window it goes round the inner ring, one way or
  /// both, and from window to window along its own rank of them.
  void forEachSend(int64_t source, Send send) const {
    int64_t outer = plan.getOuter(), inner = plan.getInner();
    const Layout &readers = queriesTravel ? ringKeys : ringQueries;
    auto travel = [&](int64_t first, const RingWay &way) {
      send(first, way,
           ringBands.ringReach(readers, ringBlocks(), source, way,
                               way.above(first)));
    };
    RingWay windows{inner, outer, 1, outer - 1};
    travel(source, windows);
    for (int64_t window = 0; window < outer; ++window) {
      int64_t first = windows.moved(source, window);
      travel(first, {1, inner, 1, plan.getHopsOn()});
      travel(first, {1, inner, -1, plan.getHopsBack()});
    }
  }
  /// The same for gradients of the block, which follow it and come home.
  void forEachGradientSend(int64_t source, Send send) const {
    if (op.keyPartBytes == 0)
      return;
    int64_t outer = plan.getOuter(), inner = plan.getInner();
    RingWay windows{inner, outer, 1, outer - 1}, ring{1, inner, 1, inner - 1};
    // Both ways, a rank that begins with the block keeps what it adds.
    int64_t kept = plan.getHopsBack() > 0;
    for (int64_t window = 0; window < outer; ++window) {
      int64_t first = windows.moved(source, window);
      send(ring.moved(first, kept), ring, inner - kept);
      send(first, windows, outer > 1);
    }
  }
  int64_t gradientBytes(int64_t source, int64_t member) const {
    return plan.getTurns() * ringBlocks().count(source) *
           gradientRowBytes(member);
  }

  /// Of the block of a ring owner, as member `member` of its group holds it.
  int64_t blockBytes(int64_t source, int64_t member) const {
    return plan.getTurns() * ringBlocks().count(source) *
           (queriesTravel
                ? batch * members[member].heads * op.queryBytes + queryTermBytes
                : rowBytes(members[member].kvHeads));
  }

  /// What a ring owner sends where blocks go straight to those that see them:
  /// rows of its own, and gradients of rows that it sees.
  int64_t directBytes(int64_t source, int64_t member) const {
    auto seenRows = [&](int64_t reader, int64_t owner) {
      int64_t rows = 0;
      for (sprt::algebra::Interval each :
           bands.seenRows(ringQueries, reader, ringKeys, owner))
        rows += each.size();
      return rows;
    };
    int64_t ring = plan.getRing(), bytes = 0;
    for (int64_t distance : distances) {
      int64_t reader = (source + distance) % ring,
              owner = (source - distance + ring) % ring;
      bytes += seenRows(reader, source) * rowBytes(members[member].kvHeads) +
               seenRows(source, owner) * gradientRowBytes(member);
    }
    return bytes;
  }

private:
  int64_t gradientRowBytes(int64_t member) const {
    return batch * (queriesTravel ? members[member].heads * op.queryPartBytes
                                  : members[member].kvHeads * op.keyPartBytes);
  }

  const Layout &ringBlocks() const {
    return queriesTravel ? ringQueries : ringKeys;
  }

  /// Of one row of keys and values with that many heads, with its terms.
  int64_t rowBytes(int64_t kvHeads) const {
    return batch * kvHeads * op.keyBytes + keyTermBytes;
  }

  /// What a member of the exchange of heads has, over all groups.
  struct Member {
    int64_t heads = 0;
    int64_t kvHeads = 0;
    /// Of one row of gradients of keys on their way back from it, in one
    /// element of the batch.
    int64_t keyResultBytes = 0;
  };

  void addGroup(int64_t kvHeads, const Layout &heads) {
    int64_t held = 0, most = 0;
    for (int64_t i = 0; i < plan.getHeads(); ++i) {
      int64_t own = sprt::algebra::heldHeads(heads, i, kvHeads).size();
      members[i].heads += heads.count(i);
      members[i].kvHeads += own;
      held += own;
      most = std::max(most, own);
    }
    // Where several hold a kv head all send as many parts, the most that one
    // holds.
    for (int64_t i = 0; i < plan.getHeads(); ++i)
      members[i].keyResultBytes +=
          held > kvHeads
              ? most * op.keyPartBytes
              : int64_t(sprt::algebra::heldHeads(heads, i, kvHeads).size()) *
                    op.keysToRows;
  }

  int64_t headBytes(int64_t rank) const {
    const Member &own = members[rank % plan.getHeads()];
    int64_t peers = plan.getHeads() - 1;
    // A plain exchange joins all owners, one beside a ring those of its owner.
    int64_t owner = plan.getRing() > 1 ? rank / plan.getHeads() : 0;
    int64_t rows = queries.count(rank), keyRows = keys.count(rank);
    int64_t peerRows = ringQueries.count(owner) - rows,
            peerKeyRows = ringKeys.count(owner) - keyRows;
    // Of a turn all rows move, padding too.
    if (plan.getTurns() > 1) {
      rows = queries.maxCount();
      peerRows = peers * rows;
    }
    return rows * (batch * (allHeads - own.heads) * queriesToHeads +
                   peers * termsToHeads.first) +
           keyRows * (batch * (allKvHeads - own.kvHeads) * op.keysToHeads +
                      peers * termsToHeads.second) +
           batch * (peerRows * own.heads * op.queriesToRows +
                    peerKeyRows * own.keyResultBytes);
  }

  /// An all-reduce of so many numbers of a state.
  int64_t reducedBytes(int64_t rank, int64_t numbers) const {
    int64_t own =
        Layout(Kind::contiguous, numbers, plan.getRanks()).count(rank);
    return (numbers + own * (plan.getRanks() - 2)) * op.stateBytes;
  }

  /// Queries for all ranks, and what these make of them.
  int64_t mergedBytes(int64_t rank) const {
    int64_t heads = batch * op.query.getDimSize(2), rows = queries.length();
    bool isForward = op.queryPartBytes == 0;
    int64_t size = isForward ? op.value.getDimSize(3) : op.query.getDimSize(3);
    int64_t greatest = isForward ? reducedBytes(rank, rows * heads) : 0;
    if (queries.ranks() == 1)
      return greatest + reducedBytes(rank, rows * heads * size) +
             (isForward ? reducedBytes(rank, rows * heads) : 0);
    int64_t own = queries.count(rank);
    return own * (heads * op.queryBytes + queryTermBytes) *
               (plan.getRanks() - 1) +
           greatest + (rows - own) * heads * (size + isForward) * op.stateBytes;
  }

  const CountedAttention &op;
  PlanAttr plan;
  int64_t batch;
  Bands bands;
  Bands ringBands; ///< as what stays in a ring sees what travels
  bool queriesTravel = false;
  int64_t kvHeads = 0;
  /// What terms say of one row, over the batch: of keys and of queries; and of
  /// queries and of keys as they are exchanged for heads.
  int64_t keyTermBytes = 0, queryTermBytes = 0;
  std::pair<int64_t, int64_t> termsToHeads;
  int64_t queriesToHeads = 0; ///< of a row and head
  Layout queries, keys, ringQueries, ringKeys;
  std::vector<int64_t> distances; ///< of readers, where blocks go straight
  std::vector<Member> members;
  int64_t allHeads = 0, allKvHeads = 0; ///< of all members together
};

} // namespace

//===----------------------------------------------------------------------===//
// What is counted
//===----------------------------------------------------------------------===//

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

std::vector<AttentionCost> mlir::sp::attentionCosts(const CountedAttention &op,
                                                    PlanAttr plan,
                                                    int64_t batch) {
  Counter counter(op, plan, batch);
  int64_t ranks = plan.getRanks(), ring = plan.getRing();
  std::vector<AttentionCost> costs(ranks);
  for (int64_t rank = 0; rank < ranks; ++rank)
    costs[rank] = {counter.bytesSent(rank), counter.area(rank)};
  int64_t members = plan.getHeads();
  if (plan.getDirect())
    for (int64_t rank = 0; rank < ranks; ++rank)
      costs[rank].bytesSent +=
          counter.directBytes(rank / members, rank % members);
  bool turns = ring > 1 && !plan.getDirect();
  for (int64_t member = 0; turns && member < members; ++member) {
    WaySums inner({1, plan.getInner(), 1, 0}, ring),
        outer({plan.getInner(), plan.getOuter(), 1, 0}, ring);
    for (int64_t source = 0; source < ring; ++source) {
      auto add = [&](int64_t bytes) {
        return [&, bytes](int64_t first, const RingWay &way, int64_t count) {
          WaySums &sums = inner.isAlong(way) ? inner : outer;
          sums.add(first, way.step, count, bytes);
        };
      };
      counter.forEachSend(source, add(counter.blockBytes(source, member)));
      counter.forEachGradientSend(source,
                                  add(counter.gradientBytes(source, member)));
    }
    for (const WaySums *sums : {&inner, &outer})
      sums->forEach([&](int64_t rank, int64_t bytes) {
        costs[rank * members + member].bytesSent += bytes;
      });
  }
  return costs;
}

int64_t mlir::sp::estimateBytesSent(const CountedAttention &op, PlanAttr plan,
                                    int64_t batch) {
  Counter counter(op, plan, batch);
  int64_t ranks = plan.getRanks(), counted = std::min<int64_t>(ranks, 64);
  double bytes = 0;
  for (int64_t i = 0; i < counted; ++i) {
    int64_t rank = i * ranks / counted;
    int64_t source = rank / plan.getHeads(), member = rank % plan.getHeads();
    bytes += double(counter.bytesSent(rank));
    if (plan.getRing() == 1)
      continue;
    if (plan.getDirect()) {
      bytes += double(counter.directBytes(source, member));
      continue;
    }
    int64_t sends = 0, gradientSends = 0;
    auto countIn = [](int64_t &sum) {
      return [&sum](int64_t, const RingWay &, int64_t count) { sum += count; };
    };
    counter.forEachSend(source, countIn(sends));
    counter.forEachGradientSend(source, countIn(gradientSends));
    bytes +=
        double(sends) * double(counter.blockBytes(source, member)) +
        double(gradientSends) * double(counter.gradientBytes(source, member));
  }
  return static_cast<int64_t>(bytes / double(counted));
}

int64_t mlir::sp::estimateGreatestArea(const CountedAttention &op,
                                       PlanAttr plan) {
  Counter counter(op, plan, 1);
  int64_t last = plan.getRanks() - 1, steps = std::min<int64_t>(last, 63);
  int64_t most = counter.area(0);
  for (int64_t i = 1; i <= steps; ++i)
    most = std::max(most, counter.area(i * last / steps));
  return most;
}
