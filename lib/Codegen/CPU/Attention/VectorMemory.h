/// Rows of memory in vectors: the last ones of a row under a mask, columns of a
/// tile by a transposition.
#ifndef SP_LIB_CODEGEN_VECTORMEMORY_H
#define SP_LIB_CODEGEN_VECTORMEMORY_H

#include "CPU/Attention/VectorEmitter.h"

namespace mlir::sp::attention {

/// Lanes below `count`; null when `size` is a multiple of `lanes`, so that a
/// chunk of it is always whole.
Value tailMask(VectorEmitter &e, Value count, int64_t size, int64_t lanes);
/// `count` elements as they are, 16-bit ones as integers; zero where masked
/// off.
Value loadStored(VectorEmitter &e, Value address, Type type, int64_t count,
                 Value mask);
/// `count` elements in the compute type; zero where masked off.
Value loadConverted(VectorEmitter &e, Value address, Type type, int64_t count,
                    Value mask);
void storeMasked(VectorEmitter &e, Value value, Value address, Value mask);
/// Transposes `lanes` vectors.
void transpose(VectorEmitter &e, SmallVectorImpl<Value> &rows);

} // namespace mlir::sp::attention

#endif // SP_LIB_CODEGEN_VECTORMEMORY_H
