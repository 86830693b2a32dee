/// Stacks that a loop makes, turn by turn, and another one reads, in far
/// memory:
///
///   scf.for %i iter_args(%s = %zeros)     scf.for %i iter_args(%s = %empty)
///     ...                                   %g, %gone = sp.evict_rows_start
///     %g = sp.put %x into %s at %i              %x into %s at %i
///     yield %g                              ...
///                                           sp.wait %gone
///                                           yield %g
///                                         %x0 = sp.fetch_rows_start of turn 0
///   scf.for %j                            scf.for %j iter_args(%x = %x0)
///     %x = sp.take %s at 23 - %j            %y, %came = sp.fetch_rows_start
///     ...                                       %s at 23 - (%j + 1) mod 24
///                                           ...
///                                           sp.wait %came
///                                           yield %y
///
/// The rows of the next turn come while one goes on; the last turn fetches
/// those of the first once more.
#ifndef SP_LIB_MEMORY_FARSTACKS_H
#define SP_LIB_MEMORY_FARSTACKS_H

#include "FarChoice.h"
#include "Places.h"

namespace mlir::sp {

class FarStacks {
public:
  FarStacks(func::FuncOp func, const Places &places, double flopsPerByte);

  /// What could go: copies take no longer than a turn computes.
  SmallVector<FarChoice *> choices();
  /// All of these stacks.
  DenseSet<Value> values() const;
  /// Sends away what goes.
  void write();

private:
  struct Stack {
    scf::ForOp maker;
    unsigned index; ///< among what the maker carries
    size_t number;  ///< in the order in which they are found
    SmallVector<TakeOp> takes;
    FarChoice choice;

    PutOp put() const;
    int64_t blockBytes() const;
  };

  void find(scf::ForOp maker, unsigned index, const Places &places);
  void makeFar(Stack &stack);
  void fetch(TakeOp take, Operation *behind);
  /// The first operation behind `behind` before which so much is left to
  /// compute until `op` as a copy of these bytes takes.
  Operation *ahead(Operation *op, Operation *behind, int64_t bytes) const;
  bool isHidden(scf::ForOp loop, int64_t bytes) const;

  const double flopsPerByte;
  SmallVector<Stack> all;
};

} // namespace mlir::sp

#endif // SP_LIB_MEMORY_FARSTACKS_H
