"""Attentions with one operation that acts on some data only, under a few plans."""

from __future__ import annotations

import jax
import numpy as np

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


def check_action(name: str, results: list[np.ndarray]) -> None:
    """What is taken without acting on its arguments would be shown by no number."""
    kind = KINDS[name]
    if kind.plain is None or kind.forward == 0:
        return
    fn, arrays = kind.differentiated(kind.plain)
    for one, other in zip(results, jax.tree.leaves(jax.jit(fn)(*arrays)), strict=True):
        if not np.allclose(one, other, rtol=0, atol=1e-3 * np.abs(other).max()):
            return
    raise harness.CaseError(f"{name}: the operation does not act on its arguments")


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
            fn, arrays = kind.differentiated(fn)
        program = tools.program(f"near-{name}-{'gradients' if gradients else 'forward'}", fn, *arrays)
        if gradients:
            check_action(name, program.results)
        held.append(harness.Case(program, plan, kind.backward if gradients else kind.forward))
    return harness.hold_all(tools, held, args)


if __name__ == "__main__":
    raise SystemExit(main())
