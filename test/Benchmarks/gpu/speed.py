"""Part 4: attention kernels beside those of others; a ring's step; turns; windows and documents.

speed  bf16, inputs larger than the L2 cache, so that each run reads memory
step   one step of a ring, with a state that is carried; peers merge theirs with torch
turns  a tile whose warpgroups take turns beside the same tile without
masks  windows and documents beside the causal mask, with their visible tiles of 128 x 128 pairs
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import timing
from arrays import Arrays
from kernels import Job, Kernel, Kernels, LaunchError, Slice, piece
from part import Part, WrongError

TILE = 128
ROW_SECONDS = 45  # a merge is compiled in one of them
ELEMENTS = 1 << 25  # batch x heads x tokens x size


def tensors(arrays: Arrays, batch: int, tokens: int, heads: int, size: int, dtype: str) -> list[Any]:
    """q, k, v, and the state."""
    shape = (batch, tokens, heads, size)
    inputs = [arrays.cast(arrays.normal(shape, seed), dtype) for seed in range(3)]
    number = "float64" if dtype == "float64" else "float32"
    return [*inputs, *(arrays.cast(arrays.normal((*shape[:3], n), 3), number) for n in (size, 1))]


def kernel_of(part: Part, size: int, mask: str, in_ring: bool = False) -> dict[str, Any]:
    """The artifact of that kernel, of any where the device is emulated."""
    for each in part.artifacts("kernels"):
        right = each["dtype"] == "bfloat16" and each["head"] == each["value"] == size and each["mask"] == mask
        if each.get("sums", False) == in_ring and (part.is_emulated or right):
            return each
    where = " of a ring" if in_ring else ""
    raise WrongError(
        f"expected a kernel{where} of size {size} for mask {mask} in the manifest but found none"
    )


def ours(kernel: Kernel, job: Job) -> timing.Timed:
    return lambda count: kernel.run([job] * count)


def visible(slices: list[Slice], tokens: int) -> tuple[int, int]:
    """Visible pairs, and tiles that hold one, of slices that share no tile."""
    pairs = tiles = 0
    for s in slices:
        for first in range(s.q0, s.q1, TILE):
            last = min(first + TILE, s.q1) - 1
            least, most = max(s.k0, first + s.lo), min(s.k1 - 1, last + s.hi)
            if least <= most:
                tiles += most // TILE - least // TILE + 1
        for i in range(s.q0, s.q1):
            pairs += max(0, min(s.k1 - 1, i + s.hi) - max(s.k0, i + s.lo) + 1)
    return pairs, tiles


def compare(part: Part, subjects: dict[str, timing.Timed], flops: float) -> dict[str, Any]:
    """Rates of all subjects, and how many times as fast as each peer the first is."""
    seconds, failures = timing.medians(subjects, part.is_emulated)
    row: dict[str, Any] = {f"seconds {name}": value for name, value in seconds.items()}
    row |= {f"teraflops {name}": flops / value / 1e12 for name, value in seconds.items()}
    row |= {f"ratio {name}": value / seconds["ours"] for name, value in seconds.items() if name != "ours"}
    return row | {"failures": failures}


def speed(part: Part, kernels: Kernels, what: dict[str, Any], tokens: int, mask: str) -> dict[str, Any]:
    """One size under one mask."""
    size, dtype, causal = what["head"], what["dtype"], mask == "causal"
    count = 1 if part.is_emulated else max(1, ELEMENTS // (tokens * size))
    heads = min(count, 32)
    q, k, v, out, lse = tensors(kernels.arrays, count // heads, tokens, heads, size, dtype)
    slices = [piece((0, tokens), (0, tokens), **({"hi": 0} if causal else {}))]
    pairs = tokens * (tokens + 1) // 2 if causal else tokens**2
    subjects = {"ours": ours(kernels[what], Job(q, k, v, out, lse, slices, size**-0.5))}
    found = timing.installed(part.is_emulated)
    subjects |= {name: timing.timed(peer(q, k, v, causal)) for name, peer in found.items()}
    row = compare(part, subjects, 4.0 * size * pairs * count)
    return row | {"notInstalled": [name for name in timing.PEERS if name not in found]}


def merging(name: str, compiled: bool, q: Any, k: Any, v: Any, out: Any, lse: Any) -> Callable[[], None]:
    """What rings of torch do: a block's result and its log-sum-exp into the state, in f32."""
    import torch

    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    out, lse = out.transpose(1, 2), lse.transpose(1, 2)
    aten = torch.ops.aten

    def block() -> tuple[Any, Any]:
        if name == "cudnn":
            both = aten._scaled_dot_product_cudnn_attention(q, k, v, None, True)
        else:
            both = aten._scaled_dot_product_flash_attention(q, k, v)
        return both[0], both[1].reshape(lse.shape)

    def merge(out: Any, lse: Any, block_out: Any, block_lse: Any) -> tuple[Any, Any]:
        weight = torch.sigmoid(block_lse - lse)
        return out - weight * (out - block_out), lse - torch.nn.functional.logsigmoid(lse - block_lse)

    merge = torch.compile(merge) if compiled else merge

    def run() -> None:
        merge(out, lse, *block())

    return run


