"""Arrays that kernels read and write: torch's; NumPy's for the emulated device where torch is not there.

References are computed in f64 with the functions that both have.
"""

from __future__ import annotations

import math
from typing import Any

GUARD_BYTES = 256
# Rows behind the valid ones of a tensor, which nobody may read or write.
PADDING_ROWS = 3
UNTOUCHED = 0xFF
ELEMENT_BYTES = {"bfloat16": 2, "float16": 2, "float32": 4, "float64": 8}


class Arrays:
    """The functions of one of the two libraries, under one name."""

    def __init__(self, emulated: bool) -> None:
        self.place = "cpu" if emulated else "cuda"
        try:
            import torch

            self.module: Any = torch
            self.is_torch = True
            self.types = {name: getattr(torch, name) for name in ELEMENT_BYTES}
        except ImportError:
            if not emulated:
                raise
            import ml_dtypes
            import numpy

            self.module = numpy
            self.is_torch = False
            self.types = {name: numpy.dtype(name) for name in ELEMENT_BYTES if name != "bfloat16"}
            self.types["bfloat16"] = numpy.dtype(ml_dtypes.bfloat16)

    def normal(self, shape: tuple[int, ...], seed: int) -> Any:
        """Normal numbers in f32."""
        if not self.is_torch:
            return self.module.random.default_rng(seed).standard_normal(shape, "float32")
        generator = self.module.Generator(self.place).manual_seed(seed)
        return self.module.randn(shape, generator=generator, device=self.place)

    def untouched(self, count: int) -> Any:
        """So many bytes, all ones: NaN in every type."""
        if not self.is_torch:
            return self.module.full(count, UNTOUCHED, "uint8")
        return self.module.full((count,), UNTOUCHED, dtype=self.module.uint8, device=self.place)

    def bring(self, array: Any) -> Any:
        """An array of NumPy's where the others are."""
        return self.module.from_numpy(array).to(self.place) if self.is_torch else array

    def cast(self, array: Any, name: str) -> Any:
        return array.to(self.types[name]) if self.is_torch else array.astype(self.types[name])

    def pointer(self, array: Any) -> int:
        return array.data_ptr() if self.is_torch else array.ctypes.data

    def strides(self, array: Any) -> list[int]:
        """In elements."""
        return list(array.stride()) if self.is_torch else [s // array.itemsize for s in array.strides]

    def copy(self, array: Any) -> Any:
        return array.clone() if self.is_torch else array.copy()

    def same(self, a: Any, b: Any) -> bool:
        """Of equal arrays of bytes."""
        return self.module.equal(a, b) if self.is_torch else self.module.array_equal(a, b)

    def free_bytes(self) -> int:
        """Of the GPU's memory."""
        return self.module.cuda.mem_get_info()[0]

    def synchronise(self) -> None:
        if self.place == "cuda":
            self.module.cuda.synchronize()


class Guarded:
    """A tensor of [batch, rows, heads, size], poisoned, with rows and bytes behind it that stay so."""

    def __init__(self, arrays: Arrays, shape: tuple[int, int, int, int], dtype: str) -> None:
        self.arrays = arrays
        batch, rows, heads, size = shape
        padded = (batch, rows + PADDING_ROWS, heads, size)
        count = math.prod(padded) * ELEMENT_BYTES[dtype]
        self.bytes = arrays.untouched(count + 2 * GUARD_BYTES)
        self.valid = self._view(self.bytes, padded, dtype, rows)
        self._shape, self._dtype = (padded, rows), dtype

    def _view(self, data: Any, padded: tuple[int, ...], dtype: str, rows: int) -> Any:
        inner = data[GUARD_BYTES : len(data) - GUARD_BYTES]
        return inner.view(self.arrays.types[dtype]).reshape(padded)[:, :rows]

    def fill(self, values: Any) -> Guarded:
        """Numbers of f32, rounded to this tensor's type."""
        self.valid[...] = self.arrays.cast(values, self._dtype)
        return self

    def poison(self) -> None:
        self.bytes[...] = UNTOUCHED

    def surroundings_are_whole(self) -> bool:
        """Whether nothing but the valid rows was written."""
        seen = self.arrays.copy(self.bytes)
        padded, rows = self._shape
        self._view(seen, padded, self._dtype, rows)[...] = math.nan
        # NaN as this library writes it is not the poison.
        expected = self.arrays.untouched(len(self.bytes))
        self._view(expected, padded, self._dtype, rows)[...] = math.nan
        return self.arrays.same(seen, expected)
