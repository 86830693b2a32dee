"""Trains a small language model, stops, and goes on from its files on another mesh.

    python python/examples/train.py --steps=500 --beside-jax

The text is sums, "27+48=75;", made here. The first half of the steps runs on --first, ZeRO 1; its state is
saved, and the second half goes on from the files on --then. With --beside-jax the same steps run in JAX on
one device, and the losses are compared.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import llama
import spmlir

LETTERS = "0123456789+=;"
# Of updates this small where gradients vanish, losses do not depend on the last bits.
RATE, WARM, MOST_NORM, LEAST = 3e-3, 50, 1.0, 1e-2


def text(config: llama.Config, seed: int) -> Iterator[np.ndarray]:
    """Batches without end, int32 [batch, tokens + 1]."""
    random = np.random.default_rng(seed)
    while True:
        rows = []
        for _ in range(config.batch):
            pairs = random.integers(0, 100, (config.tokens // 4, 2))
            written = "".join(f"{a}+{b}={a + b};" for a, b in pairs)
            rows.append([LETTERS.index(letter) for letter in written[: config.tokens + 1]])
        yield np.array(rows, np.int32)


def loss(config: llama.Config, weights: dict, words: jax.Array, labels: jax.Array) -> jax.Array:
    """Mean over all tokens."""
    logs = jax.nn.log_softmax(llama.decoder(config, weights, words))
    return -jnp.mean(jnp.take_along_axis(logs, labels[..., None], axis=-1))


def step(config: llama.Config, state: dict, words: jax.Array, labels: jax.Array) -> tuple:
    """Adam on gradients of a norm of at most 1, with a warm-up of its rate."""
    value, slopes = jax.value_and_grad(partial(loss, config))(state["weights"], words, labels)
    norm = jnp.sqrt(sum(jnp.sum(slope**2) for slope in jax.tree.leaves(slopes)))
    slopes = jax.tree.map(lambda slope: slope * jnp.minimum(1, MOST_NORM / norm), slopes)
    count = state["count"] + 1
    rate = RATE * jnp.minimum(1, count / WARM)
    first = jax.tree.map(lambda m, slope: 0.9 * m + 0.1 * slope, state["first"], slopes)
    second = jax.tree.map(lambda v, slope: 0.99 * v + 0.01 * slope**2, state["second"], slopes)

    def updated(weight: jax.Array, m: jax.Array, v: jax.Array) -> jax.Array:
        m, v = m / (1 - 0.9**count), v / (1 - 0.99**count)
        return weight - rate * m / (jnp.sqrt(v) + LEAST)

    weights = jax.tree.map(updated, state["weights"], first, second)
    return value, {"weights": weights, "first": first, "second": second, "count": count}


def start(config: llama.Config) -> dict:
    """What it trains, before the first step."""
    weights = llama.parameters(config)
    zeros = [jax.tree.map(np.zeros_like, weights) for _ in range(2)]
    return {"weights": weights, "first": zeros[0], "second": zeros[1], "count": np.float32(0)}


def train(trainer: spmlir.TrainStep, batches: list[np.ndarray], number: int) -> list[float]:
    """Losses of steps behind the first `number`, one in fifty printed."""
    losses = []
    for batch in batches:
        begin = time.monotonic()
        losses.append(trainer.step(batch[:, :-1].copy(), batch[:, 1:].copy()))
        seconds = time.monotonic() - begin
        if (number + len(losses)) % 50 == 0:
            memory = max(trainer.last_run["peakBytesPerRank"]) / 2**20
            rate = batch[:, 1:].size / seconds
            print(
                f"step {number + len(losses)}: loss {losses[-1]:.4f}   {rate:.0f} tokens/s   "
                f"{memory:.1f} MiB a rank",
                flush=True,
            )
    return losses


def beside_jax(config: llama.Config, batches: list[np.ndarray]) -> list[float]:
    """The same steps on one device."""
    run, state, losses = jax.jit(partial(step, config), donate_argnums=0), start(config), []
    for batch in batches:
        value, state = run(state, batch[:, :-1], batch[:, 1:])
        losses.append(float(value))
    return losses


def main() -> int:
    """Train, save, load, train."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=500, help="how many (500)")
    parser.add_argument("--first", default="dp=2,sp=2,tp=2", help="mesh of the first half (dp=2,sp=2,tp=2)")
    parser.add_argument("--then", default="sp=4", help="of the second half (sp=4)")
    parser.add_argument("--zero", type=int, default=1, help="stage of ZeRO of the first half (1)")
    parser.add_argument(
        "--folder", type=Path, default=Path("build/train"), help="for the files (build/train)"
    )
    parser.add_argument("--beside-jax", action="store_true", help="compare with JAX on one device")
    args = parser.parse_args()
    if args.steps < 2:
        parser.error(f"expected at least 2 steps but got {args.steps}")
    config = llama.Config(
        layers=2, tokens=128, vocabulary=len(LETTERS), width=128, hidden=256, heads=4, kv_heads=2,
        head_size=32, batch=4,
    )  # fmt: skip
    made = text(config, 1)
    batches = [next(made) for _ in range(args.steps)]
    half = args.steps // 2
    arrays = (batches[0][:, :-1].copy(), batches[0][:, 1:].copy())
    make = partial(spmlir.train_step, partial(step, config), start(config), *arrays)
    first = make(mesh=args.first, zero=args.zero)
    losses = train(first, batches[:half], 0)
    first.save(args.folder, step=half)
    print(f"saved in {args.folder}; going on with {args.then}")
    second = make(mesh=args.then)
    number = int(second.load(args.folder)["step"])
    losses += train(second, batches[number:], number)
    print(f"loss {losses[0]:.4f} at first, {losses[-1]:.4f} at last")
    if args.beside_jax:
        expected = np.array(beside_jax(config, batches))
        off = np.max(np.abs(np.array(losses) - expected) / expected)
        print(f"losses differ from those of JAX on one device by at most {off:.1e} of them")
        return int(off > 1e-4)
    return 0


if __name__ == "__main__":
    sys.exit(main())
