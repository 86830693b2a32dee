"""Steps that move, cut, join or scan the rows of a sequence, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

import scans

Step = Callable[[jax.Array, int], jax.Array]


def pad(x: jax.Array, low: int, high: int, value: float = 0) -> jax.Array:
    return jnp.pad(x, ((0, 0), (low, high), (0, 0)), constant_values=value)


def convolve(x: jax.Array, places: int, low: int, high: int, groups: int = 1, dilation: int = 1) -> jax.Array:
    """By numbers, as whose product with themselves rows would have errors that are not independent."""
    features = x.shape[2]
    groups = groups if features % groups == 0 else 1
    shape = places, features // groups, features
    kernel = jnp.cos(jnp.arange(np.prod(shape), dtype=x.dtype)).reshape(shape) / features
    return jax.lax.conv_general_dilated(
        x,
        kernel,
        (1,),
        [(low, high)],
        rhs_dilation=(dilation,),
        dimension_numbers=("NWC", "WIO", "NWC"),
        feature_group_count=groups,
    )


def attended(x: jax.Array) -> jax.Array:
    """Causal attention by two heads, whose keys are numbers: see `convolve`."""
    heads = x.reshape(*x.shape[:2], 2, -1)
    keys = jnp.cos(jnp.arange(np.prod(x.shape), dtype=x.dtype)).reshape(heads.shape)
    scores, row = jnp.einsum("bqhd,bkhd->bhqk", heads, keys) / 4, jnp.arange(x.shape[1])
    weights = jax.nn.softmax(jnp.where(row[:, None] >= row, scores, -jnp.inf))
    return jnp.einsum("bhqk,bkhd->bqhd", weights, heads).reshape(x.shape)


def pooled(x: jax.Array, places: int, by: Callable, start: float, padding: str = "SAME") -> jax.Array:
    return jax.lax.reduce_window(x, start, by, (1, places, 1), (1, 1, 1), padding)


def decayed(x: jax.Array, gates: jax.Array) -> jax.Array:
    """A scan over the tokens, whose state decays by gates."""

    def token(state: jax.Array, each: tuple) -> tuple:
        gate, row = each
        state = gate * state + row
        return state, state

    rows = jnp.moveaxis(gates, 1, 0), jnp.moveaxis(x, 1, 0)
    return jnp.moveaxis(jax.lax.scan(token, jnp.zeros_like(x[:, 0]), rows)[1], 0, 1)


def associative(x: jax.Array) -> jax.Array:
    """The same by gates of its features, as a scan of pairs."""

    def joined(a: tuple, b: tuple) -> tuple:
        return a[0] * b[0], b[0] * a[1] + b[1]

    return jax.lax.associative_scan(joined, (jax.nn.sigmoid(x), x), axis=1)[1]


def scanned(scan: scans.Scan, x: jax.Array, chunk: int) -> jax.Array:
    return replace(scan, chunk=chunk)(x, jnp.ones_like(x[0, 0]))[1]


def by_chunks(x: jax.Array, chunks: int) -> jax.Array:
    """A map over parts of the sequence, where they are equal."""
    chunks = chunks if x.shape[1] % chunks == 0 else 1
    parts = jnp.moveaxis(x.reshape(x.shape[0], chunks, -1, x.shape[2]), 1, 0)
    return jnp.moveaxis(jax.lax.map(jnp.sin, parts), 0, 1).reshape(x.shape)


def in_chunks(x: jax.Array, chunks: int) -> jax.Array:
    """By a number a part of the sequence, where they are equal."""
    chunks = chunks if x.shape[1] % chunks == 0 else 1
    factors = 1 + jnp.arange(chunks, dtype=x.dtype)[:, None, None] / 4
    return (x.reshape(x.shape[0], chunks, -1, x.shape[2]) * factors).reshape(x.shape)


def at_once(x: jax.Array, chunks: int) -> jax.Array:
    """All parts of the sequence at once, where they are equal."""
    chunks = chunks if x.shape[1] % chunks == 0 else 1
    parts = jnp.moveaxis(x.reshape(x.shape[0], chunks, -1, x.shape[2]), 1, 0)
    return jnp.moveaxis(jax.vmap(jnp.sin)(parts), 0, 1).reshape(x.shape)


def put_back(x: jax.Array, chunks: int) -> jax.Array:
    """A part of the sequence after the other, cut out and put where it was, where they are equal."""
    chunks = chunks if x.shape[1] % chunks == 0 else 1
    size = x.shape[1] // chunks

    def turn(i: jax.Array, made: jax.Array) -> jax.Array:
        part = jnp.sin(jax.lax.dynamic_slice_in_dim(x, i * size, size, 1))
        return jax.lax.dynamic_update_slice_in_dim(made, part, i * size, 1)

    return jax.lax.fori_loop(0, chunks, turn, jnp.zeros_like(x))


def places(x: jax.Array, first: int, count: int) -> jax.Array:
    """Of each sequence so many positions [batch, count, 1] that nothing but the run says."""
    rows = first + 3 * jnp.arange(len(x))[:, None] + 5 * jnp.arange(count)
    return jax.lax.optimization_barrier(rows % x.shape[1])[:, :, None]


def parts(x: jax.Array, starts: jax.Array, count: int) -> jax.Array:
    """So many rows of each sequence, wherever they start."""
    return jax.vmap(lambda rows, start: jax.lax.dynamic_slice_in_dim(rows, start, count, 0))(x, starts)


def windows(x: jax.Array, starts: jax.Array) -> jax.Array:
    """Two rows of all sequences but one, or of the only one, wherever they start."""
    sizes = max(1, x.shape[0] - 1), 2, x.shape[2]
    return jax.vmap(lambda start: jax.lax.dynamic_slice(x, (start, start, 0), sizes))(starts)


# Each gets rows [batch, sequence, features] and a small number.
SHIFTS: dict[str, Step] = {
    "first": lambda x, n: 1.5 * x[:, :-n],
    "later": lambda x, n: x[:, n:] + 0.25,
    "both_ends": lambda x, n: x[:, 1:-n],
    "roll": lambda x, n: x - 0.5 * jnp.roll(x, n, axis=1),
    "gradient_of_first": lambda x, n: x + pad(x[:, :-n], 0, n),
    "token_before": lambda x, n: x + pad(x[:, :-n], n, 0, 0.5),
    "edge_before": lambda x, n: x + jnp.pad(x[:, :-n], ((0, 0), (n, 0), (0, 0)), mode="edge"),
    "slice_of_pad": lambda x, n: x * pad(x, n, 0, 1)[:, : x.shape[1]],
    "both_pads": lambda x, n: x + pad(x, n, n, 0.1)[:, n:-n],
    "convolved": lambda x, n: sum(pad(x, 3, 0)[:, j : j + x.shape[1]] * (j + n) for j in range(4)),
    "last": lambda x, n: x + x[:, -n : x.shape[1] - n + 1],
    "joined": lambda x, n: jnp.concatenate([x[:, n:], 2 * x[:, :n]], axis=1),
    "joined_halves": lambda x, n: jnp.concatenate([x[:, x.shape[1] // 2 :], x[:, : x.shape[1] // 2]], axis=1),
    "features_too": lambda x, n: x[:, 1:, 1:] if x.shape[2] > 2 else x,
    "flat": lambda x, n: (2 * x[:, :-1].reshape(-1, x.shape[2])).reshape(x.shape[0], -1, x.shape[2]),
    "mean": lambda x, n: x - jnp.mean(x[:, :-n], axis=1, keepdims=True),
    "greatest": lambda x, n: x - jnp.max(x[:, n:], axis=1, keepdims=True),
    "causal_convolution": lambda x, n: x + convolve(x, n + 1, n, 0, x.shape[2]),
    "mixing_convolution": lambda x, n: x + convolve(x, n + 2, n + 1, 0),
    "centred_convolution": lambda x, n: x + convolve(x, 3, 1, 1, 2),
    "wide_convolution": lambda x, n: x + convolve(x, 3, 2 * n, 0, x.shape[2], n),
    "shorter_convolution": lambda x, n: convolve(x, n + 1, 0, 0),
    "channels_first": lambda x, n: jax.lax.conv_general_dilated(
        x.transpose(0, 2, 1),
        jnp.cos(jnp.arange(2.0 * x.shape[2] ** 2, dtype=x.dtype)).reshape(x.shape[2], -1, 2),
        (1,),
        [(1, 0)],
        dimension_numbers=("NCH", "OIH", "NCH"),
    ).transpose(0, 2, 1),
    "pooled": lambda x, n: x - pooled(x, n + 1, jax.lax.add, 0.0) / 4,
    "greatest_of_some": lambda x, n: x - pooled(jax.lax.stop_gradient(x), n + 1, jax.lax.max, -jnp.inf),
    "decayed": lambda x, n: decayed(x, jnp.full_like(x, 0.5)),
    "by_chunks": lambda x, n: x + by_chunks(x, n + 1),
    "in_chunks": lambda x, n: in_chunks(x, n + 1),
    "chunks_at_once": lambda x, n: at_once(x, 2 * n),
    "chunks_put_back": lambda x, n: put_back(x, 2 * n),
    # At a position that nothing but the run says.
    "picked": lambda x, n: x
    * jax.lax.dynamic_slice_in_dim(x, jax.lax.optimization_barrier(jnp.int32(n + 2)), 1, 1),
    "picked_each": lambda x, n: x + 0.5 * jnp.take_along_axis(x, places(x, n, 1), axis=1),
    "picked_some": lambda x, n: x
    + jnp.sum(jnp.take_along_axis(x, places(x, n, 3), axis=1), 1, keepdims=True),
    "picked_parts": lambda x, n: x - 0.5 * parts(x, places(x, n, 1)[:, 0, 0], 2)[:, 1:],
    "put": lambda x, n: (1.5 * x).at[:, n : n + x.shape[1] // 2].set(x[:, : x.shape[1] // 2]),
    "put_last": lambda x, n: jnp.sin(x).at[:, -n:].set(x[:, :n]),
    # Of sequences, where there are several, and of their rows.
    "picked_windows": lambda x, n: x - 0.1 * jnp.sum(windows(x, places(x[:1], n, 2)[0, :, 0]), (0, 1, 2)),
    "permuted": lambda x, n: x + 0.5 * x[:, places(x[:1], n, x.shape[1])[0, :, 0]],
    "attended": lambda x, n: x + attended(x),
    "some_attended": lambda x, n: x + jnp.repeat(attended(x[:, :: n + 1]), n + 1, axis=1)[:, : x.shape[1]],
    "every_other": lambda x, n: x + jnp.repeat(x[:, ::2], 2, axis=1)[:, : x.shape[1]],
}
SCANS: dict[str, Step] = {
    f"{state}-{gate}{'-reversed' * is_reversed}": partial(scanned, scans.Scan(gate, state, 1, is_reversed))
    for state in (*scans.STATES, "mapped", "summed", "normed")
    for gate in scans.GATES
    for is_reversed in (False, True)
} | {
    "associative": lambda x, n: associative(x),
    "averages": lambda x, n: jnp.cumsum(x, axis=1) / (n + jnp.arange(x.shape[1], dtype=x.dtype)[:, None]),
}
# Where a number that is rounded otherwise makes another of results or gradients.
JUMPS = [name for name in (*SHIFTS, *SCANS) if {*name.split("-")} & {"greatest", "counts", "reset"}]


def parsed(text: str) -> list[tuple[Step, int]]:
    """Steps with their numbers, `roll:2+averages:1`; ValueError where one is unknown."""
    steps = []
    for each in filter(None, text.split("+")):
        name, _, number = each.partition(":")
        if name not in SHIFTS | SCANS or not number.isdigit():
            raise ValueError(f"expected a step of row_steps.py and a number but got '{each}'")
        steps.append(((SHIFTS | SCANS)[name], int(number)))
    return steps


def following(text: str, attend: Callable[..., jax.Array]) -> Callable[..., jax.Array]:
    """Steps behind an attention, whose result is [batch, tokens, heads, features]."""

    def followed(*arrays: jax.Array) -> jax.Array:
        made = attend(*arrays)
        rows = made.reshape(*made.shape[:2], -1)
        for step, number in parsed(text):
            rows = step(rows, number)
        return rows.reshape(*rows.shape[:2], *made.shape[2:])

    return followed if text else attend
