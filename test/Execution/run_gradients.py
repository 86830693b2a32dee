"""Gradients of attention: strategy x layout x ranks x length x groups x type.

As run_matrix.py, with the gradients of queries, keys and values beside every result. One
program per length holds every combination of mask, groups and type whose rows all see a key,
and attentions with sinks, of which there are gradients too. Another one holds attentions with
biases, slopes and a table that are learned; where those travel, queries do not.
"""

from __future__ import annotations

from typing import Any

import jax

import attentions
import harness
import masks
import run_matrix
import scores

LENGTHS = (48, 37, 5)
STRATEGIES = (
    ("none", ()),
    ("allgather", ()),
    ("ring", ()),
    ("ring", ("--backward=kv",)),
    ("ring", ("--backward=q",)),
    ("halo", ()),
    ("ring", ("--bidirectional", "--backward=kv")),
    ("ring", ("--bidirectional", "--backward=q")),
    ("ulysses", ()),
    ("double-ring", ("--backward=kv",)),
    ("double-ring", ("--backward=q",)),
    ("double-ring", ("--bidirectional",)),
    ("2d", ("--backward=q",)),
    ("2d", ("--placement=context-first", "--backward=kv")),
    ("2d", ("--placement=context-first", "--backward=q")),
    ("allgather", ("--head-groups=2",)),
    ("ulysses", ("--head-groups=2",)),
    ("split-kv", ()),
)
LAYOUTS = ("contiguous", "zigzag", "striped")


def program(tools: harness.Tools, length: int, kv_heads: int, terms: bool) -> harness.Program:
    """All attentions over one length that have so many kv heads, with their gradients."""
    plain = [kind for kind in attentions.every(2) if is_filled(kind, length)]
    kinds = with_terms(length) if terms else plain + with_sinks(length)
    kinds = [kind for kind in kinds if kind.kv_heads >= kv_heads]
    made = [
        attentions.differentiated(
            kind,
            kind.arrays(length, length, seed),
            seed,
            (0, 1, 2, *(3 + number for number in scores.learned(kind.parts))),
        )
        for seed, kind in enumerate(kinds)
    ]

    def model(arguments: list) -> list:
        return [fn(*each) for (fn, _), each in zip(made, arguments, strict=True)]

    arguments = [each for _, each in made]
    return tools.program(f"gradients-{length}-{kv_heads}{'-terms' * terms}", model, arguments)


def with_sinks(length: int) -> list[attentions.Attention]:
    """A sink a head beside masks of positions and, behind it, of an input."""
    return [
        learning(length, "sinks", 4, 2, 8, True, "float64"),
        learning(length, "sinks", 4, 4, 16, True, "bfloat16", repeated=False),
        learning(length, "sinks+padding", 4, 4, 8, False, "float32", mask=masks.window(6, 0)),
    ]


def with_terms(length: int) -> list[attentions.Attention]:
    """Biases, slopes and a table, by heads that share keys or do not."""
    return [
        learning(length, "bias:1hqk+alibi", 4, 4, 8, True, "float64"),
        learning(length, "bias:b11k", 4, 4, 16, False, "bfloat16", mask=masks.window(6, 3)),
        learning(length, "t5+padding", 4, 2, 8, True, "float32", repeated=False),
    ]


def learning(
    length: int,
    text: str,
    heads: int,
    kv_heads: int,
    head_size: int,
    causal: bool,
    dtype: str,
    **more: Any,
) -> attentions.Attention:
    """With parts of scores by their text."""
    parts = scores.parts(text, scores.Sizes(2, heads, length, length, dtype))
    return attentions.Attention(heads, kv_heads, head_size, causal, dtype, 2, parts=parts, **more)


def is_filled(kind: attentions.Attention, length: int) -> bool:
    """Whether every query sees a key."""
    return kind.mask is None or bool(kind.mask(length, length).any(-1).all())


def main() -> int:
    """Run a sample, or with --all the whole product."""
    args = harness.arguments(__doc__).parse_args()
    jax.config.update("jax_enable_x64", True)
    tools = harness.Tools(args.build, args.work)
    lengths = LENGTHS[1:2] if args.quick else LENGTHS
    grid = [
        (strategy, layout, ranks, length, (*options, *more))
        for strategy, more in STRATEGIES
        for layout in LAYOUTS
        for ranks in run_matrix.RANKS
        for options in run_matrix.factors(strategy, ranks)
        for length in lengths
        if ranks > 1 or strategy == "none"
    ]
    # A rank without kv heads of its own has none to group.
    grid = [
        each
        for each in grid
        if (each[0] != "none" or each[2] == 1)
        and (each[0] != "ulysses" or "--head-groups=2" not in each[4] or each[2] == 2)
    ]
    grid = harness.sampled(grid, 3 if args.quick else 6, args)
    kv_heads = {each: 4 if any("groups" in option for option in each[4]) else 1 for each in grid}
    learned = [each for each in grid if "--backward=q" not in each[4]]
    learned = harness.sampled(learned, 0 if args.quick else 1, args)
    chosen = [(each, (each[3], kv_heads[each], False)) for each in grid]
    chosen += [(each, (each[3], kv_heads[each], True)) for each in learned]
    programs = {key: program(tools, *key) for key in sorted({key for _, key in chosen})}
    return harness.hold_all(
        tools,
        (
            harness.Case(
                programs[key],
                (f"--mesh=sp={ranks}", f"--strategy={strategy}", f"--layout={layout}", *options),
            )
            for (strategy, layout, ranks, _, options), key in chosen
        ),
        args,
    )


if __name__ == "__main__":
    raise SystemExit(main())
