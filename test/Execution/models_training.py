"""Steps of training as people write them: what is differentiated, and how.

Each entry of TRAINING makes a function, its arguments, and how many attentions there are in it
forward and backward.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import models_differential
import models_sums
from decoder import (
    BATCH,
    DISTANCE,
    HEADS,
    KV_HEADS,
    LAYERS,
    SIZE,
    TOKENS,
    attention,
    by_hand,
    by_library,
    entropy,
    hidden,
    ids,
    layer,
    loss_of,
    parallel,
    parameters,
    rms_norm,
    sloped,
)

Made = tuple[Callable[..., Any], tuple, tuple[int, int]]


def of_layers(each: Callable[..., jax.Array], forward: int, dtype: str = "float64") -> Made:
    """Layers computed in some way."""
    loss = partial(loss_of, each=each)
    return jax.value_and_grad(loss), (parameters(dtype), ids()), (forward, LAYERS)


def scanned(
    wrap: Callable[..., Any],
    forward: int,
    each: Callable[..., jax.Array] = layer,
    loop: Callable[..., Any] = jax.lax.scan,
    in_trip: int = 1,
    **more: np.ndarray,
) -> Made:
    """A scan, or another loop, over stacked layers, so many a trip; more: of their weights."""

    def loss(weights: dict, tokens: jax.Array) -> jax.Array:
        stack = weights["layers"]
        x = hidden(weights | {"layers": []}, tokens)[0]
        x, _ = loop(wrap(lambda x, weights: (each(x, weights), None)), x, stack)
        return entropy(rms_norm(x, weights["norm"]), weights["head"], tokens)

    weights = parameters()
    weights["layers"] = jax.tree.map(lambda *some: np.stack(some), *weights["layers"] * in_trip) | more
    return jax.value_and_grad(loss), (weights, ids()), (forward, in_trip)


def windowed() -> Made:
    """Layers of a scan, some of which have a window."""

    def each(x: jax.Array, weights: dict) -> jax.Array:
        distance = jnp.arange(TOKENS)[:, None] - jnp.arange(TOKENS)
        visible = (distance >= 0) & (distance < jnp.where(weights["is_local"], 5, TOKENS))
        return layer(x, weights, partial(attention, visible=visible))

    def loop(body: Callable[..., Any], x: jax.Array, stack: dict) -> tuple[jax.Array, None]:
        return jax.lax.scan(body, x, stack | {"is_local": jnp.array([True, False])})

    return scanned(lambda body: body, 1, each, loop)


def indexed() -> Made:
    """A loop that reads the weights of its layer by its counter."""

    def loop(body: Callable[..., Any], x: jax.Array, stack: dict) -> tuple[jax.Array, None]:
        def turn(i: Any, x: jax.Array) -> jax.Array:
            return body(x, jax.tree.map(lambda weights: weights[i], stack))[0]

        return jax.lax.fori_loop(0, LAYERS, turn, x), None

    return scanned(lambda body: body, 1, loop=loop)


def dropped() -> Made:
    """Dropout behind each of scanned layers, whose mask the backward computes again or saves."""

    def each(x: jax.Array, weights: dict) -> jax.Array:
        y = layer(x, weights)
        return jnp.where(jax.random.bernoulli(weights["key"], 0.9, y.shape), y / 0.9, 0)

    key = np.arange(2 * LAYERS, dtype=np.uint32).reshape(LAYERS, 2)

    def loss(weights: dict, key: jax.Array, tokens: jax.Array) -> jax.Array:
        x = hidden(weights | {"layers": []}, tokens)[0]
        stack = weights["layers"] | {"key": key}
        x, _ = jax.lax.scan(lambda x, weights: (each(x, weights), None), x, stack)
        return entropy(rms_norm(x, weights["norm"]), weights["head"], tokens)

    weights = parameters()
    weights["layers"] = jax.tree.map(lambda *some: np.stack(some), *weights["layers"])
    return jax.value_and_grad(loss), (weights, key, ids()), (1, 1)


def tabled() -> Made:
    """T5's table by distance, which all layers share."""

    def loss(weights: dict, tokens: jax.Array) -> jax.Array:
        far = jnp.log(jnp.maximum(DISTANCE, 1) / 4.5) / np.log(40 / 4.5)
        bucket = jnp.where(DISTANCE < 4, DISTANCE, jnp.minimum(4 + (far * 4).astype(jnp.int32), 7))
        attend = partial(attention, bias=weights["table"][bucket].transpose(2, 0, 1))
        return loss_of(weights, tokens, partial(layer, attend=attend))

    table = np.random.default_rng(2).standard_normal((8, HEADS))
    return jax.value_and_grad(loss), (parameters() | {"table": table}, ids()), (LAYERS, LAYERS)


