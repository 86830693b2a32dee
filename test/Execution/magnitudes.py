"""How large the numbers of a case are, and what its rows hold that no mask lets through."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import scores

# What hidden rows hold, and of which argument: keys or values no query sees, queries that see none.
HIDDEN = ("", *(f"{argument}:{value}" for argument in "qkv" for value in ("nan", "inf")))


def largest_score(q: np.ndarray, k: np.ndarray) -> float:
    """Of any pair, before what parts do to scores."""
    heads = q.shape[2] // k.shape[2]
    q, k = (x.astype(np.float64) for x in (q, np.repeat(k, heads, axis=2)))
    products = np.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1])
    return float(np.abs(products).max(initial=0))


def visible(parts: Sequence[scores.Part], shape: tuple[int, int, int]) -> np.ndarray:
    """Which pairs of (batch, queries, keys) some head sees."""
    batch, queries, keys = shape
    seen = np.ones((batch, 1, queries, keys), bool)
    for part in parts:
        if part.role == "visible":
            seen = seen & np.asarray(part.value(*part.arrays))
    return seen.any(1)


def magnified(
    arrays: tuple[np.ndarray, ...],
    parts: Sequence[scores.Part],
    largest: float,
    values: float,
    hidden: str,
) -> tuple[np.ndarray, ...]:
    """The arrays of an attention, queries, keys and values first, with other numbers in them.

    largest: score, and values: factor of values; 0: as drawn. hidden: of HIDDEN.
    """
    q, k, v = (array.copy() for array in arrays[:3])
    if largest:
        own = largest_score(q, k)
        q = (q.astype(np.float64) * (largest / own if own else 1)).astype(q.dtype)
    if values:
        v = (v.astype(np.float64) * values).astype(v.dtype)
    if hidden:
        argument, _, value = hidden.partition(":")
        seen = visible(parts, (q.shape[0], q.shape[1], k.shape[1]))
        rows, axis = {"q": (q, 2), "k": (k, 1), "v": (v, 1)}[argument]
        rows[~seen.any(axis)] = float(value)
    return (q, k, v, *arrays[3:])
