"""Differential attention: values by the difference of two softmaxes, as people write it."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from models import HEADS, SIZE, WIDTH, Made, layer_norm, normal, weights

# Of two softmaxes each.
PAIRS = HEADS // 2
Attention = Callable[[jax.Array, jax.Array, jax.Array, jax.Array], jax.Array]


def probabilities(q: jax.Array, k: jax.Array) -> jax.Array:
    """Causal weights of every query head."""
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(SIZE).astype(q.dtype)
    mask = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    return jax.nn.softmax(jnp.where(mask, scores, -jnp.inf))


def times(p: jax.Array, v: jax.Array) -> jax.Array:
    """The product of weights and values."""
    return jnp.einsum("bhqk,bkhd->bqhd", p, v)


def apart(q: jax.Array, k: jax.Array, v: jax.Array, factor: jax.Array) -> jax.Array:
    """Two softmaxes of queries and keys that were split."""
    (q0, q1), (k0, k1) = jnp.split(q, 2, axis=2), jnp.split(k, 2, axis=2)
    return times(probabilities(q0, k0) - factor * probabilities(q1, k1), v)


def paired(q: jax.Array, k: jax.Array, v: jax.Array, factor: jax.Array) -> jax.Array:
    """One softmax, of twice as many heads in pairs, as in the paper's code."""
    p = probabilities(q, k)
    p = p.reshape(p.shape[0], PAIRS, 2, *p.shape[2:])
    return times(p[:, :, 0] - factor * p[:, :, 1], v)


def halved(q: jax.Array, k: jax.Array, v: jax.Array, factor: jax.Array) -> jax.Array:
    """One softmax of twice as many heads, in halves."""
    p = probabilities(q, k)
    return times(p[:, :PAIRS] - factor * p[:, PAIRS:], v)


def doubled(q: jax.Array, k: jax.Array, v: jax.Array, factor: jax.Array) -> jax.Array:
    """Values twice, one attention, and the difference of its halves, as in DiffLlama."""
    out = times(probabilities(q, k), jnp.concatenate([v, v], axis=2))
    return out[:, :, :PAIRS] - factor * out[:, :, PAIRS:]


def of_heads(q: jax.Array, k: jax.Array, v: jax.Array, factor: jax.Array) -> jax.Array:
    """A factor of each head and query."""
    (q0, q1), (k0, k1) = jnp.split(q, 2, axis=2), jnp.split(k, 2, axis=2)
    own = jax.nn.sigmoid(q0.mean(-1)).transpose(0, 2, 1)[..., None] * factor
    return times(probabilities(q0, k0) - own * probabilities(q1, k1), v)


def repeated(q: jax.Array, k: jax.Array, v: jax.Array, factor: jax.Array) -> jax.Array:
    """Keys and values that both heads share."""
    (q0, q1), (k0, k1) = jnp.split(q, 2, axis=2), jnp.split(k, 2, axis=2)
    k0, k1, v = (jnp.repeat(x[:, :, :1], PAIRS, axis=2) for x in (k0, k1, v))
    return times(probabilities(q0, k0) - factor * probabilities(q1, k1), v)


def of_three(q: jax.Array, k: jax.Array, v: jax.Array, factor: jax.Array) -> jax.Array:
    """A weighted sum of three softmaxes, two of the same queries."""
    (q0, q1), (k0, k1) = jnp.split(q, 2, axis=2), jnp.split(k, 2, axis=2)
    p = probabilities(q0, k0) * 0.5 + probabilities(q1, k1) * factor - probabilities(q0, k1) / 8
    return times(p, v)


def layer(attend: Attention, x: jax.Array, layer: dict) -> jax.Array:
    """Differential attention with the paper's factor and norm of heads, and a residual."""
    y = layer_norm(x)
    q, k = ((y @ layer[name]).reshape(*x.shape[:2], HEADS, SIZE) for name in "qk")
    v = (y @ layer["v"]).reshape(*x.shape[:2], PAIRS, 2 * SIZE)
    a, b, c, d = layer["factors"]
    factor = (jnp.exp(jnp.sum(a * b)) - jnp.exp(jnp.dot(c, d)) + 0.8).astype(x.dtype)
    out = layer_norm(attend(q, k, v, factor)) * np.asarray(0.2, x.dtype)
    return x + out.reshape(x.shape) @ layer["o"]


def parameters(seed: int, dtype: str, *stack: int) -> dict:
    """Of one layer, or of a stack of them."""
    return weights(seed, dtype, *stack) | {"factors": normal(seed + 9, *stack, 4, SIZE, dtype=dtype)}


def one_layer(tokens: int, dtype: str, attend: Attention, count: int) -> Made:
    """A model of one layer."""

    def model(x: jax.Array, weights: dict) -> jax.Array:
        return layer(attend, x, weights)

    return model, (normal(1, 2, tokens, WIDTH, dtype=dtype), parameters(2, dtype)), count


def trained(attend: Attention, counts: tuple[int, int], wrap: Callable | None = None, scans: bool = False):
    """The loss of two layers and its gradients, with attentions found forward and backward."""

    def loss(stack: dict, x: jax.Array) -> jax.Array:
        def body(x: jax.Array, weights: dict) -> jax.Array:
            return layer(attend, x, weights)

        step = wrap(body) if wrap else body
        if scans:
            x, _ = jax.lax.scan(lambda x, weights: (step(x, weights), None), x, stack)
        else:
            for number in range(2):
                x = step(x, jax.tree.map(lambda w, number=number: w[number], stack))
        return jnp.mean(jnp.sin(x))

    return (
        jax.value_and_grad(loss, (0, 1)),
        (parameters(3, "float64", 2), normal(1, 3, 24, WIDTH, dtype="float64")),
        counts,
    )


MODELS: dict[str, Callable[[int, str], Made]] = {
    "apart": lambda t, d: one_layer(t, d, apart, 2),
    "paired": lambda t, d: one_layer(t, d, paired, 1),
    "halved": lambda t, d: one_layer(t, d, halved, 1),
    "doubled": lambda t, d: one_layer(t, d, doubled, 1),
    "of-heads": lambda t, d: one_layer(t, d, of_heads, 2),
    "repeated": lambda t, d: one_layer(t, d, repeated, 2),
    "of-three": lambda t, d: one_layer(t, d, of_three, 3),
}
TRAINING = {
    "differential-apart": lambda: trained(apart, (4, 4)),
    "differential-paired": lambda: trained(paired, (2, 2)),
    "differential-halved-scan": lambda: trained(halved, (1, 1), scans=True),
    "differential-doubled": lambda: trained(doubled, (2, 2)),
    "differential-of-heads": lambda: trained(of_heads, (4, 4)),
    "differential-repeated-remat": lambda: trained(repeated, (8, 4), jax.checkpoint),
    "differential-of-three-scan": lambda: trained(of_three, (3, 3), scans=True),
}
