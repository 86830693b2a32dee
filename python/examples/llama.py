"""A Llama-style decoder in plain JAX: RMSNorm, RoPE, grouped queries, SwiGLU.

Nothing in it knows of sequence parallelism: the compiler finds the attention.
"""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np


@dataclass(frozen=True)
class Config:
    """Sizes of the decoder; the defaults make about 5 M parameters."""

    layers: int = 4
    tokens: int = 2048
    vocabulary: int = 2560
    width: int = 256
    hidden: int = 768
    heads: int = 8
    kv_heads: int = 2
    head_size: int = 64
    batch: int = 1


def parameters(config: Config, seed: int = 0) -> dict:
    """Random float32 parameters with variance 1 / fan-in."""
    rng = np.random.default_rng(seed)

    def matrix(rows: int, columns: int) -> np.ndarray:
        return (rng.standard_normal((rows, columns)) / np.sqrt(rows)).astype(np.float32)

    def layer() -> dict:
        queries, keys = config.heads * config.head_size, config.kv_heads * config.head_size
        return {
            "attention_norm": np.ones(config.width, np.float32),
            "wq": matrix(config.width, queries),
            "wk": matrix(config.width, keys),
            "wv": matrix(config.width, keys),
            "wo": matrix(queries, config.width),
            "mlp_norm": np.ones(config.width, np.float32),
            "gate": matrix(config.width, config.hidden),
            "up": matrix(config.width, config.hidden),
            "down": matrix(config.hidden, config.width),
        }

    return {
        "embedding": rng.standard_normal((config.vocabulary, config.width)).astype(np.float32),
        "layers": [layer() for _ in range(config.layers)],
        "norm": np.ones(config.width, np.float32),
        "logits": matrix(config.width, config.vocabulary),
    }


def tokens(config: Config, seed: int = 1) -> np.ndarray:
    """Random token ids, (batch, tokens) int32."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, config.vocabulary, (config.batch, config.tokens), dtype=np.int32)


def rms_norm(x: jax.Array, weight: jax.Array) -> jax.Array:
    """Root-mean-square normalisation over the last dimension."""
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-5) * weight


def rope(x: jax.Array, positions: jax.Array | None = None) -> jax.Array:
    """Rotary position embedding of (batch, tokens, heads, features), at (batch, tokens) or their order."""
    half = x.shape[-1] // 2
    frequency = 10000.0 ** (-jnp.arange(half, dtype=x.dtype) / half)
    if positions is None:
        positions = jnp.arange(x.shape[1])
    angle = positions[..., None].astype(x.dtype) * frequency
    cos, sin = jnp.cos(angle)[..., None, :], jnp.sin(angle)[..., None, :]
    first, second = x[..., :half], x[..., half:]
    return jnp.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)


def attention(q: jax.Array, k: jax.Array, v: jax.Array, segments: jax.Array | None = None) -> jax.Array:
    """Causal attention of (batch, tokens, heads, features); query heads share kv heads in groups.

    segments: (batch, tokens), equal within a document, which alone its tokens see.
    """
    repeats = q.shape[2] // k.shape[2]
    k, v = jnp.repeat(k, repeats, axis=2), jnp.repeat(v, repeats, axis=2)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / q.shape[-1] ** 0.5
    length = q.shape[1]
    seen = jnp.arange(length)[:, None] >= jnp.arange(length)[None, :]
    if segments is not None:
        seen = (seen & (segments[:, :, None] == segments[:, None, :]))[:, None]
    scores = jnp.where(seen, scores, -jnp.inf)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, axis=-1), v)


def layer(
    config: Config,
    weights: dict,
    x: jax.Array,
    positions: jax.Array | None = None,
    segments: jax.Array | None = None,
) -> jax.Array:
    """One layer on (batch, tokens, width)."""

    def heads(y: jax.Array, count: int) -> jax.Array:
        return y.reshape(*y.shape[:2], count, config.head_size)

    y = rms_norm(x, weights["attention_norm"])
    q = rope(heads(y @ weights["wq"], config.heads), positions)
    k = rope(heads(y @ weights["wk"], config.kv_heads), positions)
    v = heads(y @ weights["wv"], config.kv_heads)
    x = x + attention(q, k, v, segments).reshape(*x.shape[:2], -1) @ weights["wo"]
    y = rms_norm(x, weights["mlp_norm"])
    return x + (jax.nn.silu(y @ weights["gate"]) * (y @ weights["up"])) @ weights["down"]


def decoder(
    config: Config,
    weights: dict,
    ids: jax.Array,
    positions: jax.Array | None = None,
    segments: jax.Array | None = None,
) -> jax.Array:
    """Logits of every token: (batch, tokens) int32 -> (batch, tokens, vocabulary) float32.

    positions, segments: (batch, tokens) int32, of packed documents, that each token's position and document.
    """
    x = weights["embedding"][ids]
    for each in weights["layers"]:
        x = layer(config, each, x, positions, segments)
    return rms_norm(x, weights["norm"]) @ weights["logits"]
