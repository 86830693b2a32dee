"""Attentions with one operation that acts on some data only, under a few plans."""

from __future__ import annotations

import cases
import harness
from near_kinds import KINDS

PLANS = (
    ("--mesh=sp=1", "--strategy=auto"),
    ("--mesh=sp=3", "--strategy=auto"),
    ("--mesh=sp=4", "--strategy=auto"),
)


def main() -> int:
    """Run all of them, a plan each, or with --all every plan."""
    args = harness.arguments(__doc__).parse_args()
    tools = harness.Tools(args.build, args.work)
    held = []
    for number, (name, kind) in enumerate(KINDS.items()):
        for gradients, count in ((False, kind.forward), (True, kind.backward)):
            fn, arrays = kind.fn, kind.arrays()
            if gradients:
                fn, arrays = cases.differentiated(fn, arrays, seed=0)
            program = tools.program(f"near-{name}-{'gradients' if gradients else 'forward'}", fn, *arrays)
            for plan in PLANS if args.all else [PLANS[(number + gradients) % len(PLANS)]]:
                held.append(harness.Case(program, plan, count))
    return harness.hold_all(tools, held, args)


if __name__ == "__main__":
    raise SystemExit(main())
