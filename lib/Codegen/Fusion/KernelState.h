/// What all that emits a kernel works on.
#ifndef SP_LIB_CODEGEN_KERNELSTATE_H
#define SP_LIB_CODEGEN_KERNELSTATE_H

#include "Fusion/KernelParts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "sp/StableHLO/TensorTypes.h"

#include <map>
#include <optional>

namespace mlir::sp {

/// The kernel at hand: how its rows are cut, which values have memory, and how
/// far this attempt has come.
class KernelState : protected KernelParts {
protected:
  enum class Outcome { Done, Again, NotByRows, Unsupported };

  KernelState(func::FuncOp source, ModuleOp target)
      : source(source), target(target), b(source.getContext()),
        loc(source.getLoc()), s(b, loc) {}

  /// Ends the attempt.
  void fail(Outcome outcome, Location loc, const Twine &reason);
  /// Elements of a value that belong to a row.
  int64_t rowSize(Value value) const;
  /// Whether the kernel's result lies where this operand does, which it
  /// therefore does not read.
  bool isOverwritten(Value operand);
  unsigned addBuffer(Value value, bool isWritten, bool isTemporary);
  /// Memory that is not the image of a value.
  Value addTemporary(Type element, int64_t count, bool isShared = false);

  func::FuncOp source;
  ModuleOp target;
  OpBuilder b;
  Location loc;
  ScalarEmitter s;

  // Kept over attempts.
  llvm::DenseSet<Value> stored;
  std::map<std::pair<const void *, unsigned>, LoopPlan> plans;
  int64_t rowCount = 1;
  RowsOf rowsOf = RowsOf::Tile;
  int64_t threads = 1;                              ///< of a block
  llvm::DenseMap<Operation *, std::string> tableOf; ///< over all attempts

  // One attempt.
  func::FuncOp body;
  IndexSpace space;
  Index row;
  Value thread;          ///< its number in a block
  bool isSpread = false; ///< a loop that threads share
  Outcome outcome = Outcome::Done;
  bool wantsAgain = false;
  bool inMapStage = false;
  bool wantsRowBlock = false; ///< a transposition runs along the rows
  std::string reason;
  std::optional<Location> reasonLoc;
  std::vector<Buffer> buffers;
  llvm::DenseMap<Value, unsigned> readFrom;                ///< into buffers
  llvm::DenseMap<Value, SmallVector<unsigned, 1>> writeTo; ///< into buffers
  std::vector<Temporary> temporaries; ///< the last arguments of the body
  llvm::DenseMap<Value, Scalar> rowScalars;
  std::vector<std::map<std::pair<void *, SmallVector<Index>>, Scalar>> scopes;
  std::vector<Loop> loops;
  llvm::DenseMap<Value, unsigned> costlyStage;
  llvm::DenseMap<Value, unsigned> evaluations;
  unsigned stage = 0;
};

/// Neighbouring elements that a thread of a GPU takes at once: 16 bytes of a
/// narrow type.
inline constexpr int64_t kGridWidth = 8;

} // namespace mlir::sp

#endif // SP_LIB_CODEGEN_KERNELSTATE_H
