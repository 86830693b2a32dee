"""Whole models and spellings of attention on several ranks, against the interpreter.

Every model in each type with some of the plans, or with --all with every one.
"""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import jax
import numpy as np

import harness
import models
import spellings

PLANS = (
    ("--mesh=sp=1", "--strategy=ring"),
    ("--mesh=sp=3", "--strategy=ring", "--layout=zigzag"),
    ("--mesh=sp=3", "--strategy=allgather", "--layout=contiguous"),
    ("--mesh=sp=4", "--strategy=ulysses", "--row-blocks=2"),
    ("--mesh=sp=5", "--strategy=ring", "--layout=striped"),
    ("--mesh=dp=2,sp=3", "--strategy=ring", "--row-blocks=3"),
    ("--mesh=dp=2,sp=2", "--strategy=ulysses"),
    ("--mesh=sp=6", "--strategy=auto"),
    ("--mesh=sp=7", "--strategy=allgather"),
    ("--mesh=sp=1", "--strategy=none", "--row-blocks=4"),
    ("--mesh=sp=3,tp=2", "--strategy=ring", "--layout=zigzag"),
    ("--mesh=dp=2,sp=2,tp=2", "--strategy=ulysses"),
    ("--mesh=tp=4", "--strategy=auto", "--row-blocks=2"),
)
# Files of models beside models.py.
SETS = (
    "library",
    "masks",
    "scores",
    "weights",
    "forms",
    "stacks",
    "flax",
    "perceptrons",
    "differential",
    "sums",
)


def spelled(name: str, tokens: int, dtype: str) -> models.Made:
    """Projections around one spelling, so that attention is inside a model."""
    batch = 1 if name == "squeezed" else 2
    x = models.normal(1, batch, tokens, 24, dtype=dtype)
    matrices = {
        key: models.normal(i, 24, n, dtype=dtype)
        for i, (key, n) in enumerate(zip("qkv", (48, 16, 16), strict=True))
    }

    def model(x: jax.Array, matrices: dict) -> jax.Array:
        q, k, v = ((x @ matrices[key]).reshape(*x.shape[:2], -1, 8) for key in "qkv")
        return spellings.SPELLINGS[name](q, k, v) * np.asarray(0.5, dtype)

    return model, (x, matrices), 1


@dataclass(frozen=True)
class Set:
    """Models of one test: types, every how manieth plan, and how many cases a sample has."""

    models: dict[str, Callable[[int, str], models.Made]]
    dtypes: tuple[str, ...] = ("float32", "float64")
    stride: int = len(PLANS)
    sample: int = 3


def chosen(what: str) -> Set:
    """The set of that name."""
    if what == "models":
        return Set(models.MODELS, sample=6)
    if what == "spellings":
        return Set({name: partial(spelled, name) for name in spellings.SPELLINGS}, sample=6)
    # JAX's own function computes scores in float32 whatever it is given; nnx calls it.
    # Products with epilogues are in 16 or 32 bits.
    has_bf16 = what in ("library", "flax", "perceptrons", "differential")
    dtypes = ("float32", "bfloat16") if has_bf16 else ("float32", "float64")
    return Set(importlib.import_module(f"models_{what}").MODELS, dtypes)


def main() -> int:
    """Run models, or spellings, with every plan."""
    parser = harness.arguments(__doc__)
    parser.add_argument("--only", help="one name")
    parser.add_argument("what", choices=("models", "spellings", *SETS))
    args = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    tools = harness.Tools(args.build, args.work)

    each = chosen(args.what)
    stride = 1 if args.all else each.stride
    grid = [
        (name, dtype, plan)
        for i, name in enumerate(each.models)
        for j, dtype in enumerate(each.dtypes)
        for plan in PLANS[(i + j) % stride :: stride]
        if args.only in (None, name) and (name, dtype) != ("library", "float64")
    ]
    if args.quick:
        grid = random.Random(args.seed).sample(grid, min(each.sample, len(grid)))
    programs = {}
    for name, dtype in sorted({(name, dtype) for name, dtype, _ in grid}):
        # Prime, and even.
        fn, arguments, count = each.models[name](24 if dtype == "float64" else 37, dtype)
        program = tools.program(f"{args.what}-{name}-{dtype}", fn, *arguments)
        programs[name, dtype] = program, count
    cases = []
    for name, dtype, plan in grid:
        cases.append(harness.Case(programs[name, dtype][0], plan, programs[name, dtype][1]))
    return harness.hold_all(tools, cases, args)


if __name__ == "__main__":
    raise SystemExit(main())
