"""Programs for GPUs on an emulated one: every strategy and every mask of positions.

Programs are compiled with --target=cuda --emulation, ranks share the device, and events
come in another order with each seed. References are JAX's and the interpreter's.
"""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Iterator

import cases
import harness

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
# Queries, keys (0: as many), heads, kv heads, sizes of a head and of a value (0: the same).
SIZES = (
    "s=131,h=4,kv=2,d=64",
    "s=96,k=150,h=4,kv=4,d=128",
    "s=77,h=6,kv=3,d=80",
    "s=70,h=4,kv=2,d=96,dv=64",
    "s=5,h=4,kv=1,d=16",
)


def chosen(quick: bool) -> Iterator[tuple[cases.Case, int]]:
    """Every plan with every mask, sizes in turn; and the seed of the device."""
    pairs = list(itertools.product(PLANS, MASKS))
    for number, (plan, mask) in enumerate(pairs):
        if quick and number % 17:
            continue
        fill = ",fill=lowest" if mask.startswith(("blind", "unseen")) and number % 2 else ""
        text = f"{plan},mask={mask},{SIZES[number % len(SIZES)]},type=bfloat16{fill}"
        case = cases.Case.parse(text).settled()
        if case.shown:
            yield case, number


def main() -> None:
    """Run every case, or some."""
    arguments = harness.arguments(__doc__).parse_args()
    tools = harness.Tools(arguments.build, arguments.work)
    made = []
    for case, seed in chosen(arguments.quick):
        function, inputs = case.model()
        program = tools.program(f"cuda-{seed}", function, *inputs, key=case.text())
        options = (*case.options(), "--target=cuda", "--emulation")
        made.append(harness.Case(program, options, attentions=1, device=seed))
    sys.exit(harness.hold_all(tools, made, arguments.jobs))


if __name__ == "__main__":
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    main()
