"""That the comparison of results fails where it should: on results that are right but for one thing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import jax
import numpy as np

import attentions
import harness

Change = Callable[[np.ndarray], object]
TOKENS, SMALL = 48, 11


def program(tools: harness.Tools, dtype: str) -> harness.Program:
    """Attention with a query that sees nothing, and attention with its gradients.

    All arrays are far smaller in one feature than in the others.
    """
    blind, kind = (attentions.Attention(2, 2, 16, True, dtype, mask=mask) for mask in (unseeing, None))
    blind = replace(blind, causal=False)
    fn, arrays = attentions.differentiated(kind, kind.arrays(TOKENS, TOKENS, 0), 0)
    for each in arrays:
        each[..., 3] *= np.asarray(1e-6, each.dtype)

    def both(*arrays: jax.Array) -> tuple:
        return (blind(*arrays[1:]), *fn(*arrays))

    return tools.program(f"rounding-{dtype}", both, *arrays)


def unseeing(queries: int, keys: int) -> np.ndarray:
    """Causal but for query 0, which is blind."""
    mask = np.tril(np.ones((queries, keys), bool))
    mask[0] = False
    return mask


def put(value: float) -> Change:
    """A value in place of a small element."""

    def change(result: np.ndarray) -> None:
        result[0, SMALL, 1, 3] = value

    return change


def scale(factor: float, *index: object) -> Change:
    """Elements times a factor; the small element without an index."""

    def change(result: np.ndarray) -> None:
        result[index or (0, SMALL, 1, 3)] *= np.asarray(factor, result.dtype)

    return change


def blind(value: float) -> Change:
    """What the blind query gets instead of NaN."""

    def change(result: np.ndarray) -> None:
        result[0, 0] = value

    return change


# By type: what is wrong of the attention's result, and how far off a small element has to be.
WRONG: dict[str, Change] = {
    "NaN": put(np.nan),
    "infinite": put(np.inf),
    "nothing": put(0.0),
    "another sign": scale(-1),
    "a number where there is none": blind(0.0),
    "infinite where there is no number": blind(np.inf),
}
OFF = {"float64": 1 + 1e-12, "float32": 1 + 1e-4, "bfloat16": 1.5}
# All elements, by far less than one of them may be.
SHIFTED = {"float64": 1 + 1e-14, "float32": 1 + 4e-6, "bfloat16": 1.02}


def main() -> int:
    """Every change of every type has to be told, and nothing else."""
    args = harness.arguments(__doc__).parse_args()
    jax.config.update("jax_enable_x64", True)
    tools = harness.Tools(args.build, args.work)
    failures = []
    for dtype in OFF:
        made = program(tools, dtype)
        right = [harness.as_type(each, dtype) for each in made.rounded]
        failures += [f"{dtype}: right, but {text}" for text in harness.compare(right, made)]
        changes = WRONG | {
            "a little off": scale(OFF[dtype]),
            "shifted": scale(SHIFTED[dtype], slice(None), slice(1, None)),
        }
        for name, change in changes.items():
            for number in range(1 if "number" in name else len(right)):
                results = [each.copy() for each in right]
                change(results[number])
                if not harness.compare(results, made):
                    failures.append(f"{dtype}: result{number} passes with {name}")
        # What JAX has is no way out where the model's evaluations agree.
        theirs = [np.full_like(each, np.nan) for each in made.results]
        if not harness.compare(theirs, replace(made, results=theirs)):
            failures.append(f"{dtype}: passes as JAX's NaN")
    print(*failures, sep="\n")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
