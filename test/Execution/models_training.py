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

Made = tuple[Callable[..., Any], tuple, tuple[int, int]]

BATCH, TOKENS, LAYERS, VOCABULARY, HEADS, KV_HEADS, SIZE, HIDDEN = 3, 29, 2, 19, 4, 2, 6, 20
WIDTH = HEADS * SIZE
CAUSAL = np.tril(np.ones((TOKENS, TOKENS), bool))
DISTANCE = np.abs(np.arange(TOKENS)[:, None] - np.arange(TOKENS))


def parameters(dtype: str = "float64") -> dict:
    """Of a decoder of two layers; variance 1 / fan-in."""
    rng = np.random.default_rng(0)

    def normal(*shape: int) -> np.ndarray:
        return (rng.standard_normal(shape) / np.sqrt(shape[0])).astype(jnp.dtype(dtype))

    shapes = {"q": (WIDTH, WIDTH), "k": (WIDTH, KV_HEADS * SIZE), "v": (WIDTH, KV_HEADS * SIZE)}
    shapes |= {"o": (WIDTH, WIDTH), "up": (WIDTH, HIDDEN), "down": (HIDDEN, WIDTH)}
    shapes |= {name: (WIDTH,) for name in ("scale", "shift", "scale2", "shift2")}
    return {
        "embedding": normal(VOCABULARY, WIDTH) * 4,
        "positions": normal(TOKENS + 3, WIDTH),
        "layers": [{name: normal(*shape) for name, shape in shapes.items()} for _ in range(LAYERS)],
        "norm": 1 + normal(WIDTH),
        "head": normal(WIDTH, VOCABULARY),
    }


def ids(*lead: int) -> np.ndarray:
    """Tokens; 0 is padding."""
    return np.random.default_rng(1).integers(0, VOCABULARY, (*lead, BATCH, TOKENS), dtype=np.int32)


def rms_norm(x: jax.Array, scale: jax.Array) -> jax.Array:
    """Without a mean."""
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * scale


