"""Gradients by hand with one operation that acts on small or large numbers only.

A gradient is linear in the cotangent and in each weight, and reads scores by the derivative of
the score function alone: whatever else is made of these is refused by its operation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp

import near_kinds

Function = Callable[..., jax.Array]


@dataclass(frozen=True)
class ByHand:
    """Attention times `size`, whose gradients go through functions of weights and scores, too.

    sums: of the products, which results are, if there are; of_values: the weights that give slopes of values.
    """

    size: float = 1
    scale: float = 1
    cap: float = 0
    slopes: Function = lambda slopes, *_: slopes
    products: Function = lambda products, *_: products
    sums: Function = lambda sums, *_: sums
    results: Function | None = None
    of_values: Function = lambda weights, *_: weights

    def scores(self, q: jax.Array, k: jax.Array) -> jax.Array:
        return self.scale * near_kinds.scores_of(q, k)

    def exponents(self, scores: jax.Array) -> jax.Array:
        return self.cap * jnp.tanh(scores / self.cap) if self.cap else scores

    def gradients(self, saved: tuple[jax.Array, ...], cotangent: jax.Array) -> tuple[jax.Array, ...]:
        q, k, v = saved
        scores = self.scores(q, k)
        weights = jax.nn.softmax(self.exponents(scores))
        products = self.products(jnp.einsum("bqhd,bkhd->bhqk", cotangent, v), weights, scores)
        sums = (weights * products).sum(-1, keepdims=True)
        if self.results:
            read = self.results(near_kinds.weigh(weights, v)) * cotangent
            sums = read.sum(-1).swapaxes(1, 2)[..., None]
        sums = self.sums(sums, weights, scores)
        slopes = weights * (products - sums)
        if self.cap:
            slopes = slopes * (1 - jnp.tanh(scores / self.cap) ** 2)
        slopes = self.scale * self.slopes(slopes, weights, scores)
        return (
            jnp.einsum("bhqk,bkhd->bqhd", slopes, k),
            jnp.einsum("bhqk,bqhd->bkhd", slopes, q),
            jnp.einsum("bhqk,bqhd->bkhd", self.of_values(weights, weights, scores), cotangent),
        )

    def __call__(self, q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
        @jax.custom_vjp
        def attend(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
            return near_kinds.weigh(jax.nn.softmax(self.exponents(self.scores(q, k))), v)

        attend.defvjp(lambda q, k, v: (attend(q, k, v), (q, k, v)), self.gradients)
        return self.size * attend(q, k, v)


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


KINDS: dict[str, near_kinds.Kind] = {}


def add(name: str, by_hand: ByHand, backward: int) -> None:
    KINDS[f"by_hand_{name}"] = near_kinds.Kind(by_hand, 1, backward, "makes more than multiples", ())


add("plain", ByHand(), near_kinds.TWO)
add("capped", ByHand(cap=50), near_kinds.TWO)
add("small", ByHand(size=1e-8), near_kinds.TWO)
add("small_slopes", ByHand(size=1e-8, slopes=doubles_below(1e-6)), 0)
add("large_slopes", ByHand(size=1e15, slopes=ends_above(1e13)), 0)
add("small_products", ByHand(size=1e-8, products=doubles_below(1e-6)), 0)
add("large_products", ByHand(size=1e16, products=ends_above(1e15)), 0)
add("small_sums", ByHand(size=1e-8, sums=doubles_below(1e-6)), 0)
add("light_slopes", ByHand(slopes=doubles_light(1e-10)), 0)
add("light_products", ByHand(products=doubles_light(1e-10)), 0)
add("light_weights", ByHand(of_values=doubles_light(1e-10)), 0)
add("constant_beside_slopes", ByHand(size=1e-12, slopes=lambda x, *_: x + 1e-13), 0)
add("high_scores", ByHand(scale=8, slopes=ends_at(300)), 0)
add("high_capped_scores", ByHand(scale=8, cap=50, slopes=ends_at(300)), 0)
add("sums_of_results", ByHand(results=lambda o: o), near_kinds.TWO)
add("sums_of_small_results", ByHand(size=1e-8, results=doubles_below(1e-6)), 0)
for _name in ("slopes", "products", "sums", "of_values"):
    add(f"high_rows_of_{_name}", ByHand(scale=8, **{_name: ends_in_rows_at(300)}), 0)
