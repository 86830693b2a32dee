"""One model in the forms people write: mapped, scanned, outlined, rematerialised, mixed types."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

import llama
from models import HEADS, SIZE, WIDTH, Made, block, layer_norm, normal, weights


def one_layer(tokens: int, dtype: str, model: Callable[..., jax.Array], count: int = 1) -> Made:
    """`model` of x and one layer's weights."""
    return model, (normal(1, 2, tokens, WIDTH, dtype=dtype), weights(2, dtype)), count


def tril(scores: jax.Array) -> jax.Array:
    """(queries, keys), true where causal."""
    return jnp.tril(jnp.ones(scores.shape[-2:], bool))


def heads_first(x: jax.Array, layer: dict) -> jax.Array:
    """Projections that put heads before tokens, and matmul between them."""
    q, k, v = (jnp.einsum("btd,dnh->bnth", x, layer[name].reshape(WIDTH, HEADS, SIZE)) for name in "qkv")
    scores = jnp.matmul(q, jnp.swapaxes(k, 2, 3)) / np.sqrt(SIZE).astype(x.dtype)
    out = jnp.matmul(jax.nn.softmax(jnp.where(tril(scores), scores, -jnp.inf)), v)
    return x + jnp.einsum("bnth,nhd->btd", out, layer["o"].reshape(HEADS, SIZE, WIDTH))


def mapped(x: jax.Array, layer: dict) -> jax.Array:
    """A model of one sequence and one head, mapped over both."""

    def head(x: jax.Array, q: jax.Array, k: jax.Array, v: jax.Array, o: jax.Array) -> jax.Array:
        scores = (x @ q) @ (x @ k).T / np.sqrt(SIZE).astype(x.dtype)
        return jax.nn.softmax(jnp.where(tril(scores), scores, -jnp.inf)) @ (x @ v) @ o

    def sequence(x: jax.Array) -> jax.Array:
        columns = [layer[name].reshape(WIDTH, HEADS, SIZE).swapaxes(0, 1) for name in "qkv"]
        rows = layer["o"].reshape(HEADS, SIZE, WIDTH)
        return x + jax.vmap(head, (None, 0, 0, 0, 0))(x, *columns, rows).sum(0)

    return jax.vmap(sequence)(x)


def unrolled(x: jax.Array, layer: dict) -> jax.Array:
    """A loop over heads, whose results are concatenated: an attention each."""
    outputs = []
    for head in range(HEADS):
        part = slice(head * SIZE, (head + 1) * SIZE)
        q, k, v = (x @ layer[name][:, part] for name in "qkv")
        scores = jnp.einsum("bqd,bkd->bqk", q, k) / np.sqrt(SIZE).astype(x.dtype)
        outputs.append(jax.nn.softmax(jnp.where(tril(scores), scores, -jnp.inf)) @ v)
    return x + jnp.concatenate(outputs, axis=-1) @ layer["o"]


def split(x: jax.Array, layer: dict) -> jax.Array:
    """One projection for queries, keys and values."""
    fused = jnp.concatenate([layer[name] for name in "qkv"], axis=1)
    q, k, v = jnp.split((x @ fused).reshape(*x.shape[:2], 3 * HEADS, SIZE), 3, axis=2)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(SIZE).astype(x.dtype)
    out = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(jnp.where(tril(scores), scores, -jnp.inf)), v)
    return x + out.reshape(x.shape) @ layer["o"]


@jax.jit
def softmax(scores: jax.Array, mask: jax.Array) -> jax.Array:
    """Softmax over the visible keys, by the library's own option."""
    return jax.nn.softmax(scores, axis=-1, where=mask)


@partial(jax.jit, static_argnames="heads")
def attention(q: jax.Array, k: jax.Array, v: jax.Array, heads: int) -> jax.Array:
    """Attention of flat heads."""
    q, k, v = (each.reshape(*each.shape[:2], heads, -1) for each in (q, k, v))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1]).astype(q.dtype)
    out = jnp.einsum("bhqk,bkhd->bqhd", softmax(scores, tril(scores)), v)
    return out.reshape(*out.shape[:2], -1)


def outlined(x: jax.Array, layer: dict) -> jax.Array:
    """Functions of their own, called by two layers."""
    for _ in range(2):
        y = layer_norm(x)
        x = x + attention(*(y @ layer[name] for name in "qkv"), heads=HEADS) @ layer["o"]
    return x


