"""Models that change what the softmax gives: dropout, masks of heads, sums with more in them."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen

from models import HEADS, WIDTH, Made, layer_norm, normal, weights
from models_scores import causal, heads_of, products

KEY = np.array([7, 11], np.uint32)


def weighted(
    tokens: int, dtype: str, weigh: Callable[..., jax.Array], *inputs: np.ndarray, masked: bool = True
) -> Made:
    """One attention, of weigh(scores, inputs) and its values."""

    def model(x: jax.Array, layer: dict, *inputs: jax.Array) -> jax.Array:
        q, k, v = heads_of(layer_norm(x), layer)
        scores = products(q, k)
        out = jnp.einsum("bhqk,bkhd->bqhd", weigh(causal(scores) if masked else scores, *inputs), v)
        return x + out.reshape(x.shape) @ layer["o"]

    return model, (normal(1, 2, tokens, WIDTH, dtype=dtype), weights(2, dtype), *inputs), 1


def dropped(scores: jax.Array, key: jax.Array, shape: tuple[int, ...] | None = None) -> jax.Array:
    """Dropout of a fifth of the weights by JAX's own bits."""
    keep = jax.random.bernoulli(key, np.float32(0.8), shape or scores.shape)
    return jnp.where(keep, jax.nn.softmax(scores) / 0.8, 0)


def shared(scores: jax.Array) -> jax.Array:
    """The same weights dropped of all sequences and heads, by a key that is a constant."""
    keep = jax.random.bernoulli(jax.random.key(3), np.float32(0.7), scores.shape[2:])
    return jax.nn.softmax(scores) * (keep.astype(scores.dtype) / 0.7)


def library(tokens: int, dtype: str) -> Made:
    """flax.linen's dropout, of every weight by itself."""

    def model(x: jax.Array, layer: dict, key: jax.Array) -> jax.Array:
        q, k, v = heads_of(layer_norm(x), layer)
        options = {"dropout_rate": 0.3, "broadcast_dropout": False, "deterministic": False}
        out = linen.dot_product_attention(q, k, v, dropout_rng=key, **options)
        return x + out.reshape(x.shape) @ layer["o"]

    return model, (normal(1, 2, tokens, WIDTH, dtype=dtype), weights(2, dtype), KEY), 1


def off_by_one(scores: jax.Array) -> jax.Array:
    """A sum of exponentials with one more, of 0."""
    most = jnp.maximum(scores.max(-1, keepdims=True), 0)
    powers = jnp.exp(scores - most)
    return powers / (powers.sum(-1, keepdims=True) + jnp.exp(-most))


def of_heads(scores: jax.Array, kept: jax.Array) -> jax.Array:
    """Heads that are left out."""
    return jax.nn.softmax(scores) * kept[:, None, None]


MODELS: dict[str, Callable[[int, str], Made]] = {
    "dropout": lambda t, d: weighted(t, d, dropped, KEY),
    "dropout-full": lambda t, d: weighted(t, d, dropped, KEY, masked=False),
    "dropout-shared": lambda t, d: weighted(t, d, shared),
    "dropout-of-pairs": lambda t, d: weighted(t, d, lambda s, k: dropped(s, k, (1, HEADS, t, t)), KEY),
    "dropout-library": library,
    "off-by-one": lambda t, d: weighted(t, d, off_by_one),
    "off-by-one-full": lambda t, d: weighted(t, d, off_by_one, masked=False),
    "heads": lambda t, d: weighted(t, d, of_heads, np.array([1, 0, 1, 1], d)[:HEADS]),
}