def layer_norm(x: jax.Array, scale: jax.Array, shift: jax.Array) -> jax.Array:
    """With scale and bias."""
    mean = jnp.mean(x, -1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(jnp.var(x, -1, keepdims=True) + 1e-6) * (1 + scale) + shift


def attention(q: jax.Array, k: jax.Array, v: jax.Array, bias: jax.Array | None = None) -> jax.Array:
    """Causal, of grouped queries; its softmax is in f32 or better."""
    k, v = (jnp.repeat(x, HEADS // KV_HEADS, axis=2) for x in (k, v))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / SIZE**0.5
    scores = scores if bias is None else scores + bias
    weights = jax.nn.softmax(jnp.where(CAUSAL, scores, -jnp.inf).astype(jnp.promote_types(q.dtype, "f4")))
    return jnp.einsum("bhqk,bkhd->bqhd", weights.astype(q.dtype), v)


by_library = partial(jax.nn.dot_product_attention, is_causal=True)


@jax.custom_vjp
def by_hand(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    """The same with gradients written out."""
    return by_hand_forward(q, k, v)[0]


def by_hand_forward(q: jax.Array, k: jax.Array, v: jax.Array) -> tuple:
    """What the gradients read: sums of rows rather than weights."""
    wide = [jnp.repeat(x, HEADS // KV_HEADS, axis=2) for x in (k, v)]
    scores = jnp.where(CAUSAL, jnp.einsum("bqhd,bkhd->bhqk", q, wide[0]) / SIZE**0.5, -jnp.inf)
    sums = jax.nn.logsumexp(scores, axis=-1, keepdims=True)
    out = jnp.einsum("bhqk,bkhd->bqhd", jnp.exp(scores - sums), wide[1])
    return out, (q, *wide, out, sums)


def by_hand_backward(saved: tuple, do: jax.Array) -> tuple:
    """Flash attention's rule."""
    q, k, v, out, sums = saved
    scores = jnp.where(CAUSAL, jnp.einsum("bqhd,bkhd->bhqk", q, k) / SIZE**0.5, -jnp.inf)
    weights = jnp.exp(scores - sums)
    delta = jnp.einsum("bqhd,bqhd->bhq", do, out)[..., None]
    ds = weights * (jnp.einsum("bqhd,bkhd->bhqk", do, v) - delta) / SIZE**0.5
    dq = jnp.einsum("bhqk,bkhd->bqhd", ds, k)
    dk, dv = jnp.einsum("bhqk,bqhd->bkhd", ds, q), jnp.einsum("bhqk,bqhd->bkhd", weights, do)
    dk, dv = (x.reshape(*x.shape[:2], KV_HEADS, -1, SIZE).sum(3) for x in (dk, dv))
    return dq, dk, dv


by_hand.defvjp(by_hand_forward, by_hand_backward)


def layer(x: jax.Array, weights: dict, attend: Callable[..., jax.Array] = attention) -> jax.Array:
    """Attention and a perceptron, after a norm each."""
    y = layer_norm(x, weights["scale"], weights["shift"])
    q, k, v = ((y @ weights[name]).reshape(*y.shape[:2], -1, SIZE) for name in "qkv")
    x = x + attend(q, k, v).reshape(x.shape) @ weights["o"]
    y = rms_norm(x, 1 + weights["scale2"]) + weights["shift2"]
    return x + jax.nn.silu(y @ weights["up"]) @ weights["down"]


def sloped(x: jax.Array, weights: dict) -> jax.Array:
    """A layer that learns how fast each head forgets what is far."""
    bias = -jax.nn.softplus(weights["slopes"])[:, None, None] * DISTANCE
    return layer(x, weights, partial(attention, bias=bias))


def hidden(weights: dict, tokens: jax.Array, each: Callable[..., jax.Array] = layer) -> list[jax.Array]:
    """What goes into each layer, and what comes out of the last."""
    states = [weights["embedding"][tokens] + weights["positions"][: tokens.shape[1]]]
    for layer_weights in weights["layers"]:
        states.append(each(states[-1], layer_weights))
    return states


def entropy(x: jax.Array, head: jax.Array, tokens: jax.Array) -> jax.Array:
    """Of the next token, over those that are no padding."""
    logits = jax.nn.log_softmax((x @ head)[:, :-1].astype(jnp.promote_types(x.dtype, "f4")))
    labels = tokens[:, 1:]
    counted = (labels != 0).astype(logits.dtype)
    losses = -jnp.take_along_axis(logits, labels[..., None], -1)[..., 0]
    return jnp.sum(losses * counted) / jnp.sum(counted)


def loss_of(weights: dict, tokens: jax.Array, each: Callable[..., jax.Array] = layer) -> jax.Array:
    """The plain loss."""
    x = hidden(weights, tokens, each)[-1]
    return entropy(rms_norm(x, weights["norm"]), weights["head"], tokens)


def of_layers(each: Callable[..., jax.Array], forward: int, dtype: str = "float64") -> Made:
    """Layers computed in some way."""
    loss = partial(loss_of, each=each)
    return jax.value_and_grad(loss), (parameters(dtype), ids()), (forward, LAYERS)


def scanned(
    wrap: Callable[..., Any], forward: int, each: Callable[..., jax.Array] = layer, **more: np.ndarray
) -> Made:
    """A scan over stacked layers; more: of their weights."""

    def loss(weights: dict, tokens: jax.Array) -> jax.Array:
        stack = weights["layers"]
        x = hidden(weights | {"layers": []}, tokens)[0]
        x, _ = jax.lax.scan(wrap(lambda x, weights: (each(x, weights), None)), x, stack)
        return entropy(rms_norm(x, weights["norm"]), weights["head"], tokens)

    weights = parameters()
    weights["layers"] = jax.tree.map(lambda *some: np.stack(some), *weights["layers"]) | more
    return jax.value_and_grad(loss), (weights, ids()), (forward, 1)


def tabled() -> Made:
    """T5's table by distance, which all layers share."""

    def loss(weights: dict, tokens: jax.Array) -> jax.Array:
        far = jnp.log(jnp.maximum(DISTANCE, 1) / 4.5) / np.log(40 / 4.5)
        bucket = jnp.where(DISTANCE < 4, DISTANCE, jnp.minimum(4 + (far * 4).astype(jnp.int32), 7))
        attend = partial(attention, bias=weights["table"][bucket].transpose(2, 0, 1))
        return loss_of(weights, tokens, partial(layer, attend=attend))

    table = np.random.default_rng(2).standard_normal((8, HEADS))
    return jax.value_and_grad(loss), (parameters() | {"table": table}, ids()), (LAYERS, LAYERS)


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
    "scan-library": partial(scanned, lambda body: body, 1, partial(layer, attend=by_library)),
    "slopes": lambda: scanned(
        jax.checkpoint, 2, sloped, slopes=np.random.default_rng(2).standard_normal((LAYERS, HEADS))
    ),
    "table": tabled,
    "accumulated-loop": partial(accumulated, True),
    "accumulated": partial(accumulated, False),
    "added-up": added_up,
    "frozen": frozen,
    "in-part": in_part,
    "tied": tied,
    "auxiliary": with_auxiliary,
    "clipped": clipped,
    "adamw": optimized,
}
# The first two arguments become the first two results.
STEPS = ("clipped", "adamw")