def mixed(x: jax.Array, layer: dict) -> jax.Array:
    """bf16 activations, softmax in f32."""
    x, layer = x.astype(jnp.bfloat16), jax.tree.map(lambda w: w.astype(jnp.bfloat16), layer)
    q, k, v = ((x @ layer[name]).reshape(*x.shape[:2], HEADS, SIZE) for name in "qkv")
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=jnp.float32) * SIZE**-0.5
    probabilities = jax.nn.softmax(jnp.where(tril(scores), scores, -1e30)).astype(jnp.bfloat16)
    return x + jnp.einsum("bhqk,bkhd->bqhd", probabilities, v).reshape(x.shape) @ layer["o"]


def converted(x: jax.Array, layer: dict) -> jax.Array:
    """Scores rounded to bf16 before a softmax in f32."""
    x, layer = x.astype(jnp.bfloat16), jax.tree.map(lambda w: w.astype(jnp.bfloat16), layer)
    q, k, v = ((x @ layer[name]).reshape(*x.shape[:2], HEADS, SIZE) for name in "qkv")
    scores = (jnp.einsum("bqhd,bkhd->bhqk", q, k) * SIZE**-0.5).astype(jnp.float32)
    probabilities = jax.nn.softmax(jnp.where(tril(scores), scores, -1e30)).astype(jnp.bfloat16)
    return x + jnp.einsum("bhqk,bkhd->bqhd", probabilities, v).reshape(x.shape) @ layer["o"]


def checkpointed(x: jax.Array, layer: dict) -> jax.Array:
    """Two rematerialised blocks."""
    for _ in range(2):
        x = jax.checkpoint(partial(block, causal=True))(x, layer)
    return x


def sequence_first(x: jax.Array, layer: dict) -> jax.Array:
    """Tokens before batch, heads flattened into the batch."""
    x = x.transpose(1, 0, 2)
    q, k, v = ((x @ layer[name]).reshape(x.shape[0], -1, SIZE).transpose(1, 0, 2) for name in "qkv")
    scores = jnp.matmul(q * SIZE**-0.5, k.transpose(0, 2, 1))
    out = jnp.matmul(jax.nn.softmax(scores), v)
    return (x + out.transpose(1, 0, 2).reshape(x.shape) @ layer["o"]).transpose(1, 0, 2)


def scanned(tokens: int, dtype: str) -> Made:
    """A scan over layers whose carry has the mask, and whose layers keep their results."""

    def model(x: jax.Array, stack: dict) -> tuple[jax.Array, jax.Array]:
        def layer(carry: tuple, layer: dict) -> tuple:
            x, mask = carry
            y = layer_norm(x)
            q, k, v = ((y @ layer[name]).reshape(*x.shape[:2], HEADS, SIZE) for name in "qkv")
            scores = jnp.einsum("bqhd,bkhd->bhqk", llama.rope(q), llama.rope(k)) * SIZE**-0.5
            scores = jnp.where(mask, scores, -1e9)
            out = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)
            x = x + out.reshape(x.shape) @ layer["o"]
            return (x, mask), x

        mask = jnp.tril(jnp.ones((x.shape[1], x.shape[1]), bool))
        (x, _), every = jax.lax.scan(layer, (x, mask), stack)
        return x, every

    return model, (normal(1, 2, tokens, WIDTH, dtype=dtype), weights(3, dtype, 3)), 1


MODELS: dict[str, Callable[[int, str], Made]] = {
    "heads-first": lambda t, d: one_layer(t, d, heads_first),
    "mapped": lambda t, d: one_layer(t, d, mapped),
    "unrolled": lambda t, d: one_layer(t, d, unrolled, HEADS),
    "split": lambda t, d: one_layer(t, d, split),
    "outlined": lambda t, d: one_layer(t, d, outlined, 2),
    "mixed": lambda t, d: one_layer(t, d, mixed),
    "converted": lambda t, d: one_layer(t, d, converted),
    "checkpointed": lambda t, d: one_layer(t, d, checkpointed, 2),
    "sequence-first": lambda t, d: one_layer(t, d, sequence_first),
    "scanned": scanned,
}