def summed() -> Made:
    """Gradients of the sum of attention's result, whose cotangent is a number."""
    rng = np.random.default_rng(3)
    q, k, v = (rng.standard_normal((BATCH, TOKENS, heads, SIZE)) for heads in (HEADS, KV_HEADS, KV_HEADS))
    return jax.value_and_grad(lambda *qkv: attention(*qkv).sum(), (0, 1, 2)), (q, k, v), (1, 1)


def accumulated(in_loop: bool) -> Made:
    """Gradients summed over two micro-batches."""

    def step(weights: dict, batches: jax.Array) -> tuple:
        def add(total: tuple, tokens: jax.Array) -> tuple:
            return jax.tree.map(jnp.add, total, jax.value_and_grad(loss_of)(weights, tokens)), None

        total = jax.tree.map(jnp.zeros_like, (np.float64(0), weights))
        if in_loop:
            total, _ = jax.lax.scan(add, total, batches)
        else:
            for tokens in batches:
                total, _ = add(total, tokens)
        return jax.tree.map(lambda x: x / 2, total)

    count = LAYERS if in_loop else 2 * LAYERS
    return step, (parameters(), ids(2)), (count, count)


def added_up() -> Made:
    """Gradients of losses that a scan over micro-batches adds up."""

    def loss(weights: dict, batches: jax.Array) -> jax.Array:
        def add(total: jax.Array, tokens: jax.Array) -> tuple:
            return total + loss_of(weights, tokens), None

        return jax.lax.scan(add, jnp.zeros((), weights["head"].dtype), batches)[0]

    return jax.value_and_grad(loss), (parameters(), ids(2)), (LAYERS, LAYERS)


def frozen() -> Made:
    """All below the last layer stays as it is."""

    def loss(weights: dict, tokens: jax.Array) -> jax.Array:
        below = jax.lax.stop_gradient(hidden(weights, tokens)[-2])
        x = layer(below, weights["layers"][-1])
        return entropy(rms_norm(x, weights["norm"]), weights["head"], tokens)

    return jax.value_and_grad(loss), (parameters(), ids()), (LAYERS, 1)


def in_part() -> Made:
    """Gradients of one matrix of the first layer."""

    def loss(matrix: jax.Array, weights: dict, tokens: jax.Array) -> jax.Array:
        first = weights["layers"][0] | {"q": matrix}
        return loss_of(weights | {"layers": [first, *weights["layers"][1:]]}, tokens)

    weights = parameters()
    return jax.value_and_grad(loss), (weights["layers"][0]["q"], weights, ids()), (LAYERS, LAYERS)


def tied() -> Made:
    """The embedding is the head too."""

    def loss(weights: dict, tokens: jax.Array) -> jax.Array:
        return loss_of(weights | {"head": weights["embedding"].T}, tokens)

    weights = parameters()
    del weights["head"]
    return jax.value_and_grad(loss), (weights, ids()), (LAYERS, LAYERS)


