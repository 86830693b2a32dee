"""Imports gradients of attention with sinks in JAX spellings and counts what is found."""

import sys

import jax
import jax.numpy as jnp
from live import report
from live_gradients import (
    BATCH,
    CASES,
    HALF,
    HEADS,
    KV,
    KV_HEADS,
    LENGTH,
    SIZE,
    Q,
    X,
    check,
    gradients,
    shaped,
)

CASES.clear()
SINKS = shaped(HEADS)
VISIBLE = shaped(BATCH, LENGTH, dtype=jnp.bool_)
WEIGHTS = shaped(HEADS * SIZE, 3 * HEADS * SIZE)


def scores_of(q, k):
    return jnp.einsum("bqhd,bkhd->bhqk", q, k) * 0.25


def earlier():
    return jnp.tril(jnp.ones((LENGTH, LENGTH), bool))


def hide(scores, visible=None, fill=-jnp.inf):
    return jnp.where(earlier() if visible is None else visible, scores, fill)


def column(scores, sinks):
    return jnp.broadcast_to(sinks[:, None, None], (*scores.shape[:-1], 1)).astype(scores.dtype)


def joined(scores, sinks):
    return jnp.concatenate([scores, column(scores, sinks)], -1)


def weigh(weights, v):
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


def attend(q, k, v, sinks):
    return weigh(jax.nn.softmax(joined(hide(scores_of(q, k)), sinks))[..., :-1], v)


def layer(x, w, sinks):
    q, k, v = (each.reshape(BATCH, LENGTH, HEADS, SIZE) for each in jnp.split(x @ w, 3, -1))
    return x + attend(q, k, v, sinks).reshape(x.shape)


@gradients(1, 1, Q, Q, Q, SINKS)
def causal(q, k, v, sinks):
    return attend(q, k, v, sinks)


@gradients(1, 1, Q, Q, Q, SINKS, of=(0, 1, 2))
def of_others(q, k, v, sinks):
    return attend(q, k, v, sinks)


@gradients(1, 1, Q, Q, Q, SINKS, of=(1, 3))
def of_keys_and_sinks(q, k, v, sinks):
    return attend(q, k, v, sinks)


