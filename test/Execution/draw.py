"""Draws random cases from the whole product of plans, masks and sizes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import jax.numpy as jnp
import numpy as np

import attentions
import cases
import layers
import magnitudes
import row_steps
import scores
from settle import settled

LENGTHS = (1, 2, 3, 5, 7, 8, 13, 16, 17, 24, 31, 32, 37, 45, 48, 61, 64, 67)
LONG = (96, 127, 128, 130, 191, 257, 300, 509)
HEADS = (
    (1, 1),
    (2, 2),
    (4, 4),
    (4, 2),
    (4, 1),
    (6, 2),
    (5, 1),
    (7, 7),
    (7, 1),
    (8, 4),
    (9, 3),
    (20, 4),
    (24, 8),
    (33, 1),
)
HEAD_SIZES = (1, 2, 4, 5, 8, 8, 16, 16, 24, 32, 33, 64)
SCORES = (1e-3, 30, 300, 1e4)
# The last are denormals of f32 and bf16, or underflow.
VALUES = (1e30, 1e-30, 1e-39, 1e-42)
# How often rows that inputs hide hold NaN or infinity. Those that positions hide are not read, and a
# factor that a part learns has 0 * NaN for its gradient in the model where here nothing is added.
HIDDEN = 0.5
# Of those with segments, how many have these deal tokens to ranks.
DEALT = 0.4
BIASES = ("1111", "b11k", "1hqk", "11qk", "bhqk", "1h1k", "bh11", "b1qk", "111k", "1hq1")
# Bytes of an argument that --zero deals, and the most features that are drawn to have as many.
SMALLEST_DEALT, WIDEST = 1 << 16, 600
# Positions decide the first of these; twice what is most usual.
POSITIONAL = (*scores.POSITIONS, "causal")
OTHER = (*(name for name in scores.PARTS if name not in {*scores.POSITIONS, *scores.LEARNED}), "bias")
# A second part is one of these as often as any of the others.
COMMON = ("causal", "causal", "documents", "window", "bias", "segments", "padding")


def part(random: Random, name: str, case: cases.Case) -> str:
    """A name with numbers that fit the sizes of the case."""
    long = max(case.s, case.keys)

    def span(tokens: int) -> str:
        """A rank's own, or any."""
        if random.random() < 0.5:
            rank = random.randrange(case.p)
            return f"{rank * tokens // case.p}:{(rank + 1) * tokens // case.p}"
        begin = random.randrange(tokens)
        return f"{begin}:{random.randint(begin, tokens)}"

    if name == "window":
        return f"window:{random.randint(0, long)}:{random.choice((0, 0, random.randint(0, long)))}"
    if name in ("prefix", "chunks", "documents", "segments"):
        return f"{name}:{random.choice((1, 2, random.randint(1, long), 2 * case.p + 1))}"
    if name == "blocks":
        return f"blocks:{random.randint(1, 16)}:{random.randint(1, 16)}"
    if name == "blind":
        return f"blind:{span(case.s)}"
    if name == "unseen":
        return f"unseen:{span(case.keys)}"
    if name == "mask":
        return f"mask:{random.choice(BIASES[1:])}"
    if name == "bias":
        return f"bias:{random.choice(BIASES)}"
    if name == "dropout":
        return f"dropout:{random.choice(('bhqk', '1hqk', '11qk'))}"
    if name == "windows":
        return f"windows:{random.randint(1, long)}"
    return f"cap:{random.choice((1, 5, 30))}" if name == "cap" else name


def memory(random: Random) -> tuple[str, ...]:
    """Options that need less of it, or none: blocks of rows, far memory."""
    blocks = random.choice(((), ("--row-blocks=2",), ("--row-blocks=3",), ("--row-blocks=5",)))
    return (*blocks, *random.choice(((), ("--offload=host",))))


