"""Bytes sent: the promise, the measurement and the formula agree where everything divides."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import jax.numpy as jnp

import attentions
import harness
import masks

LENGTH = 64
BEHIND = 3  # keys of a window before each query


def formula(strategy: str, ranks: int, heads: int, kind: attentions.Attention) -> int:
    """Bytes that one rank sends in one forward attention.

    A ring and an all-gather move K and V to every other rank; Ulysses moves Q and the
    result too, but each element once, and kv heads again for every rank that needs them.
    2D is Ulysses over `heads` ranks around a ring of what it leaves each of them. A ring
    that turns both ways sends as much as one that turns one way, and heads that come in
    groups as much as all at once. Where states are merged queries go to every other rank, a
    number of each and head is combined on all of them, and sums of results, in f32, at home.
    """
    element = jnp.dtype(kind.dtype).itemsize
    rows = kind.batch * LENGTH // ranks
    width, kv_width = kind.heads * kind.head_size, kind.kv_heads * kind.head_size
    replicated = kv_width * max(1, heads // kind.kv_heads)
    ring = ranks // heads
    exchanged = element * rows * (2 * width + 2 * replicated) * (heads - 1) // heads
    turned = element * 2 * rows * heads * replicated // heads * (ring - 1)
    merged = rows * (ranks - 1) * (element * width + 4 * (2 * kind.heads + width + kind.heads))
    return {"ulysses": exchanged, "2d": exchanged + turned, "split-kv": merged}.get(
        strategy, element * 2 * rows * kv_width * (ranks - 1)
    )


def equals(
    strategy: str, layout: str, ranks: int, heads: int, kind: attentions.Attention
) -> Callable[[dict, dict], None]:
    """A check of both reports against the formula."""
    expected = formula(strategy, ranks, heads, kind)

    def check(promised: dict, measured: dict) -> None:
        sent = measured["bytesSentPerRank"]
        # Contiguous blocks under a causal mask: what no later rank sees is not sent.
        less = strategy in ("ring", "double-ring", "2d") and layout == "contiguous" and kind.causal
        held = all(b <= expected for b in sent) if less else sent == [expected] * ranks
        if not held or promised["attentions"][0]["bytesSentPerRank"] != sent:
            raise harness.CaseError(f"expected {expected} bytes from each rank but sent {sent}")

    return check


def halo_rows(layout: str, ranks: int, behind: int) -> tuple[list[int], list[int]]:
    """Rows of keys that each rank sends under a causal window, and gradients of rows that it sends home.

    Runs of positions follow each other on one rank after another: of each the last rows go to
    the next one, where nothing is as far away as two runs.
    """
    owners = [*range(ranks)] if layout == "contiguous" else [*range(ranks), *reversed(range(ranks))]
    keys, gradients = [0] * ranks, [0] * ranks
    for giver, taker in itertools.pairwise(owners):
        if giver != taker:
            keys[giver] += behind
            gradients[taker] += behind
    return keys, gradients


def is_halo(layout: str, ranks: int, kind: attentions.Attention) -> Callable[[dict, dict], None]:
    """A check of both reports: forward and backward send no rows but those that are seen."""
    keys, gradients = halo_rows(layout, ranks, BEHIND)
    width = 2 * kind.batch * kind.kv_heads * kind.head_size
    element = jnp.dtype(kind.dtype).itemsize
    forward = [rows * width * element for rows in keys]
    backward = [sent + rows * width * 4 for sent, rows in zip(forward, gradients, strict=True)]

    def check(promised: dict, measured: dict) -> None:
        sent = [each["bytesSentPerRank"] for each in promised["attentions"]]
        both = [a + b for a, b in zip(forward, backward, strict=True)]
        plans = {(each["strategy"], each["layout"]) for each in promised["attentions"]}
        if sent != [forward, backward] or measured["bytesSentPerRank"] != both or plans != {("halo", layout)}:
            raise harness.CaseError(f"expected {forward} and {backward} as a halo but got {sent}, {plans}")

    return check


def halo_cases(tools: harness.Tools) -> Iterator[harness.Case]:
    """Causal windows, whose halo `auto` finds."""
    window = masks.window(BEHIND, 0)
    for kind in (
        attentions.Attention(4, 1, 8, False, "float32", mask=window),
        attentions.Attention(4, 2, 16, False, "bfloat16", batch=2, mask=window),
    ):
        fn, arrays = attentions.differentiated(kind, kind.arrays(LENGTH, LENGTH, 0), 0)
        program = tools.program(f"bytes-halo-{kind.kv_heads}", fn, *arrays)
        asked = ("halo", "contiguous"), ("auto", "contiguous"), ("halo", "zigzag")
        for (strategy, layout), ranks in itertools.product(asked, (3, 4, 5, 8)):
            options = (f"--mesh=sp={ranks}", f"--strategy={strategy}", f"--layout={layout}")
            yield harness.Case(program, options, attentions=2, check=is_halo(layout, ranks, kind))


def gradient_formula(travelling: str, ranks: int, kind: attentions.Attention) -> int:
    """Bytes that one rank sends in a ring of gradients.

    Keys and values travel to every other rank and their gradients, in f32, as far and home;
    or queries and cotangents do, with two numbers in f32 a query and head, and one gradient.
    """
    element, gradient = jnp.dtype(kind.dtype).itemsize, 4
    rows = kind.batch * LENGTH // ranks
    width, kv_width = kind.heads * kind.head_size, kind.kv_heads * kind.head_size
    if travelling == "q":
        block = rows * (2 * element * width + 2 * gradient * kind.heads)
        return block * (ranks - 1) + gradient * rows * width * ranks
    return 2 * rows * kv_width * (element * (ranks - 1) + gradient * ranks)


def gradients_equal(option: str, ranks: int, kind: attentions.Attention) -> Callable[[dict, dict], None]:
    """A check of both reports: without the option what takes fewer bytes travels."""
    counts = {travelling: gradient_formula(travelling, ranks, kind) for travelling in ("kv", "q")}
    expected = option or min(counts, key=lambda travelling: counts[travelling])
    other = "q" if expected == "kv" else "kv"

    def check(promised: dict, measured: dict) -> None:
        forward, backward = promised["attentions"]
        sent = [a + b for a, b in zip(forward["bytesSentPerRank"], backward["bytesSentPerRank"], strict=True)]
        held = (
            backward["travelling"] == expected
            and backward["bytesSentPerRank"] == [counts[expected]] * ranks
            and backward["bytesSentPerRankOtherwise"] == [counts[other]] * ranks
            and measured["bytesSentPerRank"] == sent
        )
        if not held:
            raise harness.CaseError(f"expected {counts}, of which {expected}, but got {backward}")

    return check


def gradient_cases(tools: harness.Tools) -> Iterator[harness.Case]:
    """Rings in which keys travel or queries do, by the option or by their bytes."""
    for kind in (
        attentions.Attention(8, 8, 8, False, "float32"),
        attentions.Attention(8, 2, 16, False, "bfloat16", batch=2),
        attentions.Attention(8, 4, 16, True, "float32"),
    ):
        name = f"bytes-gradients-{kind.heads}-{kind.kv_heads}"
        fn, arrays = attentions.differentiated(kind, kind.arrays(LENGTH, LENGTH, 0), 0)
        program = tools.program(name, fn, *arrays)
        for option in ("", "kv", "q"):
            options = ("--mesh=sp=4", "--strategy=ring", "--layout=zigzag")
            every = (*options, f"--backward={option}") if option else options
            check = gradients_equal(option, 4, kind)
            yield harness.Case(program, every, attentions=2, check=check)


def main() -> int:
    """Run every strategy over masks, groups, types and ranks that divide."""
    args = harness.arguments(__doc__).parse_args()
    tools = harness.Tools(args.build, args.work)
    cases = []
    for kind in (
        attentions.Attention(8, 8, 8, False, "float32"),
        attentions.Attention(8, 2, 16, True, "float32", batch=2),
        attentions.Attention(8, 1, 16, True, "bfloat16"),
        attentions.Attention(8, 4, 8, False, "bfloat16", batch=3),
    ):
        name = f"bytes-{kind.heads}-{kind.kv_heads}-{kind.dtype}"
        program = tools.program(name, kind, *kind.arrays(LENGTH, LENGTH, 0))
        for strategy in ("ring", "ulysses", "allgather", "double-ring", "2d", "split-kv"):
            for layout in ("contiguous", "zigzag", "striped"):
                for ranks in (2, 4, 8):
                    options = (f"--mesh=sp={ranks}", f"--strategy={strategy}", f"--layout={layout}")
                    splits = {
                        "double-ring": [(1, "--inner=2")] if ranks > 2 else [],
                        "2d": [(heads, f"--heads={heads}") for heads in (2, 4) if heads < ranks],
                        "ulysses": [(ranks, "")]
                        + [(ranks, "--head-groups=2")] * (kind.kv_heads // ranks >= 2),
                        "allgather": [(ranks, "")]
                        + [(ranks, f"--head-groups={n}") for n in (2, 3, 8) if n <= kind.kv_heads],
                    }
                    for heads, split in splits.get(strategy, [(ranks, "")]):
                        check = equals(strategy, layout, ranks, heads, kind)
                        every = (*options, split) if split else options
                        cases.append(harness.Case(program, every, attentions=1, check=check))
                        if strategy in ("ring", "double-ring", "2d"):
                            both = (*every, "--bidirectional")
                            cases.append(harness.Case(program, both, attentions=1, check=check))
    chosen = cases[:: 37 if args.quick else 1 if args.all else 13]
    return harness.hold_all(tools, [*chosen, *gradient_cases(tools), *halo_cases(tools)], args)


if __name__ == "__main__":
    raise SystemExit(main())
