"""A small language model trained on eight ranks, beside the same training in JAX on one device.

A decoder in the manner of Llama (two layers) learns the bytes of this project's README with
Adam. Its loss under each strategy is compared with JAX's in f32, step by step, and that with
JAX's own in f64: a curve holds where it stays within 1e-4 of JAX's, relative, or within three
times the distance of JAX's two curves, if that is larger.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY / "python"), str(REPOSITORY / "python" / "examples")]

LIMIT = 1e-4
PLANS: dict[str, tuple[str, list[str]]] = {
    "ring": ("ring", []),
    "ring, zigzag": ("ring", ["--layout=zigzag"]),
    "ulysses": ("ulysses", []),
    "2d": ("2d", ["--heads=2"]),
    "double ring": ("double-ring", ["--inner=4"]),
    "allgather": ("allgather", []),
}


def batches(steps: int, tokens: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Tokens and those that follow them: spans of the README, of which only ASCII counts."""
    text = np.frombuffer((REPOSITORY / "README.md").read_bytes(), np.uint8) % 128
    starts = np.random.default_rng(0).integers(0, len(text) - tokens - 1, steps)
    rows = [text[start : start + tokens + 1].astype(np.int32)[None] for start in starts]
    return [(row[:, :-1], row[:, 1:]) for row in rows]


def adam(config: Any) -> Callable[..., tuple]:
    """A step: (state, tokens, targets) -> (loss, state)."""
    import jax
    import jax.numpy as jnp

    import llama

    def loss_of(weights: Any, tokens: jax.Array, targets: jax.Array) -> jax.Array:
        logs = jax.nn.log_softmax(llama.decoder(config, weights, tokens))
        return -jnp.mean(jnp.take_along_axis(logs, targets[..., None], axis=-1))

    def step(state: dict, tokens: jax.Array, targets: jax.Array) -> tuple:
        loss, gradient = jax.value_and_grad(loss_of)(state["weights"], tokens, targets)
        count = state["count"] + 1
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["first"], gradient)
        second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, state["second"], gradient)
        rates = (1 - 0.9**count, 1 - 0.999**count)

        def move(weight: jax.Array, m: jax.Array, v: jax.Array) -> jax.Array:
            return weight - 1e-3 * (m / rates[0]) / (jnp.sqrt(v / rates[1]) + 1e-8)

        weights = jax.tree.map(move, state["weights"], first, second)
        return loss, {"count": count, "first": first, "second": second, "weights": weights}

    return step


def start(config: Any, dtype: str) -> dict:
    """The state before the first step."""
    import jax

    import llama

    weights = jax.tree.map(lambda x: x.astype(dtype), llama.parameters(config))
    zeros = jax.tree.map(np.zeros_like, weights)
    return {"count": np.zeros((), dtype), "first": zeros, "second": zeros, "weights": weights}


def in_jax(config: Any, data: list, dtype: str) -> list[float]:
    """The losses on one device."""
    import jax

    state, losses, step = start(config, dtype), [], jax.jit(adam(config))
    for batch in data:
        loss, state = step(state, *batch)
        losses.append(float(loss))
    return losses


def distance(losses: list[float], reference: list[float]) -> float:
    """The largest relative difference of two curves."""
    a, b = np.array(losses), np.array(reference)
    return float(np.max(np.abs(a - b) / np.abs(b)))


def plot(curves: dict[str, list[float]], path: Path, title: str) -> None:
    """The curves, where matplotlib is installed."""
    try:
        import matplotlib
    except ImportError:
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
    for name, losses in curves.items():
        axes.plot(range(1, len(losses) + 1), losses, linewidth=0.8, label=name)
    axes.set_xlabel("step")
    axes.set_ylabel("loss")
    axes.set_title(title, fontsize=8)
    axes.legend(fontsize=7)
    figure.savefig(path)


def main() -> int:
    """Train, compare, write loss.md, .csv and .svg; fail where a curve does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for loss.md, .csv and .svg")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--ranks", type=int, default=8)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)

    import jax

    import llama
    import spmlir

    config = llama.Config(
        layers=2, tokens=250, vocabulary=128, width=64, hidden=160, heads=8, kv_heads=4, head_size=16
    )
    data = batches(args.steps, config.tokens)
    single = in_jax(config, data, "float32")
    with jax.enable_x64(True):
        double = in_jax(config, data, "float64")
    own = distance(single, double)
    limit = max(LIMIT, 3 * own)
    curves, rows = {"JAX, f32": single, "JAX, f64": double}, []
    for name, (strategy, options) in PLANS.items():
        trainer = spmlir.train_step(
            adam(config), start(config, "float32"), *data[0], mesh={"sp": args.ranks}, strategy=strategy,
            options=options,
        )  # fmt: skip
        curves[name] = trainer.run(data, progress=False)
        found = [attention.get("direction") for attention in trainer.program.report["attentions"]]
        rows.append((name, found.count("backward"), distance(curves[name], single)))
        print(f"{name}: {rows[-1][2]:.2e} of {limit:.2e}", flush=True)
    title = (
        f"{datetime.date.today()}: losses of {args.steps} steps, {args.ranks} ranks, "
        f"{config.tokens} tokens, f32"
    )
    lines = [title, "", f"JAX's f32 and f64 curves differ by {own:.2e} at most, relative; limit {limit:.2e}."]
    lines += ["", "| plan | gradients of attention | largest difference from JAX, f32 |", "|---|---|---|"]
    lines += [f"| {name} | {count} | {far:.2e} |" for name, count, far in rows]
    (args.out / "loss.md").write_text("\n".join(lines) + "\n")
    with open(args.out / "loss.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["step", *curves])
        writer.writerows([i + 1, *values] for i, values in enumerate(zip(*curves.values(), strict=True)))
    plot(curves, args.out / "loss.svg", title)
    print("\n".join(lines))
    return 0 if all(far <= limit and count == config.layers for _, count, far in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
