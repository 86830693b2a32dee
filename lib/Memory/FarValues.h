/// Values of a program that nobody reads for long, to far memory and back:
///
///   before   %x = ...                 after   %x = ...
///            sp.gemm %x ...                   %h, %gone = sp.evict_start %x
///            ... much is computed             sp.gemm %x ...
///            sp.gemm %x ...                   sp.wait %gone
///                                             ... much is computed
///                                             %y, %came = sp.fetch_start %h
///                                             ... as long as the copy takes
///                                             sp.wait %came
///                                             sp.gemm %y ...
///
/// Time is counted in FLOPs, copies by what is computed meanwhile. Those of a
/// direction follow one another: an eviction begins as soon as it may, a fetch
/// as late as it may.
#ifndef SP_LIB_MEMORY_FARVALUES_H
#define SP_LIB_MEMORY_FARVALUES_H

#include "FarChoice.h"
#include "Places.h"
#include "Timeline.h"

namespace mlir::sp {

class FarValues {
public:
  /// `others`: values that are not looked at.
  FarValues(func::FuncOp func, const Places &places, double flopsPerByte,
            const DenseSet<Value> &others);

  /// What waits long enough, whoever says in the end what goes.
  SmallVector<FarChoice *> choices();
  /// Sends away what goes.
  void write();

private:
  /// By the numbers of operations.
  struct Waiting {
    Value value;
    int made;  ///< the one after which it is there
    int last;  ///< the last one that reads it before
    int first; ///< the first one that reads it again
    int id;    ///< in the order in which they are found
    FarChoice choice;
    int gone = 0; ///< before this one nobody may write where it lay
    int back = 0; ///< before this one the fetch starts
  };

  void find(Value value);
  /// Evictions in the order in which their values are made, and fetches in that
  /// of their uses; false where one does not come back in time, which is then
  /// given up.
  bool schedule();
  double costOf(const Waiting &waiting) const {
    return double(waiting.choice.bytes) * flopsPerByte;
  }

  const Timeline timeline;
  const double flopsPerByte;
  SmallVector<Waiting> all;
};

} // namespace mlir::sp

#endif // SP_LIB_MEMORY_FARVALUES_H
