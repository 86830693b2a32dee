"""Attentions with one operation that acts on some data only, under a few plans."""

from __future__ import annotations

import cases
import harness
import near_gradients
import near_kinds
import near_rows

KINDS = near_kinds.KINDS | near_rows.KINDS | near_gradients.KINDS
PLANS = (
    ("--mesh=sp=1", "--strategy=auto"),
    ("--mesh=sp=3", "--strategy=auto"),
    ("--mesh=sp=4", "--strategy=auto"),
)


def main() -> int:
    """Run a sample, a plan each, or with --all all of them with every plan."""
    args = harness.arguments(__doc__).parse_args()
    tools = harness.Tools(args.build, args.work)
    grid = [
        (name, gradients, plan)
        for number, name in enumerate(KINDS)
        for gradients in (False, True)
        for plan in (PLANS if args.all else [PLANS[(number + gradients) % len(PLANS)]])
    ]
    held = []
    for name, gradients, plan in harness.sampled(grid, 8 if args.quick else 30, args):
        kind = KINDS[name]
        fn, arrays = kind.fn, kind.arrays()
        if gradients:
            fn, arrays = cases.differentiated(fn, arrays, seed=0)
        program = tools.program(f"near-{name}-{'gradients' if gradients else 'forward'}", fn, *arrays)
        held.append(harness.Case(program, plan, kind.backward if gradients else kind.forward))
    return harness.hold_all(tools, held, args)


if __name__ == "__main__":
    raise SystemExit(main())
