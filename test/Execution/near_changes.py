"""What the hunter of near-attentions inserts, and how its numbers are drawn.

A *change* is drawn for a place and for what is there in the run whose result is compared: bounds and
thresholds lie among the values that they are to act on, tables differ from one at one position, inputs
are such that what is made of them acts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import jax
import numpy as np

from near_program import Place

Function = Callable[..., jax.Array]


@dataclass(frozen=True)
class Change:
    """What is inserted: a function of the value there, of others, and of arrays that become inputs.

    turn: and, before the arrays, of the number of the loop's turn.
    """

    name: str
    function: Function
    arrays: tuple[np.ndarray, ...] = ()
    others: tuple[Place, ...] = ()
    turn: bool = False
    # Rounding through a type that has fewer bits, which a compiler may leave out.
    excess: bool = False

    def text(self, place: Place) -> str:
        """As a module."""
        read = [jax.ShapeDtypeStruct(each.shape, each.dtype) for each in (place, *self.others)]
        read += [jax.ShapeDtypeStruct((), place.counter)] if self.turn else []
        return jax.jit(self.function, keep_unused=True).lower(*read, *self.arrays).as_text()


class Draw:
    """Draws what fits one place. x: the finite values there in order, or some that are likely."""

    def __init__(self, random: Random, place: Place, values: np.ndarray | None) -> None:
        self.random, self.place = random, place
        self.others: list[tuple[Place, np.ndarray]] = []
        known = np.array([-3.0, -0.7, 0.2, 1.3, 4.0]) if values is None else np.unique(values)
        known = known[np.isfinite(known) & (np.abs(known) < 1e20)]
        self.x = known if known.size else np.zeros(1)

    def bound(self, low: float = 0.0, high: float = 1.0) -> float:
        """Between two neighbours of the values, at such a quantile; or a round number that acts."""
        share = self.random.random()
        # What acts on few of the values acts on no samples.
        if self.random.random() < 0.6:
            share = self.random.choice((share**6, 1 - share**6))
        at = int((low + (high - low) * share) * (self.x.size - 1))
        own = float(self.x[at] + self.x[min(at + 1, self.x.size - 1)]) / 2
        rounded = [
            sign * each
            for each in (1e-3, 1e-2, 0.1, 0.5, 0.9, 1.0, 5.0, 50.0, 5e4)
            for sign in (1, -1)
            if self.x[0] < sign * each < self.x[-1]
        ]
        return self.random.choice(rounded) if rounded and self.random.random() < 0.3 else own

    def size(self) -> float:
        """About as large as the values are, and none of them: a difference of 0 is a matter of rounding."""
        return 1.037 * float(np.median(np.abs(self.x))) or 1.0

    def number(self) -> float:
        """A factor."""
        return self.random.choice((0.0, 0.5, 2.0, -1.0, 1.5, 0.9, 1e-3, 1e3))

    def axes(self) -> list[int]:
        """Some of those that are longer than one."""
        axes = [axis for axis, size in enumerate(self.place.shape) if size > 1]
        count = min(len(axes), self.random.choice((1, 1, 1, 2, 2, 3)))
        return sorted(self.random.sample(axes, count))

    def at(self, axes: list[int]) -> tuple[int, ...]:
        """One position of these axes."""
        return tuple(self.random.randrange(self.place.shape[axis]) for axis in axes)