def step(
    part: Part,
    kernels: Kernels,
    what: dict[str, Any],
    rows: tuple[int, int],
    keys: tuple[int, int],
    compiled: bool,
) -> dict[str, Any]:
    """One step of a ring of local length rows[1] (as large as all keys): what of it is visible."""
    tokens, heads = max(rows[1], keys[1]), 1 if part.is_emulated else 32
    size = what["head"]
    q, k, v, out, lse = tensors(kernels.arrays, 1, tokens, heads, size, what["dtype"])
    # What a ring carries: a sum beside each exponent.
    sums = abs(kernels.arrays.normal((1, tokens, heads, 2), 4))
    job = partial(Job, q, k, v, out, sums, [piece(rows, keys)], size**-0.5)
    kernel = kernels[what]
    subjects = {"ours": ours(kernel, job(init=False)), "stateless": ours(kernel, job(init=True))}
    if timing.installed(part.is_emulated):
        # Peers get just the rows and keys that are visible.
        seen = (q[:, slice(*rows)], k[:, slice(*keys)], v[:, slice(*keys)])
        state = (out[:, slice(*rows)], lse[:, slice(*rows)])
        kinds = [("cudnn", False), ("flash", False)] + ([("cudnn", True)] if compiled else [])
        for peer, is_compiled in kinds:
            label = f"{peer}+{'compiled' if is_compiled else 'plain'} merge"
            subjects[label] = timing.timed(merging(peer, is_compiled, *seen, *state))
    return compare(part, subjects, 4.0 * size * heads * (rows[1] - rows[0]) * (keys[1] - keys[0]))


def turns(part: Part, kernels: Kernels, pair: list[dict[str, Any]], tokens: int, mask: str) -> dict[str, Any]:
    """How many times as fast a tile is whose warpgroups take turns."""
    size, heads = pair[0]["head"], 1 if part.is_emulated else 32
    q, k, v, out, lse = tensors(kernels.arrays, 1, tokens, heads, size, pair[0]["dtype"])
    job = Job(
        q,
        k,
        v,
        out,
        lse,
        [piece((0, tokens), (0, tokens), **({"hi": 0} if mask == "causal" else {}))],
        size**-0.5,
    )
    subjects = {("turns" if each["turns"] else "none"): ours(kernels[each], job) for each in pair}
    seconds, failures = timing.medians(subjects, part.is_emulated)
    if failures:
        raise LaunchError(str(failures))
    row = {f"seconds {name}": value for name, value in seconds.items()}
    return row | {"ratio turns": seconds["none"] / seconds["turns"]}


def shapes_of(part: Part, tokens: int) -> dict[str, list[Slice]]:
    """Windows and documents beside the causal mask."""
    reach = [24] if part.is_emulated else [512, 4096]
    cuts = [i * tokens // 8 // 16 * 16 for i in range(8)] + [tokens]
    shapes = {"causal": [piece((0, tokens), (0, tokens), hi=0)]}
    shapes |= {f"window {w}": [piece((0, tokens), (0, tokens), lo=1 - w, hi=0)] for w in reach}
    return shapes | {"documents": [piece((a, b), (a, b), hi=0) for a, b in pairwise(cuts)]}


def masked(
    part: Part, kernels: Kernels, what: dict[str, Any], tokens: int, slices: list[Slice]
) -> dict[str, Any]:
    heads, size = 1 if part.is_emulated else 8, what["head"]
    q, k, v, out, lse = tensors(kernels.arrays, 1, tokens, heads, size, what["dtype"])
    pairs, tiles = visible(slices, tokens)
    job = Job(q, k, v, out, lse, slices, size**-0.5)
    return compare(part, {"ours": ours(kernels[what], job)}, 4.0 * size * heads * pairs) | {"tiles": tiles}


def main() -> int:
    """8 192 tokens of every kind first, then other lengths."""
    part = Part("speed", __doc__)
    kernels = Kernels(part, Arrays(part.is_emulated))
    half, full = (32, 64) if part.is_emulated else (4096, 8192)
    sizes, lengths = ((128,), ()) if part.is_emulated else ((128, 64, 256), (2048, 4096, 16384, 32768))

    def beside_others(tokens: int) -> None:
        for size in sizes:
            for mask in ("full", "causal"):
                what = kernel_of(part, size, mask)
                work = partial(speed, part, kernels, what, tokens, mask)
                use = [(what, mask, False)]
                part.row(work, use, ROW_SECONDS, kind="speed", mask=mask, size=size, tokens=tokens)

    beside_others(full)
    what = kernel_of(part, 128, "full", in_ring=True)
    for name, rows, keys in (
        ("full", (0, full), (0, full)),
        ("zigzag, later keys' half", (half, full), (0, full)),
        ("zigzag, earlier keys' half", (0, full), (0, half)),
    ):
        work = partial(step, part, kernels, what, rows, keys, name == "full")
        part.row(work, [(what, "full", True)], ROW_SECONDS, kind="step", step=name, tokens=full)
    pairs: dict[str, list[dict[str, Any]]] = {}
    for each in part.artifacts("turns"):
        pairs.setdefault(f"{each['head']}: " + "x".join(map(str, each["tile"])), []).append(each)
    for tile, pair in pairs.items():
        for mask in ("full", "causal"):
            work = partial(turns, part, kernels, pair, full, mask)
            use = [(each, mask, False) for each in pair]
            part.row(work, use, ROW_SECONDS, kind="turns", tile=tile, mask=mask, tokens=full)
    what, tokens = kernel_of(part, 128, "causal"), 64 if part.is_emulated else 32768
    for name, slices in shapes_of(part, tokens).items():
        work = partial(masked, part, kernels, what, tokens, slices)
        part.row(work, [(what, "causal", False)], ROW_SECONDS, kind="masks", mask=name, tokens=tokens)
    for tokens in lengths:
        beside_others(tokens)
    return part.end()


if __name__ == "__main__":
    sys.exit(main())
