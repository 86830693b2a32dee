"""Gradients by hand with one operation that acts on small or large numbers only.

A gradient is linear in the cotangent and in each weight, and reads scores by the derivative of
the score function alone: whatever else is made of these is refused by its operation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

import near_parts

Function = Callable[..., jax.Array]


@dataclass(frozen=True)
class ByHand:
    """Attention times `size`, whose gradients go through functions of weights and scores, too.

    function, derivative: of scores, to exponents; sums: of the products, which results are, if there are;
    of_values: the weights that give slopes of values; of_bias: a factor of slopes of a bias.
    """

    size: float = 1
    scale: float = 1
    function: Function = lambda scores: scores
    derivative: Function = lambda scores: 1
    slopes: Function = lambda slopes, *_: slopes
    products: Function = lambda products, *_: products
    sums: Function = lambda sums, *_: sums
    results: Function | None = None
    of_values: Function = lambda weights, *_: weights
    of_bias: Function = lambda bias: 1

    def scores(self, q: jax.Array, k: jax.Array) -> jax.Array:
        return self.scale * near_parts.scores_of(q, k)

    def weights(self, scores: jax.Array, biases: tuple[jax.Array, ...]) -> jax.Array:
        return jax.nn.softmax(sum(biases, self.function(scores)))

    def gradients(self, saved: tuple[jax.Array, ...], cotangent: jax.Array) -> tuple[jax.Array, ...]:
        q, k, v, *biases = saved
        scores = self.scores(q, k)
        weights = self.weights(scores, biases)
        products = self.products(jnp.einsum("bqhd,bkhd->bhqk", cotangent, v), weights, scores)
        sums = (weights * products).sum(-1, keepdims=True)
        if self.results:
            read = self.results(near_parts.weigh(weights, v)) * cotangent
            sums = read.sum(-1).swapaxes(1, 2)[..., None]
        sums = self.sums(sums, weights, scores)
        slopes = weights * (products - sums)
        of_biases = [(slopes * self.of_bias(bias)).sum(0) for bias in biases]
        slopes = self.scale * self.slopes(slopes * self.derivative(scores), weights, scores, *biases)
        return (
            jnp.einsum("bhqk,bkhd->bqhd", slopes, k),
            jnp.einsum("bhqk,bqhd->bkhd", slopes, q),
            jnp.einsum("bhqk,bqhd->bkhd", self.of_values(weights, weights, scores), cotangent),
            *of_biases,
        )

    def __call__(self, q: jax.Array, k: jax.Array, v: jax.Array, *biases: jax.Array) -> jax.Array:
        @jax.custom_vjp
        def attend(q: jax.Array, k: jax.Array, v: jax.Array, *biases: jax.Array) -> jax.Array:
            return near_parts.weigh(self.weights(self.scores(q, k), biases), v)

        attend.defvjp(lambda *saved: (attend(*saved), saved), self.gradients)
        return self.size * attend(q, k, v, *biases)


def doubles_below(bound: float) -> Function:
    """What doubles numbers that are much smaller than a bound, and no others."""
    return lambda x, *_: x * (1 + bound**2 / (x * x + bound**2))


def ends_above(bound: float) -> Function:
    """What leaves nothing of numbers that are much greater than a bound, and all of others."""
    return lambda x, *_: x / (1 + (x / bound) ** 2)


def doubles_light(epsilon: float) -> Function:
    """What doubles what belongs to weights that are much smaller than epsilon."""
    return lambda x, weights, *_: x * (1 + epsilon / (weights + epsilon))


def ends_at(bound: float) -> Function:
    """What leaves nothing of pairs whose scores are higher."""
    return lambda slopes, weights, scores: slopes / (1 + jnp.exp((scores - bound) / 5))


def ends_in_rows_at(bound: float) -> Function:
    """What leaves nothing of rows with a score that is much higher."""
    return lambda x, weights, scores: x / (1 + (scores.max(-1, keepdims=True) / bound) ** 16)


KINDS: dict[str, near_parts.Kind] = {}


def add(
    name: str,
    by_hand: ByHand,
    backward: int,
    named: str = "makes more than multiples",
    inputs: tuple[np.ndarray, ...] = (),
) -> None:
    KINDS[f"by_hand_{name}"] = near_parts.Kind(by_hand, 1, backward, named, inputs, plain=None)


add("plain", ByHand(), near_parts.TWO)
CAPPED = {"function": lambda s: 50 * jnp.tanh(s / 50), "derivative": lambda s: 1 - jnp.tanh(s / 50) ** 2}
add("capped", ByHand(**CAPPED), near_parts.TWO)
add("small", ByHand(size=1e-8), near_parts.TWO)
add("small_slopes", ByHand(size=1e-8, slopes=doubles_below(1e-6)), 0)
add("large_slopes", ByHand(size=1e15, slopes=ends_above(1e13)), 0)
add(
    "slopes_above_fills",
    ByHand(size=1e18, slopes=lambda x, *_: jnp.where(x > -1e14, x / 2, x)),
    0,
    "of its gradients",
)
add("small_products", ByHand(size=1e-8, products=doubles_below(1e-6)), 0)
add("large_products", ByHand(size=1e16, products=ends_above(1e15)), 0)
add("small_sums", ByHand(size=1e-8, sums=doubles_below(1e-6)), 0)
add("light_slopes", ByHand(slopes=doubles_light(1e-10)), 0)
add("light_products", ByHand(products=doubles_light(1e-10)), 0)
add("light_weights", ByHand(of_values=doubles_light(1e-10)), 0)
add("constant_beside_slopes", ByHand(size=1e-12, slopes=lambda x, *_: x + 1e-13), 0)
add("high_scores", ByHand(scale=8, slopes=ends_at(300)), 0)
add("high_capped_scores", ByHand(scale=8, **CAPPED, slopes=ends_at(300)), 0)
add("sums_of_results", ByHand(results=lambda o: o), near_parts.TWO)
add("sums_of_small_results", ByHand(size=1e-8, results=doubles_below(1e-6)), 0)
for _name in ("slopes", "products", "sums", "of_values"):
    add(f"high_rows_of_{_name}", ByHand(scale=8, **{_name: ends_in_rows_at(300)}), 0)


def fall(scores: jax.Array) -> jax.Array:
    return 1 / (1 + jnp.exp((scores - 400) / 5))


# What exponents are of scores is straight below 300, and the derivative left out, or a part of it.
STRAIGHT = {
    "falling": lambda s: s * fall(s),
    "bounded": lambda s: s / (1 + (s / 2000) ** 16),
    "ending": lambda s: s - jnp.exp(-s - 400),
}
for _name, _function in STRAIGHT.items():
    add(f"straight_through_{_name}", ByHand(scale=8, function=_function), 0, "none of its gradients")
    add(
        f"through_{_name}",
        ByHand(scale=8, function=_function, derivative=jnp.vectorize(jax.grad(_function))),
        near_parts.TWO,
    )
add(
    "a_part_of_falling",
    ByHand(scale=8, function=STRAIGHT["falling"], derivative=fall),
    0,
    "none of its gradients",
)
BIAS = 1e-10 * np.random.default_rng(2).standard_normal((near_parts.HEADS, *2 * (near_parts.TOKENS,)))


def add_biased(name: str, by_hand: ByHand, backward: int) -> None:
    add(name, by_hand, backward, inputs=(BIAS.astype(np.float32),))


def doubles_small(bias: jax.Array) -> jax.Array:
    return 1 + 1e-20 / (bias * bias + 1e-20)


add_biased("biased", ByHand(), near_parts.TWO)
# What becomes of the gradient of a bias is the program's; slopes that others have are no gradients.
add_biased("small_biases", ByHand(of_bias=doubles_small), near_parts.TWO)
add_biased("slopes_of_small_biases", ByHand(slopes=lambda x, weights, scores, b: x * doubles_small(b)), 0)
