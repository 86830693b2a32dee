"""Queries in turns: --chunks beside every strategy that has them, with gradients, row blocks and lengths.

Lengths are prime, or next to a whole number of turns and ranks; the attentions are those of
run_gradients.py and run_matrix.py, and others with terms that turns share out. Of one sequence turns
have many rows, which blocks of rows leave some of.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import jax
import numpy as np

import harness
import run_gradients
import run_matrix

LENGTHS = (47, 48, 49, 37, 45, 15, 7)
CHUNKS = (2, 3, 5)
STRATEGIES = (
    ("none", ()),
    ("ring", ()),
    ("ring", ("--bidirectional",)),
    ("ulysses", ()),
    ("ulysses", ("--head-groups=2",)),
    ("double-ring", ()),
    ("2d", ("--placement=context-first",)),
    ("auto", ()),
)
# Chunks and plans under which a block of 128 tokens leaves a rest, or is more than a turn has.
ROWS_IN_TURNS = tuple(
    (chunks, f"--strategy={strategy}", f"--chunks={chunks}", f"--row-blocks={blocks}", *more)
    for strategy in ("ring", "ulysses")
    for chunks in CHUNKS
    for blocks in (2, 3, 5, 7)
    for more in ((), ("--offload=host",))
)


def planned(chunks: int) -> Callable[[dict, dict], None]:
    """That every attention has its queries in so many turns."""

    def check(promised: dict, _: dict) -> None:
        turns = {attention["turns"] for attention in promised["attentions"]}
        if turns != {chunks}:
            raise harness.CaseError(f"expected {chunks} turns everywhere but got {turns}")

    return check


def one_sequence(tools: harness.Tools) -> harness.Program:
    """A causal attention and its gradients, with a projection before and behind."""

    def model(x: jax.Array, w: jax.Array, cotangent: jax.Array) -> tuple:
        def of(x: jax.Array, w: jax.Array) -> jax.Array:
            q, k, v = ((x @ part).reshape(1, -1, 2, 8) for part in w[:3])
            return jax.nn.dot_product_attention(q, k, v, is_causal=True).reshape(x.shape) @ w[3]

        result, pull = jax.vjp(of, x, w)
        return (result, *pull(cotangent))

    draw = np.random.default_rng(5).standard_normal
    return tools.program("one-sequence", model, draw((1, 128, 16)), draw((4, 16, 16)), draw((1, 128, 16)))


def uncounted(tools: harness.Tools, program: harness.Program) -> list[str]:
    """Plans under which pairs are counted otherwise than without turns: all ranks together see as many."""
    wrong = []
    plans = (("--mesh=sp=4", "--strategy=double-ring", "--inner=2"), ("--mesh=sp=2", "--strategy=ulysses"))
    for plan in plans:
        flops = []
        for chunks in (1, 3, 5):
            report = tools.work / "chunks.json"
            options = (*plan, "--layout=zigzag", f"--chunks={chunks}", f"--report={report}")
            tools.run("sp-compile", program.model, "-o", tools.work / "chunks.spx", *options)
            flops.append(sum(harness.read_report(report)["flopsPerRank"]))
        if len(set(flops)) > 1:
            wrong.append(f"{plan}: {flops} FLOPs in 1, 3 and 5 turns")
    return wrong


def main() -> int:
    """Run a sample, or with --all the whole product."""
    args = harness.arguments(__doc__).parse_args()
    jax.config.update("jax_enable_x64", True)
    tools = harness.Tools(args.build, args.work)
    grid = [
        (strategy, layout, ranks, length, (*options, *more, f"--chunks={chunks}"), chunks)
        for strategy, more in STRATEGIES
        for layout in run_gradients.LAYOUTS
        for ranks in run_matrix.RANKS
        for options in run_matrix.factors(strategy, ranks)
        for length in LENGTHS
        for chunks in CHUNKS
        if (ranks > 1) == (strategy != "none")
        and chunks <= -(-length // ranks)
        and ("--head-groups=2" not in more or ranks == 2)
    ]
    if args.quick:
        grid = [each for each in grid if each[3] == 37]
    chosen = []
    for number, each in enumerate(harness.sampled(grid, 1 if args.quick else 10, args)):
        strategy, layout, ranks, length, options, chunks = each
        kv_heads = 4 if "--head-groups=2" in options else 1
        if number % 4 == 3:
            program = run_matrix.program(tools, length, 2, kv_heads)[0]
        else:
            program = run_gradients.program(tools, length, kv_heads, number % 4 == 2)
        blocks = (f"--row-blocks={1 + number % 3}",)
        plan = (f"--mesh=sp={ranks}", f"--strategy={strategy}", f"--layout={layout}", *options, *blocks)
        chosen.append(harness.Case(program, plan, check=planned(chunks)))
    chosen += [
        harness.Case(one_sequence(tools), ("--mesh=sp=2", *plan), check=planned(chunks))
        for chunks, *plan in harness.sampled(ROWS_IN_TURNS, 1 if args.quick else 4, args)
    ]
    wrong = [] if args.quick else uncounted(tools, run_gradients.program(tools, 37, 1, False))
    for problem in wrong:
        print(problem, file=sys.stderr)
    return harness.hold_all(tools, chosen, args) or bool(wrong)


if __name__ == "__main__":
    raise SystemExit(main())
