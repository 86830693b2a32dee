"""Whole families, small: encoders, decoders, both, vision, experts."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

import llama
from models import HEADS, SIZE, WIDTH, Made, attend, block, layer_norm, normal, weights
from models_masks import padding

VOCABULARY = 50


def ids(tokens: int, seed: int = 0) -> np.ndarray:
    """Two sequences of token ids."""
    return np.random.default_rng(seed).integers(0, VOCABULARY, (2, tokens), dtype=np.int32)


def attended(x: jax.Array, y: jax.Array, layer: dict, visible: jax.Array | None) -> jax.Array:
    """Attention of x to y where `visible` allows it."""
    q = (x @ layer["q"]).reshape(*x.shape[:2], HEADS, SIZE)
    k, v = ((y @ layer[name]).reshape(*y.shape[:2], HEADS, SIZE) for name in "kv")
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(SIZE).astype(x.dtype)
    if visible is not None:
        scores = jnp.where(visible, scores, jnp.finfo(x.dtype).min)
    out = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)
    return out.reshape(x.shape) @ layer["o"]


def perceptron(x: jax.Array, layer: dict) -> jax.Array:
    """Two matrices around a GELU."""
    return jax.nn.gelu(x @ layer["up"], approximate=False) @ layer["down"]


def bert(tokens: int, dtype: str) -> Made:
    """Embeddings of words, places and types; norms behind; a padding mask; a pooled first token."""

    def model(words: jax.Array, types: jax.Array, mask: jax.Array, tables: list, layers: list) -> tuple:
        x = layer_norm(tables[0][words] + tables[1][: words.shape[1]] + tables[2][types])
        visible = mask[:, None, None, :] > 0
        for layer in layers:
            x = layer_norm(x + attended(x, x, layer, visible))
            x = layer_norm(x + perceptron(x, layer))
        return x, jnp.tanh(x[:, 0] @ tables[3])

    shapes = ((VOCABULARY, WIDTH), (64, WIDTH), (2, WIDTH), (WIDTH, WIDTH))
    tables = [normal(i, *shape, dtype=dtype) for i, shape in enumerate(shapes)]
    types = (np.arange(tokens) > 9).astype(np.int32)[None].repeat(2, 0)
    return model, (ids(tokens), types, padding(tokens), tables, [weights(5, dtype), weights(15, dtype)]), 2


def gpt2(tokens: int, dtype: str) -> Made:
    """Learned positions, one matrix for queries, keys and values, tied logits."""

    def model(words: jax.Array, table: jax.Array, places: jax.Array, layers: list) -> jax.Array:
        x = table[words] + places[jnp.arange(words.shape[1])]
        for layer in layers:
            x = block(x, layer, True)
        return jnp.einsum("btd,vd->btv", layer_norm(x), table)

    table, places = normal(1, VOCABULARY, WIDTH, dtype=dtype), normal(2, 64, WIDTH, dtype=dtype)
    return model, (ids(tokens), table, places, [weights(5, dtype), weights(15, dtype)]), 2


def gemma(tokens: int, dtype: str) -> Made:
    """Soft-capped scores, local and global layers in turn, norms on both sides, capped logits."""

    def model(words: jax.Array, table: jax.Array, layers: list) -> jax.Array:
        x = table[words] * np.sqrt(WIDTH).astype(table.dtype)
        i, j = jnp.arange(words.shape[1])[:, None], jnp.arange(words.shape[1])[None]
        for number, layer in enumerate(layers):
            y = layer_norm(x)
            q, k, v = ((y @ layer[name]).reshape(*x.shape[:2], HEADS, SIZE) for name in "qkv")
            scores = jnp.einsum("bqhd,bkhd->bhqk", llama.rope(q), llama.rope(k)) * SIZE**-0.5
            scores = 5 * jnp.tanh(scores / 5)
            visible = (j <= i) & (i - j < 6) if number % 2 == 0 else j <= i
            scores = jnp.where(visible, scores, -2.38e38)
            out = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v).reshape(x.shape)
            x = x + layer_norm(out @ layer["o"])
            x = x + layer_norm(perceptron(layer_norm(x), layer))
        return 30 * jnp.tanh(layer_norm(x) @ table.T / 30)

    table = normal(1, VOCABULARY, WIDTH, dtype=dtype)
    return model, (ids(tokens), table, [weights(5, dtype), weights(15, dtype)]), 2


def local_and_global(tokens: int, dtype: str) -> Made:
    """A layer with a causal window, one without, and one that sees both directions nearby."""

    def model(x: jax.Array, layers: list) -> jax.Array:
        i, j = jnp.arange(x.shape[1])[:, None], jnp.arange(x.shape[1])[None]
        for layer, visible in zip(layers, ((j <= i) & (j > i - 5), j <= i, jnp.abs(i - j) <= 4), strict=True):
            x = x + attended(layer_norm(x), layer_norm(x), layer, visible)
        return x

    layers = [weights(seed, dtype) for seed in (5, 15, 25)]
    return model, (normal(1, 2, tokens, WIDTH, dtype=dtype), layers), 3


def few_and_many(tokens: int, dtype: str) -> Made:
    """Causal layers of four, one and two kv heads, for which other strategies are cheapest."""

    def model(x: jax.Array, layers: list) -> jax.Array:
        for layer, kv_heads in zip(layers, (4, 1, 2), strict=True):
            y = layer_norm(x)
            q = (y @ layer["q"]).reshape(*x.shape[:2], HEADS, SIZE)
            k, v = (
                (y @ layer[name][:, : kv_heads * SIZE]).reshape(*x.shape[:2], kv_heads, SIZE) for name in "kv"
            )
            x = x + jax.nn.dot_product_attention(q, k, v, is_causal=True).reshape(x.shape) @ layer["o"]
        return x

    layers = [weights(seed, dtype) for seed in (5, 15, 25)]
    return model, (normal(1, 2, tokens, WIDTH, dtype=dtype), layers), 3


def translator(tokens: int, dtype: str) -> Made:
    """An encoder, and a decoder that attends to itself and to the encoder."""

    def model(source: jax.Array, target: jax.Array, table: jax.Array, layers: list) -> jax.Array:
        x, y = table[source], table[target]
        x = block(x, layers[0], False)
        y = attend(block(y, layers[1], True), layer_norm(x), layers[2], False)
        return layer_norm(y + perceptron(layer_norm(y), layers[2])) @ table.T

    layers = [weights(seed, dtype) for seed in (5, 15, 25)]
    return model, (ids(tokens), ids(tokens // 2, 1), normal(1, VOCABULARY, WIDTH, dtype=dtype), layers), 3


def padded_translator(tokens: int, dtype: str) -> Made:
    """The same with a padded source, which the decoder does not see either."""

    def model(
        source: jax.Array, mask: jax.Array, target: jax.Array, table: jax.Array, layers: list
    ) -> jax.Array:
        x, y = table[source], table[target]
        visible = (mask > 0)[:, None, None, :]
        x = x + attended(layer_norm(x), layer_norm(x), layers[0], visible)
        y = block(y, layers[1], True)
        y = y + attended(layer_norm(y), layer_norm(x), layers[2], visible)
        return layer_norm(y) @ table.T

    layers = [weights(seed, dtype) for seed in (5, 15, 25)]
    table = normal(1, VOCABULARY, WIDTH, dtype=dtype)
    return model, (ids(tokens), padding(tokens), ids(tokens // 2, 1), table, layers), 3


def vit(tokens: int, dtype: str) -> Made:
    """Patches by convolution, a class token in front, the class token's logits."""

    def model(image: jax.Array, kernel: jax.Array, token: jax.Array, places: jax.Array, layer: dict) -> tuple:
        patches = jax.lax.conv_general_dilated(
            image, kernel, (4, 4), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        patches = patches.reshape(image.shape[0], -1, WIDTH)
        first = jnp.broadcast_to(token, (image.shape[0], 1, WIDTH))
        x = jnp.concatenate([first, patches], axis=1) + places
        x = block(block(x, layer, False), layer, False)
        return layer_norm(x)[:, 0] @ kernel.reshape(-1, WIDTH).T, x

    image = normal(1, 2, 16, tokens // 4 * 4, 3, dtype=dtype)
    kernel, token = normal(2, 4, 4, 3, WIDTH, dtype=dtype), normal(3, WIDTH, dtype=dtype)
    places = normal(4, tokens // 4 * 4 + 1, WIDTH, dtype=dtype)
    return model, (image, kernel, token, places, weights(5, dtype)), 2


def experts(tokens: int, dtype: str) -> Made:
    """A mixture of experts: each token's best two of three, all of them computed."""

    def model(x: jax.Array, layer: dict, router: jax.Array, up: jax.Array, down: jax.Array) -> jax.Array:
        x = attend(layer_norm(x), layer_norm(x), layer, True)
        y = layer_norm(x)
        best, chosen = jax.lax.top_k(jax.nn.softmax(y @ router), 2)
        gates = (jax.nn.one_hot(chosen, 3, dtype=x.dtype) * best[..., None]).sum(-2)
        hidden = jax.nn.silu(jnp.einsum("btd,edf->ebtf", y, up))
        return x + jnp.einsum("ebtf,efd,bte->btd", hidden, down, gates)

    matrices = [
        normal(i, *shape, dtype=dtype) for i, shape in enumerate(((WIDTH, 3), (3, WIDTH, 24), (3, 24, WIDTH)))
    ]
    return model, (normal(1, 2, tokens, WIDTH, dtype=dtype), weights(5, dtype), *matrices), 1


def latents(tokens: int, dtype: str) -> Made:
    """A few learned queries read the sequence, then each other."""

    def model(x: jax.Array, queries: jax.Array, layers: list) -> jax.Array:
        y = jnp.broadcast_to(queries, (x.shape[0], *queries.shape))
        y = y + attended(layer_norm(y), layer_norm(x), layers[0], None)
        return y + attended(layer_norm(y), layer_norm(y), layers[1], None)

    layers = [weights(5, dtype), weights(15, dtype)]
    return model, (normal(1, 2, tokens, WIDTH, dtype=dtype), normal(2, 6, WIDTH, dtype=dtype), layers), 2


MODELS: dict[str, Callable[[int, str], Made]] = {
    "bert": bert,
    "gpt2": gpt2,
    "gemma": gemma,
    "local-and-global": local_and_global,
    "few-and-many": few_and_many,
    "translator": translator,
    "padded-translator": padded_translator,
    "vit": vit,
    "experts": experts,
    "latents": latents,
}
