"""Models whose scores or whose softmax are not the plain ones."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

import llama
from models import HEADS, SIZE, WIDTH, Made, layer_norm, normal, weights

Heads = tuple[jax.Array, jax.Array, jax.Array]


def heads_of(x: jax.Array, layer: dict) -> Heads:
    """q, k and v in (batch, tokens, heads, features)."""
    return tuple((x @ layer[name]).reshape(*x.shape[:2], HEADS, SIZE) for name in "qkv")


def products(q: jax.Array, k: jax.Array) -> jax.Array:
    """Scaled scores."""
    return jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1]).astype(q.dtype)


def causal(scores: jax.Array) -> jax.Array:
    """Scores with later keys masked."""
    return jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -jnp.inf)


def differences(scores: jax.Array) -> jax.Array:
    """Key position minus query position, (queries, keys)."""
    return jnp.arange(scores.shape[3])[None, :] - jnp.arange(scores.shape[2])[:, None]


def scored(tokens: int, dtype: str, score: Callable[..., jax.Array], *inputs: np.ndarray) -> Made:
    """One attention whose softmax is over score(q k, inputs)."""

    def model(x: jax.Array, layer: dict, *inputs: jax.Array) -> jax.Array:
        q, k, v = heads_of(layer_norm(x), layer)
        out = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(score(products(q, k), *inputs)), v)
        return x + out.reshape(x.shape) @ layer["o"]

    return model, (normal(1, 2, tokens, WIDTH, dtype=dtype), weights(2, dtype), *inputs), 1


def capped(scores: jax.Array) -> jax.Array:
    """Soft-cap before the mask."""
    return causal(2 * jnp.tanh(scores / 2))


def sloped(scores: jax.Array) -> jax.Array:
    """ALiBi with constant slopes."""
    slopes = 2.0 ** -jnp.arange(1, HEADS + 1, dtype=scores.dtype)
    return causal(scores + slopes[:, None, None] * differences(scores).astype(scores.dtype))


def sloped_keys(scores: jax.Array) -> jax.Array:
    """ALiBi as a bias of key positions alone, which softmax cannot tell apart."""
    slopes = 2.0 ** -jnp.arange(1, HEADS + 1, dtype=scores.dtype)
    return causal(scores + (slopes[:, None] * jnp.arange(scores.shape[3]))[:, None, :])


def bucketed(scores: jax.Array, table: jax.Array) -> jax.Array:
    """T5: a learned bias of the bucket of the distance, both directions."""
    difference = differences(scores)
    distance = jnp.abs(difference)
    far = 2 + jnp.floor(jnp.log(jnp.maximum(distance, 1) / 2.0) / np.log(10.0) * 2.0).astype(jnp.int32)
    bucket = jnp.where(distance < 2, distance, jnp.minimum(far, 3)) + jnp.where(difference > 0, 4, 0)
    return scores + table[bucket].transpose(2, 0, 1)


def biased(scores: jax.Array, bias: jax.Array) -> jax.Array:
    """A learned bias of each head and pair."""
    return causal(scores + bias)


def of_keys(scores: jax.Array, bias: jax.Array) -> jax.Array:
    """A bias of each key."""
    return scores + bias[:, None, None, :]


def sunk(x: jax.Array, layer: dict, sink: jax.Array) -> jax.Array:
    """A learned logit of each head beside the keys, dropped after softmax."""
    q, k, v = heads_of(layer_norm(x), layer)
    scores = causal(products(q, k))
    column = jnp.broadcast_to(sink[None, :, None, None], (*scores.shape[:3], 1))
    probabilities = jax.nn.softmax(jnp.concatenate([scores, column], axis=-1))[..., :-1]
    return x + jnp.einsum("bhqk,bkhd->bqhd", probabilities, v).reshape(x.shape) @ layer["o"]


def sinks(tokens: int, dtype: str) -> Made:
    """One layer with sinks."""
    x = normal(1, 2, tokens, WIDTH, dtype=dtype)
    return sunk, (x, weights(2, dtype), normal(3, HEADS, dtype=dtype)), 1


def trained_sinks(tokens: int, dtype: str) -> Made:
    """Gradients of a scan over layers, each with sinks of its own."""

    def loss(x: jax.Array, stack: dict, sinks: jax.Array) -> jax.Array:
        x, _ = jax.lax.scan(lambda x, each: (sunk(x, *each), None), x, (stack, sinks))
        return jnp.mean(x**2)

    x = normal(1, 2, tokens, WIDTH, dtype=dtype)
    arguments = x, weights(2, dtype, 3), normal(3, 3, HEADS, dtype=dtype)
    return jax.value_and_grad(loss, (0, 1, 2)), arguments, 2


def qk_norm(tokens: int, dtype: str) -> Made:
    """RMSNorm of queries and keys, rotary positions, and a learned temperature of each head."""

    def model(x: jax.Array, layer: dict, gains: jax.Array, temperatures: jax.Array) -> jax.Array:
        q, k, v = heads_of(layer_norm(x), layer)
        q, k = (llama.rope(llama.rms_norm(each, gain)) for each, gain in zip((q, k), gains, strict=True))
        scores = causal(jnp.einsum("bqhd,bkhd->bhqk", q * temperatures[:, None], k))
        return x + jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v).reshape(x.shape) @ layer["o"]

    gains, temperatures = 1 + normal(3, 2, SIZE, dtype=dtype), normal(4, HEADS, dtype=dtype)
    return model, (normal(1, 2, tokens, WIDTH, dtype=dtype), weights(2, dtype), gains, temperatures), 1


def latent(tokens: int, dtype: str) -> Made:
    """MLA: keys and values from a small latent, one rotary key for all heads, smaller value heads."""
    rotary, value, rank = 4, 6, 12
    shapes = {
        "q": (WIDTH, HEADS * (SIZE + rotary)),
        "down": (WIDTH, rank + rotary),
        "up": (rank, HEADS * (SIZE + value)),
        "o": (HEADS * value, WIDTH),
    }
    layer = {name: normal(i, *shape, dtype=dtype) for i, (name, shape) in enumerate(shapes.items())}

    def model(x: jax.Array, layer: dict) -> jax.Array:
        y = layer_norm(x)
        q = (y @ layer["q"]).reshape(*x.shape[:2], HEADS, -1)
        q = jnp.concatenate([q[..., :SIZE], llama.rope(q[..., SIZE:])], axis=-1)
        small, shared = jnp.split(y @ layer["down"], [rank], axis=-1)
        k, v = jnp.split((small @ layer["up"]).reshape(*x.shape[:2], HEADS, -1), [SIZE], axis=-1)
        shared = jnp.broadcast_to(llama.rope(shared[:, :, None]), (*k.shape[:3], rotary))
        scores = causal(products(q, jnp.concatenate([k, shared], axis=-1)))
        out = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)
        return x + out.reshape(*x.shape[:2], -1) @ layer["o"]

    return model, (normal(9, 2, tokens, WIDTH, dtype=dtype), layer), 1


def latent_sum(tokens: int, dtype: str) -> Made:
    """MLA whose scores are the sum of a product of latents and one of rotary parts; keys are the values."""
    rotary, rank = 4, 12
    shapes = {
        "q": (WIDTH, HEADS * (rank + rotary)),
        "down": (WIDTH, rank + rotary),
        "o": (HEADS * rank, WIDTH),
    }
    layer = {name: normal(i, *shape, dtype=dtype) for i, (name, shape) in enumerate(shapes.items())}

    def model(x: jax.Array, layer: dict) -> jax.Array:
        y = layer_norm(x)
        q = (y @ layer["q"]).reshape(*x.shape[:2], HEADS, -1)
        latent, shared = jnp.split(y @ layer["down"], [rank], axis=-1)
        scores = jnp.einsum("bqhr,bkr->bqhk", q[..., :rank], latent) / 4
        scores += jnp.einsum(
            "bqhr,bkr->bqhk", llama.rope(q[..., rank:]), llama.rope(shared[:, :, None])[:, :, 0]
        )
        earlier = jnp.tril(jnp.ones((tokens, tokens), bool))[:, None, :]
        out = jnp.einsum("bqhk,bkr->bqhr", jax.nn.softmax(jnp.where(earlier, scores, -jnp.inf)), latent)
        return x + out.reshape(*x.shape[:2], -1) @ layer["o"]

    return model, (normal(9, 2, tokens, WIDTH, dtype=dtype), layer), 1


def two_products(scores: jax.Array, others: jax.Array) -> jax.Array:
    """A second product of every head, of one feature each."""
    return causal(scores + 0.5 * jnp.einsum("qhd,khd->hqk", others[0], others[1]))


def windows(scores: jax.Array) -> jax.Array:
    """A window of its own for each head."""
    distance, sizes = -differences(scores), jnp.arange(2, 2 + 3 * HEADS, 3)[:, None, None]
    return jnp.where((distance >= 0) & (distance < sizes), scores, -1e30)


MODELS: dict[str, Callable[[int, str], Made]] = {
    "soft-cap": lambda t, d: scored(t, d, capped),
    "alibi": lambda t, d: scored(t, d, sloped),
    "alibi-keys": lambda t, d: scored(t, d, sloped_keys),
    "t5-bias": lambda t, d: scored(t, d, bucketed, normal(3, 8, HEADS, dtype=d)),
    "bias": lambda t, d: scored(t, d, biased, 6 * normal(3, HEADS, t, t, dtype=d)),
    "key-bias": lambda t, d: scored(t, d, of_keys, 6 * normal(3, 2, t, dtype=d)),
    "sinks": sinks,
    "trained-sinks": trained_sinks,
    "qk-norm": qk_norm,
    "latent": latent,
    "latent-sum": latent_sum,
    "two-products": lambda t, d: scored(t, d, two_products, normal(3, 2, t, HEADS, 1, dtype=d)),
    "windows-of-heads": lambda t, d: scored(t, d, windows),
}
