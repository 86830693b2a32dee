"""Attention beside NaN, infinities and extreme numbers: models, inputs, and what they give.

A pair of query and key that positions hide is not there (README, "What differs from the
model's numbers"): the truth is the model whose hidden keys and values are zeros, a row at
a time. Without positions it is the model as it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

BATCH, LENGTH, HEADS, SIZE, VALUE = 2, 45, 2, 8, 6
LOWEST = float(jnp.finfo(jnp.float32).min)
INF = float("inf")
NAN = float("nan")

Scores = Callable[..., jax.Array]


@dataclass(frozen=True)
class Model:
    """What happens to scores [batch, heads, queries, keys].

    band: visible pairs that positions decide, or None. weights: makes weights of scores
    and the arrays. arrays: inputs beside q, k and v. kept: keys that these show.
    """

    band: np.ndarray | None
    weights: Scores
    arrays: tuple[np.ndarray, ...] = ()
    kept: np.ndarray | None = None

    def __call__(self, q: jax.Array, k: jax.Array, v: jax.Array, *arrays: jax.Array) -> jax.Array:
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=wide(q))
        weights = self.weights(scores / np.sqrt(SIZE).astype(wide(q)), *arrays).astype(q.dtype)
        return jnp.einsum("bhqk,bkhd->bqhd", weights, v)

    def truth(self, q: jax.Array, k: jax.Array, v: jax.Array, *arrays: jax.Array) -> jax.Array:
        """The same where no query reads what positions hide from it."""
        if self.band is None:
            return self(q, k, v, *arrays)
        band = jnp.asarray(self.band)[None]
        # A row that sees nothing gives what the model gives.
        seen = band if self.kept is None else band & (jnp.asarray(self.kept) > 0)[:, None]
        seen = band | ~seen.any(axis=2, keepdims=True)
        visible = band[..., None, None]
        pairs = jnp.where(visible, q[:, :, None] * jnp.where(visible, k[:, None], 0), 0)
        scores = jnp.sum(pairs.astype(wide(q)), axis=-1).transpose(0, 3, 1, 2)
        weights = self.weights(scores / np.sqrt(SIZE).astype(wide(q)), *arrays).astype(q.dtype)
        return jnp.einsum("bhqk,bqkhd->bqhd", weights, jnp.where(seen[..., None, None], v[:, None], 0))


def wide(x: jax.Array) -> Any:
    """The type of its scores."""
    return jnp.promote_types(x.dtype, jnp.float32)


def gradients(attend: Callable[..., jax.Array]) -> Callable[..., tuple[jax.Array, ...]]:
    """Of q, k and v, from the cotangent that comes after them."""

    def all_of(q: jax.Array, k: jax.Array, v: jax.Array, do: jax.Array, *arrays: jax.Array):
        return jax.vjp(lambda q, k, v: attend(q, k, v, *arrays), q, k, v)[1](do)

    return all_of


CAUSAL = np.tril(np.ones((LENGTH, LENGTH), bool))
WINDOW = CAUSAL & ~np.tril(np.ones((LENGTH, LENGTH), bool), -5)
DOCUMENT = np.arange(LENGTH) // 17
DOCUMENTS = DOCUMENT[:, None] == DOCUMENT
EMPTY = CAUSAL & (np.arange(LENGTH) != 3)[:, None]


def where(band: np.ndarray | None, fill: float) -> Scores:
    """Softmax of scores, where the band hides them `fill`."""

    def weights(scores: jax.Array) -> jax.Array:
        return jax.nn.softmax(scores if band is None else jnp.where(positions(band), scores, fill))

    return weights


def positions(band: np.ndarray) -> jax.Array:
    """The band as a program says it."""
    if band is CAUSAL:
        return jnp.tril(jnp.ones(band.shape, bool))
    return jnp.asarray(band)


def added(band: np.ndarray, fill: float) -> Scores:
    """Softmax of scores and `fill` where the band hides them."""
    return lambda scores: jax.nn.softmax(scores + jnp.where(positions(band), 0, fill).astype(scores.dtype))


def padded(fill: float, band: np.ndarray | None = None) -> Scores:
    """Keys that an input hides."""

    def weights(scores: jax.Array, kept: jax.Array) -> jax.Array:
        seen = (kept > 0)[:, None, None, :]
        return jax.nn.softmax(jnp.where(seen if band is None else seen & positions(band), scores, fill))

    return weights


def biased(band: np.ndarray | None = None) -> Scores:
    """A mask that is added, an input."""

    def weights(scores: jax.Array, bias: jax.Array) -> jax.Array:
        scores = scores + bias.astype(scores.dtype)
        return where(band, -jnp.inf)(scores)

    return weights


def segmented(fill: float) -> Scores:
    """Documents that an input numbers."""
    return lambda scores, s: jax.nn.softmax(
        jnp.where((s[:, :, None] == s[:, None, :])[:, None], scores, fill)
    )


def capped(band: np.ndarray | None = None) -> Scores:
    """Scores bounded by a tanh."""
    return lambda scores: where(band, -jnp.inf)(3 * jnp.tanh(scores / 3))


def sloped(scores: jax.Array) -> jax.Array:
    """ALiBi, causal."""
    i, j = jnp.arange(LENGTH)[:, None], jnp.arange(LENGTH)
    slopes = jnp.asarray([0.5, 0.25], scores.dtype)[:, None, None]
    return where(CAUSAL, -jnp.inf)(scores - slopes * jnp.abs(i - j))


def sunk(scores: jax.Array, sinks: jax.Array) -> jax.Array:
    """A score a head without a value, causal."""
    scores = jnp.where(positions(CAUSAL), scores, -jnp.inf)
    sinks = jnp.broadcast_to(sinks[None, :, None, None].astype(scores.dtype), (*scores.shape[:3], 1))
    return jax.nn.softmax(jnp.concatenate([scores, sinks], -1))[..., :-1]


def dropped(scores: jax.Array, key: jax.Array) -> jax.Array:
    """A quarter of the weights dropped."""
    keep = jax.random.bernoulli(key, np.float32(0.75), scores.shape)
    return jax.nn.softmax(scores) * jnp.where(keep, 1 / 0.75, 0.0).astype(scores.dtype)


KEPT = np.ones((BATCH, LENGTH), np.int32)
KEPT[0, 30:] = KEPT[1, 5] = KEPT[1, :2] = 0
BIAS = np.where(KEPT > 0, 0, -np.inf).astype(np.float32)[:, None, None, :]
FINITE = np.where(KEPT > 0, 0, -1e9).astype(np.float32)[:, None, None, :]
SEGMENTS = np.stack([np.arange(LENGTH) // 11, np.arange(LENGTH) // 23]).astype(np.int32)

MODELS: dict[str, Model] = {
    "full": Model(None, where(None, 0)),
    "causal-inf": Model(CAUSAL, where(CAUSAL, -INF)),
    "causal-lowest": Model(CAUSAL, where(CAUSAL, LOWEST)),
    "causal-added-inf": Model(CAUSAL, added(CAUSAL, -INF)),
    "causal-added-1e9": Model(CAUSAL, added(CAUSAL, -1e9)),
    "window-inf": Model(WINDOW, where(WINDOW, -INF)),
    "documents-inf": Model(DOCUMENTS, where(DOCUMENTS, -INF)),
    "empty-inf": Model(EMPTY, where(EMPTY, -INF)),
    "padding-inf": Model(None, padded(-INF), (KEPT,)),
    "padding-lowest": Model(None, padded(LOWEST), (KEPT,)),
    "padding-causal-inf": Model(CAUSAL, padded(-INF, CAUSAL), (KEPT,), KEPT),
    "bias-inf": Model(None, biased(), (BIAS,)),
    "bias-1e9": Model(None, biased(), (FINITE,)),
    "bias-causal-inf": Model(CAUSAL, biased(CAUSAL), (BIAS,)),
    "segments-inf": Model(None, segmented(-INF), (SEGMENTS,)),
    "segments-lowest": Model(None, segmented(LOWEST), (SEGMENTS,)),
    "cap": Model(None, capped()),
    "cap-causal": Model(CAUSAL, capped(CAUSAL)),
    "alibi": Model(CAUSAL, sloped),
    "sinks": Model(CAUSAL, sunk, (np.array([0.5, -1], np.float32),)),
    "dropout": Model(None, dropped, (np.array([7, 5], np.uint32),)),
}

PLANS: dict[str, dict[str, Any]] = {
    "none": {"mesh": {"sp": 1}, "strategy": "none"},
    "ring": {"mesh": {"sp": 3}, "strategy": "ring"},
    "ring-both-ways": {"mesh": {"sp": 4}, "strategy": "ring", "layout": "zigzag", "bidirectional": True},
    "ulysses": {"mesh": {"sp": 2}, "strategy": "ulysses"},
    "allgather": {"mesh": {"sp": 3}, "strategy": "allgather", "layout": "striped"},
    "2d": {"mesh": {"sp": 4}, "strategy": "2d", "heads": 2},
    "double-ring": {"mesh": {"sp": 4}, "strategy": "double-ring", "inner": 2},
    "narrow": {"mesh": {"sp": 2}, "strategy": "ring", "layout": "striped", "cpu": "x86-64-v3"},
}

Arrays = tuple[np.ndarray, ...]


def plain(dtype: Any, seed: int = 0) -> Arrays:
    """q, k, v and the cotangent without anything special."""
    rng = np.random.default_rng(seed)
    sizes = (SIZE, SIZE, VALUE, VALUE)
    return tuple(rng.standard_normal((BATCH, LENGTH, HEADS, n)).astype(dtype) for n in sizes)


def inputs(dtype: Any) -> Iterator[tuple[str, Arrays]]:
    """Named inputs: special elements of one of q, k, v and the cotangent at a time."""
    yield "plain", plain(dtype)
    for target, name in enumerate(("q", "k", "v", "do")):
        for value in (NAN, INF, -INF):
            for row in (1, 20, 44):
                arrays = plain(dtype, 1 + row)
                arrays[target][0, row, 1, 2] = value
                yield f"{name}[{row}]={value}", arrays
        arrays = plain(dtype, 2)
        arrays[target][1, 30:] = NAN
        yield f"{name}[30:]=nan", arrays
        arrays = plain(dtype, 3)
        arrays[target][0, 40, 0] = INF
        arrays[target][0, 7, 0, 1] = -INF
        yield f"{name}: infinities", arrays
    large = float(jnp.finfo(dtype).max) / 3
    arrays = plain(dtype, 4)
    arrays[2][...] = np.abs(arrays[2]) * (large / 10) + large
    arrays[3][...] *= 1e-3
    yield "large values", arrays
    arrays = plain(dtype, 5)
    arrays[2][0, 10:20] = 1.7 * large
    arrays[3][...] *= 1e-3
    yield "some large values", arrays
    arrays = plain(dtype, 6)
    arrays[0][...] *= 100
    arrays[1][...] *= 100
    yield "large scores", arrays


def differs(model: str, kind: str, name: str) -> bool:
    """What the README says not to be the model's: rows whose visible scores are all -inf."""
    beside_finite = model in ("causal-lowest", "causal-added-1e9")
    beside_data = model == "padding-causal-inf" and kind == "gradients"
    return name == "q[1]=inf" and (beside_finite or beside_data)
