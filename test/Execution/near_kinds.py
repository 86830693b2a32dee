"""Attentions with one operation that acts on some data only: what is kept, and what is refused.

`KINDS` says of each how many attentions are found of its forward and of its gradients, and
what the remark names where there are none. Their arguments are such that the operation acts.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from near_parts import (
    BATCH,
    HEADS,
    TOKENS,
    TWO,
    Kind,
    attend,
    normed,
    of_powers,
    of_scores,
    of_weights,
    scores_of,
    straight,
    weigh,
)

KINDS: dict[str, Kind] = {}


def kind(
    forward: int,
    backward: int,
    named: str = "",
    *inputs: np.ndarray,
    plain: Callable[..., jax.Array] | None = attend,
) -> Callable:
    """Registers a function of q, k, v and the inputs."""

    def register(fn: Callable[..., jax.Array]) -> Callable[..., jax.Array]:
        KINDS[fn.__name__] = Kind(fn, forward, backward, named, inputs, plain)
        return fn

    return register


def add(
    name: str,
    fn: Callable[..., jax.Array],
    forward: int,
    backward: int,
    named: str = "",
    plain: Callable[..., jax.Array] | None = attend,
) -> None:
    """One that needs no more inputs."""
    KINDS[name] = Kind(fn, forward, backward, named, (), plain)


# What acts before the softmax on single pairs is a score function.
add("clip_scores", of_scores(lambda s: jnp.clip(s, -5, 5)), 1, TWO)
add("minimum_scores", of_scores(lambda s: jnp.minimum(s, 5)), 1, TWO)
add("high_scores_hidden", of_scores(lambda s: jnp.where(s > 5, -1e30, s)), 1, TWO)
add("high_products_hidden", of_scores(lambda s: jnp.where(s > 20, -1e9, 0.3 * s)), 1, TWO)
# Its derivative at 0 is none that a maximum has.
add("relu_scores", of_scores(jax.nn.relu), 1, 0, "compare")
add("finite_scores", of_scores(lambda s: jnp.where(jnp.isfinite(s), s, 0.0)), 1, TWO, plain=None)
add("rounded_scores", of_scores(lambda s: jax.lax.reduce_precision(s, 8, 7)), 1, 0, "reduce_precision")
add("row_bounded_scores", of_scores(lambda s: jnp.maximum(s, s.max(-1, keepdims=True) - 4)), 0, 0, "maximum")
add("key_bounded_shift", of_scores(lambda s: s - jnp.maximum(s.max(-2, keepdims=True), 8)), 0, 0, "maximum")
# Fills that scores come near are scores.
add("small_fill", of_scores(lambda s: jnp.where(jnp.tril(jnp.ones((TOKENS, TOKENS), bool)), s, -20)), 1, TWO)
# What acts behind it is refused, unless it is a factor that reads no weight.
add("minimum_weights", of_weights(lambda p: jnp.minimum(p, 0.5)), 0, 0, "minimum")
add("small_weights_dropped", of_weights(lambda p: jnp.where(p < 1e-3, 0, p)), 0, 0, "compare")
add("rounded_weights", of_weights(lambda p: jnp.round(100 * p) / 100), 0, 0, "round_nearest_even")
add("one_head", of_weights(lambda p: p * jnp.where(jnp.arange(HEADS) == 1, 2.0, 1.0)[:, None, None]), 1, TWO)
add(
    "one_head_of_constants",
    of_weights(lambda p: p * jnp.asarray(np.array([1, 2, 1, 1, 1], np.float32))[:, None, None]),
    1,
    TWO,
)
add("one_query", of_weights(lambda p: p * jnp.where(jnp.arange(TOKENS) == 7, 2.0, 1.0)[:, None]), 1, TWO)
add(
    "squares_of_one_head",
    of_weights(lambda p: jnp.concatenate([p[:, :1], p[:, 1:2] ** 2, p[:, 2:]], 1)),
    0,
    0,
    "a part of its scores",
)
# Squares of weights meet keys as a gradient's pairs do.
add(
    "weights_and_squares",
    lambda q, k, v: of_weights(lambda p: p)(q, k, v) + of_weights(lambda p: p**2)(q, k, k),
    0,
    0,
    "its",
)
# Sums: an epsilon without a maximum is a sink, one beside a maximum is lost or refused.
add("epsilon", of_powers(lambda s, m: normed(jnp.exp(s / 8), lambda sums: sums + 1e-3)), 1, TWO)
add("epsilon_of_negative_scores", of_powers(lambda s, m: normed(jnp.exp(s - 20), lambda x: x + 1e-6)), 1, TWO)
add(
    "tiny_epsilon",
    of_powers(lambda s, m: normed(jnp.exp(s - m), lambda sums: sums + 1e-9)),
    1,
    TWO,
    plain=None,
)
add(
    "epsilon_of_maxima",
    of_powers(lambda s, m: normed(jnp.exp(s - m), lambda sums: sums + 1e-4)),
    0,
    0,
    "its result",
)
add(
    "tiny_floor",
    of_powers(lambda s, m: normed(jnp.exp(s - m), lambda x: jnp.maximum(x, 1e-9))),
    1,
    TWO,
    plain=None,
)
add("floor", of_powers(lambda s, m: normed(jnp.exp(s / 8), lambda x: jnp.maximum(x, 50))), 0, 0, "maximum")
add(
    "clipped_exponents",
    of_powers(lambda s, m: normed(jnp.exp(jnp.clip(s - m, -8, 3)), lambda sums: sums)),
    0,
    0,
    "minimum",
)
# A shift that a constant takes far from every score leaves 0 / 0.
add(
    "far_shift",
    of_powers(lambda s, m: normed(jnp.exp(s - jnp.maximum(m, 1e4)), lambda x: x)),
    0,
    0,
    "maximum",
)
add(
    "no_shift",
    of_powers(lambda s, m: normed(jnp.exp(s - jnp.maximum(m, jnp.nan)), lambda x: x)),
    1,
    TWO,
    "maximum",
)
add(
    "near_shift",
    of_powers(lambda s, m: normed(jnp.exp(s - jnp.maximum(m, 8)), lambda x: x)),
    1,
    TWO,
    plain=None,
)
steep = of_scores(lambda s: 8 * s)
# Analytic, but flat where scores are small: what acts on large ones is no rounding.
FLAT = {
    "clip_by_sqrt": lambda s: 100 - jnp.sqrt((s - 100) ** 2),
    "fermi": lambda s: s / (1 + jnp.exp(s - 100)),
    "polynomial": lambda s: s * (1 + (s / 500) ** 8),
}
for _name, _flat in FLAT.items():
    add(f"{_name}_scores", of_scores(lambda s, flat=_flat: flat(8 * s)), 1, TWO, plain=steep)
    add(f"{_name}_slopes", straight(lambda g, flat=_flat: flat(1e3 * g) / 1e3), 1, 0, "none of its gradients")
# A derivative may divide and take powers by what scores became.
add("logarithm_of_scores", of_scores(lambda s: jnp.log1p(jnp.exp(s / 8))), 1, TWO)
add("root_of_scores", of_scores(lambda s: jnp.sqrt(1 + s * s)), 1, TWO)
# What acts between samples alone: scores that are more than scaled are a function, or none.
add("bump_of_scores", of_scores(lambda s: s * (1 + jnp.exp(-100 * (s - 17.375) ** 2))), 0, 0, "exponential")
add(
    "scores_of_columns",
    of_scores(lambda s: s * (1 + 1e-20 * jnp.mean(s**8, -2, keepdims=True))),
    0,
    0,
    "its",
)
# Floors and thresholds of a sum that only a shift by the row's maximum keeps from 1 on, and a sum of 1.
add(
    "floor_beside_another_shift",
    of_powers(lambda s, m: normed(jnp.exp(s - 8 - jnp.maximum(m - 8, 0)), lambda x: jnp.maximum(x, 1e-2))),
    0,
    0,
    "maximum",
)
add(
    "guarded_shift",
    of_powers(lambda s, m: normed(jnp.exp(s - jnp.where(m > -5, m, 0)), lambda x: jnp.where(x > 0.01, x, 1))),
    0,
    0,
    "compare",
)


def of_sums_from_one(bound: Callable[[jax.Array], jax.Array]) -> Callable[..., jax.Array]:
    """A causal softmax of small scores: the sum of the first row is 1, those of others are far from it."""

    def attend(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
        scores = jnp.where(jnp.tril(jnp.ones((TOKENS, TOKENS), bool)), scores_of(q, k) / 64, -jnp.inf)
        return weigh(normed(jnp.exp(scores - scores.max(-1, keepdims=True)), bound), v)

    return attend


add("sum_of_one", of_sums_from_one(lambda x: jnp.where(x <= 1, 2, x)), 0, 0, "compare")
add("floor_of_one", of_sums_from_one(lambda x: jnp.maximum(x, 1)), 1, 0, "compare")
# Gradients.
add("clipped_slopes", straight(lambda g: jnp.clip(g, -0.1, 0.1)), 1, 0, "minimum")
add(
    "slopes_of_one_query",
    straight(lambda g: g * jnp.where(jnp.arange(TOKENS) == 7, 2.0, 1.0)[:, None]),
    1,
    0,
    "'stablehlo.multiply' takes numbers that the forward does not have",
)
add(
    "tiny_slopes", straight(lambda g: g + 1e-9), 1, 0, "'stablehlo.add' makes more than multiples", plain=None
)

TOKEN = np.random.default_rng(1).integers(0, 1000, (BATCH, TOKENS), dtype=np.int32)


@kind(1, 0, "none of its gradients", np.float32([-np.inf] + [0.5] * (TOKENS - 1)), plain=None)
def shift_of_inputs(q: jax.Array, k: jax.Array, v: jax.Array, factor: jax.Array) -> jax.Array:
    """The maximum times a number of each query, which may be no number where nothing is left.

    Third powers of exponentials of such differences are in no gradient's range.
    """
    scores = scores_of(q, k)
    shift = jax.lax.stop_gradient(scores.max(-1, keepdims=True)) * jnp.maximum(factor, 0.4)[:, None]
    powers = jnp.exp(scores - shift)
    return weigh(powers / powers.sum(-1, keepdims=True), v)


@kind(1, TWO, "", TOKEN)
def factor_of_tokens(q: jax.Array, k: jax.Array, v: jax.Array, token: jax.Array) -> jax.Array:
    factor = (1 + (token >> 7)).astype(jnp.float32)
    return of_weights(lambda p: p * factor[:, None, None, :])(q, k, v)


@kind(1, 0, "", TOKEN, np.arange(BATCH) > 0)
def factor_beside_guard(
    q: jax.Array, k: jax.Array, v: jax.Array, token: jax.Array, seen: jax.Array
) -> jax.Array:
    """On samples a factor less than 0 leaves few rows whose exponents are all -inf."""
    factor = (1 + (token >> 7)).astype(jnp.float32)
    scores = jnp.where(seen[:, None, None, None], scores_of(q, k), -jnp.inf) * factor[:, None, None, :]
    hidden = (scores == -jnp.inf).all(-1, keepdims=True)
    return weigh(jnp.where(hidden, 0, jax.nn.softmax(scores)), v)


@kind(1, TWO, "", np.int32(2500))
def factor_of_steps(q: jax.Array, k: jax.Array, v: jax.Array, step: jax.Array) -> jax.Array:
    return of_weights(lambda p: p * jnp.maximum(1, step // 1000).astype(jnp.float32))(q, k, v)


@kind(1, 0, "argument 4", np.int32(40))
def fading_slopes(q: jax.Array, k: jax.Array, v: jax.Array, step: jax.Array) -> jax.Array:
    fade = jnp.minimum(1, (step + 900) / 1000).astype(jnp.float32)
    return straight(lambda g: g * fade)(q, k, v)


@kind(1, TWO, "", (TOKEN % 5 > 0).astype(np.uint8))
def joined_flags(q: jax.Array, k: jax.Array, v: jax.Array, flags: jax.Array) -> jax.Array:
    """As torch_xla prints masks."""
    earlier = jnp.tril(jnp.ones((TOKENS, TOKENS), bool)).astype(jnp.uint8)
    visible = (earlier & flags.at[:, 0].set(1)[:, None]) != 0
    return of_scores(lambda s: jnp.where(visible[:, None], s, -jnp.inf))(q, k, v)


@kind(0, 0, "i32")
def integers(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    scores = scores_of(*(x.astype(jnp.int32) for x in (q, k))).astype(jnp.float32)
    return weigh(jax.nn.softmax(scores), v)


@kind(1, TWO, "", np.linspace(-1, 3, HEADS, dtype=np.float32), plain=None)
def small_clipped_scale(q: jax.Array, k: jax.Array, v: jax.Array, scale: jax.Array) -> jax.Array:
    """A learned scale that a head's bound stops, under a loss that is small as a whole."""
    clipped = jnp.minimum(jnp.exp(scale / 4), 1.37)
    return 1e-6 * weigh(jax.nn.softmax(scores_of(q, k) * clipped[:, None, None]), v)
