/// Reads the machine code of kernels for GPUs, without tools of NVIDIA's.
///
/// Until ptxas 13.3 the assembler may overwrite the registers that an
/// asynchronous product of a warpgroup still reads, which no test on other
/// shapes or inputs would show. So each cubin is looked through before it goes
/// into an artifact:
///
///     HGMMA ... R152 ...      reads R152 to R155 until a wait retires it
///     FADD R153, ...          hazard
///     WARPGROUP.DEPBAR 0
///
/// Nor would a test on the CPU show a kernel whose warpgroups ask for more
/// registers than their block was launched with, which waits for ever:
///
///     168 registers of 384 threads     504 of a thread of each warpgroup
///     USETMAXREG.DEALLOC   32          one warpgroup
///     USETMAXREG.TRY_ALLOC 240         two: 512 in all
///
/// Opcodes are those of sm_90: the low 12 bits of each 16-byte instruction.
#ifndef SP_LIB_CODEGEN_CUBINCHECK_H
#define SP_LIB_CODEGEN_CUBINCHECK_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <array>
#include <string>
#include <vector>

namespace mlir::sp {

/// The two words of an instruction, the low one first.
using GpuInstruction = std::array<uint64_t, 2>;

struct CubinCensus {
  int64_t instructions = 0;
  int64_t products = 0;      ///< of warpgroups
  int64_t localAccesses = 0; ///< of memory that holds spilled registers
  /// Powers between a wait that leaves products pending and the next one that
  /// does not: those that are taken while products are computed.
  int64_t overlappedPowers = 0;
  /// Of the shortest way from the wait of a step, which leaves products
  /// pending, around its loop and back: instructions without products, and
  /// those of the unit for powers. 0 where there is no such loop.
  int64_t stepInstructions = 0, stepPowers = 0;
  /// Instructions that write what a pending product reads.
  std::vector<std::string> hazards;
  /// Of a thread, at launch, and threads of a block; 0 where it is not said.
  int64_t registers = 0, threads = 0;
  /// What a warpgroup keeps of them, and what each other one asks for; 0 where
  /// the kernel passes no registers on.
  int64_t lowered = 0, raised = 0;

  /// Why the block can never hold what it asks for, or "".
  std::string overSubscription() const;
};

/// What stands in the code of one kernel, read in order.
CubinCensus takeCensus(ArrayRef<GpuInstruction> code);

/// The same of `kernel` in a cubin. Fails, with a text in `error`, where it is
/// no cubin or has no such kernel.
FailureOr<CubinCensus> takeCensus(ArrayRef<char> cubin, StringRef kernel,
                                  std::string &error);

} // namespace mlir::sp

#endif // SP_LIB_CODEGEN_CUBINCHECK_H
