"""Whole models and spellings of attention on several ranks, against the interpreter."""

from __future__ import annotations

import random

import jax
import numpy as np

import harness
import models
import spellings

PLANS = (
    ("--mesh=sp=1", "--strategy=ring"),
    ("--mesh=sp=3", "--strategy=ring", "--layout=zigzag"),
    ("--mesh=sp=3", "--strategy=allgather", "--layout=contiguous"),
    ("--mesh=sp=4", "--strategy=ulysses"),
    ("--mesh=sp=5", "--strategy=ring", "--layout=striped"),
    ("--mesh=dp=2,sp=3", "--strategy=ring"),
    ("--mesh=dp=2,sp=2", "--strategy=ulysses"),
    ("--mesh=sp=7", "--strategy=auto"),
    ("--mesh=sp=8", "--strategy=allgather"),
    ("--mesh=sp=1", "--strategy=none"),
)


def spelled(name: str, dtype: str) -> models.Made:
    """Projections around one spelling, so that attention is inside a model."""
    batch = 1 if name == "squeezed" else 2
    x = models.normal(1, batch, 29, 24, dtype=dtype)
    matrices = {
        key: models.normal(i, 24, n, dtype=dtype)
        for i, (key, n) in enumerate(zip("qkv", (48, 16, 16), strict=True))
    }

    def model(x: jax.Array, matrices: dict) -> jax.Array:
        q, k, v = ((x @ matrices[key]).reshape(*x.shape[:2], -1, 8) for key in "qkv")
        return spellings.SPELLINGS[name](q, k, v) * np.asarray(0.5, dtype)

    return model, (x, matrices), 1


def main() -> int:
    """Run models, or spellings, with every plan."""
    parser = harness.arguments(__doc__)
    parser.add_argument("--only", help="one name")
    parser.add_argument("what", choices=("models", "spellings"))
    args = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    tools = harness.Tools(args.build, args.work)

    names = list(models.MODELS if args.what == "models" else spellings.SPELLINGS)
    grid = [(name, dtype) for name in names for dtype in ("float32", "float64") if args.only in (None, name)]
    # JAX's own function computes scores in float32 whatever it is given.
    grid = [each for each in grid if each != ("library", "float64")]
    cases = []
    for name, dtype in grid:
        # Prime, and even.
        tokens = 37 if dtype == "float32" else 24
        fn, arguments, count = (
            models.MODELS[name](tokens, dtype) if args.what == "models" else spelled(name, dtype)
        )
        program = tools.program(f"{args.what}-{name}-{dtype}", fn, *arguments)
        cases += [harness.Case(program, plan, attentions=count) for plan in PLANS]
    if args.quick:
        cases = random.Random(args.seed).sample(cases, 6)
    return harness.hold_all(tools, cases, args.jobs)


if __name__ == "__main__":
    raise SystemExit(main())
