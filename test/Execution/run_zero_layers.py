"""What layers of a scan add to a rank's memory and bytes under --zero=3.

Each layer is a checkpoint, so that its input is what is kept of it. More layers add their parts of weights,
moments and gradients, and those inputs, and no whole weight. Each weight is gathered twice, which is what
summing its gradient where it is dealt saves, and once more: the last turn of a scan gathers nothing.
"""

from __future__ import annotations

import functools
import sys

import jax
import jax.numpy as jnp
import numpy as np

import harness
import run_zero
import spmlir

RANKS, TOKENS, FEW, MANY = 4, 512, 8, 32
WIDTH = run_zero.HEADS * run_zero.SIZES["even"][0]


def scanned(weights: dict, x: jax.Array) -> jax.Array:
    """A loss of all layers, each of which is a checkpoint."""
    layer = jax.checkpoint(run_zero.layer)
    x, _ = jax.lax.scan(lambda x, each: (layer(x, each), None), x, weights)
    return jnp.mean(x**2)


def step(state: tuple, x: jax.Array) -> tuple:
    """Gradient descent with momentum."""
    weights, momentum = state
    value, slopes = jax.value_and_grad(scanned)(weights, x)
    momentum = jax.tree.map(lambda m, slope: 0.9 * m + slope, momentum, slopes)
    return value, (jax.tree.map(lambda w, m: w - 0.01 * m, weights, momentum), momentum)


def weights_of(layers: int) -> dict[str, np.ndarray]:
    """In stacks."""
    run_zero.LAYERS = layers
    return run_zero.parameters("even", scanned=True)["layers"]


@functools.cache
def promises(layers: int, strategy: str, zero: int) -> tuple[int, int]:
    """Most bytes that a rank needs, and that one sends; a run holds to them."""
    weights = weights_of(layers)
    state = (weights, jax.tree.map(np.zeros_like, weights))
    x = np.ones((1, TOKENS, WIDTH))
    trainer = spmlir.train_step(step, state, x, mesh={"sp": RANKS}, strategy=strategy, zero=zero)
    report = trainer.program.report
    trainer.step(x)
    wrong = harness.broken(report, trainer.last_run)
    if wrong:
        raise SystemExit(f"{strategy}, {layers} layers, zero={zero}: {wrong}")
    return max(report["peakBytesPerRank"]), max(report["bytesSentPerRank"])


def problems(strategy: str) -> list[str]:
    """What layers take that they should not."""
    found = []
    (few, sent), (many, _) = (promises(layers, strategy, 3) for layers in (FEW, MANY))
    one = {name: each.nbytes // MANY for name, each in weights_of(MANY).items()}
    dealt = sum(size for name, size in one.items() if name != "scale")
    # Of a weight, its momentum and its gradient; the input.
    kept = 3 * (dealt // RANKS + one["scale"]) + TOKENS // RANKS * WIDTH * 8
    added = (many - few) / (MANY - FEW)
    if not added <= kept:
        found.append(f"a layer adds {added} bytes to a rank, of which it keeps {kept}")
    more = sent - promises(FEW, strategy, 0)[1]
    gathered = FEW * dealt // RANKS * (RANKS - 1)
    if more != gathered:
        found.append(f"a rank sends {more} bytes more than without --zero, expected {gathered}")
    return [f"{strategy}: {problem}" for problem in found]


def main() -> int:
    """All strategies."""
    harness.arguments(__doc__).parse_args()
    jax.config.update("jax_enable_x64", True)
    wrong = [problem for strategy in ("ring", "ulysses") for problem in problems(strategy)]
    for problem in wrong:
        print(problem, file=sys.stderr)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
