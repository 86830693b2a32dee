"""Gradients beside masks in every spelling, where data or positions hide all keys of some rows.

Such rows give what the program's own precision makes of its fills: the mean of all values where
large finite ones absorb the scores, NaN where they are infinite. Results are compared with JAX's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np

import harness
import models

BATCH, LENGTH, HEADS, KV, SIZE, VALUE = 2, 21, 8, 4, 8, 6
LOWEST = float(jnp.finfo(jnp.float32).min)
FILLS = {"1e4": -1e4, "1e9": -1e9, "lowest": LOWEST, "infinite": -jnp.inf}
PLANS = (
    ("--mesh=sp=1", "--strategy=none"),
    ("--mesh=sp=3", "--strategy=ring", "--layout=zigzag"),
    ("--mesh=sp=4", "--strategy=ring", "--bidirectional"),
    ("--mesh=sp=2", "--strategy=ulysses", "--head-groups=2"),
    ("--mesh=sp=4", "--strategy=2d", "--heads=2"),
    ("--mesh=sp=5", "--strategy=allgather"),
    ("--mesh=dp=2,sp=4", "--strategy=double-ring", "--inner=2"),
    ("--mesh=sp=2,tp=2", "--strategy=ring", "--layout=striped"),
)

Mask = Callable[[jax.Array, jax.Array, float], jax.Array]
MASKS: dict[str, Mask] = {}


def mask(fn: Mask) -> Mask:
    """Scores [batch, heads, queries, keys] and visible keys [batch, keys] with a fill, masked."""
    MASKS[fn.__name__] = fn
    return fn


def causal() -> jax.Array:
    return jnp.tril(jnp.ones((LENGTH, LENGTH), bool))


@mask
def chosen(scores: jax.Array, visible: jax.Array, fill: float) -> jax.Array:
    return jnp.where(causal() & (visible > 0)[:, None, None], scores, fill)


@mask
def chosen_keys(scores: jax.Array, visible: jax.Array, fill: float) -> jax.Array:
    return jnp.where((visible > 0)[:, None, None], scores, fill)


@mask
def same_segments(scores: jax.Array, visible: jax.Array, fill: float) -> jax.Array:
    same = visible[:, :, None] == visible[:, None]
    return jnp.where((same & (visible[:, None] > 0) & causal())[:, None], scores, fill)


@mask
def added(scores: jax.Array, visible: jax.Array, fill: float) -> jax.Array:
    return scores + jnp.where(causal() & (visible > 0)[:, None, None], 0.0, fill)


@mask
def added_keys(scores: jax.Array, visible: jax.Array, fill: float) -> jax.Array:
    return scores + jnp.where(visible > 0, 0.0, fill)[:, None, None]


@mask
def added_constants(scores: jax.Array, visible: jax.Array, fill: float) -> jax.Array:
    below = np.tril(np.ones((LENGTH, LENGTH), bool))
    return scores + jnp.where(jnp.logical_and(below, (visible > 0)[:, None, None]), 0.0, fill)


@mask
def multiplied(scores: jax.Array, visible: jax.Array, fill: float) -> jax.Array:
    return scores + ((1 - visible.astype(scores.dtype)) * max(fill, LOWEST))[:, None, None]


@mask
def chosen_and_added(scores: jax.Array, visible: jax.Array, fill: float) -> jax.Array:
    return jnp.where(causal(), scores, fill) + jnp.where(visible > 0, 0.0, fill)[:, None, None]


@mask
def capped_and_added(scores: jax.Array, visible: jax.Array, fill: float) -> jax.Array:
    return added(2 * jnp.tanh(scores / 2), visible, fill)


@mask
def before(scores: jax.Array, visible: jax.Array, fill: float) -> jax.Array:
    i, j = jnp.arange(LENGTH)[:, None], jnp.arange(LENGTH)
    return jnp.where((j <= i - 3) & (j > i - 9), scores, fill)


@mask
def in_documents(scores: jax.Array, visible: jax.Array, fill: float) -> jax.Array:
    document = np.arange(LENGTH) // 4
    same = document[:, None] == document
    return jnp.where(same & (document != 2) & (visible > 0)[:, None, None], scores, fill)


@mask
def in_documents_of_constants(scores: jax.Array, visible: jax.Array, fill: float) -> jax.Array:
    document = np.arange(LENGTH) // 4
    return jnp.where((document[:, None] == document) & (document % 3 != 2), scores, fill)


def program(tools: harness.Tools, name: str, fill: str) -> harness.Program:
    """One attention with its loss's gradients; keys are hidden at the left and in the middle."""

    def attend(q: jax.Array, k: jax.Array, v: jax.Array, visible: jax.Array) -> jax.Array:
        wide = (jnp.repeat(each, HEADS // KV, axis=2) for each in (k, v))
        keys, values = wide
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, keys) / np.sqrt(SIZE).astype(np.float32)
        weights = jax.nn.softmax(MASKS[name](scores, visible, FILLS[fill]))
        return jnp.einsum("bhqk,bkhd->bqhd", weights, values)

    def loss(q: jax.Array, k: jax.Array, v: jax.Array, visible: jax.Array) -> jax.Array:
        return jnp.sum(attend(q, k, v, visible) ** 2)

    visible = np.ones((BATCH, LENGTH), np.int32)
    visible[1, :4] = visible[1, 9] = 0
    arrays = [
        models.normal(seed, BATCH, LENGTH, *rest, dtype="float32")
        for seed, rest in enumerate(((HEADS, SIZE), (KV, SIZE), (KV, VALUE)))
    ]
    made = tools.program(f"fills-{name}-{fill}", jax.grad(loss, (0, 1, 2)), *arrays, visible)
    # What absorbs scores in f32 does not in f64.
    return replace(made, reference=made.results)


def main() -> int:
    """Run a sample, or with --all the whole product."""
    args = harness.arguments(__doc__).parse_args()
    tools = harness.Tools(args.build, args.work)
    # Half replaced and half added, an infinite fill makes some gradients of a row NaN: not taken.
    grid = [
        (name, fill, plan)
        for name in MASKS
        for fill in FILLS
        for plan in PLANS
        if (name, fill) != ("chosen_and_added", "infinite")
    ]
    grid = harness.sampled(grid, 6 if args.quick else 14, args)
    programs = {each: program(tools, *each) for each in sorted({each[:2] for each in grid})}
    return harness.hold_all(
        tools, (harness.Case(programs[name, fill], plan, attentions=2) for name, fill, plan in grid), args
    )


if __name__ == "__main__":
    raise SystemExit(main())
