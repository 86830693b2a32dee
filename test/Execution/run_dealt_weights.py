"""Training steps whose weights a user deals by hand, by the axis of the tokens or that of heads.

Weights are gathered where a product wants them whole, and their gradients are summed where each
rank keeps its part: which of them are dealt, and along which dimension, is drawn. They lie as was asked for.
Without a tensor axis a rank sends, beside attention and rows at the ends of what it has, each weight and its
gradient once, as for whole ones: no activation.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import jax
import jax.numpy as jnp
import numpy as np

import draw
import harness
import layouts
from run_shifts import FEATURES, HEADS, attend

ROWS, WIDTH, HIDDEN = 80, HEADS * FEATURES, 20
WORD = 8  # bytes of a number
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


def moved(group: dict, ranks: int) -> int:
    """Bytes that a rank sends to gather a weight and to sum its gradient, or to sum one that lies whole."""
    whole = group["layout"] == "whole"
    part = WORD * -(-group["bytes"] // (WORD * ranks)) if whole else group["rankBytes"]
    return 2 * (ranks - 1) * part


def dealt(asked: dict[str, str], tensors: int) -> Callable[[dict, dict], None]:
    """A check of layouts and bytes. asked: the layouts of some weights."""

    def check(promised: dict, _: dict) -> None:
        groups, problems = {group["type"]: group for group in promised["arguments"]}, []
        weights = {name: groups[f"{shape[0]}x{shape[1]}xf64"] for name, shape in SHAPES.items()}
        for name, group in weights.items():
            layout = asked.get(name, None if tensors > 1 else "whole")
            problems += layouts.misplaced(group, layout, promised["mesh"])
        attentions = (attention["bytesSentPerRank"] for attention in promised["attentions"])
        own = sum(moved(group, promised["ranks"]) for group in weights.values())
        # Two rows a rank has neighbours of at most, and their gradients.
        ends = 4 * WIDTH * WORD
        for sent, *others in zip(promised["bytesSentPerRank"], *attentions, strict=True):
            most = sum(others) + own + ends
            if tensors == 1 and sent > most:
                problems.append(f"a rank sends {sent} bytes, expected at most {most}")
        if problems:
            raise harness.CaseError("\n  ".join(problems))

    return check


def main() -> int:
    """So many of them, one in five with --quick."""
    parser = harness.arguments(__doc__)
    parser.add_argument("--count", type=int, default=15, help="plans to draw")
    args = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    tools = harness.Tools(args.build, args.work)
    normal = np.random.default_rng(0).standard_normal
    arrays = [normal((1, ROWS, WIDTH)), *(0.1 * normal(shape) for shape in SHAPES.values())]
    program = tools.program("dealt-weights", step, *arrays)
    cases = []
    for number in range(max(2, args.count // 5) if args.quick else args.count):
        random = Random(f"{args.seed} {number}")
        tensors = random.choice((1, 1, 2))
        asked = {name: random.choice(AXES[tensors > 1]) for name in SHAPES if random.random() < 0.7}
        shards = [f"--shard=arg{1 + [*SHAPES].index(name)}={axes}" for name, axes in asked.items()]
        mesh = f"--mesh=sp={random.choice((2, 3, 4, 8 // tensors))},tp={tensors}"
        strategy = f"--strategy={random.choice(('ring', 'ulysses', 'allgather'))}"
        plan = (mesh, strategy, *draw.memory(random), *shards)
        cases.append(harness.Case(program, plan, attentions=2, check=dealt(asked, tensors)))
    return harness.hold_all(tools, cases, args)


if __name__ == "__main__":
    raise SystemExit(main())
