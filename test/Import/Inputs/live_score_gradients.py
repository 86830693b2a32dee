"""Imports gradients through score functions in JAX spellings and counts what is found."""

import sys

import jax
import jax.numpy as jnp
from live import report
from live_gradients import BATCH, CASES, HALF, HEADS, KV, LENGTH, Q, check, gradients, shaped

CASES.clear()
THREE = (0, 1, 2)
VISIBLE = shaped(BATCH, LENGTH, dtype=jnp.bool_)
LENGTHS = shaped(BATCH, dtype=jnp.int32)
SEGMENTS = shaped(BATCH, LENGTH, dtype=jnp.int32)
LOWEST = jnp.finfo(jnp.float32).min


def scores_of(q, k):
    return jnp.einsum("bqhd,bkhd->bhqk", q, k) * 0.25


def weigh(scores, v):
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)


def causal():
    return jnp.tril(jnp.ones((LENGTH, LENGTH), bool))


@gradients(1, 1, Q, Q, Q, VISIBLE, of=THREE)
def padding(q, k, v, visible):
    return weigh(jnp.where(visible[:, None, None], scores_of(q, k), LOWEST), v)


@gradients(1, 1, Q, Q, Q, VISIBLE, of=THREE)
def causal_padding(q, k, v, visible):
    return weigh(jnp.where(visible[:, None, None] & causal(), scores_of(q, k), LOWEST), v)


@gradients(1, 1, Q, KV, KV, LENGTHS, of=THREE)
def lengths(q, k, v, length):
    return jax.nn.dot_product_attention(q, k, v, key_value_seq_lengths=length)


@gradients(1, 1, Q, Q, Q, SEGMENTS, of=THREE)
def segments(q, k, v, segment):
    same = segment[:, None, :, None] == segment[:, None, None]
    return weigh(jnp.where(same & causal(), scores_of(q, k), -1e9), v)


@gradients(1, 1, Q, Q, Q)
def soft_cap(q, k, v):
    return weigh(jnp.where(causal(), 30 * jnp.tanh(scores_of(q, k) / 30), -jnp.inf), v)


@gradients(1, 1, Q, Q, Q)
def waves(q, k, v):
    """Slopes are of other functions than the score's."""
    scores = scores_of(q, k)
    return weigh(jnp.where(causal(), jnp.sin(scores) + jnp.cos(3 * scores), -jnp.inf), v)


@gradients(1, 1, Q, Q, Q)
def alibi(q, k, v):
    distance = jnp.arange(LENGTH) - jnp.arange(LENGTH)[:, None]
    slopes = 2.0 ** -jnp.arange(1, HEADS + 1)
    biased = scores_of(q, k) + slopes[:, None, None] * distance
    return weigh(jnp.where(causal(), biased, -jnp.inf), v)


@gradients(1, 1, Q, KV, KV, shaped(1, HEADS, 1, LENGTH), of=THREE)
def bias(q, k, v, bias):
    return jax.nn.dot_product_attention(q, k, v, bias=bias, is_causal=True)


@gradients(1, 1, Q, Q, Q, shaped(BATCH, HEADS, LENGTH, 1, dtype=jnp.bool_), of=THREE)
def dropout(q, k, v, keep):
    weights = jax.nn.softmax(jnp.where(causal(), scores_of(q, k), -1e30))
    return jnp.einsum("bhqk,bkhd->bqhd", jnp.where(keep, weights / 0.75, 0), v)


@gradients(1, 1, HALF, HALF, HALF, VISIBLE, of=THREE)
def half_padding(q, k, v, visible):
    scores = jnp.where(visible[:, None, None], scores_of(q, k).astype(jnp.float32), LOWEST)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores).astype(q.dtype), v)


@gradients(2, 1, Q, Q, Q, VISIBLE, of=THREE)
def recomputed(q, k, v, visible):
    return jax.checkpoint(padding)(q, k, v, visible)


@gradients(1, 1, Q, Q, Q, shaped(3), VISIBLE, of=THREE)
def scan(q, k, v, w, visible):
    def step(x, w):
        return padding(x * w, k, v, visible), None

    return jax.lax.scan(step, q, w)[0]


def by_hand(wrong=None):
    """Capped, padded flash attention with its gradient spelled by hand, with a mistake where one is named."""

    def capped(q, k):
        return 5 * jnp.tanh(scores_of(q, k) / 5)

    def hide(scores, visible):
        return jnp.where(visible[:, None, None], scores, -1e5)

    @jax.custom_vjp
    def flash(q, k, v, visible):
        return forward(q, k, v, visible)[0]

    def forward(q, k, v, visible):
        scores = hide(capped(q, k), visible)
        lse = jax.nn.logsumexp(scores, -1)
        out = jnp.einsum("bhqk,bkhd->bqhd", jnp.exp(scores - lse[..., None]), v)
        return out, (q, k, v, visible, out, lse)

    def backward(saved, cotangent):
        q, k, v, visible, out, lse = saved
        cap = capped(q, k)
        scores = cap if wrong == "no padding" else hide(cap, visible)
        weights = jnp.exp(scores - lse[..., None])
        slopes = jnp.einsum("bqhd,bkhd->bhqk", cotangent, v)
        slopes = weights * (slopes - (out * cotangent).sum(-1).swapaxes(1, 2)[..., None])
        slopes = jnp.where(visible[:, None, None], slopes, 0)
        if wrong != "no slope":
            slopes *= 1 - (cap / (6 if wrong == "other slope" else 5)) ** 2
        return (
            jnp.einsum("bhqk,bkhd->bqhd", slopes, k) * 0.25,
            jnp.einsum("bhqk,bqhd->bkhd", slopes, q) * 0.25,
            jnp.einsum("bhqk,bqhd->bkhd", weights, cotangent),
            None,
        )

    flash.defvjp(forward, backward)
    flash.__name__ = wrong or "by_hand"
    return flash


gradients(1, 1, Q, Q, Q, VISIBLE, of=THREE)(by_hand())
for mistake in ("no padding", "no slope", "other slope"):
    gradients(0, 0, Q, Q, Q, VISIBLE, of=THREE)(by_hand(mistake))


if __name__ == "__main__":
    sys.exit(report(CASES, check))
