"""Part 1: every attention kernel against attention in f64, and against itself.

Outputs are poisoned before, what lies around them must stay untouched, and repeats give
the same bits. Masks are given as slices; sizes are random.
"""

from __future__ import annotations

import os
import random
import signal
import sys
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from arrays import Arrays, Guarded
from kernels import Job, Kernel, Slice, dense, piece
from part import Part, WrongError

# A kernel that multiplies 16-bit powers with values rounds each power, by at most this
# fraction, and small powers of f16 by at most that number. Others compute in f32 or f64.
ROUNDING = {"bfloat16": 1.1 * 2.0**-8, "float16": 1.1 * 2.0**-11, "float32": 4e-6, "float64": 1e-14}
LEAST_POWER = {"bfloat16": 0.0, "float16": 2.0**-24, "float32": 0.0, "float64": 0.0}
LSE_ROUNDING = {"bfloat16": 4e-6, "float16": 4e-6, "float32": 4e-6, "float64": 1e-14}


LAUNCHES, EMULATED_LAUNCHES = 100, 3


@dataclass(frozen=True)
class Sizes:
    """Of one launch."""

    batch: int
    queries: int
    keys: int
    heads: int
    kv_heads: int


@dataclass(frozen=True)
class Case:
    """One launch: its mask, whether it starts from a state, the seed of its numbers."""

    sizes: Sizes
    slices: list[Slice]
    carried: bool
    seed: int


