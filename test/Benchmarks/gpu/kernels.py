"""Attention kernels by themselves, through libgpu-attention.so."""

from __future__ import annotations

import ctypes
import functools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from arrays import Arrays
from part import Part

UNBOUNDED_BELOW, UNBOUNDED_ABOVE = -(2**63), 2**63 - 1
ERROR_BYTES = 1000
SECONDS_OF_A_HANG = 3600


class LaunchError(Exception):
    """The library's message; the GPU may be lost."""


class Slice(ctypes.Structure):
    """sprt_slice."""

    _fields_: ClassVar = [
        (name, ctypes.c_int64)
        for name in ("q0", "q1", "k0", "k1", "lo", "hi", "q_stride", "k_stride", "uniform")
    ]


def piece(
    rows: tuple[int, int],
    keys: tuple[int, int],
    lo: int = UNBOUNDED_BELOW,
    hi: int = UNBOUNDED_ABOVE,
    strides: tuple[int, int] = (1, 1),
    uniform: bool = False,
) -> Slice:
    """Of these rows and keys, the pairs between two lines."""
    return Slice(*rows, *keys, lo, hi, *strides, uniform)


def dense(slices: Sequence[Slice], rows: np.ndarray, keys: int) -> tuple[np.ndarray, np.ndarray]:
    """Which pairs of these rows are visible, and which of them score 0."""
    seen, uniform = np.zeros((2, len(rows), keys), bool)
    i, j = rows[:, None], np.arange(keys)[None, :]
    for s in slices:
        mine = (s.q0 <= i) & (i < s.q1) & (s.k0 <= j) & (j < s.k1)
        if s.lo != UNBOUNDED_BELOW:
            mine &= s.q_stride * i + s.lo <= s.k_stride * j
        if s.hi != UNBOUNDED_ABOVE:
            mine &= s.k_stride * j <= s.q_stride * i + s.hi
        seen |= mine
        if s.uniform:
            uniform |= mine
    return seen, uniform


class Tensor(ctypes.Structure):
    """Of [batch, row, head, size]; strides in elements."""

    _fields_: ClassVar = [("data", ctypes.c_void_p), ("strides", ctypes.c_int64 * 3)]


class Launch(ctypes.Structure):
    """AttentionLauncher.cpp has the same struct."""

    _fields_: ClassVar = [
        *((name, Tensor) for name in ("q", "k", "v", "out", "lse")),
        ("slices", ctypes.POINTER(Slice)),
        *(
            (name, ctypes.c_int32)
            for name in ("slice_count", "batch", "heads", "kv_heads", "queries", "keys", "init", "order")
        ),
        ("scale", ctypes.c_double),
    ]


@dataclass
class Job:
    """What one launch reads and writes: arrays of [batch, rows, heads, size]; lse has size 1."""

    q: Any
    k: Any
    v: Any
    out: Any
    lse: Any
    slices: list[Slice]
    scale: float
    init: bool = True
    order: int = -1  # 0: heaviest blocks of queries first; 1: lightest first; -1: as the artifact says

    def launch(self, arrays: Arrays) -> Launch:
        def tensor(array: Any) -> Tensor:
            return Tensor(arrays.pointer(array), (ctypes.c_int64 * 3)(*arrays.strides(array)[:3]))

        (batch, queries, heads, _), (_, keys, kv_heads, _) = self.q.shape, self.k.shape
        pieces = (Slice * len(self.slices))(*self.slices)
        return Launch(
            *map(tensor, (self.q, self.k, self.v, self.out, self.lse)),
            pieces, len(pieces), batch, heads, kv_heads, queries, keys, self.init, self.order, self.scale,
        )  # fmt: skip


@functools.cache
def load_library(folder: Path) -> ctypes.CDLL:
    """libgpu-attention.so, after the libraries beside it that this machine does not have."""
    others = {path for path in (folder / "lib").glob("lib*.so*") if "gpu-attention" not in path.name}
    for _ in range(len(others)):
        for path in sorted(others):
            for name in (path.name, path):
                try:
                    ctypes.CDLL(str(name))
                except OSError:
                    continue
                others.discard(path)
                break
    return ctypes.CDLL(str(folder / "lib" / "libgpu-attention.so"))


class Kernel:
    """The attention of an artifact, on a device, as long as this process lives.

    Nothing is given back: after a kernel that does not end the driver waits for it there.
    """

    def __init__(self, part: Part, artifact: dict[str, Any], arrays: Arrays) -> None:
        self.part, self.name, self.arrays = part, artifact["name"], arrays
        path = str(part.path_of(artifact)).encode()
        self._handle, self._library = ctypes.c_void_p(), load_library(part.folder)
        self._call(self._library.gpu_attention_open, part.device.encode(), path, ctypes.byref(self._handle))

    def _call(self, function: Any, *arguments: Any) -> None:
        error = ctypes.create_string_buffer(ERROR_BYTES)
        if function(*arguments, error, ctypes.c_int64(ERROR_BYTES)):
            raise LaunchError(error.value.decode(errors="replace"))

    def run(self, jobs: Sequence[Job]) -> list[float]:
        """One launch after the other; the seconds of each."""
        self.arrays.synchronise()
        if self.part.spoils("hang", self.name):
            time.sleep(SECONDS_OF_A_HANG)
        made = {id(job): job.launch(self.arrays) for job in jobs}  # which keep the slices
        launches = (Launch * len(jobs))(*(made[id(job)] for job in jobs))
        seconds = (ctypes.c_double * len(jobs))()
        self._call(self._library.gpu_attention_run, self._handle, launches, len(jobs), seconds)
        return list(seconds)


class Kernels:
    """Of a part, each opened once."""

    def __init__(self, part: Part, arrays: Arrays) -> None:
        self.part, self.arrays = part, arrays
        self._opened: dict[str, Kernel] = {}

    def __getitem__(self, artifact: dict[str, Any]) -> Kernel:
        file = artifact["file"]
        if file not in self._opened:
            self._opened[file] = Kernel(self.part, artifact, self.arrays)
        return self._opened[file]
