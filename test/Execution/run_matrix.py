"""Strategy x layout x mask x ranks x length x groups x type, against the interpreter.

With --all every combination of ranks, factors and lengths, else a sample; without
--strategy a case of each strategy, layout and way to vary it. The first case of each is
evaluated after every stage as well.

One program per length holds every combination of mask, groups and type, so that one
compilation per (strategy, layout, ranks, length) covers the whole matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import jax

import attentions
import harness
import stages

# Even, odd, prime, fewer than most rank counts, one.
LENGTHS = (48, 45, 37, 5, 1)
RANKS = range(1, 9)
# Where every way to split the ranks is a case of its own.
LENGTHS_OF_SPLITS = (48, 37, 5)


def program(tools: harness.Tools, length: int, batch: int, kv_heads: int) -> tuple[harness.Program, int]:
    """All attentions over one length that have so many kv heads."""
    kinds = [kind for kind in attentions.every(batch) if kind.kv_heads >= kv_heads]
    triples = [kind.arrays(length, length, seed) for seed, kind in enumerate(kinds)]

    def model(triples: list) -> list[jax.Array]:
        return [kind(*triple) for kind, triple in zip(kinds, triples, strict=True)]

    return tools.program(f"matrix-{length}-{batch}-{kv_heads}", model, triples), len(kinds)


def factors(strategy: str, ranks: int) -> list[tuple[str, ...]]:
    """The options that split `ranks` for a strategy: every way there is."""

    def divisors(n: int) -> list[int]:
        return [d for d in range(2, n) if n % d == 0]

    if strategy == "double-ring":
        return [(f"--inner={inner}",) for inner in divisors(ranks)]
    if strategy == "2d":
        plain = [(f"--heads={heads}",) for heads in divisors(ranks)]
        double = [
            (f"--heads={heads}", f"--inner={inner}")
            for heads in divisors(ranks)
            for inner in divisors(ranks // heads)
        ]
        return plain + double
    return [()]


def planned(strategy: str, layout: str, options: tuple[str, ...]) -> Callable[[dict, dict], None]:
    """A check that every attention got the plan that was asked for."""
    wanted = {"strategy": strategy, "layout": layout, "bidirectional": False}
    for option in options:
        name, _, value = option.removeprefix("--").partition("=")
        wanted[name.replace("head-groups", "headGroups")] = int(value) if value else True

    def check(promised: dict, _: dict) -> None:
        for attention in promised["attentions"]:
            plan = {key: attention[key] for key in wanted}
            if plan != wanted:
                raise harness.CaseError(f"{attention['name']} is planned as {plan}, not {wanted}")

    return check


@dataclass(frozen=True)
class Row:
    """What the cases of one test have in common.

    dp: size of a batch axis beside the sequence axis; both: rings that turn both ways at
    once; groups: of heads, of attentions and ranks that have them.
    """

    strategy: str
    layout: str
    dp: int = 1
    both: bool = False
    groups: int = 1

    def grid(self) -> list[tuple[int, int, tuple[str, ...]]]:
        """Ranks, length and options of every case."""
        more = ("--bidirectional",) if self.both else ()
        if self.groups > 1:
            more = (*more, f"--head-groups={self.groups}")
        # Of the attentions some have 4 kv heads and none more.
        shared = 4 // self.groups if self.strategy == "ulysses" else 8
        return [
            (ranks, length, (*options, *more))
            for ranks in RANKS
            for options in factors(self.strategy, ranks)
            for length in (LENGTHS_OF_SPLITS if options else LENGTHS)
            if ranks * self.dp <= 8 and (self.groups == 1 or ranks <= shared)
        ]

    def case(self, tools: harness.Tools, ranks: int, length: int, options: tuple[str, ...]) -> harness.Case:
        """One of them, with every attention of its length."""
        # A batch of three over two groups is uneven too.
        made, count = program(tools, length, 2 * self.dp - 1, 4 if self.groups > 1 else 1)
        mesh = f"dp={self.dp},sp" if self.dp > 1 else "sp"
        return harness.Case(
            made,
            (f"--mesh={mesh}={ranks}", f"--strategy={self.strategy}", f"--layout={self.layout}", *options),
            attentions=count,
            check=planned(self.strategy, self.layout, options) if ranks > 1 else None,
        )


def every_row() -> list[Row]:
    """Strategies and layouts, each way to vary them once."""
    strategies = "ring", "double-ring", "ulysses", "2d", "allgather", "halo", "split-kv"
    layouts = "contiguous", "zigzag", "striped"
    rows = [Row(strategy, layout) for strategy in strategies for layout in layouts]
    rows += [Row(strategy, "zigzag", dp=2) for strategy in strategies if strategy != "double-ring"]
    rows += [Row("ring", "striped", both=True), Row("ring", "contiguous", dp=2, both=True)]
    rows += [Row("double-ring", "contiguous", both=True), Row("2d", "zigzag", both=True)]
    return [*rows, Row("ulysses", "zigzag", groups=2), Row("allgather", "zigzag", groups=3)]


def main() -> int:
    """Run the part of the matrix that the command line names."""
    parser = harness.arguments(__doc__)
    parser.add_argument("--strategy")
    parser.add_argument("--layout")
    parser.add_argument("--dp", type=int, default=1)
    parser.add_argument("--bidirectional", action="store_true")
    parser.add_argument("--head-groups", type=int, default=1)
    args = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    tools = harness.Tools(args.build, args.work)
    rows, count = every_row()[:: 3 if args.quick else 1], 1
    if args.strategy:
        rows = [Row(args.strategy, args.layout, args.dp, args.bidirectional, args.head_groups)]
        count = 4
    made = [
        row.case(tools, *case) if number else stages.with_stages(tools, row.case(tools, *case))
        for row in rows
        for number, case in enumerate(harness.sampled(row.grid(), count, args))
    ]
    return harness.hold_all(tools, made, args)


if __name__ == "__main__":
    raise SystemExit(main())
