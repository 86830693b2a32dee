"""A decoder of two layers, how it attends, and its loss."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

BATCH, TOKENS, LAYERS, VOCABULARY, HEADS, KV_HEADS, SIZE, HIDDEN = 3, 29, 2, 19, 4, 2, 6, 20
WIDTH = HEADS * SIZE
CAUSAL = np.tril(np.ones((TOKENS, TOKENS), bool))
DISTANCE = np.abs(np.arange(TOKENS)[:, None] - np.arange(TOKENS))


def parameters(dtype: str = "float64") -> dict:
    """Of a decoder of two layers; variance 1 / fan-in."""
    rng = np.random.default_rng(0)

    def normal(*shape: int) -> np.ndarray:
        return (rng.standard_normal(shape) / np.sqrt(shape[0])).astype(jnp.dtype(dtype))

    shapes = {"q": (WIDTH, WIDTH), "k": (WIDTH, KV_HEADS * SIZE), "v": (WIDTH, KV_HEADS * SIZE)}
    shapes |= {"o": (WIDTH, WIDTH), "up": (WIDTH, HIDDEN), "down": (HIDDEN, WIDTH)}
    shapes |= {name: (WIDTH,) for name in ("scale", "shift", "scale2", "shift2")}
    return {
        "embedding": normal(VOCABULARY, WIDTH) * 4,
        "positions": normal(TOKENS + 3, WIDTH),
        "layers": [{name: normal(*shape) for name, shape in shapes.items()} for _ in range(LAYERS)],
        "norm": 1 + normal(WIDTH),
        "head": normal(WIDTH, VOCABULARY),
    }


def ids(*lead: int) -> np.ndarray:
    """Tokens; 0 is padding."""
    return np.random.default_rng(1).integers(0, VOCABULARY, (*lead, BATCH, TOKENS), dtype=np.int32)


def rms_norm(x: jax.Array, scale: jax.Array) -> jax.Array:
    """Without a mean."""
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * scale


def layer_norm(x: jax.Array, scale: jax.Array, shift: jax.Array) -> jax.Array:
    """With scale and bias."""
    mean = jnp.mean(x, -1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(jnp.var(x, -1, keepdims=True) + 1e-6) * (1 + scale) + shift


def attention(
    q: jax.Array,
    k: jax.Array,
    v: jax.Array,
    bias: jax.Array | None = None,
    visible: np.ndarray | jax.Array = CAUSAL,
) -> jax.Array:
    """Causal, of grouped queries; its softmax is in f32 or better."""
    k, v = (jnp.repeat(x, HEADS // KV_HEADS, axis=2) for x in (k, v))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / SIZE**0.5
    scores = scores if bias is None else scores + bias
    weights = jax.nn.softmax(jnp.where(visible, scores, -jnp.inf).astype(jnp.promote_types(q.dtype, "f4")))
    return jnp.einsum("bhqk,bkhd->bqhd", weights.astype(q.dtype), v)


by_library = partial(jax.nn.dot_product_attention, is_causal=True)


@jax.custom_vjp
def by_hand(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    """The same with gradients written out."""
    return by_hand_forward(q, k, v)[0]


def by_hand_forward(q: jax.Array, k: jax.Array, v: jax.Array) -> tuple:
    """What the gradients read: sums of rows rather than weights."""
    wide = [jnp.repeat(x, HEADS // KV_HEADS, axis=2) for x in (k, v)]
    scores = jnp.where(CAUSAL, jnp.einsum("bqhd,bkhd->bhqk", q, wide[0]) / SIZE**0.5, -jnp.inf)
    sums = jax.nn.logsumexp(scores, axis=-1, keepdims=True)
    out = jnp.einsum("bhqk,bkhd->bqhd", jnp.exp(scores - sums), wide[1])
    return out, (q, *wide, out, sums)


def by_hand_backward(saved: tuple, do: jax.Array) -> tuple:
    """Flash attention's rule."""
    q, k, v, out, sums = saved
    scores = jnp.where(CAUSAL, jnp.einsum("bqhd,bkhd->bhqk", q, k) / SIZE**0.5, -jnp.inf)
    weights = jnp.exp(scores - sums)
    delta = jnp.einsum("bqhd,bqhd->bhq", do, out)[..., None]
    ds = weights * (jnp.einsum("bqhd,bkhd->bhqk", do, v) - delta) / SIZE**0.5
    dq = jnp.einsum("bhqk,bkhd->bqhd", ds, k)
    dk, dv = jnp.einsum("bhqk,bqhd->bkhd", ds, q), jnp.einsum("bhqk,bqhd->bkhd", weights, do)
    dk, dv = (x.reshape(*x.shape[:2], KV_HEADS, -1, SIZE).sum(3) for x in (dk, dv))
    return dq, dk, dv


by_hand.defvjp(by_hand_forward, by_hand_backward)


def layer(x: jax.Array, weights: dict, attend: Callable[..., jax.Array] = attention) -> jax.Array:
    """Attention and a perceptron, after a norm each."""
    y = layer_norm(x, weights["scale"], weights["shift"])
    q, k, v = ((y @ weights[name]).reshape(*y.shape[:2], -1, SIZE) for name in "qkv")
    x = x + attend(q, k, v).reshape(x.shape) @ weights["o"]
    y = rms_norm(x, 1 + weights["scale2"]) + weights["shift2"]
    return x + jax.nn.silu(y @ weights["up"]) @ weights["down"]


def parallel(x: jax.Array, weights: dict) -> jax.Array:
    """Attention beside a perceptron, behind one norm; the gradients of their biases are one sum."""
    y = rms_norm(x, 1 + weights["scale"])
    q, k, v = ((y @ weights[name]).reshape(*y.shape[:2], -1, SIZE) for name in "qkv")
    x = x + attention(q, k, v).reshape(x.shape) @ weights["o"] + weights["shift"]
    return x + jax.nn.silu(y @ weights["up"]) @ weights["down"] * (1 + weights["scale2"]) + weights["shift2"]


def sloped(x: jax.Array, weights: dict) -> jax.Array:
    """A layer that learns how fast each head forgets what is far."""
    bias = -jax.nn.softplus(weights["slopes"])[:, None, None] * DISTANCE
    return layer(x, weights, partial(attention, bias=bias))


def hidden(weights: dict, tokens: jax.Array, each: Callable[..., jax.Array] = layer) -> list[jax.Array]:
    """What goes into each layer, and what comes out of the last."""
    states = [weights["embedding"][tokens] + weights["positions"][: tokens.shape[1]]]
    for layer_weights in weights["layers"]:
        states.append(each(states[-1], layer_weights))
    return states


def entropy(x: jax.Array, head: jax.Array, tokens: jax.Array) -> jax.Array:
    """Of the next token, over those that are no padding."""
    logits = jax.nn.log_softmax((x @ head)[:, :-1].astype(jnp.promote_types(x.dtype, "f4")))
    labels = tokens[:, 1:]
    counted = (labels != 0).astype(logits.dtype)
    losses = -jnp.take_along_axis(logits, labels[..., None], -1)[..., 0]
    return jnp.sum(losses * counted) / jnp.sum(counted)


def loss_of(weights: dict, tokens: jax.Array, each: Callable[..., jax.Array] = layer) -> jax.Array:
    """The plain loss."""
    x = hidden(weights, tokens, each)[-1]
    return entropy(rms_norm(x, weights["norm"]), weights["head"], tokens)
