/// The kernels of one program, each generated once.
#ifndef SP_LIB_CODEGEN_KERNELTABLE_H
#define SP_LIB_CODEGEN_KERNELTABLE_H

#include "Plan/KernelInfo.h"

#include "sp/Codegen/ProgramEmission.h"
#include "sp/IR/SP.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::sp {

class KernelTable {
public:
  virtual ~KernelTable();

  /// The kernels of every launch, partial attention and part of its gradients
  /// in `func`.
  LogicalResult addAll(func::FuncOp func);
  /// What was added for one of these.
  KernelInfo lookup(Operation *op) const { return infos.lookup(op); }
  KernelInfo lookup(StringRef symbol) const { return known.lookup(symbol); }
  /// That a thread of any kernel needs.
  int64_t scratchBytes() const;
  /// What they touch: plan.fbs' Signatures, with their size before them.
  std::vector<char> signatures() const;

  /// Generates machine code.
  virtual LogicalResult emitInto(EmittedProgram &program) = 0;
  /// The text of kernels for GPUs, as it is written or as PTX.
  virtual FailureOr<std::string> print(bool asPtx) = 0;

protected:
  KernelTable(ModuleOp module);

  virtual FailureOr<KernelInfo> addAttention(AttendOp op) = 0;
  virtual FailureOr<KernelInfo> addBackward(AttendBackwardOp op) = 0;
  virtual FailureOr<KernelInfo> addLaunch(func::FuncOp source) = 0;

  ModuleOp kernels; ///< of launches, and whoever else adds to it
  llvm::StringMap<KernelInfo> known;

private:
  FailureOr<KernelInfo> add(LaunchOp launch);
  LogicalResult add(Operation *op);

  /// In the order of the program, which signatures keep.
  llvm::MapVector<Operation *, KernelInfo> infos;
};

/// Adds the object of functions that are to run on a CPU.
LogicalResult emitHost(ModuleOp kernels, const CPUTarget &target,
                       EmittedProgram &program);

} // namespace mlir::sp

#endif // SP_LIB_CODEGEN_KERNELTABLE_H