def masks(sizes: Sizes, chance: random.Random) -> dict[str, list[Slice]]:
    """Slices by what they say."""
    q, k = sizes.queries, sizes.keys
    rows, keys = (0, q), (0, k)
    cuts = sorted({0, max(q, k), *(chance.randrange(max(q, k)) for _ in range(3))})
    documents = [piece((a, min(b, q)), (a, min(b, k)), hi=0) for a, b in pairwise(cuts) if a < min(q, k)]
    prefix = chance.randrange(k)
    blocks = [
        piece((a, min(a + 64, q)), (b, min(b + 48, k)))
        for a in range(0, q, 64)
        for b in range(0, k, 48)
        if chance.random() < 0.4
    ]
    window = 1 + chance.randrange(k)
    return {
        "full": [piece(rows, keys)],
        "causal": [piece(rows, keys, hi=0)],
        "causal at the end": [piece(rows, keys, hi=k - q)],
        "window": [piece(rows, keys, lo=1 - window, hi=chance.randrange(3))],
        "documents": documents,
        "prefix": [piece(rows, (0, prefix)), piece(rows, (prefix, k), hi=0)],
        "blocks": blocks,
        "striped": [piece(rows, keys, hi=-1, strides=(2, 3))],
        "uniform": [piece((0, q // 2), keys, hi=0), piece((q // 2, q), keys, uniform=True)],
        "nothing": [],
    }


@dataclass
class Numbers:
    """The tensors of one case: inputs, and the state before and after."""

    q: Guarded
    k: Guarded
    v: Guarded
    out: Guarded
    lse: Guarded
    before: tuple[Any, Any] | None


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
    out, lse = (Guarded(arrays, (*rows, size), number) for size in (kernel["value"], 1))
    before = None
    if carried:
        state = arrays.normal((*rows, kernel["value"]), seed + 3), arrays.normal((*rows, 1), seed + 4)
        state[0][:, ::5], state[1][:, ::5] = 0, -np.inf
        before = tuple(arrays.cast(each, number) for each in state)
    return Numbers(*inputs, out, lse, before)


def reference(arrays: Arrays, numbers: Numbers, slices: list[Slice], scale: float) -> list[Any]:
    """out, lse, and the sums of the sizes of what out sums, of every query; in f64."""
    xp = arrays.module
    # From [batch, row, head, size] to [batch, head, row, size].
    q, k, v = (
        arrays.cast(each.valid, "float64").swapaxes(1, 2) for each in (numbers.q, numbers.k, numbers.v)
    )
    seen, uniform = map(arrays.bring, dense(slices, q.shape[2], k.shape[2]))
    kv_of = arrays.bring(np.arange(q.shape[1]) * k.shape[1] // q.shape[1])
    scores = q @ k[:, kv_of].swapaxes(2, 3) * scale
    scores = xp.where(uniform, xp.zeros_like(scores), scores)
    scores = xp.where(seen, scores, xp.full_like(scores, -np.inf))
    if numbers.before is None:
        out, lse = xp.zeros_like(q[..., :1]), xp.full_like(q[..., :1], -np.inf)
    else:
        out, lse = (arrays.cast(each, "float64").swapaxes(1, 2) for each in numbers.before)
    greatest = xp.maximum(xp.amax(scores, -1)[..., None], lse)
    # A row that has seen no key has no maximum to subtract.
    greatest = xp.where(xp.isinf(greatest), xp.zeros_like(greatest), greatest)
    powers, carried = xp.exp(scores - greatest), xp.exp(lse - greatest)
    total = powers.sum(-1)[..., None] + carried
    nothing = total == 0
    total = xp.where(nothing, xp.ones_like(total), total)
    values = v[:, kv_of]
    result = (powers @ values + carried * out) / total
    sizes = (powers @ abs(values) + carried * abs(out)) / total
    least = abs(values).sum(2)[:, :, None] / total
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


def launch(part: Part, numbers: Numbers, kernel: Kernel, job: Job, repeat: int) -> None:
    """Poison, launch, and look around the outputs."""
    numbers.out.poison()
    numbers.lse.poison()
    if numbers.before is not None:
        numbers.out.valid[...], numbers.lse.valid[...] = numbers.before
    kernel.run([job])
    if part.spoil == "crash" and "float64" in str(job.lse.dtype):
        os.kill(os.getpid(), signal.SIGKILL)
    if part.spoil == "value" or (part.spoil == "repeat" and repeat):
        numbers.out.valid[0, 0, 0, 0] += 0.5
    if part.spoil == "guard":
        numbers.lse.bytes[-1] = 0
    for name, tensor in (("out", numbers.out), ("lse", numbers.lse)):
        if not tensor.surroundings_are_whole():
            raise WrongError(f"expected what lies around {name} untouched but it was written")


def check(part: Part, arrays: Arrays, what: dict, case: Case) -> dict[str, Any]:
    """One case: errors as fractions of their bounds."""
    numbers = make(arrays, what, case.sizes, case.carried, case.seed)
    scale = what["head"] ** -0.5
    job = Job(
        *(each.valid for each in (numbers.q, numbers.k, numbers.v, numbers.out, numbers.lse)),
        case.slices, scale, init=not case.carried,
    )  # fmt: skip
    with Kernel(part, what, arrays) as kernel:
        launch(part, numbers, kernel, job, 0)
        errors = errors_of(arrays, numbers, what["dtype"], reference(arrays, numbers, case.slices, scale))
        if not max(errors.values()) <= 1:
            raise WrongError(f"expected errors of at most 1 bound but got {errors}")
        state = (numbers.out, numbers.lse)
        first = [arrays.copy(each.bytes) for each in state]
        for repeat in range(1, EMULATED_LAUNCHES if part.is_emulated else LAUNCHES):
            launch(part, numbers, kernel, job, repeat)
            if not all(arrays.same(a, b.bytes) for a, b in zip(first, state, strict=True)):
                raise WrongError(f"expected the bits of the first launch but launch {repeat} gave others")
    return errors


def errors_of(arrays: Arrays, numbers: Numbers, dtype: str, expected: list[Any]) -> dict[str, float]:
    """As fractions of what rounding explains."""
    out, lse, summed, least = expected
    bound = ROUNDING[dtype] * (summed + 0.01) + LEAST_POWER[dtype] * least
    return {
        "error": worst(arrays, numbers.out.valid, out, bound),
        "lseError": worst(arrays, numbers.lse.valid, lse, LSE_ROUNDING[dtype] * (abs(lse) + 2)),
    }


def draw(part: Part, what: dict, chance: random.Random) -> Sizes:
    """Random sizes, small where each pair costs the CPU microseconds."""
    plain = what["dtype"] in ("float32", "float64") or what["head"] % 16 or what["value"] % 16
    most = (24 if plain else 150) if part.is_emulated else (400 if plain else 1000)
    kv_heads = chance.choice((1, 1) if part.is_emulated else (1, 2, 3))
    groups = chance.choice((1, 2) if part.is_emulated else (1, 2, 4))
    batch = 1 if part.is_emulated else chance.choice((1, 2))
    return Sizes(batch, chance.randint(1, most), chance.randint(1, most), kv_heads * groups, kv_heads)


def main() -> int:
    """All kernels with all masks, with an empty and with a carried state; tiles to compare with two masks."""
    part = Part("correctness", __doc__)
    arrays = Arrays(part.is_emulated)
    for number, what in enumerate(part.artifacts("kernels") + part.artifacts("tiles")):
        chance = random.Random(f"{part.seed} {what['name']}")
        names = list(masks(Sizes(1, 8, 8, 1, 1), chance))
        if what["kind"] == "tiles":
            names = ["full", "causal"]
        elif part.is_emulated:
            names = names[number % 3 :: 3]
        for i, mask in enumerate(names):
            for carried in (bool(i % 2),) if part.is_emulated else (False, True):
                sizes = draw(part, what, chance)
                case = Case(sizes, masks(sizes, chance)[mask], carried, chance.randrange(1 << 30))
                part.row(
                    partial(check, part, arrays, what, case),
                    kernel=what["name"], mask=mask, carried=carried, **vars(sizes),
                )  # fmt: skip
    return part.end()


if __name__ == "__main__":
    sys.exit(main())
