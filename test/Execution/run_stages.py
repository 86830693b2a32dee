"""Strategies after every stage, forward and gradients; and that what is wrong there is seen.

Every stage's text is evaluated on all ranks. Then texts are changed as a wrong stage might
have made them: each change has to give other results, or none.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator

import jax

import attentions
import harness
import masks
import scores
import stages

LENGTH = 28
PLANS = (
    ("--mesh=sp=3", "--strategy=allgather"),
    ("--mesh=sp=3", "--strategy=ring", "--backward=kv"),
    ("--mesh=sp=3", "--strategy=ring", "--layout=striped"),
    ("--mesh=sp=4", "--strategy=ring", "--bidirectional", "--backward=kv"),
    ("--mesh=sp=6", "--strategy=double-ring", "--inner=3"),
    ("--mesh=sp=3", "--strategy=ulysses"),
    ("--mesh=sp=6", "--strategy=2d", "--heads=2", "--layout=contiguous"),
    ("--mesh=dp=2,sp=4", "--strategy=2d", "--heads=2", "--placement=context-first"),
    ("--mesh=sp=2,tp=2", "--strategy=ring"),
    ("--mesh=sp=3", "--strategy=split-kv"),
    ("--mesh=sp=3", "--strategy=ring", "--target=cuda", "--emulation"),
)


def program(tools: harness.Tools) -> harness.Program:
    """Attentions with their gradients; the text of a stage holds their constants whole."""

    def learning(
        text: str, heads: int, kv_heads: int, causal: bool, dtype: str, fill: str | None = None
    ) -> attentions.Attention:
        parts = scores.parts(text, scores.Sizes(2, heads, LENGTH, LENGTH, dtype)) if text else ()
        return attentions.Attention(heads, kv_heads, 8, causal, dtype, 2, parts=parts, fill=fill)

    kinds = [
        learning("", 4, 2, True, "float64"),
        learning("sinks", 5, 5, True, "float64"),
        learning("cap:5", 6, 2, False, "float32"),
        # The mask is a constant that the score function reads.
        learning("blocks:4:4+alibi", 4, 4, False, "float64", "add"),
        attentions.Attention(4, 1, 8, False, "float64", 2, mask=masks.window(6, 3)),
    ]
    made = [
        attentions.differentiated(
            kind,
            kind.arrays(LENGTH, LENGTH, seed),
            seed,
            (0, 1, 2, *(3 + number for number in scores.learned(kind.parts))),
        )
        for seed, kind in enumerate(kinds)
    ]

    def model(arguments: list) -> list:
        return [fn(*each) for (fn, _), each in zip(made, arguments, strict=True)]

    return tools.program("stages", model, [each for _, each in made])


def swap(pattern: str, instead: str) -> Callable[[str], str]:
    """A change of the first place where a pattern is."""
    return lambda text: re.sub(pattern, instead, text, count=1)


# Strategy, stage, and what is changed.
MUTATIONS = (
    ("ring", "partition", "a block that goes two ranks on", swap(r"(sp\.shift.*) by 1 in", r"\1 by 2 in")),
    (
        "ring",
        "partition",
        "keys that are taken for others",
        swap(r"(sp\.attend\(.* onto.*) from %\w+ bands", r"\1 bands"),
    ),
    ("ring", "schedule", "blocks that nobody awaits", swap(r"\n *sp\.wait .*", "")),
    ("ring", "import", "a mask by one key too wide", swap(r"hi 0>", "hi 1>")),
    (
        "ulysses",
        "schedule",
        "rows in another order",
        swap(r"(sp\.all_to_all_start.*) rows <zigzag", r"\1 rows <striped"),
    ),
    ("ring", "partition", "positions of another layout", swap(r"queries <zigzag", "queries <striped")),
    (
        "allgather",
        "partition",
        "sums of gradients that are greatest ones",
        swap(r"(sp\.reduce_scatter.*) sum", r"\1 max"),
    ),
)


def unnoticed(tools: harness.Tools, made: harness.Program) -> Iterator[str]:
    """Changes that change nothing."""
    for strategy, stage, what, change in MUTATIONS:
        case = harness.Case(made, ("--mesh=sp=3", f"--strategy={strategy}"))
        text = stages.text_after(tools, case, stage)
        changed = change(text)
        if changed == text:
            yield f"{what}: nothing of {strategy} after {stage} is to be changed"
            continue
        try:
            if not harness.compare(stages.evaluated(tools, made, changed), made):
                yield f"{what}: {strategy} after {stage} gives the same"
        except harness.CaseError as refusal:
            if refusal.kind != "refused":
                yield f"{what}: {refusal}"


def main() -> int:
    """Evaluate every plan after every stage, then the changes."""
    args = harness.arguments(__doc__).parse_args()
    jax.config.update("jax_enable_x64", True)
    tools = harness.Tools(args.build, args.work)
    made = program(tools)
    wrong = []
    for plan in PLANS:
        found = stages.problem(tools, harness.Case(made, plan))
        wrong += [f"{' '.join(plan)} {found}"] if found else []
    wrong += unnoticed(tools, made)
    print(*wrong[:20], sep="\n", file=sys.stderr)
    print(f"{len(PLANS)} plans, {len(MUTATIONS)} changes: {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
