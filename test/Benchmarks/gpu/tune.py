"""Part 8: which right tiles are fastest: keys at a time, warpgroups that compute, stages.

The compiler's table (kTiles in lib/Codegen/CudaKernels.cpp) has a row for each size of heads: keys
at a time without a mask, with one, and consumers. OUT/tiles.txt holds the rows that this GPU asks
for; a kernel is the best where the product of its times over all lengths is the least.
"""

from __future__ import annotations

import json
import math
import sys
from functools import partial
from itertools import groupby
from typing import Any

import timing
from arrays import Arrays
from kernels import Job, Kernel, piece
from part import Part, WrongError
from speed import ELEMENTS, ours, tensors

TABLE = "table"
TURNS = 3

# Keys at a time, consumers, stages.
Tile = tuple[int, int, int]
# Seconds by mask and tokens.
Times = dict[tuple[str, int], float]


def choose(times: dict[Tile, Times]) -> tuple[Tile, Tile]:
    """The tiles without and with a mask; their consumers and stages are the same."""

    def cost(tile: Tile, mask: str) -> float:
        return math.prod(seconds for (own, _), seconds in times[tile].items() if own == mask)

    whole_runs = [tile for tile in times if {mask for mask, _ in times[tile]} == {"full", "causal"}]
    # Not every length of a tile was timed: its product is no product of all.
    most = max((len(times[tile]) for tile in whole_runs), default=0)
    groups: dict[tuple[int, int], list[Tile]] = {}
    for tile in whole_runs:
        if len(times[tile]) == most:
            groups.setdefault(tile[1:], []).append(tile)
    if not groups:
        raise WrongError("expected a tile that ran under both masks but got none")
    pairs = [
        tuple(min(tiles, key=lambda tile, mask=mask: cost(tile, mask)) for mask in ("full", "causal"))
        for tiles in groups.values()
    ]
    return min(pairs, key=lambda pair: cost(pair[0], "full") * cost(pair[1], "causal"))


def row_of(head: int, value: int, whole: Tile, masked: Tile) -> str:
    """As it stands in the compiler's table; its stages are 2."""
    return f"{{{head}, {value}, {whole[0]}, {masked[0]}, {whole[1]}}}, // {whole[2]} stages"


def compare(part: Part, arrays: Arrays, some: list[dict], mask: str, tokens: int) -> dict[str, Any]:
    """Seconds of every tile, which take turns, for attention of that many tokens."""
    head, value = some[0]["head"], some[0]["value"]
    count = 1 if part.is_emulated else max(1, ELEMENTS // (tokens * head))
    heads = min(count, 32)
    q, k, _, _, lse = tensors(arrays, count // heads, tokens, heads, head, "bfloat16")
    _, _, v, out, _ = tensors(arrays, count // heads, tokens, heads, value, "bfloat16")
    slices = [piece((0, tokens), (0, tokens), **({"hi": 0} if mask == "causal" else {}))]
    job = Job(q, k, v, out, lse, slices, head**-0.5)
    kernels, failures = {}, {}
    for each in some:
        try:
            kernels[name_of(each)] = Kernel(part, each, arrays)
        except Exception as error:
            failures[name_of(each)] = str(error)
    try:
        subjects = {name: ours(kernel, job) for name, kernel in kernels.items()}
        seconds, more = timing.medians(subjects, part.is_emulated, TURNS)
    finally:
        for kernel in kernels.values():
            kernel.close()
    row = {f"seconds {name}": each for name, each in seconds.items()}
    return row | {"failures": failures | more}


def found_wrong(part: Part) -> set[str]:
    """Tiles whose numbers the part before found wrong, where it ran."""
    path = part.out / "correctness.json"
    rows = json.loads(path.read_text())["rows"] if path.exists() else []
    return {row["kernel"] for row in rows if "failure" in row}


def name_of(artifact: dict[str, Any]) -> str:
    return "x".join(map(str, artifact["tile"])) if "tile" in artifact else TABLE


def main() -> int:
    """All sizes of heads."""
    part = Part("tune", __doc__)
    arrays = Arrays(part.is_emulated)
    lengths = (64,) if part.is_emulated else (2048, 8192, 32768)
    chosen = []
    wrong = found_wrong(part)
    right = [each for each in part.artifacts("tiles") if each["name"] not in wrong]
    sizes = sorted(right, key=lambda each: (each["head"], each["value"]))
    for (head, value), some in groupby(sizes, key=lambda each: (each["head"], each["value"])):
        candidates, times = list(some), {}
        for mask in ("full", "causal"):
            # The compiler's own, where it is no candidate.
            table = [
                each
                for each in part.artifacts("kernels")
                if (each["head"], each["value"], each["mask"], each["dtype"])
                == (head, value, mask, "bfloat16")
            ]
            for tokens in lengths:
                row = part.row(
                    partial(compare, part, arrays, [*candidates, *table], mask, tokens),
                    kind="tiles", size=f"{head}x{value}", mask=mask, tokens=tokens,
                )  # fmt: skip
                for each in candidates:
                    if (seconds := row.get(f"seconds {name_of(each)}")) is not None:
                        times.setdefault(tuple(each["tile"]), {})[mask, tokens] = seconds
        if not part.is_emulated:
            try:
                chosen.append(row_of(head, value, *choose(times)))
            except WrongError as error:
                chosen.append(f"// {head}, {value}: {error}")
    if not sizes:
        raise SystemExit("expected a tile that gave right numbers but found none")
    if chosen:
        (part.out / "tiles.txt").write_text("\n".join(chosen) + "\n")
    return part.end()


if __name__ == "__main__":
    sys.exit(main())
