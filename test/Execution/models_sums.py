"""The logarithm of attention's sums as a result: z-loss, and states that a program merges itself."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from models import HEADS, SIZE, WIDTH, Made, normal, weights

Attention = Callable[[jax.Array, jax.Array, jax.Array], tuple[jax.Array, jax.Array]]


def scores_of(q: jax.Array, k: jax.Array) -> jax.Array:
    """Scaled products of every query and key of a head."""
    return jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(SIZE).astype(q.dtype)


def beside(scores: jax.Array, v: jax.Array) -> tuple[jax.Array, jax.Array]:
    """A softmax, and a logsumexp of the same scores."""
    out = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)
    return out, jax.nn.logsumexp(scores, -1).transpose(0, 2, 1)


def causal(scores: jax.Array) -> jax.Array:
    """Scores of keys that come later are -inf."""
    return jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -jnp.inf)


def masked(q: jax.Array, k: jax.Array, v: jax.Array) -> tuple[jax.Array, jax.Array]:
    """A causal mask."""
    return beside(causal(scores_of(q, k)), v)


def by_library(q: jax.Array, k: jax.Array, v: jax.Array) -> tuple[jax.Array, jax.Array]:
    """JAX's own function, of grouped queries."""
    k, v = k[:, :, : HEADS // 2], v[:, :, : HEADS // 2]
    return jax.nn.dot_product_attention(q, k, v, is_causal=True, return_residual=True)


def by_hand(q: jax.Array, k: jax.Array, v: jax.Array) -> tuple[jax.Array, jax.Array]:
    """One exponential for weights and sums."""
    scores = causal(scores_of(q, k))
    shift = jax.lax.stop_gradient(scores.max(-1, keepdims=True))
    powers = jnp.exp(scores - shift)
    sums = powers.sum(-1, keepdims=True)
    out = jnp.einsum("bhqk,bkhd->bqhd", powers / sums, v)
    return out, (jnp.log(sums) + shift)[..., 0].transpose(0, 2, 1)


def windowed(q: jax.Array, k: jax.Array, v: jax.Array) -> tuple[jax.Array, jax.Array]:
    """A window whose first rows see no key: their logarithms are -inf."""
    scores = scores_of(q, k)
    distance = jnp.arange(scores.shape[2])[:, None] - jnp.arange(scores.shape[3])
    scores = jnp.where((distance >= 2) & (distance < 9), scores, -jnp.inf)
    out, lse = beside(scores, v)
    return jnp.nan_to_num(out), jnp.where(jnp.isfinite(lse), lse, 0)


def capped(q: jax.Array, k: jax.Array, v: jax.Array) -> tuple[jax.Array, jax.Array]:
    """A score function: soft caps and slopes."""
    scores = scores_of(q, k)
    distance = jnp.arange(scores.shape[2])[:, None] - jnp.arange(scores.shape[3])
    slopes = (2.0 ** -jnp.arange(1, HEADS + 1)).astype(q.dtype)[:, None, None]
    return beside(causal(3 * jnp.tanh(scores / 3) - slopes * distance), v)


def merged(q: jax.Array, k: jax.Array, v: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Two attentions to halves of the keys, whose states the program merges."""
    (k0, k1), (v0, v1) = (jnp.split(x[:, : x.shape[1] // 2 * 2], 2, axis=1) for x in (k, v))
    (o0, l0), (o1, l1) = beside(scores_of(q, k0), v0), beside(scores_of(q, k1), v1)
    lse = jnp.logaddexp(l0, l1)
    return o0 * jnp.exp(l0 - lse)[..., None] + o1 * jnp.exp(l1 - lse)[..., None], lse


def heads(attend: Attention, x: jax.Array, layer: dict) -> tuple[jax.Array, jax.Array]:
    """Attention of x to itself, and the logarithms of its sums."""
    return attend(*((x @ layer[name]).reshape(*x.shape[:2], HEADS, SIZE) for name in "qkv"))


def one_layer(tokens: int, dtype: str, attend: Attention, count: int = 1) -> Made:
    """Results of one attention, and the logarithms."""

    def model(x: jax.Array, layer: dict) -> tuple[jax.Array, jax.Array]:
        out, lse = heads(attend, x, layer)
        return x + out.reshape(x.shape).astype(x.dtype) @ layer["o"], lse

    return model, (normal(1, 2, tokens, WIDTH, dtype=dtype), weights(2, dtype)), count


def trained(attend: Attention, counts: tuple[int, int], remat: bool = False):
    """A loss with the squares of logarithms in it, and its gradients."""

    def loss(stack: dict, x: jax.Array) -> jax.Array:
        def layer(x: jax.Array, weights: dict) -> tuple[jax.Array, jax.Array]:
            out, lse = heads(attend, x, weights)
            return x + out.reshape(x.shape) @ weights["o"], jnp.mean(lse**2)

        penalty = 0.0
        for number in range(2):
            step = jax.checkpoint(layer) if remat else layer
            x, squares = step(x, jax.tree.map(lambda w, number=number: w[number], stack))
            penalty += squares
        return jnp.mean(jnp.sin(x)) + 0.1 * penalty

    arguments = weights(3, "float64", 2), normal(1, 3, 24, WIDTH, dtype="float64")
    return jax.value_and_grad(loss, (0, 1)), arguments, counts


MODELS: dict[str, Callable[[int, str], Made]] = {
    "masked": lambda t, d: one_layer(t, d, masked),
    "library": lambda t, d: one_layer(t, d, by_library),
    "by-hand": lambda t, d: one_layer(t, d, by_hand),
    "windowed": lambda t, d: one_layer(t, d, windowed),
    "capped": lambda t, d: one_layer(t, d, capped),
    "merged": lambda t, d: one_layer(t, d, merged, 2),
}
TRAINING = {
    "sums-masked": lambda: trained(masked, (2, 2)),
    "sums-by-hand": lambda: trained(by_hand, (2, 2)),
    "sums-capped": lambda: trained(capped, (2, 2)),
    "sums-remat": lambda: trained(masked, (4, 2), remat=True),
}
