/// Files of named arrays: numpy's .npz and .safetensors, read and written.
///
/// A handle belongs to its creator and may be used by one thread at a time.
#ifndef SPRT_ARRAYS_H
#define SPRT_ARRAYS_H

#include "sprt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sprt_arrays sprt_arrays;

/// An empty set.
SPRT_API sprt_status *sprt_arrays_create(sprt_arrays **out_arrays);

/// Reads a whole file; the name's ending tells the format (.npz, .safetensors).
/// Fortran order becomes row-major; big-endian and object arrays are refused.
SPRT_API sprt_status *sprt_arrays_read(const char *path,
                                       sprt_arrays **out_arrays);

SPRT_API int64_t sprt_arrays_count(const sprt_arrays *arrays);
/// The i-th array in the order of the file. Name, shape and data stay the
/// set's.
SPRT_API sprt_status *sprt_arrays_get(const sprt_arrays *arrays, int64_t index,
                                      const char **out_name,
                                      sprt_array *out_array);
/// The index of a name, or -1.
SPRT_API int64_t sprt_arrays_find(const sprt_arrays *arrays, const char *name);

/// Adds a copy of `array`, or zeros when its data is NULL. A name occurs once.
SPRT_API sprt_status *sprt_arrays_add(sprt_arrays *arrays, const char *name,
                                      const sprt_array *array);

/// Writes all arrays (stored, not compressed); bf16 becomes raw uint16 in .npz.
SPRT_API sprt_status *sprt_arrays_write(const sprt_arrays *arrays,
                                        const char *path);

SPRT_API void sprt_arrays_free(sprt_arrays *arrays);

#ifdef __cplusplus
}
#endif

#endif // SPRT_ARRAYS_H