def case(random: Random) -> cases.Case:
    """One case, valid by the documents."""
    strategy = random.choice(cases.STRATEGIES + ("ring", "ulysses", "double-ring", "2d", "2d"))
    p = random.choice((1, 1, 2, 2, 3, 4, *range(1, 9)))
    long = random.random() < 0.08
    s = random.choice(LONG if long else LENGTHS)
    h, kv = random.choice(HEADS[: 6 if long else None])
    drawn = cases.Case(
        strategy=strategy,
        layout=random.choice(cases.LAYOUTS),
        p=p,
        dp=2 if random.random() < 0.15 else 1,
        tp=random.choice((1, 1, 2, 3, 4)),
        u=random.choice([0, *(n for n in range(1, p + 1) if p % n == 0)]),
        inner=random.choice([0, *(n for n in range(1, p + 1) if p % n == 0)]),
        groups=random.choice((0, 0, 1, 2, 3, 4)),
        both=random.choice((0, 0, 1)),
        placement=random.choice(cases.PLACEMENTS),
        fill=random.choice(attentions.FILLS),
        s=s,
        k=random.choice((s + random.randint(1, 40), random.randint(1, 70))) if random.random() < 0.25 else 0,
        b=1 if long else random.choice((1, 1, 2, 3)),
        h=h,
        kv=kv,
        d=random.choice(HEAD_SIZES),
        dv=random.choice(HEAD_SIZES) if random.random() < 0.25 else 0,
        type=random.choice([name for name in cases.TYPES if name != "float16"]),
        spelling=random.choice(cases.SPELLINGS),
        grad=int(random.random() < 0.35),
        scores=random.choice(SCORES) if random.random() < 0.15 else 0,
        values=random.choice(VALUES) if random.random() < 0.15 else 0,
        seed=random.randint(0, 999),
    )
    names = [random.choice(POSITIONAL if random.random() < 0.7 else OTHER)]
    if random.random() < 0.45:
        names.append(random.choice(random.choice((COMMON, POSITIONAL, OTHER))))
    if random.random() < 0.08:
        names.append(random.choice(OTHER))
    names = list(dict.fromkeys(names))
    if len(names) > 1 and "full" in names:
        names.remove("full")
    mask = "+".join(part(random, name, drawn) for name in names)
    backward = random.choice(("", "kv", "q", "q"))
    drawn = replace(drawn, mask=mask, backward=backward)
    drawn = settled(learning(random, drawn) if drawn.grad else drawn)
    seen = drawn.names
    hides = {*seen} & {"positions", "padding", "lengths", "mask"}
    positional = {*seen} & {*scores.POSITIONS, "windows", "segments"} - {"full"}
    if hides and not positional and drawn.grad < 2 and random.random() < HIDDEN:
        drawn = replace(drawn, hidden=random.choice(magnitudes.HIDDEN[1:]))
    drawn = replace(alike(drawn), rows=random.choice((0, 0, 1, 2, 3, 5)), far=random.choice((0, 0, 1)))
    drawn = replace(drawn, turns=random.choice((0, random.randint(2, drawn.b))) if drawn.b > 1 else 0)
    drawn = replace(drawn, chunks=random.choice((0, 0, 2, 3, 5)))
    if random.random() < 0.3:
        drawn = replace(drawn, after=steps(random))
    if random.random() < 0.4:
        drawn = layered(random, drawn)
    if "segments" in seen and random.random() < DEALT:
        drawn = replace(drawn, deal=random.randint(1, 9), turns=drawn.b if drawn.b > 1 else 0, dp=1)
    return settled(drawn)


def steps(random: Random) -> str:
    """One or two that follow the attention: rows that move, or scans."""
    drawn = []
    for _ in range(random.choice((1, 1, 2))):
        names = {*random.choice((row_steps.SHIFTS, row_steps.SCANS))} - {*row_steps.JUMPS, "features_too"}
        drawn.append(f"{random.choice(sorted(names))}:{random.randint(1, 2)}")
    return "+".join(drawn)


def layered(random: Random, case: cases.Case) -> cases.Case:
    """The case between weights, those of queries often as large as --zero deals."""
    dealt = -(-SMALLEST_DEALT // (case.h * case.d * np.dtype(jnp.dtype(case.type)).itemsize))
    width = random.choice((2, 5, 8, 24, dealt if dealt < WIDEST else 3))
    return replace(case, width=width, weights=random.choice(layers.FORMS), zero=random.randint(0, 3))


def on(target: str, case: cases.Case) -> cases.Case:
    """The case on a target; on GPUs, half of those of bf16 are of f16, which few CPUs compute in."""
    narrow = target == "cuda" and case.type == "bfloat16" and case.seed % 2 and not case.values
    return settled(replace(case, target=target, type="float16" if narrow else case.type))


def alike(case: cases.Case) -> cases.Case:
    """Without hidden values that are not the model's.

    README, "What differs from the model's numbers": rows and weights set to 0, means of rows filled
    with the lowest.
    """
    argument = case.hidden[:1]
    differs = (
        (case.grad and case.fill == "zero" and argument in ("q", "v"))
        or (case.grad and case.fill == "lowest" and argument == "v")
        or (case.fill, case.hidden) == ("lowest", "v:inf")
    )
    return replace(case, hidden="") if differs else case


def learning(random: Random, case: cases.Case) -> cases.Case:
    """The case with gradients of what its scores read, now and then of more than that."""
    more = random.choice(scores.LEARNED)
    if random.random() < 0.2 and more not in case.parts:
        case = replace(case, mask="+".join([*case.parts, more]))
        # It adds up rows' sums of slopes: nothing, but for the result's rounding in what they subtract.
        if (more, case.type) == ("forget", "bfloat16"):
            case = replace(case, type="float32")
    return replace(case, grad=random.choice((1, 2, 2, 3)))


def stream(seed: int) -> Iterator[cases.Case]:
    """Endless cases of a seed, of which a longer run draws the same first ones."""
    number = 0
    while True:
        yield case(Random(f"{seed} {number}"))
        number += 1
