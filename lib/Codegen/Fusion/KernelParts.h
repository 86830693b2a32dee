/// What a kernel is put together of while it is emitted.
#ifndef SP_CODEGEN_KERNELPARTS_H
#define SP_CODEGEN_KERNELPARTS_H

#include "Fusion/ElementIndex.h"
#include "Scalar/ScalarEmitter.h"

#include <functional>

namespace mlir::sp {

struct KernelParts {
  using Scalars = SmallVector<Scalar, 1>;
  using Indices = SmallVector<Index>;
  using Carried = SmallVector<Value>;
  using CarryingBody = function_ref<Carried(Index, ValueRange)>;

  /// Memory of an operand, a result, or one row of a temporary.
  struct Buffer {
    Value pointer;
    ElementForm form;
    SmallVector<int64_t> shape;
    bool isWritten;   ///< by this kernel: readable within the row only
    bool isTemporary; ///< holds one row
  };
  struct Loop {
    Value variable;
    int64_t extent;
  };
  /// A sum, a window, a contraction: see ReductionStages.cpp.
  struct Reduction {
    SmallVector<Value> results;
    SmallVector<int64_t> outShape, reducedShape;
    bool inRegisters = true; ///< reduced loops innermost
    SmallVector<Type> types; ///< of the accumulators
    std::function<Scalars()> init;
    std::function<Scalars(ArrayRef<Index>, ArrayRef<Index>, ArrayRef<Scalar>)>
        step;
    /// Of what two threads have, in the order of their terms; or none.
    std::function<Scalars(ArrayRef<Scalar>, ArrayRef<Scalar>)> combine;
    bool commutes = false; ///< terms may go to any thread
  };
  /// An index brought into bounds, and whether it had been inside.
  struct Guarded {
    Value inside; ///< null: always
    bool never = false;
    Index index;
  };

  /// Memory that the entry of a kernel finds for its body.
  struct Temporary {
    int64_t bytes;
    bool isShared = false; ///< by the threads of a block, whatever its size
  };
  /// Who takes a row: on a CPU the thread that runs its tile, on a GPU a thread
  /// or a block of them.
  enum class RowsOf { Tile, Thread, Block };
};

} // namespace mlir::sp

#endif // SP_CODEGEN_KERNELPARTS_H
