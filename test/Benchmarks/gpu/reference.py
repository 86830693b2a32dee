"""Attention in f64, and how far a kernel's result may be from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from arrays import Arrays, Guarded
from kernels import Slice, dense

# A kernel that multiplies 16-bit powers with values rounds each power, by at most this
# fraction, and small powers of f16 by at most that number. Others compute in f32 or f64.
ROUNDING = {"bfloat16": 1.1 * 2.0**-8, "float16": 1.1 * 2.0**-11, "float32": 4e-6, "float64": 1e-14}
LEAST_POWER = {"bfloat16": 0.0, "float16": 2.0**-24, "float32": 0.0, "float64": 0.0}
LOG2E = 1 / np.log(2)
LSE_ROUNDING = {"bfloat16": 4e-6, "float16": 4e-6, "float32": 4e-6, "float64": 1e-14}


@dataclass(frozen=True)
class Sizes:
    """Of one launch."""

    batch: int
    queries: int
    keys: int
    heads: int
    kv_heads: int


@dataclass(frozen=True)
class Chosen:
    """Rows and heads of a result, where all would be too many; None: all of them."""

    rows: list[int] | None = None
    heads: list[int] | None = None

    def of(self, array: Any) -> Any:
        """Of [batch, row, head, size]."""
        array = array if self.rows is None else array[:, self.rows]
        return array if self.heads is None else array[:, :, self.heads]


@dataclass
class Numbers:
    """The tensors of one case: inputs, and the state before and after.

    Where a kernel keeps sums, as rings do, lse is the greatest exponent to base 2 and the sum of
    powers, and out is not divided by that sum.
    """

    q: Guarded
    k: Guarded
    v: Guarded
    out: Guarded
    lse: Guarded
    before: tuple[Any, Any] | None
    keeps_sums: bool

    def normal(self, arrays: Arrays, out: Any, lse: Any) -> tuple[Any, Any]:
        """A state as result and log-sum-exp, in f64."""
        out, lse = (arrays.cast(each, "float64") for each in (out, lse))
        if not self.keeps_sums:
            return out, lse
        xp, greatest, total = arrays.module, lse[..., :1], lse[..., 1:]
        nothing = total == 0
        some = xp.where(nothing, xp.ones_like(total), total)
        logarithm = (greatest + xp.log2(some)) / LOG2E
        return out / some, xp.where(nothing, xp.full_like(total, -np.inf), logarithm)


def make(arrays: Arrays, kernel: dict, sizes: Sizes, carried: bool, seed: int) -> Numbers:
    """Normal inputs; a carried state has rows that have seen nothing yet."""
    number = "float64" if kernel["dtype"] == "float64" else "float32"
    kv = (sizes.batch, sizes.keys, sizes.kv_heads)
    rows = (sizes.batch, sizes.queries, sizes.heads)
    shapes = ((*rows, kernel["head"]), (*kv, kernel["head"]), (*kv, kernel["value"]))
    inputs = [
        Guarded(arrays, shape, kernel["dtype"]).fill(arrays.normal(shape, seed + i))
        for i, shape in enumerate(shapes)
    ]
    keeps_sums = kernel.get("sums", False)
    out, lse = (Guarded(arrays, (*rows, size), number) for size in (kernel["value"], 1 + keeps_sums))
    before = None
    if carried:
        states = [
            arrays.normal((*rows, size), seed + 3 + i)
            for i, size in enumerate((kernel["value"], 1 + keeps_sums))
        ]
        states[0][:, ::5], states[1][:, ::5] = 0, -np.inf
        if keeps_sums:
            # A sum has 1 at least, the power of its greatest exponent, or nothing.
            states[1][..., 1:] = abs(states[1][..., 1:]) + 1
            states[1][:, ::5, :, 1:] = 0
        before = tuple(arrays.cast(each, number) for each in states)
    return Numbers(*inputs, out, lse, before, keeps_sums)


def reference(
    arrays: Arrays, numbers: Numbers, slices: list[Slice], scale: float, chosen: Chosen
) -> list[Any]:
    """out, lse, and the sums of the sizes of what out sums, of the chosen rows and heads; in f64."""
    xp = arrays.module
    _, queries, heads, _ = numbers.q.valid.shape
    _, keys, kv_heads, _ = numbers.k.valid.shape
    rows = np.arange(queries) if chosen.rows is None else np.array(chosen.rows)
    kv_of = [head * kv_heads // heads for head in chosen.heads or range(heads)]
    # From [batch, row, head, size] to [batch, head, row, size].
    q = arrays.cast(chosen.of(numbers.q.valid), "float64").swapaxes(1, 2)
    k, v = (arrays.cast(each.valid[:, :, kv_of], "float64").swapaxes(1, 2) for each in (numbers.k, numbers.v))
    seen, uniform = map(arrays.bring, dense(slices, rows, keys))
    scores = q @ k.swapaxes(2, 3) * scale
    scores = xp.where(uniform, xp.zeros_like(scores), scores)
    scores = xp.where(seen, scores, xp.full_like(scores, -np.inf))
    if numbers.before is None:
        out, lse = xp.zeros_like(q[..., :1]), xp.full_like(q[..., :1], -np.inf)
    else:
        before = numbers.normal(arrays, *map(chosen.of, numbers.before))
        out, lse = (each.swapaxes(1, 2) for each in before)
    greatest = xp.maximum(xp.amax(scores, -1)[..., None], lse)
    # A row that has seen no key has no maximum to subtract.
    greatest = xp.where(xp.isinf(greatest), xp.zeros_like(greatest), greatest)
    powers, carried = xp.exp(scores - greatest), xp.exp(lse - greatest)
    total = powers.sum(-1)[..., None] + carried
    nothing = total == 0
    total = xp.where(nothing, xp.ones_like(total), total)
    result = (powers @ v + carried * out) / total
    sizes = (powers @ abs(v) + carried * abs(out)) / total
    least = abs(v).sum(2)[:, :, None] / total
    logarithm = xp.where(nothing, xp.full_like(total, -np.inf), greatest + xp.log(total))
    return [each.swapaxes(1, 2) for each in (result, logarithm, sizes, least)]


def worst(arrays: Arrays, got: Any, expected: Any, bound: Any) -> float:
    """The greatest error, where 1 is the bound; infinite where either alone is NaN or infinite."""
    xp = arrays.module
    got = arrays.cast(got, "float64")
    # Infinities have no difference.
    equal = got == expected
    got, expected = (xp.where(equal, xp.zeros_like(each), each) for each in (got, expected))
    error = abs(got - expected) / bound
    error = xp.where(xp.isnan(error), xp.full_like(error, np.inf), error)
    return float(error.max())


def errors_of(
    arrays: Arrays, numbers: Numbers, dtype: str, expected: list[Any], chosen: Chosen
) -> dict[str, float]:
    """As fractions of what rounding explains."""
    out, lse, summed, least = expected
    bound = ROUNDING[dtype] * (summed + 0.01) + LEAST_POWER[dtype] * least
    got_out, got_lse = numbers.normal(arrays, *(chosen.of(each.valid) for each in (numbers.out, numbers.lse)))
    return {
        "error": worst(arrays, got_out, out, bound),
        "lseError": worst(arrays, got_lse, lse, LSE_ROUNDING[dtype] * (abs(lse) + 2)),
    }
