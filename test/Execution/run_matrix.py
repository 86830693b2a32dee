"""Strategy x layout x mask x ranks x length x groups x type, against the interpreter.

With --all every combination of ranks, factors and lengths, else a sample.

One program per length holds every combination of mask, groups and type, so that one
compilation per (strategy, layout, ranks, length) covers the whole matrix.
"""

from __future__ import annotations

from collections.abc import Callable

import jax

import attentions
import harness

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


def main() -> int:
    """Run the part of the matrix that the command line names."""
    parser = harness.arguments(__doc__)
    parser.add_argument("--strategy", required=True)
    parser.add_argument("--layout", required=True)
    parser.add_argument("--dp", type=int, default=1, help="size of a batch axis beside the sequence axis")
    parser.add_argument("--bidirectional", action="store_true", help="rings that turn both ways at once")
    parser.add_argument("--head-groups", type=int, default=1, help="of attentions and ranks that have them")
    args = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    tools = harness.Tools(args.build, args.work)

    more = ("--bidirectional",) if args.bidirectional else ()
    if args.head_groups > 1:
        more = (*more, f"--head-groups={args.head_groups}")
    # Of the attentions some have 4 kv heads and none more.
    shared = 4 // args.head_groups if args.strategy == "ulysses" else 8
    kv_heads = 4 if args.head_groups > 1 else 1
    grid = [
        (ranks, length, (*options, *more))
        for ranks in RANKS
        for options in factors(args.strategy, ranks)
        for length in (LENGTHS_OF_SPLITS if options else LENGTHS)
        if ranks * args.dp <= 8 and (args.head_groups == 1 or ranks <= shared)
    ]
    grid = harness.sampled(grid, 2 if args.quick else 16, args)
    # A batch of three over two groups is uneven too.
    batch = 2 * args.dp - 1
    programs = {length: program(tools, length, batch, kv_heads) for length in sorted({n for _, n, _ in grid})}
    mesh = f"dp={args.dp},sp" if args.dp > 1 else "sp"
    return harness.hold_all(
        tools,
        (
            harness.Case(
                programs[length][0],
                (
                    f"--mesh={mesh}={ranks}",
                    f"--strategy={args.strategy}",
                    f"--layout={args.layout}",
                    *options,
                ),
                attentions=programs[length][1],
                check=planned(args.strategy, args.layout, options) if ranks > 1 else None,
            )
            for ranks, length, options in grid
        ),
        args,
    )


if __name__ == "__main__":
    raise SystemExit(main())
