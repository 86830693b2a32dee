"""Programs for GPUs on an emulated one: every strategy, every mask, every score, two kinds of GPU.

Ranks share the device, and events come in another order with each seed.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import sys
from collections.abc import Iterator

import cases
import fuzz
import harness
from settle import settled

# Strategy with its factors, and ranks.
PLANS = (
    "strategy=none",
    "strategy=ring,layout=zigzag,p=4",
    "strategy=ring,layout=striped,p=3",
    "strategy=ring,layout=zigzag,p=5,both=1",
    "strategy=double-ring,layout=zigzag,p=4,inner=2",
    "strategy=allgather,layout=zigzag,p=3",
    "strategy=ulysses,p=2",
    "strategy=ulysses,p=3,groups=2",
    "strategy=2d,layout=zigzag,p=4,u=2",
    "strategy=2d,p=6,u=2,inner=3,placement=context-first",
    "strategy=ring,p=2,dp=2,b=2",
)
MASKS = (
    "full",
    "causal",
    "causal-end",
    "window:20:0",
    "window:30:17",
    "prefix:40",
    "chunks:32",
    "documents:23",
    "blocks:16:16",
    "blind:20:70",
    "unseen:0:50",
)
# What is more than a mask of positions.
SCORES = (
    "segments:9",
    "padding",
    "positions",
    "mask:b1qk",
    "bias:1hqk",
    "causal+alibi",
    "slopes",
    "t5",
    "cap:3",
    "causal+sinks",
    "dropout:bhqk",
)
# Queries, keys (0: as many), heads, kv heads, sizes of a head and of a value (0: the same); type.
SIZES = (
    "s=131,h=4,kv=2,d=64,type=bfloat16",
    "s=96,k=150,h=4,kv=4,d=128,type=bfloat16",
    "s=77,h=6,kv=3,d=80,type=float16",
    "s=70,h=4,kv=2,d=96,dv=64,type=bfloat16",
    "s=5,h=4,kv=1,d=16,type=bfloat16",
    "s=61,h=4,kv=2,d=24,type=float32",
    "s=37,k=50,h=4,kv=4,d=7,dv=5,type=float64",
    "s=90,h=4,kv=4,d=12,type=float16",
)


def chosen(step: int) -> Iterator[cases.Case]:
    """Every plan with every mask, one in `step`, every score with three plans, four in `step`.

    Twelve reach each plan, each mask and each score. Sizes come in turn.
    """
    pairs = list(itertools.product(PLANS, MASKS))
    scored = [(PLANS[(5 * i + 3 * j) % len(PLANS)], mask) for i, mask in enumerate(SCORES) for j in range(3)]
    numbered = list(enumerate(pairs))[::step]
    numbered += list(enumerate(scored, len(pairs)))[:: max(1, step // 4)]
    for number, (plan, mask) in numbered:
        fill = ",fill=lowest" if mask.startswith(("blind", "unseen")) and number % 2 else ""
        text = f"target=cuda,seed={number},{plan},mask={mask},{SIZES[number % len(SIZES)]}{fill}"
        yield settled(cases.Case.parse(text))


def portable(step: int) -> Iterator[cases.Case]:
    """Some plans with masks and scores, in sizes that fit the kernel of Hopper."""
    masks = ("causal", "window:20:0", *SCORES)
    for number, (plan, mask) in enumerate(zip(itertools.cycle(PLANS), masks, strict=False)):
        if number % step == 0:
            text = f"target=cuda,seed={number},{plan},mask={mask},s=61,h=6,kv=3,d=16,type=bfloat16"
            yield settled(cases.Case.parse(text))


def plain_for_no_reason(arguments: argparse.Namespace, case: cases.Case) -> str:
    """What is wrong where sizes fit the kernel of Hopper and the plan has the plain one; or ""."""
    import spmlir

    fn, inputs = case.model()
    spmlir.export(fn, *inputs).save(arguments.work / "plans")
    tools = harness.Tools(arguments.build, arguments.work)
    plan = tools.run("sp-compile", arguments.work / "plans/model.mlir", *case.options(), "--emit=commands")
    blocks = set(re.findall(r"blocks \d+x(\d+)", plan))
    return "" if blocks and "0" not in blocks else f"{case.mask}: blocks of {blocks or 'none'} keys"


if __name__ == "__main__":
    arguments = harness.arguments(__doc__).parse_args()
    texts = [f"target=cuda,p=2,mask={mask},{SIZES[0]}" for mask in SCORES[:: 4 if arguments.quick else 1]]
    wrong = [plain_for_no_reason(arguments, settled(cases.Case.parse(text))) for text in texts]
    print(*filter(None, wrong), sep="\n", file=sys.stderr)
    step = 40 if arguments.quick else 1 if arguments.all else 24
    failed = any(wrong) or fuzz.run_apart(arguments, list(chosen(step)))
    # On another GPU the same artifacts run their portable kernels.
    os.environ["SPRT_EMULATION_ARCHITECTURE"] = "sm_80"
    raise SystemExit(fuzz.run_apart(arguments, list(portable(-(-step // 4)))) or failed)
