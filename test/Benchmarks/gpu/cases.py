"""Launches of attention kernels: sizes, masks, and whether what a launch leaves is right and repeatable."""

from __future__ import annotations

import os
import random
import signal
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

from kernels import Job, Kernel, Kernels, Slice, piece
from part import Part, WrongError
from reference import Chosen, Numbers, Sizes, errors_of, make, reference

EVERYTHING = Chosen()


@dataclass(frozen=True)
class Case:
    """One launch: its mask, whether it starts from a state, the seed of its numbers."""

    sizes: Sizes
    slices: list[Slice]
    carried: bool
    seed: int
    launches: int = 1
    chosen: Chosen = EVERYTHING


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


def launch(numbers: Numbers, kernel: Kernel, job: Job, repeat: int) -> None:
    """Poison, launch, and look around the outputs."""
    numbers.out.poison()
    numbers.lse.poison()
    if numbers.before is not None:
        numbers.out.valid[...], numbers.lse.valid[...] = numbers.before
    kernel.run([job])
    spoils = partial(kernel.part.spoils, kernel=kernel.name)
    if spoils("crash"):
        os.kill(os.getpid(), signal.SIGKILL)
    if spoils("value") or (spoils("repeat") and repeat):
        numbers.out.valid[0, 0, 0, 0] += 0.5
    if spoils("guard"):
        numbers.lse.bytes[-1] = 0
    for name, tensor in (("out", numbers.out), ("lse", numbers.lse)):
        if not tensor.surroundings_are_whole():
            raise WrongError(f"expected what lies around {name} untouched but it was written")


def check(kernels: Kernels, what: dict[str, Any], case: Case) -> dict[str, Any]:
    """One case: errors as fractions of their bounds."""
    arrays, kernel = kernels.arrays, kernels[what]
    numbers = make(arrays, what, case.sizes, case.carried, case.seed)
    scale = what["head"] ** -0.5
    job = Job(
        *(each.valid for each in (numbers.q, numbers.k, numbers.v, numbers.out, numbers.lse)),
        case.slices, scale, init=not case.carried,
    )  # fmt: skip
    launch(numbers, kernel, job, 0)
    expected = reference(arrays, numbers, case.slices, scale, case.chosen)
    errors = errors_of(arrays, numbers, what["dtype"], expected, case.chosen)
    if not max(errors.values()) <= 1:
        raise WrongError(f"expected errors of at most 1 bound but got {errors}")
    if case.launches == 1:
        return errors
    state = (numbers.out, numbers.lse)
    first = [arrays.copy(each.bytes) for each in state]
    for repeat in range(1, case.launches):
        launch(numbers, kernel, job, repeat)
        if not all(arrays.same(a, b.bytes) for a, b in zip(first, state, strict=True)):
            raise WrongError(f"expected the bits of the first launch but launch {repeat} gave others")
    return errors


def draw(part: Part, what: dict, chance: random.Random) -> Sizes:
    """Random sizes, small where each pair costs the CPU microseconds."""
    plain = what["dtype"] in ("float32", "float64") or what["head"] % 16 or what["value"] % 16
    most = (24 if plain else 150) if part.is_emulated else (400 if plain else 1000)
    kv_heads = chance.choice((1, 1) if part.is_emulated else (1, 2, 3))
    groups = chance.choice((1, 2) if part.is_emulated else (1, 2, 4))
    batch = 1 if part.is_emulated else chance.choice((1, 2))
    return Sizes(batch, chance.randint(1, most), chance.randint(1, most), kv_heads * groups, kv_heads)
