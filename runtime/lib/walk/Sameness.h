/// Which commands of a plan come to the same for every rank, whatever its
/// number: they are looked at once, however many ranks there are.
///
/// Nearly all are: products, kernels, and the turns of a ring whose blocks are
/// needed everywhere and have as many rows for every owner, to within one of
/// many. What differs, as the shifts of a mask that makes some blocks stop
/// early, is left to a walk of each rank.
#ifndef SPRT_LIB_WALK_SAMENESS_H
#define SPRT_LIB_WALK_SAMENESS_H

#include "program/Expression.h"
#include "program/Program.h"
#include "walk/Turns.h"

#include <map>

namespace sprt {

class Sameness {
public:
  /// Of a program whose masks and layouts are these; or of none of its
  /// commands, unless `looks`. What is of a row of the batch never is.
  Sameness(const Program &program, const Bindings &bindings, bool looks);

  /// Whether a command, with all that is in it, sends as many bytes and touches
  /// the same memory on every rank, but for what differs.
  bool of(const Step &step) const { return same[static_cast<size_t>(step.id)]; }

  /// Whether there is something in it of which ranks have sums of their own:
  /// pairs of attention, or blocks of which some have a row more.
  bool differs(const Step &step) const {
    return different[static_cast<size_t>(step.id)];
  }
  /// Whether all its owners have as many rows.
  static bool isEven(const algebra::Layout &layout) {
    return layout.length() == layout.maxCount() * layout.ranks();
  }
  /// Rows of an owner, to within one, where no table deals them.
  static int64_t mostRows(const algebra::Layout &layout) {
    return layout.holds()
               ? std::max(layout.count(0), layout.count(layout.ranks() - 1))
               : layout.maxCount();
  }
  /// The counters of a Loop that is the same: from first to before second.
  std::pair<int64_t, int64_t> bounds(const Step &step) const;

private:
  bool find(const Step &step, LoopBounds &loops);
  bool find(const std::vector<Step> &steps, LoopBounds &loops);
  bool findDifferent(const std::vector<Step> &steps);
  bool isSame(const Step &step, const plan::SendRecvT &transfer,
              const LoopBounds &loops);
  /// Of attention inside a loop, where what it adds to has been touched.
  template <typename TableT>
  bool isSame(const TableT &attend, const LoopBounds &loops) const;
  bool isSame(const plan::RowsT &rows, const LoopBounds &loops) const;
  bool isSame(const plan::ExprT &expression) const;
  bool isSame(const plan::ViewT &view) const { return isSame(*view.offset); }
  /// Whether its value differs for no rank at the first turns.
  bool hasOneValue(const plan::ExprT &expression,
                   const LoopBounds &loops) const;
  /// Whether every block is needed as far as it may go.
  bool areAllNeeded(const Step &step, const plan::NeedsT &needs, uint32_t keys);

  const Program &program;
  const Binding &bound;
  bool haveRows; ///< masks and layouts of their own
  std::vector<std::vector<int64_t>> coordinates;  ///< by rank
  std::map<std::vector<int64_t>, bool> allNeeded; ///< by all that decides it
  std::vector<char> same, different;              ///< by command
};

} // namespace sprt

#endif // SPRT_LIB_WALK_SAMENESS_H
