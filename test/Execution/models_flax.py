"""Models of flax, in both of its interfaces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen, nnx

from models import HEADS, WIDTH, Made, normal
from models_masks import padding


class Block(linen.Module):
    """Attention and a perceptron, both after normalisation."""

    dtype: Any

    @linen.compact
    def __call__(self, x: jax.Array, mask: jax.Array | None, bias: jax.Array | None = None) -> jax.Array:
        """x, attended where the mask allows it."""
        options = {"dtype": self.dtype, "param_dtype": self.dtype}
        y = linen.LayerNorm(**options)(x)
        if bias is None:
            x = x + linen.MultiHeadDotProductAttention(num_heads=HEADS, **options)(y, mask=mask)
        else:
            q, k, v = (linen.DenseGeneral((HEADS, WIDTH // HEADS), **options)(y) for _ in range(3))
            out = linen.dot_product_attention(q, k, v, bias=bias, mask=mask)
            x = x + linen.DenseGeneral(WIDTH, axis=(-2, -1), **options)(out)
        y = linen.gelu(linen.Dense(48, **options)(linen.LayerNorm(**options)(x)))
        return x + linen.Dense(WIDTH, **options)(y)


def linen_model(
    tokens: int, dtype: str, mask: Callable | None, *inputs: np.ndarray, bias: bool = False
) -> Made:
    """Two blocks; `mask` of x and the inputs."""

    class Model(linen.Module):
        @linen.compact
        def __call__(self, x: jax.Array, *inputs: jax.Array) -> jax.Array:
            given = mask(x, *inputs) if mask else None
            for _ in range(2):
                x = Block(x.dtype)(x, given, inputs[0] if bias else None)
            return x

    x = normal(1, 2, tokens, WIDTH, dtype=dtype)
    variables = jax.tree.map(np.asarray, Model().init(jax.random.key(0), x, *inputs))
    return Model().apply, (variables, x, *inputs), 2


def nnx_model(tokens: int, dtype: str, mask: Callable | None, *inputs: np.ndarray) -> Made:
    """One nnx.MultiHeadAttention and a linear map."""
    options = {"dtype": jnp.dtype(dtype), "param_dtype": jnp.dtype(dtype), "rngs": nnx.Rngs(0)}
    attention = nnx.MultiHeadAttention(HEADS, in_features=WIDTH, decode=False, **options)
    definition, state = nnx.split((attention, nnx.Linear(WIDTH, WIDTH, **options)))

    def model(state: Any, x: jax.Array, *inputs: jax.Array) -> jax.Array:
        attention, linear = nnx.merge(definition, state)
        return linear(x + attention(x, mask=mask(x, *inputs) if mask else None))

    return model, (jax.tree.map(np.asarray, state), normal(1, 2, tokens, WIDTH, dtype=dtype), *inputs), 1


def causal(x: jax.Array, *_: jax.Array) -> jax.Array:
    """linen's causal mask."""
    return linen.make_causal_mask(x[..., 0])


def padded(_: jax.Array, mask: jax.Array) -> jax.Array:
    """linen's mask of two padded sides."""
    return linen.make_attention_mask(mask > 0, mask > 0)


def both(x: jax.Array, mask: jax.Array) -> jax.Array:
    """Causal and padded."""
    return linen.combine_masks(causal(x), padded(x, mask))


def bias(tokens: int, dtype: str) -> np.ndarray:
    """Of each head and pair."""
    return 6 * normal(3, HEADS, tokens, tokens, dtype=dtype)


MODELS: dict[str, Callable[[int, str], Made]] = {
    "linen": lambda t, d: linen_model(t, d, None),
    "linen-causal": lambda t, d: linen_model(t, d, causal),
    "linen-padded": lambda t, d: linen_model(t, d, both, padding(t)),
    "linen-bias": lambda t, d: linen_model(t, d, None, bias(t, d), bias=True),
    "nnx": lambda t, d: nnx_model(t, d, None),
    "nnx-causal": lambda t, d: nnx_model(t, d, lambda x: nnx.make_causal_mask(x[..., 0])),
    "nnx-padded": lambda t, d: nnx_model(
        t, d, lambda x, m: nnx.make_attention_mask(m > 0, m > 0), padding(t)
    ),
}
