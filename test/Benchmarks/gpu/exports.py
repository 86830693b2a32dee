"""Programs that a GPU run compiles, as JAX exports them: attention, a decoder, a product."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp

import llama
import spmlir


@dataclass(frozen=True)
class Shape:
    """One attention: batch, tokens, heads, kv heads, sizes of a head and a value, element type."""

    batch: int
    tokens: int
    heads: int
    kv_heads: int
    head: int
    value: int
    dtype: str

    def arguments(self) -> list[jax.ShapeDtypeStruct]:
        sizes = ((self.heads, self.head), (self.kv_heads, self.head), (self.kv_heads, self.value))
        return [jax.ShapeDtypeStruct((self.batch, self.tokens, *size), self.dtype) for size in sizes]


def attention(kind: str, q: jax.Array, k: jax.Array, v: jax.Array, *more: jax.Array) -> jax.Array:
    """full, causal, or causal with a score function."""
    k, v = (jnp.repeat(x, q.shape[2] // x.shape[2], axis=2) for x in (k, v))
    accumulator = jnp.promote_types(q.dtype, jnp.float32)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=accumulator) * q.shape[-1] ** -0.5
    i, j = jnp.arange(q.shape[1])[:, None], jnp.arange(k.shape[1])[None, :]
    seen = jnp.ones((q.shape[1], k.shape[1]), bool) if kind == "full" else j <= i
    sink = None
    if kind == "soft-cap":
        scores = 20 * jnp.tanh(scores / 20)
    elif kind == "alibi":
        slopes = 2.0 ** -jnp.arange(1, q.shape[2] + 1, dtype=scores.dtype)
        scores = scores + slopes[:, None, None] * (j - i).astype(scores.dtype)
    elif kind == "bias":
        scores = scores + more[0].astype(scores.dtype)
    elif kind == "segments":
        seen = seen & (more[0][:, None, :, None] == more[0][:, None, None, :])
    elif kind == "sinks":
        sink = more[0].astype(scores.dtype)[None, :, None, None]
    scores = jnp.where(seen, scores, -jnp.inf)
    if sink is None:
        weights = jax.nn.softmax(scores)
    else:
        greatest = jnp.maximum(scores.max(-1, keepdims=True), sink)
        powers = jnp.exp(scores - greatest)
        weights = powers / (powers.sum(-1, keepdims=True) + jnp.exp(sink - greatest))
    return jnp.einsum("bhqk,bkhd->bqhd", weights.astype(q.dtype), v)


def extra(kind: str, shape: Shape) -> list[jax.ShapeDtypeStruct]:
    """What a score function reads."""
    tokens = (shape.batch, shape.tokens)
    pairs = (1, shape.heads, shape.tokens, shape.tokens)
    extras = {"bias": (pairs, "float32"), "segments": (tokens, "int32"), "sinks": ((shape.heads,), "float32")}
    return [jax.ShapeDtypeStruct(*extras[kind])] if kind in extras else []


def export_attention(kind: str, shape: Shape) -> spmlir.Exported:
    return spmlir.export(partial(attention, kind), *shape.arguments(), *extra(kind, shape))


def export_decoder(config: llama.Config, dtype: str) -> spmlir.Exported:
    weights = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, dtype), llama.parameters(config))
    ids = jax.ShapeDtypeStruct((config.batch, config.tokens), "int32")
    return spmlir.export(partial(llama.decoder, config), weights, ids)


def export_product(rows: int, inner: int, columns: int) -> spmlir.Exported:
    """A product with a bias and ReLU, in f32."""

    def product(x: jax.Array, w: jax.Array, bias: jax.Array) -> jax.Array:
        return jnp.maximum(x @ w + bias, 0)

    shapes = ((rows, inner), (inner, columns), (columns,))
    return spmlir.export(product, *(jax.ShapeDtypeStruct(each, "float32") for each in shapes))


def export_kernel(kind: str, shape: Shape, tile: tuple[int, ...] = ()) -> spmlir.Exported:
    """Attention whose kernel leaves its state, by a tile where one is asked for."""
    text, where = export_attention(kind, shape).text, " attributes {"
    asked = "sp.attention_state, "
    if tile:
        asked += f"sp.attention_tile = array<i64: {', '.join(map(str, tile))}>, "
    if where not in text:
        raise SystemExit("expected attributes of the module in JAX's text but found none")
    return spmlir.Exported(text.replace(where, where + asked, 1))
