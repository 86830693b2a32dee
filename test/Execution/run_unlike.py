"""Random models of attentions that are not alike, under random plans, against the interpreter.

Two sequences attend to themselves, or the second to the first, with other masks and numbers
of kv heads in every layer. Half of the plans are --strategy=auto, which chooses for each.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

import jax
import jax.numpy as jnp

import harness
import run_checkpoints
from models import layer_norm, normal

SIZE = 4
MASKS: dict[str, dict[str, Any]] = {
    "full": {},
    "causal": {"is_causal": True},
    "window": {"local_window_size": (5, 2)},
}
STRATEGIES = ("auto", "auto", "auto", "auto", "ring", "allgather", "ulysses", "2d", "split-kv")


@dataclass(frozen=True)
class Layer:
    """One attention. reads: of the first sequence, the second, or the second of the first."""

    reads: str
    kv_heads: int
    mask: str

    def __call__(self, x: jax.Array, y: jax.Array, weights: tuple) -> tuple[jax.Array, jax.Array]:
        """Both sequences, one of them with what it attended to."""
        queries, keys = {"first": (x, x), "second": (y, y), "both": (y, x)}[self.reads]
        q, k, v = (
            (layer_norm(source) @ matrix).reshape(*source.shape[:2], -1, SIZE)
            for source, matrix in zip((queries, keys, keys), weights, strict=True)
        )
        out = jax.nn.dot_product_attention(q, k, v, **MASKS[self.mask]).reshape(queries.shape)
        return (x + out, y) if self.reads == "first" else (x, y + out)


@dataclass(frozen=True)
class Model:
    """Layers of so many heads over two sequences."""

    heads: int
    tokens: tuple[int, int]
    layers: tuple[Layer, ...]
    has_gradients: bool

    def __call__(self, x: jax.Array, y: jax.Array, weights: list) -> Any:
        """Both sequences, or the gradients of the sum of their squares."""

        def forward(x: jax.Array, y: jax.Array, weights: list) -> tuple:
            for layer, matrices in zip(self.layers, weights, strict=True):
                x, y = layer(x, y, matrices)
            return x, y

        def loss(*arguments: Any) -> jax.Array:
            return sum(jnp.sum(result**2) for result in forward(*arguments))

        return (jax.grad(loss, (0, 1, 2)) if self.has_gradients else forward)(x, y, weights)

    def arguments(self) -> tuple:
        """Sequences of two batches, and matrices of queries, keys and values."""
        width = self.heads * SIZE
        columns = [(width, layer.kv_heads * SIZE, layer.kv_heads * SIZE) for layer in self.layers]
        weights = [
            tuple(normal(9 * i + j, width, n, dtype="float64") for j, n in enumerate(each))
            for i, each in enumerate(columns)
        ]
        x, y = (normal(i, 2, tokens, width, dtype="float64") for i, tokens in enumerate(self.tokens))
        return x, y, weights


def drawn(random: Random) -> tuple[Model, tuple[str, ...]]:
    """A model and a plan."""
    heads = random.choice((2, 3, 4, 6, 8))
    tokens = random.choice(((29, 17), (23, 23), (24, 16), (32, 32)))

    def layer() -> Layer:
        reads = random.choice(("first", "second", "both"))
        # A window between two sequences would leave queries without keys.
        mask = random.choice([*MASKS] if reads != "both" else ["full", "causal"])
        return Layer(reads, random.choice([n for n in range(1, heads + 1) if heads % n == 0]), mask)

    layers = tuple(layer() for _ in range(random.randint(2, 4)))
    model = Model(heads, tokens, layers, has_gradients=random.random() < 0.5)
    mesh = random.choice(("sp=2", "sp=3", "sp=4", "sp=6", "sp=8", "dp=2,sp=4", "sp=2,tp=3", "tp=2"))
    layout = random.choice(("auto", "auto", "contiguous", "striped"))
    strategy = random.choice(STRATEGIES) if "sp" in mesh else "auto"
    return model, (f"--mesh={mesh}", f"--strategy={strategy}", f"--layout={layout}")


def main() -> int:
    """So many of them, one in five with --quick."""
    parser = harness.arguments(__doc__)
    parser.add_argument("--count", type=int, default=15, help="models to draw")
    args = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    tools = harness.Tools(args.build, args.work)
    cases = []
    for number in range(max(1, args.count // 5) if args.quick else args.count):
        model, plan = drawn(Random(f"{args.seed} {number}"))
        program = tools.program(f"unlike-{number}", model, *model.arguments(), key=str(args.seed))
        counts = len(model.layers), len(model.layers) * model.has_gradients
        cases.append(harness.Case(program, plan, check=run_checkpoints.counted(*counts)))
    return harness.hold_all(tools, cases, args)


if __name__ == "__main__":
    raise SystemExit(main())
