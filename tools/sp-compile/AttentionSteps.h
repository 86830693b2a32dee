/// Who computes which pairs of an attention, and in which step.
#ifndef SP_TOOLS_SPCOMPILE_ATTENTIONSTEPS_H
#define SP_TOOLS_SPCOMPILE_ATTENTIONSTEPS_H

#include "sp/IR/SP.h"

#include <optional>
#include <vector>

namespace mlir::sp {

/// Pairs of consecutive queries and consecutive keys within one band, which one
/// owner computes in one step.
struct AttentionPiece {
  int64_t owner, step;
  sprt::algebra::Band band; ///< in normal form
};

/// An attention under its plan. What an owner computes the ranks share that
/// exchange heads with it: rank `owner * members + member` of the axis has the
/// heads of that member.
///
///     ring of 4    step 0 1 2 3    keys of the owner, then of those before it
///     both ways    step 0 1 1 2    ... those before and behind it in turn
class AttentionSteps {
public:
  /// `queriesTravel`: of gradients, where keys stay and queries are handed on.
  AttentionSteps(PlanAttr plan, const sprt::algebra::Bands &shown,
                 int64_t queryLength, int64_t keyLength, bool queriesTravel);

  int64_t queryLength() const { return queries.length(); }
  int64_t keyLength() const { return keys.length(); }
  int64_t owners() const { return ownerCount; }
  int64_t members() const { return plan.getHeads(); }
  int64_t steps() const { return turns * stepsOfTurn; }

  /// All pieces, each pair in one of them; null where they are more than
  /// `most`, or where neighbouring positions are of different owners.
  std::optional<std::vector<AttentionPiece>> pieces(size_t most) const;

  struct Place {
    int64_t owner, step;
    bool operator==(const Place &other) const {
      return owner == other.owner && step == other.step;
    }
  };
  /// Of one pair; null where it is hidden.
  std::optional<Place> at(int64_t query, int64_t key) const;
  /// Whether neighbouring positions are of different owners.
  bool isStriped() const;

private:
  Place placeOf(int64_t queryOwner, int64_t keyOwner) const;

  PlanAttr plan;
  sprt::algebra::Bands bands;
  /// Queries are those of a turn: owner `turn * ownerCount + owner`.
  sprt::algebra::Layout queries, keys;
  bool queriesTravel;
  int64_t ownerCount, turns, stepsOfTurn;
};

} // namespace mlir::sp

#endif // SP_TOOLS_SPCOMPILE_ATTENTIONSTEPS_H
