"""Training steps whose weights a user deals by hand, by the axis of the tokens or that of heads.

Weights are gathered where a product wants them whole, and their gradients are summed where each
rank keeps its part: which of them are dealt, and along which dimension, is drawn.
"""

from __future__ import annotations

from random import Random

import jax
import jax.numpy as jnp
import numpy as np

import draw
import harness
from run_shifts import FEATURES, HEADS, attend

WIDTH, HIDDEN = HEADS * FEATURES, 20
# Without a tensor axis, and with one.
TOKENS = ("sp,_", "_,sp")
AXES = (TOKENS, (*TOKENS, "tp,_", "_,tp", "sp,tp", "tp,sp"))
SHAPES = {"qkv": (WIDTH, 3 * WIDTH), "up": (WIDTH, HIDDEN), "down": (HIDDEN, WIDTH)}


def step(x: jax.Array, *weights: jax.Array) -> list[jax.Array]:
    """The weights after a step of gradient descent on a loss of rows and the rows before them."""

    def loss(weights: tuple[jax.Array, ...]) -> jax.Array:
        qkv, up, down = weights
        parts = jnp.split((x @ qkv).reshape(*x.shape[:2], -1, FEATURES), 3, axis=2)
        rows = x + attend(*parts)
        rows = rows + jnp.tanh(rows @ up) @ down
        return jnp.mean((rows[:, 1:] - rows[:, :-1]) ** 2)

    slopes = jax.grad(loss)(weights)
    return [weight - slope for weight, slope in zip(weights, slopes, strict=True)]


def main() -> int:
    """So many of them, one in five with --quick."""
    parser = harness.arguments(__doc__)
    parser.add_argument("--count", type=int, default=15, help="plans to draw")
    args = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    tools = harness.Tools(args.build, args.work)
    normal = np.random.default_rng(0).standard_normal
    arrays = [normal((1, 96, WIDTH)), *(0.1 * normal(shape) for shape in SHAPES.values())]
    program = tools.program("dealt-weights", step, *arrays)
    cases = []
    for number in range(max(2, args.count // 5) if args.quick else args.count):
        random = Random(f"{args.seed} {number}")
        tensors = random.choice((1, 1, 2))
        shards = [
            f"--shard=arg{1 + weight}={random.choice(AXES[tensors > 1])}"
            for weight in range(len(SHAPES))
            if random.random() < 0.7
        ]
        mesh = f"--mesh=sp={random.choice((2, 3, 4, 8 // tensors))},tp={tensors}"
        strategy = f"--strategy={random.choice(('ring', 'ulysses', 'allgather'))}"
        plan = (mesh, strategy, *draw.memory(random), *shards)
        cases.append(harness.Case(program, plan))
    return harness.hold_all(tools, cases, args)


if __name__ == "__main__":
    raise SystemExit(main())
