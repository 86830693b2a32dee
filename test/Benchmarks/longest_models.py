"""Steps of training a decoder whose sequences may be long: shapes alone, or with random values."""

from __future__ import annotations

import functools
import sys
from dataclasses import dataclass, fields, replace
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parents[2] / folder) for folder in ("python", "python/examples")]

import jax
import jax.numpy as jnp
import numpy as np

import llama
from spmlir.exported import Exported, lower


@dataclass(frozen=True)
class Model:
    """A step of training a decoder: SGD in f32, or Adam with f32 masters of weights in bf16."""

    config: llama.Config
    title: str
    adam: bool = False

    def sized(self, sizes: dict[str, int]) -> Model:
        return replace(self, config=replace(self.config, **sizes))

    def shapes(self) -> dict:
        """Of the weights."""
        c = self.config
        queries, keys = c.heads * c.head_size, c.kv_heads * c.head_size
        weight = functools.partial(jax.ShapeDtypeStruct, dtype="bfloat16" if self.adam else "float32")
        layer = {
            "attention_norm": weight((c.width,)),
            "wq": weight((c.width, queries)),
            "wk": weight((c.width, keys)),
            "wv": weight((c.width, keys)),
            "wo": weight((queries, c.width)),
            "mlp_norm": weight((c.width,)),
            "gate": weight((c.width, c.hidden)),
            "up": weight((c.width, c.hidden)),
            "down": weight((c.hidden, c.width)),
        }
        return {
            "embedding": weight((c.vocabulary, c.width)),
            "layers": [layer] * c.layers,
            "norm": weight((c.width,)),
            "logits": weight((c.width, c.vocabulary)),
        }

    def arguments(self) -> tuple:
        """Shapes of weights, with Adam both moments and masters, then of ids and labels."""
        weights, ids = self.shapes(), jax.ShapeDtypeStruct((self.config.batch, self.config.tokens), "int32")
        state = jax.tree.map(lambda each: jax.ShapeDtypeStruct(each.shape, "float32"), weights)
        return (weights, *[state] * 3 * self.adam, ids, ids)

    def loss(self, weights: dict, ids: jax.Array, labels: jax.Array) -> jax.Array:
        step = jax.checkpoint(functools.partial(layer, self.config))
        x = weights["embedding"][ids]
        for each in weights["layers"]:
            x = step(each, x)
        logits = (rms_norm(x, weights["norm"]) @ weights["logits"]).astype("float32")
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], axis=-1))

    def sgd_step(self, weights: dict, ids: jax.Array, labels: jax.Array) -> tuple:
        value, slopes = jax.value_and_grad(self.loss)(weights, ids, labels)
        return jax.tree.map(lambda each, slope: each - 0.1 * slope, weights, slopes), value

    def adam_step(self, weights: dict, first: dict, second: dict, masters: dict, *inputs: jax.Array) -> tuple:
        value, slopes = jax.value_and_grad(self.loss)(weights, *inputs)
        slopes = jax.tree.map(lambda each: each.astype("float32"), slopes)
        first = jax.tree.map(lambda m, slope: 0.9 * m + 0.1 * slope, first, slopes)
        second = jax.tree.map(lambda v, slope: 0.95 * v + 0.05 * slope * slope, second, slopes)
        ratio = jax.tree.map(lambda m, v: m / (jnp.sqrt(v) + 1e-8), first, second)
        masters = jax.tree.map(lambda each, change: each - 1e-3 * change, masters, ratio)
        return jax.tree.map(lambda each: each.astype("bfloat16"), masters), first, second, masters, value

    def export(self, values: bool = False) -> Exported:
        """The step as text, with random inputs where `values` are asked for."""
        arguments, rng = self.arguments(), np.random.default_rng(0)

        def value(shape: jax.ShapeDtypeStruct) -> np.ndarray:
            if shape.dtype == np.int32:
                return rng.integers(0, self.config.vocabulary, shape.shape, dtype=np.int32)
            return (rng.standard_normal(shape.shape) / np.sqrt(shape.shape[-1])).astype(shape.dtype)

        step = self.adam_step if self.adam else self.sgd_step
        jitted = jax.jit(step, donate_argnums=range(len(arguments) - 2), keep_unused=True)
        return lower(jitted, jax.tree.map(value, arguments) if values else arguments, {})

    def dealt(self) -> list[str]:
        """Options that deal the largest dimension of every matrix over the ranks."""
        return [
            f"--shard=arg{number}={'sp,_' if each.shape[0] >= each.shape[1] else '_,sp'}"
            for number, each in enumerate(jax.tree.leaves(self.arguments()[:-2]))
            if len(each.shape) == 2
        ]


def rms_norm(x: jax.Array, weight: jax.Array) -> jax.Array:
    """In f32, whatever the type of x."""
    y = x.astype("float32")
    return (y * jax.lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-5)).astype(x.dtype) * weight


def attention(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    """Causal, scores in f32."""
    k, v = (jnp.repeat(each, q.shape[2] // k.shape[2], axis=2) for each in (k, v))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type="float32") / q.shape[-1] ** 0.5
    place = jnp.arange(q.shape[1])
    weights = jax.nn.softmax(jnp.where(place[:, None] >= place, scores, -jnp.inf))
    return jnp.einsum("bhqk,bkhd->bqhd", weights.astype(q.dtype), v)


def layer(config: llama.Config, weights: dict, x: jax.Array) -> jax.Array:
    def heads(y: jax.Array, count: int) -> jax.Array:
        return y.reshape(*y.shape[:2], count, config.head_size)

    y = rms_norm(x, weights["attention_norm"])
    q = llama.rope(heads(y @ weights["wq"], config.heads))
    k = llama.rope(heads(y @ weights["wk"], config.kv_heads))
    v = heads(y @ weights["wv"], config.kv_heads)
    x = x + attention(q, k, v).reshape(x.shape[:2] + (-1,)) @ weights["wo"]
    y = rms_norm(x, weights["mlp_norm"])
    return x + (jax.nn.silu(y @ weights["gate"]) * (y @ weights["up"])) @ weights["down"]


SMALL = llama.Config(
    layers=8, tokens=65536, vocabulary=32768, width=1024, hidden=2816, heads=8, kv_heads=4, head_size=128
)
LARGE = llama.Config(
    layers=32, tokens=65536, vocabulary=128256, width=4096, hidden=14336, heads=32, kv_heads=8, head_size=128
)
SIZES = fields(llama.Config)
MODELS = {
    "table": Model(SMALL, "8 layers of width 1 024, f32, gradient descent, weights whole on every rank"),
    "8b": Model(LARGE, "8B in bf16, Adam with f32 masters, weights and state dealt over ranks", adam=True),
}
