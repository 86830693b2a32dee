/// Status, element types and arrays: what every part of the C ABI uses.
#ifndef SPRT_TYPES_H
#define SPRT_TYPES_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define SPRT_API __attribute__((visibility("default")))
#else
#define SPRT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// Grows when a struct, a symbol or the plan changes so that old artifacts no
/// longer run, or older runtimes would not see what new ones say; an artifact
/// carries the one it was built for.
#define SPRT_ABI_VERSION 7

/// Every call that can fail returns NULL (success) or a status, which the
/// caller frees. Its text names values, and rank, command, step and peer where
/// there are any.
typedef struct sprt_status sprt_status;

typedef enum sprt_code {
  SPRT_OK = 0,
  SPRT_INVALID_ARGUMENT = 1, ///< an array, option or call does not fit
  SPRT_IO = 2,               ///< a file cannot be read or written
  SPRT_DAMAGED = 3,     ///< an artifact or array file is not what it claims
  SPRT_UNSUPPORTED = 4, ///< this runtime or machine cannot do it
  SPRT_TIMEOUT = 5,     ///< a rank waited or computed longer than its limit
  SPRT_FAILED = 6,      ///< a rank failed while running
  SPRT_INTERRUPTED = 7, ///< sprt_session_interrupt ended the run
  SPRT_BUSY = 8         ///< another call uses the session
} sprt_code;

SPRT_API sprt_code sprt_status_code(const sprt_status *status);
/// Lower case, without a final period; valid as long as the status.
SPRT_API const char *sprt_status_text(const sprt_status *status);
/// The rank, command or peer the status is about, or -1.
SPRT_API int64_t sprt_status_rank(const sprt_status *status);
SPRT_API int64_t sprt_status_command(const sprt_status *status);
SPRT_API int64_t sprt_status_peer(const sprt_status *status);
SPRT_API void sprt_status_free(sprt_status *status);

/// The numbers of the plan's DType, then the raw bytes that numpy files use for
/// bf16 (V2) and fp8 (V1).
typedef enum sprt_dtype {
  SPRT_F64 = 0,
  SPRT_F32 = 1,
  SPRT_F16 = 2,
  SPRT_BF16 = 3,
  SPRT_I64 = 4,
  SPRT_I32 = 5,
  SPRT_I16 = 6,
  SPRT_I8 = 7,
  SPRT_U64 = 8,
  SPRT_U32 = 9,
  SPRT_U16 = 10,
  SPRT_U8 = 11,
  SPRT_I1 = 12, ///< one byte, 0 or 1
  SPRT_C64 = 13,
  SPRT_C128 = 14,
  SPRT_V2 = 15,
  SPRT_V1 = 16
} sprt_dtype;

/// Bytes of one element; 0 for a number that is not an element type.
SPRT_API size_t sprt_dtype_size(sprt_dtype dtype);
/// "f32", "bf16", "i1", …
SPRT_API const char *sprt_dtype_name(sprt_dtype dtype);
/// Whether bytes of type `given` may stand where `expected` is wanted: the same
/// type, or the raw spellings of bf16, i1 and one-byte types.
SPRT_API int sprt_dtype_accepts(sprt_dtype expected, sprt_dtype given);

/// A dense row-major array. Whoever fills in the struct owns shape and data.
typedef struct sprt_array {
  size_t size; ///< sizeof(sprt_array)
  sprt_dtype dtype;
  int32_t dimensions;
  const int64_t *shape; ///< may be NULL when dimensions is 0
  void *data;
} sprt_array;

/// The index-th element as a double (of complex: its real part); integers
/// beyond 2^53 round.
SPRT_API double sprt_array_element(sprt_dtype dtype, const void *data,
                                   int64_t index);

/// Frees what the library allocated for an array whose `data` was NULL.
SPRT_API void sprt_buffer_free(void *data);

/// Fills `array` reproducibly: floats normal, with variance 1/shape[n-2] from
/// two dimensions on and 1 below; integers uniform in [low, high]; i1 0 or 1.
/// `index` is the argument's number: each argument has its own stream of
/// `seed`.
SPRT_API sprt_status *sprt_array_fill_random(const sprt_array *array,
                                             uint64_t seed, uint64_t index,
                                             int64_t low, int64_t high);

#ifdef __cplusplus
}
#endif

#endif // SPRT_TYPES_H
