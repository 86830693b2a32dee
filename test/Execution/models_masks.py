"""Models whose masks are written by hand, from positions or from inputs."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from models import HEADS, SIZE, WIDTH, Made, normal, weights

Masked = Callable[..., jax.Array]


def masked(tokens: int, dtype: str, apply: Masked, *inputs: np.ndarray) -> Made:
    """One attention; `apply` masks its scores, (batch, heads, queries, keys), given the inputs."""

    def model(x: jax.Array, layer: dict, *inputs: jax.Array) -> jax.Array:
        q, k, v = ((x @ layer[name]).reshape(*x.shape[:2], HEADS, SIZE) for name in "qkv")
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(SIZE).astype(x.dtype)
        out = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(apply(scores, *inputs)), v)
        return x + out.reshape(x.shape) @ layer["o"]

    return model, (normal(1, 2, tokens, WIDTH, dtype=dtype), weights(2, dtype), *inputs), 1


def padding(tokens: int, left: bool = False) -> np.ndarray:
    """(batch, tokens), zero where the second sequence is padded."""
    mask = np.ones((2, tokens), np.int32)
    mask[1, slice(0, 5) if left else slice(-5, None)] = 0
    return mask


def segments(tokens: int) -> np.ndarray:
    """Documents packed into two sequences, numbered from one."""
    ends = ([4, 5, 19], [1, 12, tokens])
    return np.stack([np.searchsorted(e, np.arange(tokens), side="right") + 1 for e in ends]).astype(np.int32)


def positions(tokens: int, left: int) -> np.ndarray:
    """Position of each token; the second sequence begins after some padding."""
    start = np.array([[0], [left]], np.int32)
    return np.maximum(np.arange(tokens, dtype=np.int32) - start, 0)


def rows(scores: jax.Array, dimension: int) -> jax.Array:
    """Query or key positions in the shape of scores."""
    return jax.lax.broadcasted_iota(jnp.int32, scores.shape, dimension)


def tril(scores: jax.Array) -> jax.Array:
    """(queries, keys), true where causal."""
    return jnp.tril(jnp.ones(scores.shape[-2:], bool))


def float_mask(scores: jax.Array) -> jax.Array:
    """One minus a float mask, times -1e9."""
    mask = jnp.tril(jnp.ones(scores.shape[-2:], scores.dtype))
    return scores + (1.0 - mask) * -1e9


def multiplied(scores: jax.Array) -> jax.Array:
    """A float mask multiplied in, and its complement added."""
    mask = jnp.tril(jnp.ones(scores.shape[-2:], scores.dtype))[None, None]
    return scores * mask - 1e10 * (1 - mask)


def iotas(scores: jax.Array) -> jax.Array:
    """Comparisons of iotas in the shape of scores."""
    return jnp.where(rows(scores, 2) >= rows(scores, 3), scores, jnp.finfo(scores.dtype).min)


def chain(scores: jax.Array) -> jax.Array:
    """A where in a where: causal, at most nine keys back, and the first two keys."""
    i, j = rows(scores, 2), rows(scores, 3)
    near = jnp.where(i - j > 9, -jnp.inf, scores)
    return jnp.where(j > i, -jnp.inf, jnp.where(j < 2, scores, near))


def combined(scores: jax.Array) -> jax.Array:
    """Masks combined by logical functions."""
    i, j = jnp.arange(scores.shape[2])[:, None], jnp.arange(scores.shape[3])[None]
    mask = jnp.logical_and(jnp.logical_or(j <= i, j < 4), jnp.logical_not(i - j >= 12))
    return jnp.where(mask[None, None], scores, -jnp.inf)


def added(scores: jax.Array, mask: jax.Array) -> jax.Array:
    """A padding mask, as encoders add it."""
    extended = (1.0 - mask[:, None, None, :].astype(scores.dtype)) * jnp.finfo(scores.dtype).min
    return scores + extended


def selected(scores: jax.Array, mask: jax.Array) -> jax.Array:
    """A padding mask and-ed with causal."""
    return jnp.where(mask.astype(bool)[:, None, None, :] & tril(scores), scores, -1e30)


def finite(scores: jax.Array, mask: jax.Array) -> jax.Array:
    """Padding on the left: rows without visible keys come out uniform."""
    both = tril(scores) & (mask != 0)[:, None, None, :]
    return jnp.where(both, scores, jnp.finfo(scores.dtype).min)


def outer(scores: jax.Array, mask: jax.Array) -> jax.Array:
    """Both sides padded: a product of two masks."""
    pairs = mask[:, None, :, None] * mask[:, None, None, :]
    return jnp.where(pairs > 0, scores, -1e9)


def of_segments(scores: jax.Array, numbers: jax.Array) -> jax.Array:
    """Causal inside packed documents."""
    same = numbers[:, :, None] == numbers[:, None, :]
    return jnp.where((same & tril(scores))[:, None], scores, -jnp.inf)


def of_segment_blocks(scores: jax.Array, numbers: jax.Array) -> jax.Array:
    """Both directions inside packed documents, as an additive bias."""
    same = numbers[:, None, :, None] == numbers[:, None, None, :]
    return scores + jnp.where(same, 0, -2.38e38).astype(scores.dtype)


def of_positions(scores: jax.Array, places: jax.Array) -> jax.Array:
    """Causal by positions that are an input."""
    return jnp.where((places[:, :, None] >= places[:, None, :])[:, None], scores, -1e9)


def shared(scores: jax.Array, mask: jax.Array) -> jax.Array:
    """One mask of pairs for every sequence and head."""
    return jnp.where(mask[None, None], scores, -jnp.inf)


def sparse(tokens: int) -> np.ndarray:
    """Random pairs; each query sees itself."""
    return (np.random.default_rng(0).random((tokens, tokens)) > 0.5) | np.eye(tokens, dtype=bool)


MODELS: dict[str, Callable[[int, str], Made]] = {
    "float-mask": lambda t, d: masked(t, d, float_mask),
    "multiplied": lambda t, d: masked(t, d, multiplied),
    "iotas": lambda t, d: masked(t, d, iotas),
    "where-chain": lambda t, d: masked(t, d, chain),
    "combined": lambda t, d: masked(t, d, combined),
    "padding-added": lambda t, d: masked(t, d, added, padding(t)),
    "padding-causal": lambda t, d: masked(t, d, selected, padding(t)),
    "padding-left": lambda t, d: masked(t, d, finite, padding(t, left=True)),
    "padding-both": lambda t, d: masked(t, d, outer, padding(t)),
    "segments-causal": lambda t, d: masked(t, d, of_segments, segments(t)),
    "segments-full": lambda t, d: masked(t, d, of_segment_blocks, segments(t)),
    "positions": lambda t, d: masked(t, d, of_positions, positions(t, 4)),
    "pairs": lambda t, d: masked(t, d, shared, sparse(t)),
}
