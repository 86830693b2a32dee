"""Training steps as people write them: clipping, mixed precision, loss scaling, dropout, and all at once.

A recipe is a state and a function of (state, tokens) that returns (loss, new state).
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from run_shifts import attend

LAYERS, HEADS = 2, 4
# Width of a head, of the MLP, words: even for most ranks, and for none.
SIZES = {"even": (24, 192, 120), "uneven": (23, 191, 113)}
RATE = 0.001


def parameters(sizes: str, dtype: str) -> dict:
    """Weights of a model, a dictionary a layer."""
    head, hidden, words = SIZES[sizes]
    width = HEADS * head
    shapes = {"qkv": (width, 3 * width), "o": (width, width), "up": (width, hidden), "down": (hidden, width)}
    draw = np.random.default_rng(len(sizes)).standard_normal
    layers = [{name: draw(shape) / 10 for name, shape in shapes.items()} for _ in range(LAYERS)]
    for layer in layers:
        layer["scale"] = 1 + draw(width) / 10
    tree = {"words": draw((words, width)), "layers": layers, "head": draw((width, words)) / 10}
    return jax.tree.map(lambda each: each.astype(dtype), tree)


def dropped(x: jax.Array, key: jax.Array | None) -> jax.Array:
    """Inverted dropout, of a tenth."""
    if key is None:
        return x
    return jnp.where(jax.random.bernoulli(key, 0.9, x.shape), x / 0.9, 0)


def loss(weights: dict, tokens: jax.Array, key: jax.Array | None = None) -> jax.Array:
    """Of the next token; with a key, embeddings and what layers add are dropped from."""
    keys = iter([None] * (1 + 2 * LAYERS) if key is None else jax.random.split(key, 1 + 2 * LAYERS))
    x = dropped(weights["words"][tokens], next(keys))
    for layer in weights["layers"]:
        qkv = (x * layer["scale"]) @ layer["qkv"]
        parts = jnp.split(qkv.reshape(*x.shape[:2], -1, x.shape[-1] // HEADS), 3, axis=2)
        x = x + dropped(attend(*parts).reshape(x.shape) @ layer["o"], next(keys))
        x = x + dropped(jax.nn.gelu(x @ layer["up"]) @ layer["down"], next(keys))
    logits = (x @ weights["head"])[:, :-1]
    logs = jax.nn.log_softmax(logits.astype(jnp.promote_types(logits.dtype, jnp.float32)))
    return -jnp.mean(jnp.take_along_axis(logs, tokens[:, 1:, None], axis=-1))


def norm_of(tree: dict) -> jax.Array:
    """Of all gradients together."""
    return jnp.sqrt(sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(tree)))


def clipped(slopes: dict, most: float) -> dict:
    """As optax.clip_by_global_norm: untouched where the norm is small."""
    norm = norm_of(slopes)
    return jax.tree.map(lambda x: jax.lax.select(norm < most, x, (x / norm.astype(x.dtype)) * most), slopes)


def finite(tree: dict) -> jax.Array:
    """Whether all of it is."""
    return jnp.all(jnp.array([jnp.all(jnp.isfinite(leaf)) for leaf in jax.tree.leaves(tree)]))


def adam(state: dict, slopes: dict) -> dict:
    """Weights and moments behind a step; updates stay small where second moments vanish."""
    count = state["count"] + 1
    first = jax.tree.map(lambda m, slope: 0.9 * m + 0.1 * slope, state["first"], slopes)
    second = jax.tree.map(lambda v, slope: 0.99 * v + 0.01 * slope**2, state["second"], slopes)

    def updated(weight: jax.Array, m: jax.Array, v: jax.Array) -> jax.Array:
        m, v = m / (1 - 0.9**count), v / (1 - 0.99**count)
        return weight - RATE * m / (jnp.sqrt(v) + 0.01)

    weights = jax.tree.map(updated, state["weights"], first, second)
    return {**state, "weights": weights, "first": first, "second": second, "count": count}


def clipping(state: dict, tokens: jax.Array) -> tuple:
    """Gradients of a norm of at most 1."""
    value, slopes = jax.value_and_grad(loss)(state["weights"], tokens)
    return value, adam(state, clipped(slopes, 1.0))


def narrow(weights: dict) -> dict:
    """What a step of mixed precision computes with."""
    return jax.tree.map(lambda each: each.astype(jnp.bfloat16), weights)


def mixed(state: dict, tokens: jax.Array) -> tuple:
    """Computes in bf16 with weights that are kept in f32."""
    value, slopes = jax.value_and_grad(lambda weights: loss(narrow(weights), tokens))(state["weights"])
    return value, adam(state, slopes)


def scaled(state: dict, tokens: jax.Array) -> tuple:
    """The loss times 1 024, so that small gradients stay."""
    value, slopes = jax.value_and_grad(lambda weights: loss(weights, tokens) * 1024)(state["weights"])
    return value / 1024, adam(state, jax.tree.map(lambda slope: slope / 1024, slopes))


def rescaled(state: dict, good: jax.Array) -> dict:
    """Half the scale where a step was thrown away, twice the scale after two that were not."""
    streak = jnp.where(good, state["streak"] + 1, 0)
    grows = streak == 2
    scale = jnp.where(good, jnp.where(grows, state["scale"] * 2, state["scale"]), state["scale"] / 2)
    return {"scale": scale, "streak": jnp.where(grows, 0, streak)}


def unscaled(state: dict, tokens: jax.Array, compute: Callable[[dict], jax.Array]) -> tuple:
    """A loss, and gradients of the sum over tokens that were scaled on their way."""

    def big(weights: dict) -> tuple:
        value = compute(weights)
        return value * tokens.size * state["scale"], value

    (_, value), slopes = jax.value_and_grad(big, has_aux=True)(state["weights"])
    return value, jax.tree.map(lambda slope: slope / state["scale"] / tokens.size, slopes)


def dynamic(state: dict, tokens: jax.Array) -> tuple:
    """A scale that is in the state; a step whose gradients are not finite changes nothing else."""
    value, slopes = unscaled(state, tokens, lambda weights: loss(weights, tokens))
    good = finite(slopes)
    after = jax.tree.map(lambda new, old: jnp.where(good, new, old), adam(state, slopes), state)
    return value, {**after, **rescaled(state, good)}


def branching(state: dict, tokens: jax.Array) -> tuple:
    """The same with a branch that a bad step does not take."""
    value, slopes = unscaled(state, tokens, lambda weights: loss(weights, tokens))
    good = finite(slopes)
    after = jax.lax.cond(good, lambda: adam(state, slopes), lambda: state)
    return value, {**after, **rescaled(state, good)}


def dropout(state: dict, tokens: jax.Array) -> tuple:
    """Another key for every step."""
    key, mine = jax.random.split(state["key"])
    value, slopes = jax.value_and_grad(loss)(state["weights"], tokens, mine)
    return value, {**adam(state, slopes), "key": key}


def everything(state: dict, tokens: jax.Array) -> tuple:
    """All of it: bf16, a dynamic scale, dropout, clipping."""
    key, mine = jax.random.split(state["key"])
    value, slopes = unscaled(state, tokens, lambda weights: loss(narrow(weights), tokens, mine))
    good = finite(slopes)
    after = adam(state, clipped(slopes, 1.0))
    after = jax.tree.map(lambda new, old: jnp.where(good, new, old), after, state)
    return value, {**after, **rescaled(state, good), "key": key}


RECIPES: dict[str, Callable[[dict, jax.Array], tuple]] = {
    each.__name__: each for each in (clipping, mixed, scaled, dynamic, branching, dropout, everything)
}
BF16 = ("mixed", "everything")


def start(name: str, sizes: str) -> dict:
    """What a recipe begins with."""
    dtype = "f4" if name in BF16 else "f8"
    weights = parameters(sizes, dtype)
    state = {"weights": weights, "count": np.zeros((), dtype)}
    state |= {each: jax.tree.map(np.zeros_like, weights) for each in ("first", "second")}
    if name in ("dropout", "everything"):
        state["key"] = jax.random.key(7)
    if name in ("dynamic", "branching", "everything"):
        # Not finite at first.
        state |= {"scale": np.asarray(np.finfo(dtype).max / 16, dtype), "streak": np.int32(0)}
    return state
