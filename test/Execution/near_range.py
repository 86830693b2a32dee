"""Near-attentions whose numbers need not be the model's: README, "What differs from the model's numbers"."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from near_judge import Judge, as_floats
from near_program import Program

# What is not to be squared.
BIG = {"float32": 1e18, "float64": 1e150}
# Scores that lie apart by more than the exponent's range, if at all.
FARTHEST = {"float32": 2.0**30, "float64": 2.0**62}
# Exponentials of less are nothing; scores below the second are those of masks.
LOWEST, MASKED = {"float32": 80, "float64": 700}, 1e8


def is_left(judge: Judge, text: str) -> bool:
    """Whether the program, which is run on near.npz, leaves the range in which attention is the model's.

    NaN of some keys of a row is one that positions may hide: it reaches only rows that see it. Nor does NaN
    of a row reach keys that positions hide.
    """
    program = Program(text)
    places = [each for each in program.places() if each.dtype != "bool" and each.role != "far"]
    scores = [each for each in places if each.role == "scores"]
    kinds = (
        scores,
        program.products(scores),
        [each for each in places if each.role in ("weights", "slopes")],
        program.exponents(places),
    )
    model = judge.text(program.show([place for kind in kinds for place in kind]), "values.mlir")
    values = iter([as_floats(each) for each in judge.interpret(model, "f64", "near.npz")])
    scores, products, powers, exponents = ([next(values) for _ in kind] for kind in kinds)
    return (
        any(most(np.abs(each)) > BIG[judge.dtype] for each in powers)
        or any(most(np.abs(each)) > FARTHEST[judge.dtype] for each in products)
        or any(most(each) > FARTHEST[judge.dtype] or sees_none(each) for each in scores)
        or any((np.isnan(each).any(-1) & ~np.isnan(each).all(-1)).any() for each in products)
        or (
            any(np.isnan(each).any() for each in powers)
            and any(vanish(each, judge.dtype) for each in exponents)
        )
        or any(np.isnan(each).any() and reaches_hidden(judge, model, len(scores), each) for each in powers)
    )


def most(values: np.ndarray) -> float:
    """The greatest number there is; 0 without one."""
    return float(np.max(values, initial=0, where=~np.isnan(values)))


def sees_none(scores: np.ndarray) -> bool:
    """Whether there is a row of less than what a finite fill hides, which is neither computed nor sent."""
    highest, lowest = scores.max(-1, initial=-np.inf), scores.min(-1, initial=np.inf)
    return bool(((lowest < 10 * highest) & np.isfinite(highest) & (highest <= -MASKED)).any())


def reaches_hidden(judge: Judge, model: Path, count: int, weights: np.ndarray) -> bool:
    """Whether weights are NaN where positions hide the key.

    Its score, one of the first `count` results, is that of a mask then, whatever the inputs are.
    """
    with np.load(judge.work / "near.npz") as file:
        inputs = {name: file[name] for name in file.files}
    hidden = [True] * count
    for number in (0, 1, 100):
        np.savez(judge.work / "same.npz", **{name: np.full_like(x, number) for name, x in inputs.items()})
        scores = judge.interpret(model, "f64", "same.npz")[:count]
        hidden = [before & (as_floats(each) <= -MASKED) for before, each in zip(hidden, scores, strict=True)]
    return any(each.shape == weights.shape and (each & np.isnan(weights)).any() for each in hidden)


def vanish(exponents: np.ndarray, dtype: str) -> bool:
    """Whether exponentials of a row are nothing for what was subtracted: attention has no need to."""
    highest = [np.nanmax(exponents, axis, initial=-np.inf) for axis in range(exponents.ndim)]
    return any(((each > -MASKED) & (each < -LOWEST[dtype])).any() for each in highest)
