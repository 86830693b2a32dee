"""Prints gradients of attention that are rounded behind it."""

import jax
import jax.numpy as jnp
from live_gradients import Q, attend


def rounded(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    narrow = jax.lax.reduce_precision(v, exponent_bits=5, mantissa_bits=4)
    return attend(q, k.astype(jnp.float16).astype(k.dtype), narrow)


def gradients(q: jax.Array, k: jax.Array, v: jax.Array, cotangent: jax.Array) -> tuple[jax.Array, ...]:
    return jax.vjp(rounded, q, k, v)[1](cotangent)


print(jax.jit(gradients).lower(Q, Q, Q, Q).compiler_ir("stablehlo"))
