"""Softmax attentions with a function somewhere in them, and what Import is to find of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

import attentions

BATCH, TOKENS, HEADS, SIZE = 2, 23, 5, 8
# Gradients of queries, keys and values with a forward.
TWO = 2


def scores_of(q: jax.Array, k: jax.Array) -> jax.Array:
    return jnp.einsum("bqhd,bkhd->bhqk", q, k)


def weigh(weights: jax.Array, v: jax.Array) -> jax.Array:
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


def attend(q: jax.Array, k: jax.Array, v: jax.Array, *_: jax.Array) -> jax.Array:
    return weigh(jax.nn.softmax(scores_of(q, k)), v)


@dataclass(frozen=True)
class Kind:
    """forward, backward: attentions found without and with gradients; named: by the remark if none is.

    plain: without the operation; None where gradients by hand are right or refused, or numbers show nothing.
    """

    fn: Callable[..., jax.Array]
    forward: int
    backward: int
    named: str
    inputs: tuple[np.ndarray, ...]
    plain: Callable[..., jax.Array] | None = attend

    def arrays(self) -> tuple[np.ndarray, ...]:
        """q, k and v, whose scores are between about -60 and 60, and what the operation reads.

        Multiples of 1/8, so that scores are exact in f32 and fall on the same side of every bound.
        """
        rng = np.random.default_rng(0)
        drawn = (rng.standard_normal((BATCH, TOKENS, HEADS, SIZE)) for _ in range(3))
        return (*(np.round(16 * each).astype(np.float32) / 8 for each in drawn), *self.inputs)

    def differentiated(self, fn: Callable[..., jax.Array]) -> tuple[Callable[..., tuple], tuple]:
        """The result of `fn` and its gradients by all numbers, and the arguments with a cotangent."""
        arrays = self.arrays()
        numbers = tuple(i for i, array in enumerate(arrays) if np.issubdtype(array.dtype, np.floating))
        return attentions.differentiated(fn, arrays, 0, numbers)


def of_scores(function: Callable[[jax.Array], jax.Array]) -> Callable[..., jax.Array]:
    """Softmax of what a function makes of scores."""
    return lambda q, k, v: weigh(jax.nn.softmax(function(scores_of(q, k))), v)


def of_weights(function: Callable[..., jax.Array]) -> Callable[..., jax.Array]:
    """What a function makes of softmax, and of further inputs."""
    return lambda q, k, v, *rest: weigh(function(jax.nn.softmax(scores_of(q, k)), *rest), v)


def of_powers(function: Callable[[jax.Array, jax.Array], jax.Array]) -> Callable[..., jax.Array]:
    """What a function makes of sums of exp(s), the greatest of which is 1 with `shifted`."""

    def attend(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
        scores = scores_of(q, k)
        return weigh(function(scores, jax.lax.stop_gradient(scores.max(-1, keepdims=True))), v)

    return attend


def normed(powers: jax.Array, bound: Callable[[jax.Array], jax.Array]) -> jax.Array:
    return powers / bound(powers.sum(-1, keepdims=True))


def straight(backward: Callable[..., jax.Array]) -> Callable[..., jax.Array]:
    """A softmax whose gradient by scores goes through a function."""

    def attend(q: jax.Array, k: jax.Array, v: jax.Array, *rest: jax.Array) -> jax.Array:
        @jax.custom_vjp
        def same(scores: jax.Array) -> jax.Array:
            return scores

        same.defvjp(lambda scores: (scores, None), lambda _, slopes: (backward(slopes, *rest),))
        return weigh(jax.nn.softmax(same(scores_of(q, k))), v)

    return attend
