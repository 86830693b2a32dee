"""Perceptrons with biases: what GPUs compute with the product in front of it, and what not."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp

from models import WIDTH, Made, attend, layer_norm, normal, weights

HIDDEN = 48


def relu(x: jax.Array) -> jax.Array:
    """The greater one of x and 0."""
    return jnp.maximum(x, 0)


def gelu_in_f32(x: jax.Array) -> jax.Array:
    """GELU by tanh, rounded once."""
    return jax.nn.gelu(x.astype(jnp.float32)).astype(x.dtype)


ACTIVATIONS: dict[str, Callable[[jax.Array], jax.Array]] = {
    "relu": relu,
    "gelu": jax.nn.gelu,
    "gelu-in-f32": gelu_in_f32,
    "gelu-by-erf": partial(jax.nn.gelu, approximate=False),
    "none": lambda x: x,
}


def perceptrons(tokens: int, dtype: str) -> Made:
    """Behind attention, one of every activation: the first bias before it, the second alone."""

    def model(x: jax.Array, layer: dict, parameters: list) -> jax.Array:
        x = attend(layer_norm(x), layer_norm(x), layer, True)
        for activation, (up, first, down, second) in zip(ACTIVATIONS.values(), parameters, strict=True):
            x = x + (activation(layer_norm(x) @ up + first) @ down + second)
        return x

    shapes = ((WIDTH, HIDDEN), (HIDDEN,), (HIDDEN, WIDTH), (WIDTH,))
    parameters = [
        tuple(normal(10 * i + j, *shape, dtype=dtype) for j, shape in enumerate(shapes))
        for i in range(len(ACTIVATIONS))
    ]
    return model, (normal(1, 2, tokens, WIDTH, dtype=dtype), weights(5, dtype), parameters), 1


MODELS: dict[str, Callable[[int, str], Made]] = {"perceptrons": perceptrons}
