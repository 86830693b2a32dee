"""Masks that positions decide: functions of (queries, keys) that are true where visible."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

Visible = Callable[[int, int], jax.Array]


def grid(queries: int, keys: int) -> tuple[jax.Array, jax.Array]:
    """Positions of queries as a column, of keys as a row."""
    return jnp.arange(queries)[:, None], jnp.arange(keys)[None, :]


def full(queries: int, keys: int) -> jax.Array:
    """Every key."""
    return jnp.ones((queries, keys), bool)


def causal(queries: int, keys: int) -> jax.Array:
    """Keys up to the query, the first ones aligned."""
    i, j = grid(queries, keys)
    return i >= j


def causal_end(queries: int, keys: int) -> jax.Array:
    """Keys up to the query, the last ones aligned, as after a cache."""
    i, j = grid(queries, keys)
    return j <= i + (keys - queries)


def window(behind: int, ahead: int) -> Visible:
    """So many keys behind each query, and ahead."""

    def visible(queries: int, keys: int) -> jax.Array:
        i, j = grid(queries, keys)
        return (j - i > -behind - 1) & (j - i <= ahead)

    return visible


def prefix(length: int) -> Visible:
    """Causal behind a prefix that every query sees."""

    def visible(queries: int, keys: int) -> jax.Array:
        i, j = grid(queries, keys)
        return (j <= i) | (j < length)

    return visible


def chunks(length: int) -> Visible:
    """Only the query's own chunk."""

    def visible(queries: int, keys: int) -> jax.Array:
        i, j = grid(queries, keys)
        return i // length == j // length

    return visible


def documents(*starts: int) -> Visible:
    """Only the query's own document; a table of constants numbers them."""

    def visible(queries: int, keys: int) -> jax.Array:
        numbers = jnp.asarray(np.searchsorted(starts, np.arange(max(queries, keys)), side="right"))
        i, j = grid(queries, keys)
        return numbers[i] == numbers[j]

    return visible


def blocks(rows: int, columns: int, seed: int = 0) -> Visible:
    """Blocks that a constant lists; every query sees the first key."""

    def visible(queries: int, keys: int) -> jax.Array:
        kept = np.random.default_rng(seed).random((queries // rows + 1, keys // columns + 1)) > 0.6
        table = np.repeat(np.repeat(kept, rows, axis=0), columns, axis=1)[:queries, :keys]
        table[:, 0] = True
        return jnp.asarray(table)

    return visible


def blind(begin: int, end: int) -> Visible:
    """Queries of [begin, end) see nothing."""

    def visible(queries: int, keys: int) -> jax.Array:
        i, j = grid(queries, keys)
        return ((i < begin) | (i >= end)) & (j >= 0)

    return visible


def unseen(begin: int, end: int) -> Visible:
    """Nobody sees the keys of [begin, end)."""

    def visible(queries: int, keys: int) -> jax.Array:
        i, j = grid(queries, keys)
        return ((j < begin) | (j >= end)) & (i >= 0)

    return visible


def both(*masks: Visible) -> Visible:
    """What all of them show."""

    def visible(queries: int, keys: int) -> jax.Array:
        result = masks[0](queries, keys)
        for mask in masks[1:]:
            result = result & mask(queries, keys)
        return result

    return visible


def lengths(mean: int, tokens: int, seed: int) -> list[int]:
    """Random lengths of documents, 1 to 2 * mean - 1, that fill so many tokens."""
    rng = np.random.default_rng([seed, mean, tokens])
    result: list[int] = []
    while sum(result) < tokens:
        result.append(int(min(rng.integers(1, 2 * mean), tokens - sum(result))))
    return result