@gradients(1, 1, Q, KV, KV, SINKS)
def grouped(q, k, v, sinks):
    q = q.reshape(BATCH, LENGTH, KV_HEADS, HEADS // KV_HEADS, SIZE)
    scores = hide(jnp.einsum("bqcgd,bkcd->bcgqk", q, k) / 3, fill=jnp.finfo(jnp.float32).min)
    own = jnp.broadcast_to(sinks.reshape(1, KV_HEADS, -1, 1, 1), (*scores.shape[:-1], 1))
    weights = jax.nn.softmax(jnp.concatenate([scores, own], -1))[..., :-1]
    return jnp.einsum("bcgqk,bkcd->bqcgd", weights, v)


@gradients(1, 1, Q, Q, Q, SINKS)
def window(q, k, v, sinks):
    behind = jnp.arange(LENGTH)[:, None] - jnp.arange(LENGTH)
    scores = hide(scores_of(q, k), (behind >= 0) & (behind < 4))
    return weigh(jax.nn.softmax(joined(scores, sinks))[..., :-1], v)


@gradients(1, 1, Q, Q, Q, SINKS, VISIBLE, of=(0, 1, 2, 3))
def padding(q, k, v, sinks, visible):
    scores = hide(scores_of(q, k), visible[:, None, None] & earlier())
    return weigh(jax.nn.softmax(joined(scores, sinks))[..., :-1], v)


@gradients(1, 1, Q, Q, Q, SINKS)
def rows_of_sinks_alone(q, k, v, sinks):
    scores = hide(scores_of(q, k), jnp.tril(jnp.ones((LENGTH, LENGTH), bool), -3))
    return weigh(jax.nn.softmax(joined(scores, sinks))[..., :-1], v)


@gradients(1, 1, HALF, HALF, HALF, shaped(HEADS, dtype=jnp.bfloat16))
def half(q, k, v, sinks):
    scores = hide(scores_of(q, k).astype(jnp.float32))
    return weigh(jax.nn.softmax(joined(scores, sinks))[..., :-1].astype(q.dtype), v)


@gradients(1, 1, Q, Q, Q, SINKS)
def shifted_twice(q, k, v, sinks):
    scores = joined(hide(scores_of(q, k)), sinks)
    return weigh(jax.nn.softmax(scores - scores.max(-1, keepdims=True))[..., :-1], v)


@gradients(1, 1, Q, Q, Q, SINKS)
def own_rule(q, k, v, sinks):
    with jax.softmax_custom_jvp(True):
        return attend(q, k, v, sinks)


@gradients(1, 1, Q, Q, Q, SINKS)
def beside_the_sum(q, k, v, sinks):
    scores = hide(scores_of(q, k))
    sinks = column(scores, sinks)
    greatest = jax.lax.stop_gradient(jnp.maximum(scores.max(-1, keepdims=True), sinks))
    powers = jnp.exp(scores - greatest)
    return weigh(powers / (powers.sum(-1, keepdims=True) + jnp.exp(sinks - greatest)), v)


def shifted_by(shift):
    """Softmax with a power of its sink in the sum, both less what `shift` makes of scores."""

    def shifted(q, k, v, sinks):
        scores = hide(scores_of(q, k))
        least = shift(scores)
        powers = jnp.exp(scores - least)
        return weigh(powers / (powers.sum(-1, keepdims=True) + jnp.exp(sinks[:, None, None] - least)), v)

    return shifted


gradients(1, 1, Q, Q, Q, SINKS)(shifted_by(lambda scores: scores.max(-1, keepdims=True)))
gradients(1, 1, Q, Q, Q, SINKS)(shifted_by(lambda scores: 0.0))


@gradients(1, 1, Q, Q, Q, SINKS)
def after_the_product(q, k, v, sinks):
    scores = hide(scores_of(q, k))
    greatest = jax.lax.stop_gradient(jnp.maximum(scores.max(-1), sinks[:, None]))
    powers = jnp.exp(scores - greatest[..., None])
    sums = powers.sum(-1) + jnp.exp(sinks[:, None] - greatest)
    return weigh(powers, v) / sums.swapaxes(1, 2)[..., None]


@gradients(1, 1, Q, Q, Q)
def off_by_one(q, k, v):
    scores = hide(scores_of(q, k))
    greatest = jnp.maximum(jax.lax.stop_gradient(scores.max(-1, keepdims=True)), 0)
    powers = jnp.exp(scores - greatest)
    return weigh(powers / (powers.sum(-1, keepdims=True) + jnp.exp(-greatest)), v)


@gradients(2, 1, Q, Q, Q, SINKS)
def recomputed(q, k, v, sinks):
    return jax.checkpoint(attend)(q, k, v, sinks)


@gradients(2, 2, X, WEIGHTS, SINKS)
def two_layers(x, w, sinks):
    return layer(layer(x, w, sinks), w, sinks)


@gradients(1, 1, X, shaped(3, *WEIGHTS.shape), shaped(3, HEADS))
def scan(x, w, sinks):
    return jax.lax.scan(lambda x, each: (layer(x, *each), None), x, (w, sinks))[0]


@gradients(2, 1, X, shaped(3, *WEIGHTS.shape), SINKS)
def scan_recomputed(x, w, sinks):
    return jax.lax.scan(jax.checkpoint(lambda x, w: (layer(x, w, sinks), None)), x, w)[0]


def by_hand(wrong=None):
    """Flash attention with its gradient spelled by hand, with a mistake where one is named."""

    @jax.custom_vjp
    def flash(q, k, v, sinks):
        return forward(q, k, v, sinks)[0]

    def forward(q, k, v, sinks):
        scores = hide(scores_of(q, k))
        lse = jax.nn.logsumexp(joined(scores, sinks), -1)
        return weigh(jnp.exp(scores - lse[..., None]), v), (q, k, v, sinks, lse)

    def backward(saved, cotangent):
        q, k, v, sinks, lse = saved
        scores = hide(scores_of(q, k))
        if wrong == "no sink":
            lse = jax.nn.logsumexp(scores, -1)
        weights = jnp.exp(scores - lse[..., None])
        slopes = jnp.einsum("bqhd,bkhd->bhqk", cotangent, v)
        sums = (weights * slopes).sum(-1)
        slopes = weights * (slopes - sums[..., None])
        if wrong == "squares":
            sums = (weights**2).sum(-1)
        own = jnp.exp(sinks[:, None] - lse)
        own = own * (1 - own) if wrong == "no other" else own
        return (
            jnp.einsum("bhqk,bkhd->bqhd", slopes, k) * 0.25,
            jnp.einsum("bhqk,bqhd->bkhd", slopes, q) * 0.25,
            jnp.einsum("bhqk,bqhd->bkhd", weights, cotangent),
            -(own * sums).sum((0, 2)),
        )

    flash.defvjp(forward, backward)
    flash.__name__ = wrong or "by_hand"
    return flash


gradients(1, 1, Q, Q, Q, SINKS)(by_hand())
for mistake in ("no sink", "squares", "no other"):
    gradients(0, 0, Q, Q, Q, SINKS)(by_hand(mistake))


if __name__ == "__main__":
    sys.exit(report(CASES, check))
