"""Whole small models: what surrounds attention is partitioned too.

Each entry of MODELS makes a function, its arguments, and how many attentions the
compiler has to find in it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import llama

Made = tuple[Callable[..., Any], tuple, int]

WIDTH, HEADS, SIZE = 32, 4, 8


def normal(seed: int, *shape: int, dtype: str = "float32") -> np.ndarray:
    """Random values with variance 1 / fan-in."""
    rng = np.random.default_rng([seed, *shape])
    scale = np.sqrt(shape[-2]) if len(shape) > 1 else 1
    return (rng.standard_normal(shape) / scale).astype(dtype)


def layer_norm(x: jax.Array) -> jax.Array:
    """Normalisation over features, without parameters."""
    mean = jnp.mean(x, axis=-1, keepdims=True)
    return (x - mean) / jnp.sqrt(jnp.var(x, axis=-1, keepdims=True) + 1e-5)


def attend(x: jax.Array, y: jax.Array, weights: dict, causal: bool) -> jax.Array:
    """Multi-head attention of x to y, with a residual."""
    q, k, v = (
        (a @ w).reshape(*a.shape[:-1], HEADS, SIZE)
        for a, w in ((x, weights["q"]), (y, weights["k"]), (y, weights["v"]))
    )
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(SIZE).astype(x.dtype)
    if causal:
        scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, jnp.finfo(x.dtype).min)
    out = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)
    return x + out.reshape(x.shape) @ weights["o"]


def block(x: jax.Array, weights: dict, causal: bool) -> jax.Array:
    """Attention and a perceptron, both after normalisation."""
    y = layer_norm(x)
    x = x + attend(y, y, weights, causal)
    return x + jax.nn.gelu(layer_norm(x) @ weights["up"]) @ weights["down"]


def weights(seed: int, dtype: str, *stack: int) -> dict:
    """Parameters of one block, or of a stack of blocks."""
    shapes = {name: (WIDTH, WIDTH) for name in "qkvo"} | {"up": (WIDTH, 48), "down": (48, WIDTH)}
    return {
        name: normal(seed + i, *stack, *shape, dtype=dtype) for i, (name, shape) in enumerate(shapes.items())
    }


def decoder(tokens: int, dtype: str) -> Made:
    """Embedding, RMSNorm, RoPE, grouped queries, SwiGLU, logits of every token."""
    config = llama.Config(2, tokens, 50, 32, 48, 4, 2, 16, batch=2)
    parameters = jax.tree.map(lambda x: x.astype(dtype), llama.parameters(config))
    return partial(llama.decoder, config), (parameters, llama.tokens(config)), 2


def scanned(tokens: int, dtype: str) -> Made:
    """Learned positions, a scan over stacked layers, logits of the last token."""
    table, positions = normal(1, 50, WIDTH, dtype=dtype), normal(2, 64, WIDTH, dtype=dtype)
    ids = np.random.default_rng(0).integers(0, 50, (2, tokens), dtype=np.int32)

    def model(ids: jax.Array, table: jax.Array, positions: jax.Array, stack: dict) -> jax.Array:
        x = table[ids] + positions[: ids.shape[1]]
        x, _ = jax.lax.scan(lambda x, layer: (block(x, layer, True), None), x, stack)
        return layer_norm(x)[:, -1] @ table.T

    return model, (ids, table, positions, weights(3, dtype, 3)), 1


def pooled(tokens: int, dtype: str) -> Made:
    """An encoder whose tokens are averaged, as classifiers do."""

    def model(x: jax.Array, layer: dict) -> jax.Array:
        return jnp.mean(block(x, layer, False), axis=1)

    return model, (normal(1, 2, tokens, WIDTH, dtype=dtype), weights(2, dtype)), 1


def reversed_sequence(tokens: int, dtype: str) -> Made:
    """The second layer reads the sequence backwards."""

    def model(x: jax.Array, first: dict, second: dict) -> jax.Array:
        return block(block(x, first, True)[:, ::-1], second, True)

    return model, (normal(1, 1, tokens, WIDTH, dtype=dtype), weights(2, dtype), weights(9, dtype)), 2


def joined(tokens: int, dtype: str) -> Made:
    """Batch and sequence are one dimension between attentions."""

    def model(x: jax.Array, layer: dict, matrix: jax.Array) -> jax.Array:
        flat = block(x, layer, True).reshape(-1, WIDTH)
        return (flat @ matrix).reshape(x.shape)

    return (
        model,
        (normal(1, 3, tokens, WIDTH, dtype=dtype), weights(2, dtype), normal(3, WIDTH, WIDTH, dtype=dtype)),
        1,
    )


def mixed_tokens(tokens: int, dtype: str) -> Made:
    """A reshape that puts two neighbouring tokens into one, as patch merging does."""

    def model(x: jax.Array, layer: dict, matrix: jax.Array) -> jax.Array:
        pairs = block(x, layer, False).reshape(x.shape[0], -1, 2 * WIDTH)
        return pairs @ matrix

    matrix = normal(3, 2 * WIDTH, WIDTH, dtype=dtype)
    return model, (normal(1, 1, 2 * tokens, WIDTH, dtype=dtype), weights(2, dtype), matrix), 1


def shifted(tokens: int, dtype: str) -> Made:
    """Each token is compared with its successor."""

    def model(x: jax.Array, layer: dict) -> jax.Array:
        y = block(x, layer, True)
        return jnp.sum((y[:, :-1] - x[:, 1:]) ** 2, axis=-1)

    return model, (normal(1, 2, tokens, WIDTH, dtype=dtype), weights(2, dtype)), 1


def attention_pooled(tokens: int, dtype: str) -> Made:
    """A softmax over tokens that is no attention between tokens."""

    def model(x: jax.Array, layer: dict, query: jax.Array) -> jax.Array:
        y = block(x, layer, True)
        return jnp.sum(jax.nn.softmax(y @ query, axis=1) * y, axis=1)

    return (
        model,
        (normal(1, 2, tokens, WIDTH, dtype=dtype), weights(2, dtype), normal(3, WIDTH, 1, dtype=dtype)),
        1,
    )


def crossed(tokens: int, dtype: str) -> Made:
    """Cross attention: two sequences, each with its own layout."""

    def model(x: jax.Array, y: jax.Array, own: dict, cross: dict) -> jax.Array:
        return attend(block(x, own, True), y, cross, False)

    x, y = normal(1, 2, tokens, WIDTH, dtype=dtype), normal(2, 2, 2 * tokens + 3, WIDTH, dtype=dtype)
    return model, (x, y, weights(3, dtype), weights(9, dtype)), 2


MODELS: dict[str, Callable[[int, str], Made]] = {
    "decoder": decoder,
    "scanned": scanned,
    "pooled": pooled,
    "reversed": reversed_sequence,
    "joined": joined,
    "mixed-tokens": mixed_tokens,
    "shifted": shifted,
    "attention-pooled": attention_pooled,
    "crossed": crossed,
}
