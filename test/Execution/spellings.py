"""One attention, spelled as people spell it in JAX. Each takes (batch, tokens, heads, features)."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np


def scale(q: jax.Array) -> jax.Array:
    """1 / sqrt(features), in the type of q."""
    return jnp.asarray(1 / np.sqrt(q.shape[-1]), q.dtype)


def causal(q: jax.Array, k: jax.Array) -> jax.Array:
    """(queries, keys), true where visible."""
    return jnp.tril(jnp.ones((q.shape[1], k.shape[1]), bool))


def library(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    """jax.nn.dot_product_attention."""
    return jax.nn.dot_product_attention(q, k, v, is_causal=True)


def matmul(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    """Heads before tokens and matmul, -1e9 where masked."""
    k, v = (jnp.repeat(x, q.shape[2] // x.shape[2], axis=2) for x in (k, v))
    q, k, v = (x.transpose(0, 2, 1, 3) for x in (q, k, v))
    mask = jnp.arange(q.shape[2])[:, None] >= jnp.arange(k.shape[2])
    scores = jnp.where(mask, q @ k.swapaxes(-1, -2) * scale(q), -1e9)
    return (jax.nn.softmax(scores) @ v).transpose(0, 2, 1, 3)


def by_hand(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    """exp and sum written out; the division after the second product; no mask."""
    k, v = (jnp.repeat(x, q.shape[2] // x.shape[2], axis=2) for x in (k, v))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q * scale(q), k)
    exponentials = jnp.exp(scores - scores.max(-1, keepdims=True))
    total = exponentials.sum(-1)
    return jnp.einsum("bhqk,bkhd->bqhd", exponentials, v) / total.transpose(0, 2, 1)[..., None]


def additive(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    """K as left operand, an additive mask of finfo.min, and keys before queries."""
    k, v = (jnp.repeat(x, q.shape[2] // x.shape[2], axis=2) for x in (k, v))
    scores = jnp.einsum("bkhd,bqhd->bhkq", k, q).swapaxes(2, 3) * scale(q)
    bias = jnp.where(causal(q, k), 0, jnp.finfo(q.dtype).min / 2).astype(q.dtype)
    return jnp.einsum("bkhd,bhqk->bqhd", v, jax.nn.softmax(scores + bias))


def grouped(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    """Query groups as a fifth dimension."""
    q = q.reshape(*q.shape[:2], k.shape[2], -1, q.shape[3])
    scores = jnp.einsum("bsngd,btnd->bngst", q, k) * scale(q)
    scores = jnp.where(causal(q, k), scores, -jnp.inf)
    out = jnp.einsum("bngst,btnd->bsngd", jax.nn.softmax(scores), v)
    return out.reshape(*out.shape[:2], -1, out.shape[4])


def mapped(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    """One head of one sequence, mapped twice."""
    k, v = (jnp.repeat(x, q.shape[2] // x.shape[2], axis=2) for x in (k, v))

    def one(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
        scores = q @ k.T / np.sqrt(q.shape[-1]).astype(q.dtype)
        return jax.nn.softmax(jnp.where(jnp.tri(*scores.shape, dtype=bool), scores, -jnp.inf)) @ v

    return jax.vmap(jax.vmap(one, 1, 1))(q, k, v)


def through_log(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    """exp of log_softmax; no mask."""
    k, v = (jnp.repeat(x, q.shape[2] // x.shape[2], axis=2) for x in (k, v))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * scale(q)
    return jnp.einsum("bhqk,bkhd->bqhd", jnp.exp(jax.nn.log_softmax(scores)), v)


def squeezed(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    """Without the batch dimension, which has to be one."""
    k, v = (jnp.repeat(x, q.shape[2] // x.shape[2], axis=2) for x in (k, v))
    scores = jnp.einsum("qhd,khd->hqk", q[0], k[0]) * scale(q)
    scores = jnp.where(causal(q, k), scores, -1e30)
    return jnp.einsum("hqk,khd->qhd", jax.nn.softmax(scores), v[0])[None]


SPELLINGS = {
    fn.__name__: fn for fn in (library, matmul, by_hand, additive, grouped, mapped, through_log, squeezed)
}
