"""Blocks of rows that --row-blocks=auto chooses: peaks beside those of other numbers of blocks, and results.

At these lengths the least that any number of blocks needs is left by 2 % at most, promises hold in a
run, and results are those of all rows at once but for the order of sums.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import harness
import llama
import spmlir

CONFIG = llama.Config(
    layers=2, tokens=1024, vocabulary=512, width=64, hidden=192, heads=2, kv_heads=1, head_size=32
)
# Of the smallest blocks that auto tries.
ROWS = 256
PLANS = ((1,), (2, "--strategy=ring"), (1, "--checkpoint=full"))
SLACK = 1.02
# Of sums of f32 in another order, beside the largest element.
TOLERANCE = 2e-5


def step(
    config: llama.Config, weights: dict, ids: jax.Array, decoder: Callable[..., jax.Array] = llama.decoder
) -> tuple:
    """The loss of each next token, and weights after a step of gradient descent."""

    def loss(weights: dict) -> jax.Array:
        logs = jax.nn.log_softmax(decoder(config, weights, ids)[:, :-1])
        return -jnp.mean(jnp.take_along_axis(logs, ids[:, 1:, None], axis=-1))

    value, gradient = jax.value_and_grad(loss)(weights)
    return value, jax.tree.map(lambda weight, slope: weight - 0.1 * slope, weights, gradient)


def pooled(x: jax.Array, w: jax.Array, v: jax.Array) -> jax.Array:
    """A mean over tokens of what a wide product makes, whose places leave gaps."""
    q = x.reshape(1, -1, 2, 32)
    y = x + jax.nn.dot_product_attention(q, q, q, is_causal=True).reshape(x.shape) @ w
    return jnp.sin((y @ v).mean(1))


def programs() -> dict:
    """Functions and their arguments, by name."""
    draw = np.random.default_rng(3).standard_normal
    arrays = [draw(shape).astype(np.float32) / 8 for shape in ((1, 2048, 64), (64, 64), (64, 512))]
    return {
        "step": (functools.partial(step, CONFIG), llama.parameters(CONFIG), llama.tokens(CONFIG)),
        "pooled": (pooled, *arrays),
    }


def problems(tools: harness.Tools, folder: Path, tokens: int, plan: tuple) -> list[str]:
    """What is wrong with one program under one plan. plan: ranks, and options."""
    peaks, results, wrong = {}, {}, []
    ranks, *options_of_plan = plan
    for blocks in (*map(str, range(1, tokens // ranks // ROWS + 1)), "auto"):
        artifact, outputs = folder / "model.spx", folder / f"{blocks}.npz"
        reports = folder / "promised.json", folder / "measured.json"
        options = (f"--mesh=sp={ranks}", *options_of_plan, f"--row-blocks={blocks}", f"--report={reports[0]}")
        tools.run("sp-compile", folder / "model.mlir", "-o", artifact, *options)
        peaks[blocks] = max(harness.read_report(reports[0])["peakBytesPerRank"])
        if blocks not in ("1", "auto"):
            continue
        run = (f"--inputs={folder / 'inputs.npz'}", f"--outputs={outputs}", f"--report={reports[1]}")
        tools.run("sp-run", artifact, *run)
        wrong += harness.broken(*map(harness.read_report, reports))
        results[blocks] = harness.load_results(outputs)
    if peaks["auto"] > SLACK * min(peaks.values()):
        wrong.append(f"auto needs more than 2 % above the least: {peaks}")
    if peaks["auto"] >= peaks["1"]:
        wrong.append(f"auto saves nothing: {peaks}")
    for number, (cut, whole) in enumerate(zip(results["auto"], results["1"], strict=True)):
        error = np.abs(cut - whole).max() / np.abs(whole).max()
        if not error <= TOLERANCE:
            wrong.append(f"result{number} differs by {error:.1e}")
    return wrong


def main() -> int:
    """Every program under every plan, a sample of these with --quick."""
    args = harness.arguments(__doc__).parse_args()
    tools = harness.Tools(args.build, args.work)
    held = failed = 0
    for name, (function, *arguments) in programs().items():
        folder = args.work / "row-blocks" / name
        spmlir.export(function, *arguments).save(folder)
        for plan in harness.sampled(PLANS[:2] if name == "pooled" else PLANS, 1 if args.quick else 3, args):
            wrong = problems(tools, folder, arguments[-1 if name == "step" else 0].shape[1], plan)
            held, failed = held + (not wrong), failed + bool(wrong)
            for problem in wrong:
                print(f"{name} {plan}: {problem}", file=sys.stderr)
    print(f"{held} of {held + failed} plans hold")
    return 1 if failed or not held else 0


if __name__ == "__main__":
    raise SystemExit(main())
