/// State that a program is given and gives back, such as an optimizer's, in far
/// memory but for its update:
///
///   main(%m) {                         main(%m: #sp.far) {
///     ... much is computed               ...
///     %n = sp.launch @adam(%m)           %x, %came = sp.fetch_start %m
///     ...                                ...
///     return %n                          sp.wait %came
///   }                                    %n = sp.launch @adam(%x)
///                                        %r, %gone = sp.evict_rows_start %n
///                                            into %m at 0
///                                        ...
///                                        sp.wait %gone
///                                        return %r
///                                      }
#ifndef SP_LIB_MEMORY_FARSTATES_H
#define SP_LIB_MEMORY_FARSTATES_H

#include "FarChoice.h"
#include "Places.h"
#include "Timeline.h"

namespace mlir::sp {

class FarStates {
public:
  /// `isPaced`: whether an update waits for the copies of the one before where
  /// too little is computed between them to hide these.
  FarStates(func::FuncOp func, const Places &places, double flopsPerByte,
            bool isPaced);

  /// Donated arguments that nobody reads for long.
  SmallVector<FarChoice *> choices();
  void write();

private:
  /// By the numbers of operations.
  struct State {
    BlockArgument argument;
    unsigned result; ///< that it is donated to
    int first;       ///< the first one that reads it
    int made;        ///< the one after which its successor is there
    int last;        ///< the last one that reads that
    FarChoice choice;
    int back = 0; ///< before this one the fetch starts
    int gone = 0; ///< before this one nobody may write where it lay
  };

  void find(BlockArgument argument, unsigned result);
  void pace();
  void schedule();
  double costOf(const State &state) const {
    return double(state.choice.bytes) * flopsPerByte;
  }

  func::FuncOp func;
  Timeline timeline;
  const double flopsPerByte;
  SmallVector<State> all;
};

} // namespace mlir::sp

#endif // SP_LIB_MEMORY_FARSTATES_H
