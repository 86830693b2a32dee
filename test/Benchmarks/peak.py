"""The machine's arithmetic peak: independent multiply-adds in registers, compiled when asked for."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

# SUMS hide the latency of two multiply-add units and leave two registers for factor and term. The bounds of
# the values keep them normal, and volatile keeps the loop.
SOURCE = """
#include <pthread.h>
#include <time.h>

typedef float lanes __attribute__((vector_size(BYTES)));

static void *work(void *argument) {
  long rounds = *(long *)argument;
  volatile float half = 0.5f;
  lanes factor = (lanes){} + half, term = (lanes){} + half;
  lanes sums[SUMS];
  for (int i = 0; i < SUMS; ++i)
    sums[i] = (lanes){} + (float)i;
  for (long round = 0; round < rounds; ++round) {
#pragma clang loop unroll(full)
    for (int i = 0; i < SUMS; ++i)
      sums[i] = sums[i] * factor + term;
  }
  lanes all = {};
  for (int i = 0; i < SUMS; ++i)
    all += sums[i];
  volatile float kept = all[0];
  (void)kept;
  return 0;
}

double peak(int threads, long rounds) {
  pthread_t ids[64];
  struct timespec from, to;
  clock_gettime(CLOCK_MONOTONIC, &from);
  for (int i = 1; i < threads; ++i)
    pthread_create(&ids[i], 0, work, &rounds);
  work(&rounds);
  for (int i = 1; i < threads; ++i)
    pthread_join(ids[i], 0);
  clock_gettime(CLOCK_MONOTONIC, &to);
  double seconds = (to.tv_sec - from.tv_sec) + 1e-9 * (to.tv_nsec - from.tv_nsec);
  return 2.0 * SUMS * BYTES / sizeof(float) * rounds * threads / seconds;
}
"""
ROUNDS = 2_000_000


class Peak:
    """f32 multiply-adds per second, times two, of `threads` threads at once."""

    def __init__(self, work: Path, threads: int) -> None:
        wide = "avx512f" in Path("/proc/cpuinfo").read_text()
        source, library = work / "peak.c", work / "peak.so"
        source.write_text(SOURCE)
        options = ["-O3", "-march=native", "-ffp-contract=fast", f"-DBYTES={64 if wide else 32}"]
        options += [f"-DSUMS={24 if wide else 12}"]
        options += ["-mprefer-vector-width=512"] if wide else []
        command = ["clang-22", *options, "-shared", "-fPIC", "-o", library, source, "-lpthread"]
        subprocess.run(command, check=True)
        self._peak = ctypes.CDLL(str(library)).peak
        self._peak.restype = ctypes.c_double
        self._peak.argtypes = [ctypes.c_int, ctypes.c_long]
        self._threads = min(threads, 64)

    def measure(self, times: int = 5) -> float:
        """The best of `times` short runs, in FLOP/s."""
        return max(self._peak(self._threads, ROUNDS) for _ in range(times))
