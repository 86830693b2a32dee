"""What models do to their scores: masks, biases, caps and sinks, from constants or inputs.

A *part* is one of these. Its text is a name with numbers or a shape behind colons, such
as `window:8:3` or `bias:1hqk`; `parts` reads several, joined by `+`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import jax
import jax.numpy as jnp
import numpy as np

import masks


@dataclass(frozen=True)
class Sizes:
    """Of one attention; seed: of what its parts draw; dtype: of their floats."""

    batch: int
    heads: int
    queries: int
    keys: int
    dtype: str = "float32"
    seed: int = 0

    def shape(self, letters: str) -> tuple[int, ...]:
        """`b1qk`: four dimensions, of which some are one."""
        sizes = {"b": self.batch, "h": self.heads, "q": self.queries, "k": self.keys, "1": 1}
        return tuple(sizes[letter] for letter in letters)


@dataclass(frozen=True)
class Part:
    """One thing that happens to scores.

    role: `cap` maps the scores; `added`, `factor`, `visible` and `weight`, which multiplies
    what the softmax gives, are values of four dimensions (batch, heads, queries, keys), each
    maybe one; `sink` gives one value a head.
    value: takes the part's arrays, which are inputs of the model.
    """

    role: str
    value: Callable[..., jax.Array]
    arrays: tuple[np.ndarray, ...] = field(default=(), compare=False)


Maker = Callable[..., Part]


def seen(mask: masks.Visible) -> Callable[[Sizes], Part]:
    """A part from a mask that positions decide."""
    return lambda sizes: Part("visible", lambda: mask(sizes.queries, sizes.keys)[None, None])


def documents(sizes: Sizes, mean: int) -> Part:
    """Documents of random constant lengths."""
    starts = np.cumsum(masks.lengths(mean, max(sizes.queries, sizes.keys), sizes.seed))
    return seen(masks.documents(*map(int, starts)))(sizes)


def pair(sizes: Sizes, row: Callable[[int], np.ndarray]) -> tuple[np.ndarray, ...]:
    """Values of queries and of keys: one array where both are one sequence."""
    if sizes.queries == sizes.keys:
        return (row(sizes.queries),)
    return row(sizes.queries), row(sizes.keys)


def compared(relation: Callable[[jax.Array, jax.Array], jax.Array]) -> Callable[..., jax.Array]:
    """Compares (batch, queries) with (batch, keys)."""
    return lambda q, k=None: relation(q[:, None, :, None], (q if k is None else k)[:, None, None, :])


def segments(sizes: Sizes, mean: int) -> Part:
    """Numbers of documents as an input."""

    def row(tokens: int) -> np.ndarray:
        rows = [
            np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
            for lengths in (masks.lengths(mean, tokens, sizes.seed + b) for b in range(sizes.batch))
        ]
        return np.stack(rows)

    return Part("visible", compared(lambda q, k: q == k), pair(sizes, row))


def positions(sizes: Sizes) -> Part:
    """Causal by positions that are an input, with an offset a sequence."""

    def row(tokens: int) -> np.ndarray:
        return (np.arange(tokens) + 3 * np.arange(sizes.batch)[:, None]).astype(np.int32)

    return Part("visible", compared(lambda q, k: q >= k), pair(sizes, row))


def padding(sizes: Sizes) -> Part:
    """Which keys are none, as an input; the first one always is."""
    rng = np.random.default_rng([sizes.seed, 1])
    kept = rng.random((sizes.batch, sizes.keys)) > 0.3
    kept[:, 0] = True
    return Part("visible", lambda kept: kept[:, None, None, :], (kept,))


def lengths(sizes: Sizes) -> Part:
    """How many keys each sequence has, as an input."""
    rng = np.random.default_rng([sizes.seed, 2])
    counts = rng.integers(1, sizes.keys + 1, sizes.batch, dtype=np.int32)
    return Part(
        "visible",
        lambda counts: jnp.arange(sizes.keys)[None, None, None, :] < counts[:, None, None, None],
        (counts,),
    )


def mask(sizes: Sizes, letters: str) -> Part:
    """A boolean tensor as an input; rows may be empty."""
    rng = np.random.default_rng([sizes.seed, 3])
    return Part("visible", lambda x: x, (rng.random(sizes.shape(letters)) > 0.4,))


def bias(sizes: Sizes, letters: str) -> Part:
    """A float tensor as an input."""
    return Part("added", lambda x: x, (normal(sizes, 4, *sizes.shape(letters)),))


def normal(sizes: Sizes, number: int, *shape: int) -> np.ndarray:
    """Normal values; number: tells arrays of one attention apart."""
    rng = np.random.default_rng([sizes.seed, number])
    return rng.standard_normal(shape).astype(jnp.dtype(sizes.dtype))


def distance(sizes: Sizes) -> jax.Array:
    """(1, 1, queries, keys): how far they are from each other."""
    i, j = masks.grid(sizes.queries, sizes.keys)
    return jnp.abs(i - j)[None, None]


def alibi(sizes: Sizes) -> Part:
    """A slope a head, learned: an input."""
    slopes = np.abs(normal(sizes, 5, sizes.heads))
    return Part("added", lambda slopes: -slopes[None, :, None, None] * distance(sizes), (slopes,))


def slopes(sizes: Sizes) -> Part:
    """A slope a head, constant."""
    values = (0.5 ** np.arange(1, sizes.heads + 1)).astype(jnp.dtype(sizes.dtype))
    return Part("added", lambda: -jnp.asarray(values)[None, :, None, None] * distance(sizes))


def relative(sizes: Sizes) -> Part:
    """T5's table of buckets of relative positions, an input."""

    def value(table: jax.Array) -> jax.Array:
        i, j = masks.grid(sizes.queries, sizes.keys)
        apart = jnp.maximum(i - j, 0)
        # 100 is 8 times no root of an integer: no bucket ends on a rounded logarithm.
        far = jnp.log(jnp.maximum(apart, 1).astype(jnp.float32) / 8) / np.log(100 / 8).astype(np.float32)
        bucket = jnp.where(apart < 8, apart, jnp.minimum(8 + (far * 8).astype(jnp.int32), 15))
        return table[bucket].transpose(2, 0, 1)[None]

    return Part("added", value, (normal(sizes, 6, 16, sizes.heads),))


