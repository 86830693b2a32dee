//===- AttentionSteps.cpp - Who computes which pairs, and when ------------===//

#include "AttentionSteps.h"

using namespace mlir;
using namespace mlir::sp;
namespace algebra = sprt::algebra;

/// How queries are dealt to those who compute, turn after turn.
static algebra::Layout queriesOf(PlanAttr plan, int64_t length) {
  if (plan.getTurns() > 1)
    return toAlgebra(plan.getRingRowsByTurn(length));
  return toAlgebra(plan.getHeads() > 1 ? plan.getRingRows(length)
                                       : plan.getRows(length));
}

AttentionSteps::AttentionSteps(PlanAttr plan, const algebra::Bands &shown,
                               int64_t queryLength, int64_t keyLength,
                               bool queriesTravel)
    : plan(plan), bands(shown.clipped(queryLength, keyLength)),
      queries(queriesOf(plan, queryLength)),
      keys(plan.getRing() > 1 ? toAlgebra(plan.getRingRows(keyLength))
                              : algebra::Layout::dense(keyLength)),
      queriesTravel(queriesTravel), turns(plan.getTurns()) {
  ownerCount = queries.ranks() / turns;
  int64_t ofWindow = std::max(plan.getHopsOn(), plan.getHopsBack()) + 1;
  stepsOfTurn = plan.getRing() > 1 ? plan.getOuter() * ofWindow : 1;
}

AttentionSteps::Place AttentionSteps::placeOf(int64_t queryOwner,
                                              int64_t keyOwner) const {
  int64_t turn = queryOwner / ownerCount, owner = queryOwner % ownerCount;
  if (plan.getRing() == 1)
    return {owner, turn};
  auto [here, from] =
      queriesTravel ? std::pair(keyOwner, owner) : std::pair(owner, keyOwner);
  // Windows come in turn, and in each the ranks of it, on and back.
  algebra::RingWay windows{plan.getInner(), plan.getOuter(), 1,
                           plan.getOuter() - 1},
      inner{1, plan.getInner(), 1, plan.getHopsOn()};
  int64_t on = inner.hopsTo(from, here), back = plan.getInner() - on;
  int64_t hops = on <= plan.getHopsOn() ? on : back;
  int64_t ofWindow = stepsOfTurn / plan.getOuter();
  return {here,
          turn * stepsOfTurn + windows.hopsTo(from, here) * ofWindow + hops};
}

bool AttentionSteps::isStriped() const {
  return llvm::any_of(queries.ranges(0), [](const algebra::Range &range) {
    return range.stride > 1;
  });
}

std::optional<std::vector<AttentionPiece>>
AttentionSteps::pieces(size_t most) const {
  if (isStriped() || size_t(queries.ranks() * keys.ranks()) > most)
    return std::nullopt;
  std::vector<AttentionPiece> all;
  for (int64_t queryOwner = 0; queryOwner < queries.ranks(); ++queryOwner)
    for (int64_t keyOwner = 0; keyOwner < keys.ranks(); ++keyOwner) {
      Place place = placeOf(queryOwner, keyOwner);
      for (const algebra::Range &rows : queries.ranges(queryOwner))
        for (const algebra::Range &columns : keys.ranges(keyOwner))
          for (const algebra::Band &band : bands.bands()) {
            algebra::Band part =
                intersect(band, {rows.first, rows.first + rows.count,
                                 columns.first, columns.first + columns.count});
            if (!tighten(part))
              continue;
            if (all.size() == most)
              return std::nullopt;
            all.push_back({place.owner, place.step, part});
          }
    }
  return all;
}

std::optional<AttentionSteps::Place> AttentionSteps::at(int64_t query,
                                                        int64_t key) const {
  if (!bands.visible(query, key))
    return std::nullopt;
  return placeOf(queries.toLocal(query).owner, keys.toLocal(key).owner);
}
