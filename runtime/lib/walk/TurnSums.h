/// What a rank's commands come to over the turns of the loops that they are in:
/// rows that are sent, and pairs that attention sees, of one head and one
/// element of a batch.
///
/// Owners that a loop meets once each are all but a few: their rows and pairs
/// are those of all, less those of the others.
#ifndef SPRT_LIB_WALK_TURNSUMS_H
#define SPRT_LIB_WALK_TURNSUMS_H

#include "walk/RowOfBatch.h"
#include "walk/Sameness.h"

#include <array>
#include <map>
#include <optional>

namespace sprt {

class TurnSums {
public:
  /// `bound`: what masks and layouts are.
  TurnSums(const Program &program, const Binding &bound)
      : program(program), bound(bound) {}

  /// Another rank's are counted from here on.
  void begin(const std::vector<int64_t> &ofRank) {
    coordinates = &ofRank;
    sums.clear();
    areas.clear();
  }
  /// To be asked before so many turns are looked at one by one: all of them,
  /// for whatever rank, must not be more than anybody waits for.
  Status spend(int64_t turns);
  /// Pairs of an Attend or AttendBackward, of all turns. Alike ones are counted
  /// once.
  template <typename TableT>
  Status pairs(const Step &step, const TableT &attend, const LoopBounds &loops,
               int64_t &out_area);
  /// Of one turn, between the rows of two owners.
  template <typename TableT>
  int64_t pairsOf(const RowOfBatch &here, const Step &step,
                  const TableT &attend, int64_t queryOwner, int64_t keyOwner);
  /// The valid rows of the owners, turn by turn.
  Status rows(const plan::RowsT &rows, const LoopBounds &loops,
              int64_t &out_rows);

private:
  /// Owners that turns meet, with how often they do; or all but `owners`, once.
  struct Met {
    bool isAllBut = false;
    std::map<int64_t, int64_t> owners;
  };
  Status meet(const plan::RowsT &rows, const LoopBounds &loops, Met &out_met);
  /// Rows of owners, with how often turns meet them; the loops that do not
  /// choose among them have one turn.
  using Parts = std::vector<std::pair<algebra::Ranges, int64_t>>;
  Status meet(const plan::RowsT &rows, const LoopBounds &loops,
              Parts &out_parts);
  /// In closed form, of single loops that go round.
  std::optional<Met> meetInCycle(const plan::RowsT &rows,
                                 const LoopBounds &loops) const;
  /// Adds the pairs of all turns.
  template <typename TableT>
  Status count(const algebra::Bands &bands, const TableT &attend,
               const LoopBounds &loops, int64_t &out_area);

  static constexpr int64_t kMostTurns = int64_t(1) << 32;

  const Program &program;
  const Binding &bound;
  int64_t turnsLeft = kMostTurns;
  const std::vector<int64_t> *coordinates = nullptr;
  /// What is known of the rank's, by what alike attentions have alike.
  std::map<std::string, int64_t> sums;
  std::map<std::tuple<int64_t, int64_t, int64_t, int64_t>, int64_t> areas;
  std::map<std::array<int64_t, 3>, int64_t> kinds; ///< their numbers
  std::vector<int64_t> kindOf;                     ///< by command, from 1 on
};

} // namespace sprt

#endif // SPRT_LIB_WALK_TURNSUMS_H
