"""Part 7: which right tiles are fastest: keys at a time, consumers, stages, and the order of tiles.

The compiler's table, lib/Codegen/CUDA/CudaTiles.def, has rows by size of heads, mask and length.
OUT/CudaTiles.def is that table with the rows that this GPU asks for, ready to be copied over it;
what was not measured keeps its rows.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from functools import partial
from typing import Any

import results
import tile_table
import timing
from arrays import Arrays
from kernels import Job, Kernels, piece
from part import Part
from speed import ELEMENTS, ours, tensors
from tile_table import ORDERS, Row, Tile

TURNS = 3
ROW_SECONDS = 30
# What takes longer than this fraction of another time is not faster.
GAIN = 0.99
MASKS = {"full": "Whole", "causal": "Masked"}


def chosen(measured: Iterable[dict[str, Any]]) -> list[Row]:
    """Rows for what was timed, of each size and mask the longest last, which fits any length.

    A length has rows of its own where these are faster than what the next longer one has.
    """
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for each in measured:
        groups.setdefault((each["size"], each["mask"]), []).append(each)
    rows = []
    for (size, mask), some in groups.items():
        head, value = map(int, size.split("x"))
        longest_first: list[Row] = []
        for each in sorted(some, key=lambda each: -each["tokens"]):
            times = times_of(each)
            if not times:
                continue
            tile = min(times, key=times.__getitem__)
            longer = longest_first[-1] if longest_first else None
            if longer and tile != longer.tile and GAIN * times.get(longer.tile, math.inf) <= times[tile]:
                continue
            order = ORDERS[each.get("ratio lightest", 1) < GAIN]
            if longer is None or (tile, order) != (longer.tile, longer.order):
                keys = each["tokens"] if longer else 0
                longest_first.append(Row(head, value, MASKS[mask], keys, tile, order))
        rows += reversed(longest_first)
    return rows


def times_of(row: dict[str, Any]) -> dict[Tile, float]:
    """Seconds by tile; of the emulated device none."""
    named = {
        key.removeprefix("seconds "): seconds for key, seconds in row.items() if key.startswith("seconds ")
    }
    return {
        tuple(map(int, name.split("x"))): seconds for name, seconds in named.items() if seconds is not None
    }


def compare(part: Part, kernels: Kernels, some: list[dict], mask: str, tokens: int) -> dict[str, Any]:
    """Seconds of every tile, which take turns, for attention of that many tokens."""
    head, value = some[0]["head"], some[0]["value"]
    count = 1 if part.is_emulated else max(1, ELEMENTS // (tokens * head))
    heads = min(count, 32)
    q, k, _, _, lse = tensors(kernels.arrays, count // heads, tokens, heads, head, "bfloat16")
    _, _, v, out, _ = tensors(kernels.arrays, count // heads, tokens, heads, value, "bfloat16")
    slices = [piece((0, tokens), (0, tokens), **({"hi": 0} if mask == "causal" else {}))]
    job = partial(Job, q, k, v, out, lse, slices, head**-0.5)
    subjects = {name_of(each["tile"]): ours(kernels[each], job(order=0)) for each in some}
    seconds, failures = timing.medians(subjects, part.is_emulated, TURNS)
    row: dict[str, Any] = {f"seconds {name}": each for name, each in seconds.items()}
    row["table"] = name_of(tile_table.read().find(head, value, MASKS[mask], tokens).tile)
    # Without a mask all blocks are as heavy.
    if mask == "causal" and seconds:
        fastest = min(seconds, key=seconds.__getitem__)
        kernel = next(kernels[each] for each in some if name_of(each["tile"]) == fastest)
        orders = {name: ours(kernel, job(order=number)) for number, name in enumerate(ORDERS)}
        ordered, orderless = timing.medians(orders, part.is_emulated, TURNS)
        failures |= orderless
        if not orderless:
            row["ratio lightest"] = ordered[ORDERS[1]] / ordered[ORDERS[0]]
    return row | {"failures": failures}


def name_of(tile: Iterable[int]) -> str:
    return "x".join(map(str, tile))


def main() -> int:
    """All sizes of heads: 64 and 128, and 8 192 tokens, first."""
    part = Part("tune", __doc__)
    kernels = Kernels(part, Arrays(part.is_emulated))
    sizes: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for each in part.artifacts("tiles"):
        sizes.setdefault((each["head"], each["value"]), []).append(each)
    first = sorted(sizes, key=lambda size: (size not in ((64, 64), (128, 128)), size))
    for tokens in (64,) if part.is_emulated else (8192, 2048, 32768):
        for mask in MASKS:
            for head, value in first:
                some = [each for each in sizes[head, value] if not part.problem_of((each, mask, False))]
                if not some:
                    continue
                use = [(each, mask, False) for each in some]
                what = {"mask": mask, "size": f"{head}x{value}", "tokens": tokens}
                part.row(
                    partial(compare, part, kernels, some, mask, tokens),
                    use,
                    ROW_SECONDS,
                    kind="tiles",
                    **what,
                )
                table = tile_table.read().replace(chosen(part.rows))
                results.overwrite(part.out / tile_table.NAME, str(table))
    if not part.rows:
        raise SystemExit("expected a tile that gave right numbers but found none")
    return part.end()


if __name__ == "__main__":
    sys.exit(main())
