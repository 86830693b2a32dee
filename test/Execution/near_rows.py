"""Attentions with an operation on values of rows: of rows of high scores alone, or of rows without keys."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

import near_parts


def steep(
    function: Callable[..., jax.Array], named: str = "makes more of values of rows than shifts"
) -> near_parts.Kind:
    """What a function of exponents, sums and the maxima of rows makes of scores up to about 3000."""

    def attend(q: jax.Array, k: jax.Array, v: jax.Array, scale: jax.Array) -> jax.Array:
        scores = near_parts.scores_of(q * scale, k)
        return near_parts.weigh(function(scores, jax.lax.stop_gradient(scores.max(-1, keepdims=True))), v)

    return near_parts.Kind(attend, 0, 0, named, (np.float32(50),))


def high(x: jax.Array) -> jax.Array:
    """Nothing where no score is above 1000."""
    return (x / 1000) ** 16


def sums_of(powers: jax.Array) -> jax.Array:
    return powers.sum(-1, keepdims=True)


# Smooth functions of values of rows that are flat where scores are small.
KINDS = {
    "temperature_of_rows": steep(lambda s, m: jax.nn.softmax(s / (1 + high(m)))),
    "factor_of_rows": steep(lambda s, m: jax.nn.softmax(s) * (1 + high(m))),
    "epsilon_of_rows": steep(lambda s, m: jnp.exp(s - m) / (sums_of(jnp.exp(s - m)) + high(m))),
    "sums_of_other_rows": steep(lambda s, m: jnp.exp(s - m - high(m)) / sums_of(jnp.exp(s - m))),
    "sums_of_other_powers": steep(
        lambda s, m: jnp.exp(s - m) / sums_of(jnp.exp(s - m) * (1 + high(s))),
        "makes more than multiples of its weights or sums",
    ),
    "shift_of_columns": steep(lambda s, m: jax.nn.softmax(s + high(s.max(-2, keepdims=True)))),
    "temperature_of_minima": steep(lambda s, m: jax.nn.softmax(s / (1 + high(s.min(-1, keepdims=True))))),
}


def of_heads(
    function: Callable[[jax.Array], jax.Array], forward: int, backward: int, named: str = ""
) -> near_parts.Kind:
    """A softmax of what a function makes of scores of some heads; the others, of fills alone, give 0."""

    def attend(q: jax.Array, k: jax.Array, v: jax.Array, shown: jax.Array) -> jax.Array:
        shown = shown[:, :, None, None]
        exponents = function(jnp.where(shown, near_parts.scores_of(q, k), -jnp.inf))
        return near_parts.weigh(jnp.where(shown, jax.nn.softmax(exponents), 0), v)

    heads = np.arange(near_parts.BATCH * near_parts.HEADS).reshape(near_parts.BATCH, near_parts.HEADS)
    return near_parts.Kind(attend, forward, backward, named, (heads % 3 > 0,))


KINDS |= {
    "rounded_fills": of_heads(jnp.round, 1, near_parts.TWO),
    "negated_fills": of_heads(lambda x: -x, 0, 0, "its result differs"),
}


def with_sinks(q: jax.Array, k: jax.Array, v: jax.Array, sinks: jax.Array) -> jax.Array:
    """Small results, whose gradients by sinks are no smaller part of them."""
    scores = near_parts.scores_of(q, k)
    column = jnp.broadcast_to(sinks[:, None, None], (*scores.shape[:3], 1))
    weights = jax.nn.softmax(jnp.concatenate([scores, column], -1))[..., :-1]
    return 1e-12 * near_parts.weigh(weights, v)


def filled(q: jax.Array, k: jax.Array, v: jax.Array, shown: jax.Array) -> jax.Array:
    """Rows of fills alone would be left without weights, and gradients of these do not cancel."""
    earlier = jnp.tril(jnp.ones((near_parts.TOKENS, near_parts.TOKENS), bool))
    fills = jnp.where(shown[:, None, None, :] & earlier, 0, -1e9)
    scores = jnp.tanh(near_parts.scores_of(q, k)) + fills
    powers = jnp.exp(scores - jnp.maximum(jax.lax.stop_gradient(scores.max(-1, keepdims=True)), -0.1))
    return near_parts.weigh(powers / sums_of(powers), v)


def beside_sums(shift: Callable[[jax.Array], jax.Array]) -> Callable[..., jax.Array]:
    """A softmax that something is subtracted in, and the logarithms of sums without that."""

    def attend(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
        scores = near_parts.scores_of(q, k)
        powers = jnp.exp(scores - shift(scores))
        sums = jax.nn.logsumexp(scores, -1).swapaxes(1, 2)[..., None]
        return near_parts.weigh(powers / sums_of(powers), v) + sums

    return attend


OTHER_SUMS = "the logarithms of sums that are read"
SINKS = np.linspace(-20, 20, near_parts.HEADS, dtype=np.float32)
SHOWN = np.arange(near_parts.TOKENS) % 5 < np.array([[1], [3]])
KINDS |= {
    "small_results_beside_sinks": near_parts.Kind(with_sinks, 1, near_parts.TWO, "", (SINKS,)),
    "bounded_shift_of_fills": near_parts.Kind(filled, 1, 0, "its mask is added", (SHOWN,)),
    "sums_of_exponents_less_8": near_parts.Kind(beside_sums(lambda s: 8), 0, 0, OTHER_SUMS, ()),
    "sums_of_exponents_less_nan": near_parts.Kind(
        beside_sums(lambda s: jnp.maximum(s.max(-1, keepdims=True), jnp.nan)), 0, 0, OTHER_SUMS, ()
    ),
}
