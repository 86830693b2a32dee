/// The convention of GPU kernels that an artifact also holds for the CPU.
///
/// A kernel `k` of a plan for GPUs has, where the artifact was compiled with
/// --emulation, a function of the host beside the image:
///   attention      `k_emulated`, a sprt_emulated_kernel
///   any other      `k`, a sprt_emulated_thread
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

/// One thread of a block, as its kernel sees it.
typedef struct sprt_grid_thread {
  int64_t thread, block, blocks;
  void *shared; ///< memory of the block
  /// Returns when every thread of the block has called it.
  void (*barrier)(struct sprt_grid_thread *);
} sprt_grid_thread;

/// Does what one thread of a kernel does. arguments: the buffers of its launch,
/// then scratch memory.
typedef void (*sprt_emulated_thread)(void *const *arguments,
                                     sprt_grid_thread *thread);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // SPRT_CUDA_EMULATED_H
