"""Scans along the sequence: states that decay, maps over chunks, losses of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

# What a state is multiplied with, of a row [batch, features].
GATES: dict[str, Callable[[jax.Array], jax.Array | float]] = {
    "number": lambda row: 0.5,
    "row": lambda row: jax.nn.sigmoid(jnp.mean(row, axis=-1, keepdims=True)),
    "features": jax.nn.sigmoid,
    "reset": lambda row: jnp.where(jnp.sum(row, axis=-1, keepdims=True) > 0, 0.25, 0.0),
    "quotient": lambda row: 1 / (2 + jnp.sin(row)),
}
STATES = ("vector", "outer", "none", "curved", "before", "counts")


@dataclass(frozen=True)
class Scan:
    """A scan over chunks of the rows of a sequence, so many rows each."""

    gate: str
    # "curved": no linear one; "before": that of the trip before goes out; "mapped", "summed": rows apart,
    # of which a sum goes on, too, made again for gradients; "entropy": a loss of chunks; "normed": rows by
    # their norm and by what is learned.
    state: str
    chunk: int
    is_reversed: bool = False
    starts: bool = False
    # Of "entropy" and "normed": chunks are sliced out of all rows, by their numbers.
    slices: bool = False
    # Steps are checkpoints.
    remade: bool = False

    def trip(self, state: jax.Array, rows: jax.Array) -> tuple[jax.Array, jax.Array]:
        """rows: [chunk, batch, features]."""
        if self.state in ("mapped", "summed"):
            made = jnp.sin(rows) * GATES[self.gate](rows)
            return state - jnp.sum(made, axis=0) * (self.state == "summed"), made
        row = jnp.mean(rows, axis=0)
        gate = GATES[self.gate](row)
        if self.state == "none":
            return state, jnp.sin(rows) * gate
        if self.state == "outer":
            gate = gate[..., None] if isinstance(gate, jax.Array) else gate
            # Of keys of length 1 at most: products of rows alone grow with their third power.
            key = row * jax.lax.rsqrt(1 + jnp.sum(row**2, axis=-1, keepdims=True))
            state = gate * state + key[:, :, None] * row[:, None, :]
            return state, rows + jnp.einsum("bij,bi->bj", state, key)
        after = gate * state + row
        if self.state == "curved":
            after = jnp.sin(after)
        return after, rows * (state if self.state == "before" else after)

    def entropy(self, chunk: tuple, scale: jax.Array) -> jax.Array:
        rows, labels = chunk
        rows = rows * jax.lax.rsqrt(1 + jnp.mean(rows**2, axis=-1, keepdims=True)) * scale
        if self.state == "normed":
            return rows
        return jnp.sum(jnp.take_along_axis(jax.nn.log_softmax(rows), labels[..., None], axis=-1))

    def __call__(self, x: jax.Array, scale: jax.Array) -> tuple[jax.Array, jax.Array]:
        """The last state or sum, and rows, of rows [batch, tokens, features]."""
        batch, tokens, features = x.shape
        if self.state in ("entropy", "normed"):
            labels = jnp.broadcast_to(jnp.arange(tokens) % features, x.shape[:2])
            chunks = self.chunk if tokens % self.chunk == 0 else 1
            if self.slices:
                taken, size = jnp.arange(chunks), tokens // chunks
            else:
                taken = tuple(
                    jnp.moveaxis(each.reshape(batch, chunks, -1, *each.shape[2:]), 1, 0)
                    for each in (x, labels)
                )

            def chunk(part: jax.Array | tuple) -> jax.Array:
                if self.slices:
                    part = [jax.lax.dynamic_slice_in_dim(each, part * size, size, 1) for each in (x, labels)]
                return jax.checkpoint(self.entropy)(part, scale)

            made = jax.lax.map(chunk, taken)
            if self.state == "entropy":
                return jnp.sum(made), x
            return jnp.zeros(()), jnp.moveaxis(made, 0, 1).reshape(x.shape)
        if self.state == "nothing":
            return jnp.zeros(()), x
        if self.state == "counts":
            return jnp.zeros(()), x * jnp.sin(jnp.cumsum(x > 0, axis=1) * 0.5)
        chunk = self.chunk if tokens % self.chunk == 0 else 1
        rows = jnp.moveaxis(x, 1, 0).reshape(-1, chunk, batch, features)
        shape = (batch, features, features) if self.state == "outer" else (batch, features)
        first = jnp.cos(jnp.arange(np.prod(shape), dtype=x.dtype)).reshape(shape) * self.starts
        trip = jax.checkpoint(self.trip) if self.remade or self.state == "summed" else self.trip
        last, made = jax.lax.scan(trip, first, rows, reverse=self.is_reversed)
        return last, jnp.moveaxis(made.reshape(tokens, batch, features), 0, 1)
