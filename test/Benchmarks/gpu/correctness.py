"""Part 2: every attention kernel against attention in f64, and against itself.

Outputs are poisoned before, what lies around them must stay untouched, and repeats give
the same bits. Masks are given as slices; sizes are random. One launch of every kernel
comes first, then masks, then repeats, then a tensor of more than 2^31 elements.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

from arrays import Arrays
from cases import Case, check, draw, masks
from kernels import Kernels, piece
from part import Part, SkippedError
from reference import Chosen, Sizes

REPEATS, EMULATED_REPEATS = 10, 3
LARGE = Sizes(batch=1, queries=(1 << 17) + 77, keys=(1 << 17) + 77, heads=128, kv_heads=1)
EMULATED_LARGE = Sizes(batch=1, queries=150, keys=150, heads=2, kv_heads=1)
LARGE_BYTES = 48 << 30

# A kernel, a mask, whether it takes up a state, and how many launches there are.
Wanted = tuple[dict[str, Any], str, bool, int]


def wanted(part: Part) -> Iterator[Wanted]:
    """What is launched, the broadest first."""
    kernels, tiles = part.artifacts("kernels"), part.artifacts("tiles") + part.artifacts("turns")
    for what in kernels + tiles:
        yield what, what.get("mask", "causal"), False, 1
    names = list(masks(Sizes(1, 8, 8, 1, 1), random.Random(0)))
    for at, mask in enumerate(names):
        for number, what in enumerate(kernels):
            if not part.is_emulated:
                yield from ((what, mask, carried, 1) for carried in (False, True))
            elif (at - number) % 3 == 0:
                yield what, mask, bool(at % 2), 1
    for what in tiles:
        for mask in ("full", "causal"):
            yield from (
                (what, mask, carried, 1) for carried in ((True,) if part.is_emulated else (False, True))
            )
    for what in kernels:
        launches = EMULATED_REPEATS if part.is_emulated else what.get("repeats", REPEATS)
        yield what, what["mask"], False, launches
        yield what, "documents", True, launches


def launch(part: Part, kernels: Kernels, wanted: Wanted) -> None:
    """One row. A kernel that is left out has one such row."""
    what, mask, carried, launches = wanted
    is_first = launches == 1 and mask == what.get("mask", "causal") and not carried
    if not is_first and part.problem_of((what, mask, carried)):
        return
    chance = random.Random(f"{part.seed} {what['name']} {mask} {carried} {launches}")
    sizes = draw(part, what, chance)
    case = Case(sizes, masks(sizes, chance)[mask], carried, chance.randrange(1 << 30), launches)
    part.row(
        partial(check, kernels, what, case),
        [(what, mask, carried)],
        facts=vars(sizes),
        kernel=what["name"], mask=mask, carried=carried, launches=launches,
    )  # fmt: skip


def large(part: Part, kernels: Kernels, what: dict[str, Any]) -> dict[str, float]:
    """Rows at the beginning, where elements pass 2^31, and at the end, against f64."""
    if not part.is_emulated and (free := kernels.arrays.free_bytes()) < LARGE_BYTES:
        raise SkippedError(f"needs {LARGE_BYTES >> 30} GiB of the GPU, of which {free >> 30} are free")
    sizes = EMULATED_LARGE if part.is_emulated else LARGE
    near, rows = min(70, sizes.queries // 3), sizes.queries
    chosen = [*range(near), *range(rows // 2, rows // 2 + near), *range(rows - near, rows)]
    slices = [piece((0, rows), (0, sizes.keys), lo=-near, hi=0)]
    some = Chosen(chosen, sorted({0, sizes.heads // 2, sizes.heads - 1}))
    return check(kernels, what, Case(sizes, slices, False, part.seed, chosen=some))


def main() -> int:
    """All of them."""
    part = Part("correctness", __doc__)
    kernels = Kernels(part, Arrays(part.is_emulated))
    for each in wanted(part):
        launch(part, kernels, each)
    for what in part.artifacts("kernels"):
        if what.get("large"):
            use = [(what, "causal", False)]
            work = partial(large, part, kernels, what)
            part.row(work, use, limit=40, kernel=what["name"], mask="of 2^31 elements")
    return part.end()


if __name__ == "__main__":
    sys.exit(main())
