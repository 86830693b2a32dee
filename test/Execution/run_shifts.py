"""Drawn programs that move rows along the sequence: slices, rolls, convolutions, loops, next-token losses.

A model is causal attention, then some steps that cut, shift or join its rows, before or behind a
projection, and a loss with its gradients. Each runs under a drawn strategy, layout and number of
ranks. A loss of the next token must send no more than the same loss of labels that are passed in,
but for a token at each end of what a rank holds (with striped layouts, all labels).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

import jax
import jax.numpy as jnp
import numpy as np

import draw
import harness
from row_steps import SHIFTS

HEADS, FEATURES, WIDTH, WORDS = 8, 4, 6, 11


def attend(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / FEATURES**0.5
    row = jnp.arange(q.shape[1])
    weights = jax.nn.softmax(jnp.where(row[:, None] >= row, scores, -jnp.inf))
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(*q.shape[:2], -1)


@dataclass(frozen=True)
class Shifting:
    """Attention, its rows after some steps, and the gradients of a sum of them."""

    steps: tuple[tuple[str, int], ...]
    projects_last: bool = False

    def __call__(self, *arguments: jax.Array) -> tuple:
        def loss(q: jax.Array, k: jax.Array, v: jax.Array, w: jax.Array) -> tuple:
            rows = attend(q, k, v)
            rows = rows if self.projects_last else rows @ w
            for name, number in self.steps:
                rows = SHIFTS[name](rows, number)
            rows = rows @ w[: rows.shape[2]] if self.projects_last else rows
            signs = jnp.cos(jnp.arange(rows.shape[1], dtype=rows.dtype))[:, None]
            return jnp.sum(jnp.sin(rows) * signs), rows

        return jax.value_and_grad(loss, argnums=(0, 1, 2, 3), has_aux=True)(*arguments)


def drawn(random: Random) -> tuple[Shifting, list[np.ndarray]]:
    batch, tokens = random.choice((1, 1, 2)), random.choice((12, 13, 16, 17, 24, 31))
    steps = tuple((random.choice([*SHIFTS]), random.randint(1, 2)) for _ in range(random.randint(1, 3)))
    # A third of them, for two chunks of eight ranks.
    tokens += 36 if "some_attended" in dict(steps) else 0
    draw = np.random.default_rng(random.getrandbits(32)).standard_normal
    rows = [draw((batch, tokens, HEADS, FEATURES)) for _ in range(3)]
    return Shifting(steps, random.random() < 0.3), [*rows, draw((HEADS * FEATURES, WIDTH))]


def plan(random: Random) -> tuple[str, ...]:
    mesh = random.choice(("sp=2", "sp=3", "sp=4", "sp=5", "sp=8", "dp=2,sp=3", "sp=3,tp=2", "sp=2,tp=2"))
    strategy = random.choice(("ring", "ring", "allgather", "ulysses", "none"))
    layout = random.choice(("zigzag", "contiguous", "striped")) if strategy != "none" else "auto"
    # Of lengths that do not divide, chunks deal the first positions of a longer sequence.
    chunks = random.choice(((), ("--chunks=2",))) if strategy in ("ring", "ulysses") else ()
    return f"--mesh={mesh}", f"--strategy={strategy}", f"--layout={layout}", *chunks, *draw.memory(random)


@dataclass(frozen=True)
class NextToken:
    """A loss of each next token, of labels that are ids a token later, or passed in."""

    shifts: str

    def __call__(self, w: jax.Array, ids: jax.Array, labels: jax.Array) -> tuple:
        def loss(w: jax.Array) -> jax.Array:
            rows = w[ids].reshape(*ids.shape, HEADS, -1)
            logs = jax.nn.log_softmax(attend(rows, rows, rows) @ w.T)
            if self.shifts == "slices":
                picked = jnp.take_along_axis(logs[:, :-1], ids[:, 1:, None], axis=-1)
            elif self.shifts == "ignored":
                # As Hugging Face has it: a label beyond the end counts for nothing.
                later = jnp.pad(ids[:, 1:], ((0, 0), (0, 1)), constant_values=-100)
                picked = jnp.take_along_axis(logs, jnp.maximum(later, 0)[..., None], axis=-1)
                picked = jnp.where(later[..., None] >= 0, picked, 0)
            else:
                picked = jnp.take_along_axis(logs, labels[..., None], axis=-1)
            return -jnp.mean(picked)

        return jax.value_and_grad(loss)(w)


def next_tokens(tools: harness.Tools) -> list[harness.Case]:
    """Losses of the next token beside one of labels passed in, under some plans."""
    random = np.random.default_rng(0)
    w = random.standard_normal((WORDS, HEADS * FEATURES)).astype(np.float32)
    ids, labels = (random.integers(0, WORDS, (1, 48)).astype(np.int32) for _ in range(2))
    made = {
        name: tools.program(f"next-{name}", NextToken(name), w, ids, labels)
        for name in ("slices", "ignored", "passed")
    }
    cases = []
    for ranks, layout in ((4, "zigzag"), (3, "contiguous"), (4, "striped")):
        options = (f"--mesh=sp={ranks}", "--strategy=ring", f"--layout={layout}")
        _, passed, _ = tools.execute(harness.Case(made["passed"], options))
        ends = 48 * 4 if layout == "striped" else 2 * 4

        def check(promised: dict, _: dict, passed: dict = passed, ends: int = ends) -> None:
            for rank, most in enumerate(passed["bytesSentPerRank"]):
                sent = promised["bytesSentPerRank"][rank]
                if sent > most + ends:
                    raise harness.CaseError(f"rank {rank} sends {sent} bytes, of labels passed in {most}")

        cases += [harness.Case(made[name], options, check=check) for name in ("slices", "ignored")]
    return cases


def cases_of(
    name: str, draw_model: Callable, tools: harness.Tools, args: argparse.Namespace
) -> Iterator[harness.Case]:
    """As many drawn models as asked for, one in five with --quick, each under a drawn plan."""
    for number in range(max(1, args.count // 5) if args.quick else args.count):
        random = Random(f"{args.seed} {number}")
        model, arguments = draw_model(random)
        program = tools.program(f"{name}-{number}", model, *arguments, key=str(args.seed))
        yield harness.Case(program, plan(random))


def main() -> int:
    """So many of them, one in five with --quick."""
    parser = harness.arguments(__doc__)
    parser.add_argument("--count", type=int, default=30, help="models to draw")
    args = parser.parse_args()
    tools = harness.Tools(args.build, args.work)
    cases = next_tokens(tools)
    jax.config.update("jax_enable_x64", True)
    return harness.hold_all(tools, [*cases, *cases_of("shifts", drawn, tools, args)], args)


if __name__ == "__main__":
    raise SystemExit(main())
