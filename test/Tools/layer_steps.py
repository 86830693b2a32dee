"""layer_steps.py FILE LAYERS: a step of gradient descent on layers of attention and of a product."""

import pathlib
import sys

import jax
import jax.numpy as jnp

HEADS, WIDTH, TOKENS = 4, 128, 2002


def attend(x: jax.Array, weights: dict) -> jax.Array:
    q, k, v = jnp.split((x @ weights["qkv"]).reshape(*x.shape[:2], -1, WIDTH // HEADS), 3, axis=2)
    return jax.nn.dot_product_attention(q, k, v, is_causal=True).reshape(x.shape) @ weights["out"]


def loss(layers: list, x: jax.Array) -> jax.Array:
    for weights in layers:
        x = x + jnp.tanh(attend(x, weights))
    return jnp.mean(x**2)


def step(layers: list, x: jax.Array) -> tuple:
    value, slopes = jax.value_and_grad(loss)(layers, x)
    return jax.tree.map(lambda weight, slope: weight - slope, layers, slopes), value


def shape(*sizes: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(sizes, "float32")


layers = [{"qkv": shape(WIDTH, 3 * WIDTH), "out": shape(WIDTH, WIDTH)}] * int(sys.argv[2])
lowered = jax.jit(step, donate_argnums=0).lower(layers, shape(2, TOKENS, WIDTH))
pathlib.Path(sys.argv[1]).write_text(lowered.as_text())
