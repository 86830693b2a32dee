"""Attention in the spellings that the matrix tests use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np


def window(queries: int, keys: int) -> jax.Array:
    """Nine keys behind each query, and three ahead."""
    difference = jnp.arange(keys)[None, :] - jnp.arange(queries)[:, None]
    return (difference > -9) & (difference <= 3)


def prefix(queries: int, keys: int) -> jax.Array:
    """Causal behind a prefix that every query sees."""
    i, j = jnp.arange(queries)[:, None], jnp.arange(keys)[None, :]
    return (j <= i) | (j < 7)


def chunks(queries: int, keys: int) -> jax.Array:
    """Causal inside chunks of ten."""
    i, j = jnp.arange(queries)[:, None], jnp.arange(keys)[None, :]
    return (j <= i) & (i // 10 == j // 10)


def documents(queries: int, keys: int) -> jax.Array:
    """Causal inside documents that a table of constants numbers."""
    numbers = jnp.asarray(np.searchsorted([3, 4, 19, 30], np.arange(max(queries, keys)), side="right"))
    i, j = jnp.arange(queries)[:, None], jnp.arange(keys)[None, :]
    return (j <= i) & (numbers[i] == numbers[j])


def sparse(queries: int, keys: int) -> jax.Array:
    """Blocks that a constant lists; every query sees the first key."""
    blocks = np.random.default_rng(0).random((queries // 5 + 1, keys // 4 + 1)) > 0.6
    table = np.repeat(np.repeat(blocks, 5, axis=0), 4, axis=1)[:queries, :keys]
    table[:, 0] = True
    return jnp.asarray(table)


@dataclass(frozen=True)
class Attention:
    """One attention of the matrix: heads, kv heads, head size, mask, type."""

    heads: int
    kv_heads: int
    head_size: int
    causal: bool
    dtype: str
    batch: int = 1
    # Of queries and keys; instead of full or causal.
    mask: Callable[[int, int], jax.Array] | None = None

    def arrays(self, queries: int, keys: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Random q, k, v of (batch, tokens, heads, features)."""
        rng = np.random.default_rng(seed)
        shapes = [(queries, self.heads), (keys, self.kv_heads), (keys, self.kv_heads)]
        return tuple(
            rng.standard_normal((self.batch, tokens, heads, self.head_size)).astype(jnp.dtype(self.dtype))
            for tokens, heads in shapes
        )

    def __call__(self, q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
        """Scores in at least f32, as models with bf16 activations do."""
        accumulator = jnp.promote_types(q.dtype, jnp.float32)
        mask = self.mask(q.shape[1], k.shape[1]) if self.mask else None
        if self.causal:
            mask = jnp.arange(q.shape[1])[:, None] >= jnp.arange(k.shape[1])[None, :]
        scale = 1 / np.sqrt(q.shape[-1]).astype(accumulator)
        if self.kv_heads in (1, self.heads):
            k, v = (jnp.broadcast_to(x, (*x.shape[:2], self.heads, x.shape[3])) for x in (k, v))
            scores = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=accumulator) * scale
            if mask is not None:
                scores = jnp.where(mask, scores, -jnp.inf)
            weights = jax.nn.softmax(scores, axis=-1).astype(q.dtype)
            return jnp.einsum("bhqk,bkhd->bqhd", weights, v)
        grouped = q.reshape(*q.shape[:2], self.kv_heads, self.heads // self.kv_heads, q.shape[3])
        scores = jnp.einsum("bqngd,bknd->bngqk", grouped, k, preferred_element_type=accumulator) * scale
        if mask is not None:
            scores = jnp.where(mask, scores, jnp.finfo(accumulator).min)
        weights = jax.nn.softmax(scores, axis=-1).astype(q.dtype)
        return jnp.einsum("bngqk,bknd->bqngd", weights, v).reshape(q.shape)


def every(batch: int = 1) -> list[Attention]:
    """Full and causal over groupings of heads and types, each with a head size of its own; other masks."""
    plain = [
        Attention(heads, kv_heads, head_size, causal, dtype, batch)
        for dtype, head_size in (("float64", 8), ("float32", 24), ("bfloat16", 16))
        for heads, kv_heads in ((4, 4), (6, 2), (5, 1))
        for causal in (False, True)
    ]
    masked = [
        Attention(*heads, 8, False, "float32", batch, mask)
        for heads, mask in zip(
            ((4, 2), (4, 4), (3, 1), (4, 2), (4, 4)),
            (window, prefix, chunks, documents, sparse),
            strict=True,
        )
    ]
    return plain + masked
