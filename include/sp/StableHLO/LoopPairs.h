/// A loop and one in reverse that reads what each trip of it saved: the forward
/// and the gradient of a scan.
#ifndef SP_STABLEHLO_LOOPPAIRS_H
#define SP_STABLEHLO_LOOPPAIRS_H

#include "sp/StableHLO/Loops.h"

namespace mlir::sp {

/// A value of the forward loop's body, and where the backward loop reads it.
struct Residual {
  Value saved;
  stablehlo::DynamicUpdateSliceOp update;
  stablehlo::DynamicSliceOp read;
  SmallVector<Value> uses; ///< the read without its first dimension
};

/// What a value is without a first dimension of 1, or null.
Value withoutRow(Value value);

class LoopPair {
public:
  /// Trip t of the backward loop reads what trip N - 1 - t of the forward loop
  /// saved; nothing where one of `forward`'s trips is not so read.
  static std::optional<LoopPair> find(stablehlo::WhileOp forward,
                                      stablehlo::WhileOp backward);

  Block &ahead() const { return forward->getRegion(1).front(); }
  Block &behind() const { return backward->getRegion(1).front(); }
  /// Whether starts are the trip (in `forward`), or the trip of `forward` that
  /// is read (in `backward`), and zeros.
  bool startsAtTrip(OperandRange starts, bool inForward) const;
  /// Hands a value outside both loops on to the backward's body.
  Value carry(Value value);
  /// Saves a value of the forward's body by trip as `model` is, and reads it
  /// before `reader`, where the indices of `model` are known.
  Value handOver(Value made, Residual model, Operation *reader);

  stablehlo::WhileOp forward, backward;
  CountedLoop forwardCount, backwardCount;
  SmallVector<Residual> residuals;

private:
  LoopPair(stablehlo::WhileOp forward, stablehlo::WhileOp backward)
      : forward(forward), backward(backward) {}
  std::optional<Residual> readResidual(unsigned result, unsigned operand);
};

/// Hands pairs of loops below `root` to `change` until it has changed one,
/// after which the others may be no more what they were. Whether it has.
bool changeLoopPair(Operation *root,
                    llvm::function_ref<bool(LoopPair &)> change);

/// The loop with more carried values, handed on unchanged; the old one is gone.
stablehlo::WhileOp appendCarried(stablehlo::WhileOp loop, ValueRange initial);

} // namespace mlir::sp

#endif // SP_STABLEHLO_LOOPPAIRS_H
