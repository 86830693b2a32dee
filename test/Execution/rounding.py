"""Whether results are a model's, but for rounding: element by element.

Three evaluations of the model say so, all by sp-interpret: in f64; in the program's types,
each operation rounded; and beside the latter, of every element its *error*, about the root
mean square of what rounding may do to it (`lib/Interpreter/RoundingErrors.h` has the rules).
Errors follow sums of absolute terms and slopes of functions, so they are as small as an
element's own terms, whatever stands beside it in the tensor, and no machine's or other
program's errors are a measure of anything.

An element is right where it is within `MOST` errors of the value in f64, or of that in the
program's types, which is another where a large number swallows a small one. Of a million independent
elements one is five root mean squares off; the rest is left to errors that are not independent.
All elements together are right where the root mean square of their distances is at most `TYPICAL`
errors: one is what an error means, and rules that take errors as independent hold within a factor of two.
So a small shift of all elements does not pass. (One element may have its `MOST` in a tensor of few.)

NaN and infinities are where the model has them. Where f64 and the program's types disagree about that,
because of what a type can hold or because what is subtracted is the same only when rounded,
each of them will do, and what JAX has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

MOST = 8.0
TYPICAL = 2.0


@dataclass(frozen=True)
class Expected:
    """One result of a model. jax: what JAX computed, or None."""

    exact: np.ndarray
    rounded: np.ndarray
    errors: np.ndarray
    jax: np.ndarray | None = None


def kinds(values: np.ndarray) -> np.ndarray:
    """0 for numbers, 1 and -1 for infinities, 2 for NaN."""
    return np.where(np.isnan(values), 2, np.where(np.isinf(values), np.sign(values), 0)).astype(np.int8)


def distances(got: np.ndarray, expected: Expected) -> np.ndarray:
    """Of each element its distance from the nearest that is right, in errors; infinite if of another kind."""
    got, exact, rounded = (x.astype(np.float64) for x in (got, expected.exact, expected.rounded))
    nearest = np.full(got.shape, np.inf)
    choices: Sequence[np.ndarray] = (exact, rounded)
    for each in choices:
        with np.errstate(invalid="ignore"):
            away = np.where(got == each, 0.0, np.abs(got - each))
        with np.errstate(invalid="ignore", divide="ignore"):
            # An error that is no number bounds nothing.
            errors = np.where(np.isfinite(expected.errors), expected.errors, 0.0)
            scaled = np.where(away == 0, 0.0, away / errors)
        nearest = np.fmin(nearest, np.where(kinds(got) == 0, scaled, np.inf))
    right = [kinds(each) for each in choices]
    disputed = right[0] != right[1]
    if expected.jax is not None:
        right.append(np.where(disputed, kinds(expected.jax.astype(np.float64)), right[0]))
    own = kinds(got)
    same = np.logical_or.reduce([own == each for each in right])
    # A number has to be near one; any other kind is all there is to say.
    return np.where(same & (own != 0), 0.0, np.where(same, nearest, np.inf))


def problem(got: np.ndarray, expected: Expected) -> str:
    """What is wrong with a result of floats; or ""."""
    away = distances(got, expected)
    wrong = ~(away <= MOST)
    if not wrong.any():
        mean = np.sqrt(np.mean(np.square(away))) if away.size else 0.0
        if np.square(away).sum() <= MOST**2 + TYPICAL**2 * away.size:
            return ""
        return f"all elements are off by {mean:.2f} errors in the root mean square"
    worst = np.unravel_index(np.argmax(np.where(wrong, np.nan_to_num(away, posinf=1e300), 0)), away.shape)
    place = f"[{', '.join(map(str, worst))}]"
    value = got.astype(np.float64)[worst]
    text = f"{wrong.sum()} of {wrong.size} elements are off, at {place} {value:.9g}"
    exact, rounded, error = (x[worst] for x in (expected.exact, expected.rounded, expected.errors))
    return f"{text}, not {exact:.9g} ({rounded:.9g} in its type), with errors of {error:.2e}"