def table(sizes: Sizes) -> Part:
    """A row of a table, an input, for every distance."""

    def value(table: jax.Array) -> jax.Array:
        i, j = masks.grid(sizes.queries, sizes.keys)
        return table[i - j + sizes.keys - 1].transpose(2, 0, 1)[None]

    return Part("added", value, (normal(sizes, 8, sizes.queries + sizes.keys - 1, sizes.heads),))


def kerple(sizes: Sizes) -> Part:
    """Logarithms of distances with two numbers a head, both inputs."""

    def value(p: jax.Array) -> jax.Array:
        a, b = (jnp.exp(p[:, each])[None, :, None, None] for each in range(2))
        return -a * jnp.log1p(b * distance(sizes))

    return Part("added", value, (normal(sizes, 9, sizes.heads, 2),))


def scale(sizes: Sizes) -> Part:
    """A factor a head, near one, an input."""
    return Part("factor", lambda t: jnp.exp(t / 4)[None, :, None, None], (normal(sizes, 10, sizes.heads),))


def forget(sizes: Sizes) -> Part:
    """What is forgotten from a key to a query: sums of logarithms of gates, which are inputs."""
    number = iter((11, 12))

    def row(tokens: int) -> np.ndarray:
        return normal(sizes, next(number), sizes.batch, sizes.heads, tokens)

    def value(q: jax.Array, k: jax.Array | None = None) -> jax.Array:
        gates = (x.astype(jnp.promote_types(x.dtype, "f4")) for x in (q, q if k is None else k))
        q, k = (jnp.cumsum(jax.nn.log_sigmoid(x), -1) for x in gates)
        return q[..., None] - k[..., None, :]

    return Part("added", value, pair(sizes, row))


