"""Models around jax.nn.dot_product_attention, an option each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from models import SIZE, WIDTH, Made, layer_norm, normal


def around(tokens: int, dtype: str, heads: int, kv_heads: int, *inputs: np.ndarray, **options: Any) -> Made:
    """Norm, projections, attention and a residual; `options` may depend on the inputs."""
    matrices = {
        name: normal(i, WIDTH, n * SIZE, dtype=dtype)
        for i, (name, n) in enumerate({"q": heads, "k": kv_heads, "v": kv_heads}.items())
    }
    matrices["o"] = normal(3, heads * SIZE, WIDTH, dtype=dtype)

    def model(x: jax.Array, matrices: dict, *inputs: jax.Array) -> jax.Array:
        y = layer_norm(x)
        q, k, v = ((y @ matrices[name]).reshape(*x.shape[:2], -1, SIZE) for name in "qkv")
        given = {name: value(*inputs) if callable(value) else value for name, value in options.items()}
        out = jax.nn.dot_product_attention(q, k, v, **given)
        return x + out.reshape(*x.shape[:2], -1) @ matrices["o"]

    return model, (normal(9, 2, tokens, WIDTH, dtype=dtype), matrices, *inputs), 1


def visible(*shape: int) -> np.ndarray:
    """A random mask whose first key every query sees."""
    mask = np.random.default_rng(0).random(shape) > 0.4
    mask[..., 0] = True
    return mask


def lengths(*values: int) -> np.ndarray:
    """Valid tokens of each sequence."""
    return np.array(values, np.int32)


MODELS: dict[str, Callable[[int, str], Made]] = {
    "scale": lambda t, d: around(t, d, 4, 4, scale=0.3),
    "grouped-causal": lambda t, d: around(t, d, 6, 2, is_causal=True),
    "one-kv-head": lambda t, d: around(t, d, 4, 1, is_causal=True),
    "window": lambda t, d: around(t, d, 4, 2, local_window_size=(5, 3)),
    "causal-window": lambda t, d: around(t, d, 4, 4, is_causal=True, local_window_size=6),
    "bias": lambda t, d: around(t, d, 4, 4, normal(7, 1, 4, t, t, dtype=d), bias=lambda b: 6 * b),
    "mask": lambda t, d: around(t, d, 4, 2, visible(2, 1, t, t), mask=lambda m: m),
    "mask-of-heads": lambda t, d: around(t, d, 4, 4, visible(1, 4, t, t), mask=lambda m: m, is_causal=True),
    "kv-lengths": lambda t, d: around(t, d, 4, 4, lengths(t, t - 6), key_value_seq_lengths=lambda n: n),
    "both-lengths": lambda t, d: around(
        t,
        d,
        4,
        4,
        lengths(t - 3, t - 9),
        is_causal=True,
        query_seq_lengths=lambda n: n,
        key_value_seq_lengths=lambda n: n,
    ),
    "everything": lambda t, d: around(
        t,
        d,
        4,
        2,
        normal(7, 2, 1, t, t, dtype=d),
        visible(2, 1, 1, t),
        scale=0.5,
        is_causal=True,
        local_window_size=(9, 9),
        bias=lambda b, _: jnp.broadcast_to(6 * b, (2, 4, *b.shape[2:])),
        mask=lambda _, m: m,
    ),
}
