/// The turns of a loop, and what one turn makes for the next.
#ifndef SP_IR_LOOPTURNS_H
#define SP_IR_LOOPTURNS_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::sp {

struct Turns {
  int64_t first, count;
};

/// Of a loop that counts by one from a constant, which is not negative, to a
/// larger one.
std::optional<Turns> turnsOf(scf::ForOp loop);

/// Whether `index` depends on that counter and constants alone.
bool isBy(Value index, Value counter);

/// An index that is by the loop's counter, in a turn.
int64_t indexAt(Value index, scf::ForOp loop, int64_t turn);

/// An index that is by a counter, made again of what the mapping has for it.
Value cloneIndex(OpBuilder &builder, Value index, IRMapping &mapping);

/// Has each turn make what the next one reads, which then has a turn's time to
/// come.
///
///   before   for i                    after   a = made by first
///              x = made by i                  for i, x = a
///              ... x ...                        b = made by i + 1
///                                               ... x ...
///                                               yield b
///
/// `first` is what the first turn reads. `make` builds what the next one reads,
/// at the beginning of a turn: it is given what to map the counter to, for the
/// last turn the first counter, where nobody reads what is made. Returns the
/// loop, made anew, whose last carried values those are.
scf::ForOp makeAhead(RewriterBase &builder, scf::ForOp loop, ValueRange first,
                     function_ref<SmallVector<Value>(IRMapping &)> make);

} // namespace mlir::sp

#endif // SP_IR_LOOPTURNS_H
