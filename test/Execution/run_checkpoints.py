"""Training through checkpoints: what is computed again, under every choice of --checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import harness
import spmlir

LAYERS, TOKENS, HEADS, SIZE = 3, 37, 4, 8
WIDTH = HEADS * SIZE


def layer(x: jax.Array, w: jax.Array) -> jax.Array:
    """Causal attention of projections, and what goes past it."""
    q, k, v = (part.reshape(2, TOKENS, HEADS, SIZE) for part in jnp.split(x @ w, 3, -1))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / SIZE**0.5
    scores = jnp.where(jnp.tril(jnp.ones((TOKENS, TOKENS), bool)), scores, -jnp.inf)
    return x + jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v).reshape(x.shape)


def stacked(x: jax.Array, w: jax.Array) -> jax.Array:
    """Layer after layer, each a checkpoint."""
    for each in w:
        x = jax.checkpoint(layer)(x, each)
    return x


def plain(x: jax.Array, w: jax.Array) -> jax.Array:
    """Layer after layer."""
    for each in w:
        x = layer(x, each)
    return x


def rotated(x: jax.Array, w: jax.Array) -> jax.Array:
    """Layer after layer with positions, and a head that is larger than any of them."""
    angle = jnp.arange(TOKENS, dtype=x.dtype)[:, None] / 10 ** jnp.arange(WIDTH, dtype=x.dtype)
    for each in w:
        x = layer(x * jnp.cos(angle), each) * jax.nn.silu(x)
    return jax.nn.log_softmax(jnp.tile(jnp.tanh(x), 2) @ jnp.tile(w[0], (2, 3)))


def scanned(x: jax.Array, w: jax.Array) -> jax.Array:
    """A scan over layers."""
    return jax.lax.scan(lambda x, each: (layer(x, each), None), x, w)[0]


def checkpointed(x: jax.Array, w: jax.Array) -> jax.Array:
    """A scan over layers, each a checkpoint."""
    return jax.lax.scan(jax.checkpoint(lambda x, each: (layer(x, each), None)), x, w)[0]


def likelihood(weights: dict, ids: jax.Array) -> jax.Array:
    """Of the ids, by tied embeddings around layers: gradients of every sort of weight."""
    x = weights["words"][ids] + weights["places"][jnp.arange(TOKENS)]
    x = scanned(x, weights["layers"])
    y = x.astype(jnp.float32)
    y = y * jax.lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-5)
    logits = (y.astype(x.dtype) * weights["norm"] + weights["bias"]) @ weights["words"].T
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits.astype(jnp.float32)), ids[..., None], -1)
    return -jnp.mean(chosen)


def step(tools: harness.Tools, dtype: str) -> harness.Program:
    """A step of training weights of that type: the loss and all gradients."""
    rng = np.random.default_rng(1)

    def normal(*shape: int) -> np.ndarray:
        return (rng.standard_normal(shape) / WIDTH**0.5).astype(dtype)

    weights = {
        "words": normal(50, WIDTH),
        "places": normal(TOKENS, WIDTH),
        "layers": normal(LAYERS, WIDTH, 3 * WIDTH),
        "norm": 1 + normal(WIDTH),
        "bias": normal(WIDTH),
    }
    ids = rng.integers(0, 50, (2, TOKENS), dtype=np.int32)
    return tools.program(f"checkpoints-step-{dtype}", jax.value_and_grad(likelihood), weights, ids)


# How many attentions there are backward, and by choice forward.
MODELS: tuple[tuple[Callable[..., Any], int, dict[str, int]], ...] = (
    (plain, LAYERS, {"as-written": LAYERS, "full": 2 * LAYERS - 1}),
    (
        stacked,
        LAYERS,
        {"as-written": 2 * LAYERS, "attention-out": LAYERS, "none": LAYERS, "full": 2 * LAYERS - 1},
    ),
    (rotated, LAYERS, {"as-written": LAYERS, "full": 2 * LAYERS}),
    (scanned, 1, {"as-written": 1, "attention-out": 1}),
    (checkpointed, 1, {"as-written": 2, "attention-out": 1, "none": 1}),
)


def counted(forward: int, backward: int) -> Callable[[dict, dict], None]:
    """A check of how many attentions are computed in each direction."""

    def check(promised: dict, _: dict) -> None:
        directions = [attention["direction"] for attention in promised["attentions"]]
        found = directions.count("forward"), directions.count("backward")
        if found != (forward, backward):
            raise harness.CaseError(f"expected {forward} forward and {backward} backward but found {found}")

    return check


def long_loss(x: jax.Array, w: jax.Array) -> jax.Array:
    """Of eight layers over 16,384 tokens, each a checkpoint with a wide activation behind its attention."""

    def block(x: jax.Array, each: jax.Array) -> jax.Array:
        q, k, v = (
            part.reshape(1, x.shape[1], HEADS, SIZE) for part in jnp.split(x @ each[:, : 3 * WIDTH], 3, -1)
        )
        x = x + jax.nn.dot_product_attention(q, k, v, is_causal=True).reshape(x.shape)
        return x + jax.nn.silu(x @ each) @ each.T

    for each in w:
        x = jax.checkpoint(block)(x, each)
    return jnp.mean(x**2)


def disorder(tools: harness.Tools) -> str:
    """What is wrong with the memory that choices promise; or ""."""
    shapes = [
        jax.ShapeDtypeStruct(shape, jnp.float32) for shape in ((1, 16384, WIDTH), (8, WIDTH, 8 * WIDTH))
    ]
    folder = tools.work / "checkpoints-long"
    spmlir.export(jax.value_and_grad(long_loss, (0, 1)), *shapes).save(folder)
    peaks = {}
    for choice in ("none", "full", "attention-out", "as-written"):
        report = folder / f"{choice}.json"
        options = ("--mesh=sp=8", "--strategy=ring", f"--checkpoint={choice}", f"--report={report}")
        tools.run("sp-compile", folder / "model.mlir", *options, "-o", folder / "model.spx")
        peaks[choice] = max(harness.read_report(report)["peakBytesPerRank"])
    is_ordered = peaks["full"] <= peaks["attention-out"] <= peaks["none"] / 2
    is_ordered &= peaks["as-written"] <= peaks["attention-out"]
    return "" if is_ordered else f"expected full to need the least and none twice as much or more: {peaks}"


def main() -> int:
    """Every model, strategy and choice; and what choices are for."""
    args = harness.arguments(__doc__).parse_args()
    tools = harness.Tools(args.build, args.work)
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2, TOKENS, WIDTH)).astype(np.float32)
    w = (rng.standard_normal((LAYERS, WIDTH, 3 * WIDTH)) / WIDTH**0.5).astype(np.float32)
    cases = []
    for model, backward, choices in MODELS[1::2] if args.quick else MODELS:

        def loss(x: jax.Array, w: jax.Array, model: Callable[..., Any] = model) -> jax.Array:
            return jnp.mean(model(x, w) ** 2)

        program = tools.program(f"checkpoints-{model.__name__}", jax.value_and_grad(loss, (0, 1)), x, w)
        cases += [
            harness.Case(
                program,
                (f"--mesh=sp={ranks}", f"--strategy={strategy}", f"--checkpoint={choice}", *blocks),
                check=counted(forward, backward),
            )
            for strategy, ranks, *blocks in (
                ("none", 1),
                ("ring", 3, "--row-blocks=2"),
                ("ulysses", 4),
                ("allgather", 5, "--row-blocks=3"),
            )
            for choice, forward in choices.items()
        ]
    cases = harness.sampled(cases, 6 if args.quick else 12, args)
    # Gradients summed over both axes, and in f32 whatever the weights are.
    for dtype, mesh, strategy in (("float32", "sp=3", "ring"), ("bfloat16", "dp=2,sp=3", "allgather")):
        options = (f"--mesh={mesh}", f"--strategy={strategy}", "--row-blocks=2")
        cases.append(harness.Case(step(tools, dtype), options, attentions=2))
    problem = disorder(tools)
    print(problem, end="")
    return harness.hold_all(tools, cases, args) or bool(problem)


if __name__ == "__main__":
    raise SystemExit(main())
