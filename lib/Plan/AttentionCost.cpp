//===- AttentionCost.cpp - Exact volumes of one attention -----------------===//

#include "sp/Plan/AttentionCost.h"

using namespace mlir;
using namespace mlir::sp;
using sprt::algebra::Bands;
using sprt::algebra::Interval;
using sprt::algebra::Layout;
using Kind = sprt::algebra::LayoutKind;

Layout mlir::sp::planLayout(PlanAttr plan, int64_t length) {
  static constexpr Kind kinds[] = {Kind::contiguous, Kind::zigzag,
                                   Kind::striped};
  return Layout(kinds[static_cast<unsigned>(plan.getLayout())], length,
                plan.getRanks());
}

namespace {

/// Sizes of an attention, with the element size in bytes.
struct Sizes {
  int64_t heads, kvHeads, headSize, valueSize, element;
  int64_t kvBytes() const { return kvHeads * (headSize + valueSize) * element; }
};

int64_t headBytes(const Sizes &sizes, const Layout &queries, const Layout &keys,
                  const Layout &heads, int64_t rank) {
  auto headsOf = [&](int64_t owner) {
    int64_t count = heads.count(owner),
            first = count ? heads.toGlobal(owner, 0) : 0;
    return Interval{first, first + count};
  };
  auto lengthOf = [](Interval interval) {
    return interval.end - interval.begin;
  };
  int64_t bytes = 0;
  for (int64_t peer = 0; peer < heads.ranks(); ++peer) {
    if (peer == rank)
      continue;
    int64_t peerHeads = lengthOf(headsOf(peer));
    int64_t peerKv = lengthOf(
        sprt::algebra::kvHeadsOf(headsOf(peer), sizes.heads, sizes.kvHeads));
    bytes += queries.count(rank) * peerHeads * sizes.headSize * sizes.element;
    bytes += keys.count(rank) * peerKv * (sizes.headSize + sizes.valueSize) *
             sizes.element;
    bytes += queries.count(peer) * lengthOf(headsOf(rank)) * sizes.valueSize *
             sizes.element;
  }
  return bytes;
}

/// An attention under a plan, ready to be counted.
class Counter {
public:
  Counter(AttentionOp op, PlanAttr plan, int64_t batch)
      : plan(plan), batch(batch), bands(toAlgebra(op.getBands())) {
    ArrayRef<int64_t> q = op.getQuery().getType().getShape(),
                      v = op.getValue().getType().getShape();
    sizes = {q[2], v[2], q[3], v[3],
             op.getQuery().getType().getElementTypeBitWidth() / 8};
    queries = planLayout(plan, q[1]);
    keys = planLayout(plan, v[1]);
  }

  int64_t area(int64_t rank) const {
    bool dealsHeads = plan.getHeads() > 1;
    return static_cast<int64_t>(sprt::algebra::area(bands.restrict(
        dealsHeads ? Layout::dense(queries.length()) : queries,
        dealsHeads ? 0 : rank, Layout::dense(keys.length()), 0)));
  }

  /// Of everything but a ring, which counts by block.
  int64_t bytesSent(int64_t rank) const {
    if (plan.getRanks() == 1)
      return 0;
    if (plan.getHeads() > 1)
      return batch *
             headBytes(sizes, queries, keys,
                       Layout(Kind::contiguous, sizes.heads, plan.getHeads()),
                       rank);
    return batch * keys.count(rank) * sizes.kvBytes() * (plan.getRanks() - 1);
  }

  bool isRing() const { return plan.getInner() > 1; }
  int64_t reach(int64_t source) const {
    return bands.ringReach(queries, keys, source);
  }
  int64_t blockBytes(int64_t source) const {
    return batch * keys.count(source) * sizes.kvBytes();
  }

private:
  PlanAttr plan;
  int64_t batch;
  Bands bands;
  Sizes sizes = {};
  Layout queries, keys;
};

} // namespace

std::vector<AttentionCost>
mlir::sp::attentionCosts(AttentionOp op, PlanAttr plan, int64_t batch) {
  Counter counter(op, plan, batch);
  int64_t ranks = plan.getRanks();
  std::vector<AttentionCost> costs(ranks);
  for (int64_t rank = 0; rank < ranks; ++rank) {
    costs[rank].area = counter.area(rank);
    if (!counter.isRing())
      costs[rank].bytesSent = counter.bytesSent(rank);
  }
  // A block is sent by every rank on its way but the last.
  for (int64_t source = 0; counter.isRing() && source < ranks; ++source)
    for (int64_t hop = 0, hops = counter.reach(source); hop < hops; ++hop)
      costs[(source + hop) % ranks].bytesSent += counter.blockBytes(source);
  return costs;
}

int64_t mlir::sp::estimateBytesSent(AttentionOp op, PlanAttr plan,
                                    int64_t batch) {
  Counter counter(op, plan, batch);
  int64_t ranks = plan.getRanks(), counted = std::min<int64_t>(ranks, 64);
  double bytes = 0;
  for (int64_t i = 0; i < counted; ++i) {
    int64_t rank = i * ranks / counted;
    bytes += counter.isRing()
                 ? double(counter.reach(rank)) * counter.blockBytes(rank)
                 : double(counter.bytesSent(rank));
  }
  return static_cast<int64_t>(bytes / counted);
}
