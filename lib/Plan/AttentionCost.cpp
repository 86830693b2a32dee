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

static bool sees(const Bands &bands, const Layout &queries, int64_t query,
                 const Layout &keys, int64_t key) {
  return !bands.restrict(queries, query, keys, key).empty();
}

bool mlir::sp::ringNeedsBlock(const Bands &bands, const Layout &queries,
                              const Layout &keys, int64_t source,
                              int64_t receiver) {
  int64_t ranks = keys.ranks();
  for (int64_t rank = receiver; rank != source; rank = (rank + 1) % ranks)
    if (sees(bands, queries, rank, keys, source))
      return true;
  return false;
}

namespace {

/// Sizes of an attention, with the element size in bytes.
struct Sizes {
  int64_t heads, kvHeads, headSize, valueSize, element;
  int64_t kvBytes() const { return kvHeads * (headSize + valueSize) * element; }
};

int64_t ringBytes(const Sizes &sizes, const Bands &bands, const Layout &queries,
                  const Layout &keys, int64_t rank) {
  int64_t ranks = keys.ranks(), bytes = 0;
  for (int64_t step = 0; step + 1 < ranks; ++step) {
    int64_t source = (rank - step + ranks) % ranks;
    if (ringNeedsBlock(bands, queries, keys, source, (rank + 1) % ranks))
      bytes += keys.count(source) * sizes.kvBytes();
  }
  return bytes;
}

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

} // namespace

AttentionCost mlir::sp::attentionCost(AttentionOp op, PlanAttr plan,
                                      int64_t rank, int64_t batch) {
  ArrayRef<int64_t> q = op.getQuery().getType().getShape(),
                    v = op.getValue().getType().getShape();
  Sizes sizes{q[2], v[2], q[3], v[3],
              op.getQuery().getType().getElementTypeBitWidth() / 8};
  Bands bands = toAlgebra(op.getBands());
  Layout queries = planLayout(plan, q[1]), keys = planLayout(plan, v[1]);
  AttentionCost cost;
  bool dealsHeads = plan.getHeads() > 1;
  Layout allQueries = Layout::dense(q[1]), allKeys = Layout::dense(v[1]);
  cost.area = static_cast<int64_t>(sprt::algebra::area(bands.restrict(
      dealsHeads ? allQueries : queries, dealsHeads ? 0 : rank, allKeys, 0)));
  if (plan.getRanks() == 1)
    return cost;
  int64_t bytes = keys.count(rank) * sizes.kvBytes() * (plan.getRanks() - 1);
  if (dealsHeads)
    bytes = headBytes(sizes, queries, keys,
                      Layout(Kind::contiguous, q[2], plan.getHeads()), rank);
  if (plan.getInner() > 1)
    bytes = ringBytes(sizes, bands, queries, keys, rank);
  cost.bytesSent = bytes * batch;
  return cost;
}
