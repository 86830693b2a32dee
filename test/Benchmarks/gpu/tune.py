"""Part 8: which right tiles are fastest: keys at a time, consumers, stages, and the order of tiles.

The compiler's table, lib/Codegen/CudaTiles.def, has rows by size of heads, mask and length.
OUT/CudaTiles.def is that table with the rows that this GPU asks for, ready to be copied over it;
what was not measured keeps its rows.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable
from functools import partial
from itertools import groupby
from typing import Any

import tile_table
import timing
from arrays import Arrays
from kernels import Job, Kernel, piece
from part import Part
from speed import ELEMENTS, ours, tensors
from tile_table import ORDERS, Row, Tile

TURNS = 3
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


def compare(part: Part, arrays: Arrays, some: list[dict], mask: str, tokens: int) -> dict[str, Any]:
    """Seconds of every tile, which take turns, for attention of that many tokens."""
    head, value = some[0]["head"], some[0]["value"]
    count = 1 if part.is_emulated else max(1, ELEMENTS // (tokens * head))
    heads = min(count, 32)
    q, k, _, _, lse = tensors(arrays, count // heads, tokens, heads, head, "bfloat16")
    _, _, v, out, _ = tensors(arrays, count // heads, tokens, heads, value, "bfloat16")
    slices = [piece((0, tokens), (0, tokens), **({"hi": 0} if mask == "causal" else {}))]
    job = partial(Job, q, k, v, out, lse, slices, head**-0.5)
    kernels, failures = {}, {}
    for each in some:
        try:
            kernels[name_of(each["tile"])] = Kernel(part, each, arrays)
        except Exception as error:
            failures[name_of(each["tile"])] = str(error)
    try:
        subjects = {name: ours(kernel, job(order=0)) for name, kernel in kernels.items()}
        seconds, more = timing.medians(subjects, part.is_emulated, TURNS)
        row = {f"seconds {name}": each for name, each in seconds.items()}
        row["table"] = name_of(tile_table.read().find(head, value, MASKS[mask], tokens).tile)
        # Without a mask all blocks are as heavy.
        if mask == "causal" and seconds:
            kernel = kernels[min(seconds, key=seconds.__getitem__)]
            orders = {name: ours(kernel, job(order=number)) for number, name in enumerate(ORDERS)}
            ordered, orderless = timing.medians(orders, part.is_emulated, TURNS)
            more |= orderless
            if not orderless:
                row["ratio lightest"] = ordered[ORDERS[1]] / ordered[ORDERS[0]]
    finally:
        for kernel in kernels.values():
            kernel.close()
    return row | {"failures": failures | more}


def found_wrong(part: Part) -> set[str]:
    """Tiles whose numbers the part before found wrong, where it ran."""
    path = part.out / "correctness.json"
    rows = json.loads(path.read_text())["rows"] if path.exists() else []
    return {row["kernel"] for row in rows if "failure" in row}


def name_of(tile: Iterable[int]) -> str:
    return "x".join(map(str, tile))


def main() -> int:
    """All sizes of heads."""
    part = Part("tune", __doc__)
    arrays = Arrays(part.is_emulated)
    lengths = (64,) if part.is_emulated else (2048, 8192, 32768)
    wrong = found_wrong(part)
    right = [each for each in part.artifacts("tiles") if each["name"] not in wrong]
    sizes = sorted(right, key=lambda each: (each["head"], each["value"]))
    for (head, value), group in groupby(sizes, key=lambda each: (each["head"], each["value"])):
        some = list(group)
        for mask in MASKS:
            for tokens in lengths:
                part.row(
                    partial(compare, part, arrays, some, mask, tokens),
                    kind="tiles", size=f"{head}x{value}", mask=mask, tokens=tokens,
                )  # fmt: skip
    if not sizes:
        raise SystemExit("expected a tile that gave right numbers but found none")
    table = tile_table.read().replace(chosen(part.rows))
    (part.out / tile_table.NAME).write_text(str(table))
    return part.end()


if __name__ == "__main__":
    sys.exit(main())
