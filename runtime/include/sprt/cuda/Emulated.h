/// The convention of GPU kernels that an artifact also holds for the CPU.
///
/// A kernel `k` of a plan for GPUs has, where the artifact was compiled with
/// --emulation, a function of the host beside the image:
///   attention      `k_emulated`, of the type below
///   any other      `k`, a kernel of `sprt/kernel.h`
#ifndef SPRT_CUDA_EMULATED_H
#define SPRT_CUDA_EMULATED_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Runs all `blocks` of a launch. arguments: those of the kernel, a
/// ForwardArguments or PlainArguments; its pointers are of the host, its tensor
/// maps hold TensorMapFields. seed: which order of events. 0, or 1 where the
/// kernel did what a GPU leaves undefined: `error` then says what, in at most
/// `errorBytes` with the final zero.
typedef int (*sprt_emulated_kernel)(const void *arguments, int64_t blocks,
                                    uint64_t seed, char *error,
                                    int64_t errorBytes);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // SPRT_CUDA_EMULATED_H