def with_auxiliary() -> Made:
    """A second loss at the middle, the squares of logits, and how many tokens are right beside them."""

    def loss(weights: dict, tokens: jax.Array) -> tuple:
        states = [rms_norm(x, weights["norm"]) for x in hidden(weights, tokens)]
        logits = states[-1] @ weights["head"]
        squares = jnp.mean(jax.nn.logsumexp(logits, -1) ** 2)
        main, middle = (entropy(x, weights["head"], tokens) for x in (states[-1], states[-2]))
        right = jnp.sum(jnp.argmax(logits[:, :-1], -1) == tokens[:, 1:])
        return main + 0.3 * middle + 1e-2 * squares, {"main": main, "middle": middle, "right": right}

    return jax.value_and_grad(loss, has_aux=True), (parameters(), ids()), (LAYERS, LAYERS)


def clipped() -> Made:
    """A step of gradient descent with momentum, clipped by the norm of all gradients."""

    def step(weights: dict, momentum: dict, tokens: jax.Array) -> tuple:
        loss, gradient = jax.value_and_grad(loss_of)(weights, tokens)
        norm = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(gradient)))
        scale = jnp.minimum(1.0, 0.5 / norm)
        momentum = jax.tree.map(lambda m, g: 0.9 * m + scale * g, momentum, gradient)
        return jax.tree.map(lambda w, m: w - 0.1 * m, weights, momentum), momentum, loss

    weights = parameters()
    return step, (weights, jax.tree.map(np.zeros_like, weights), ids()), (LAYERS, LAYERS)


def optimized() -> Made:
    """A step of AdamW as optax writes it."""
    import optax

    rule = optax.adamw(1e-2, weight_decay=0.1)

    def step(weights: dict, state: Any, tokens: jax.Array) -> tuple:
        loss, gradient = jax.value_and_grad(loss_of)(weights, tokens)
        updates, state = rule.update(gradient, state, weights)
        return optax.apply_updates(weights, updates), state, loss

    weights = parameters()
    return step, (weights, jax.tree.map(np.asarray, rule.init(weights)), ids()), (LAYERS, LAYERS)


TRAINING: dict[str, Callable[[], Made]] = {
    "plain": partial(of_layers, layer, LAYERS),
    "bf16": partial(of_layers, layer, LAYERS, "bfloat16"),
    "remat": lambda: of_layers(jax.checkpoint(layer), 2 * LAYERS),
    "policy": lambda: of_layers(
        jax.checkpoint(layer, policy=jax.checkpoint_policies.dots_with_no_batch_dims_saveable), 2 * LAYERS
    ),
    "by-hand": partial(of_layers, partial(layer, attend=by_hand), LAYERS),
    # Keys are saved as they were before they are repeated.
    "scan": partial(scanned, lambda body: body, 1),
    "scan-remat": partial(scanned, jax.checkpoint, 2),
    "loop": indexed,
    "scan-library": partial(scanned, lambda body: body, 1, partial(layer, attend=by_library)),
    "scan-unrolled": partial(scanned, lambda body: body, 2, loop=partial(jax.lax.scan, unroll=2), in_trip=2),
    "scan-windows": windowed,
    "scan-parallel": partial(scanned, lambda body: body, 1, parallel),
    "slopes": lambda: scanned(
        jax.checkpoint, 2, sloped, slopes=np.random.default_rng(2).standard_normal((LAYERS, HEADS))
    ),
    "dropout": dropped,
    "table": tabled,
    "sum": summed,
    "accumulated-loop": partial(accumulated, True),
    "accumulated": partial(accumulated, False),
    "added-up": added_up,
    "frozen": frozen,
    "in-part": in_part,
    "tied": tied,
    "auxiliary": with_auxiliary,
    "clipped": clipped,
    "adamw": optimized,
    **models_differential.TRAINING,
    **models_sums.TRAINING,
}
# The first two arguments become the first two results.
STEPS = ("clipped", "adamw")
