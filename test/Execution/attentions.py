"""Attention in the spellings that the matrix tests use."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np


@dataclass(frozen=True)
class Attention:
    """One attention of the matrix: heads, kv heads, head size, mask, type."""

    heads: int
    kv_heads: int
    head_size: int
    causal: bool
    dtype: str
    batch: int = 1

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
        mask = None
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
    """Full and causal, three groupings of heads, three types, each with a head size of its own."""
    return [
        Attention(heads, kv_heads, head_size, causal, dtype, batch)
        for dtype, head_size in (("float64", 8), ("float32", 24), ("bfloat16", 16))
        for heads, kv_heads in ((4, 4), (6, 2), (5, 1))
        for causal in (False, True)
    ]