def cap(sizes: Sizes, limit: int) -> Part:
    """Scores bounded by a tanh."""
    return Part("cap", lambda scores: jnp.tanh(scores / limit) * limit)


def sinks(sizes: Sizes) -> Part:
    """A learned score a head that no value belongs to."""
    return Part("sink", lambda x: x, (normal(sizes, 7, sizes.heads),))


def dropout(sizes: Sizes, letters: str) -> Part:
    """A quarter of the weights dropped by JAX's bits of a key that is an input."""

    def value(key: jax.Array) -> jax.Array:
        keep = jax.random.bernoulli(key, np.float32(0.75), sizes.shape(letters))
        return jnp.where(keep, 1 / 0.75, 0.0)

    return Part("weight", value, (np.array([sizes.seed, 5], np.uint32),))


def windows(sizes: Sizes, step: int) -> Part:
    """Earlier keys, as far as each head looks."""

    def value() -> jax.Array:
        i, j = masks.grid(sizes.queries, sizes.keys)
        reach = step * (1 + jnp.arange(sizes.heads))[None, :, None, None]
        return (i - j >= 0) & (i - j < reach)

    return Part("visible", value)


# What positions alone decide; numbers follow the name.
POSITIONS: dict[str, Maker] = {
    "full": lambda sizes: seen(masks.full)(sizes),
    "causal": lambda sizes: seen(masks.causal)(sizes),
    "causal-end": lambda sizes: seen(masks.causal_end)(sizes),
    "window": lambda sizes, behind, ahead: seen(masks.window(behind, ahead))(sizes),
    "prefix": lambda sizes, length: seen(masks.prefix(length))(sizes),
    "chunks": lambda sizes, length: seen(masks.chunks(length))(sizes),
    "documents": documents,
    "blocks": lambda sizes, rows, columns: seen(masks.blocks(rows, columns, sizes.seed))(sizes),
    "blind": lambda sizes, begin, end: seen(masks.blind(begin, end))(sizes),
    "unseen": lambda sizes, begin, end: seen(masks.unseen(begin, end))(sizes),
}
PARTS: dict[str, Maker] = POSITIONS | {
    "segments": segments,
    "positions": positions,
    "padding": padding,
    "lengths": lengths,
    "mask": mask,
    "bias": bias,
    "alibi": alibi,
    "slopes": slopes,
    "t5": relative,
    "cap": cap,
    "sinks": sinks,
    "dropout": dropout,
    "windows": windows,
    "table": table,
    "kerple": kerple,
    "scale": scale,
    "forget": forget,
}
# More that models learn.
LEARNED = ("table", "kerple", "scale", "forget")
SHAPED = ("mask", "bias", "dropout")


def learned(chosen: tuple[Part, ...], roles: tuple[str, ...] = ()) -> tuple[int, ...]:
    """Numbers of the floats among the arrays of parts; with roles, of parts that have one of them."""
    arrays = [(part.role, array) for part in chosen for array in part.arrays]
    return tuple(
        number
        for number, (role, array) in enumerate(arrays)
        if jnp.issubdtype(array.dtype, jnp.floating) and (not roles or role in roles)
    )


def parts(text: str, sizes: Sizes) -> tuple[Part, ...]:
    """The parts of `causal+bias:1hqk`; ValueError where a name is none."""
    result = []
    for each in text.split("+"):
        name, *rest = each.split(":")
        if name not in PARTS:
            raise ValueError(f"expected a mask of {', '.join(PARTS)} but got '{name}'")
        numbers = rest if name in SHAPED else [int(number) for number in rest]
        result.append(PARTS[name](sizes, *numbers))
    # A mask that hides nothing is none.
    return tuple(part for each, part in zip(text.split("+"), result, strict=True) if each != "full")
