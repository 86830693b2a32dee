"""Drawn scans along the sequence, whose trips ranks share: states that decay, maps over chunks, sums.

A model is causal attention, a scan over its rows, and a loss with its gradients. Each runs under a drawn
strategy, layout and number of ranks. Where ranks hold whole runs of rows, a scan sends states alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

import jax
import jax.numpy as jnp
import numpy as np

import harness
from run_shifts import FEATURES, HEADS, WIDTH, attend, cases_of

TOKENS = 768
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
    """Attention, a scan over chunks of its rows, and the gradients of a loss."""

    gate: str
    # "curved": no linear one; "before": that of the trip before goes out; "mapped", "summed": rows apart,
    # of which a sum goes on, too, made again for gradients; "entropy": a loss of chunks; "normed": rows by
    # their norm and by what is learned.
    state: str
    chunk: int
    is_reversed: bool = False
    starts: bool = False
    ends: bool = True

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

    def scan(self, x: jax.Array, scale: jax.Array) -> tuple[jax.Array, jax.Array]:
        batch, tokens, features = x.shape
        if self.state in ("entropy", "normed"):
            labels = jnp.broadcast_to(jnp.arange(tokens) % features, x.shape[:2])
            chunks = self.chunk if tokens % self.chunk == 0 else 1
            parts = (
                jnp.moveaxis(each.reshape(batch, chunks, -1, *each.shape[2:]), 1, 0) for each in (x, labels)
            )
            made = jax.lax.map(lambda part: jax.checkpoint(self.entropy)(part, scale), tuple(parts))
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
        trip = jax.checkpoint(self.trip) if self.state == "summed" else self.trip
        last, made = jax.lax.scan(trip, first, rows, reverse=self.is_reversed)
        return last, jnp.moveaxis(made.reshape(tokens, batch, features), 0, 1)

    def __call__(self, *arguments: jax.Array) -> tuple:
        def loss(q: jax.Array, k: jax.Array, v: jax.Array, w: jax.Array) -> tuple:
            last, rows = self.scan(attend(q, k, v) @ w, w[0])
            signs = jnp.cos(jnp.arange(rows.shape[1], dtype=rows.dtype))[:, None]
            return jnp.sum(jnp.sin(rows) * signs) + jnp.sum(last) * self.ends, rows

        return jax.value_and_grad(loss, argnums=(0, 1, 2, 3), has_aux=True)(*arguments)


def problem(draw_normal: Callable, batch: int, tokens: int) -> list[np.ndarray]:
    rows = [draw_normal((batch, tokens, HEADS, FEATURES)) for _ in range(3)]
    return [*rows, draw_normal((HEADS * FEATURES, WIDTH))]


def drawn(random: Random) -> tuple[Scan, list[np.ndarray]]:
    batch, tokens = random.choice((1, 1, 2)), random.choice((16, 16, 24, 48, 48, 17))
    scan = Scan(
        random.choice([*GATES]),
        random.choice((*STATES, *STATES[:3])),
        random.choice((1, 1, 2, 4)),
        is_reversed=random.random() < 0.4,
        starts=random.random() < 0.5,
        ends=random.random() < 0.5,
    )
    arguments = problem(np.random.default_rng(random.getrandbits(32)).standard_normal, batch, tokens)
    if random.random() < 0.3:
        state = random.choice(("mapped", "summed", "entropy", "normed"))
        scan = replace(scan, state=state, chunk=random.choice((3, 4, 8, 12)))
    return scan, arguments


def kept(tools: harness.Tools) -> list[harness.Case]:
    """Scans that send states beside what the attention before them does, a tenth of all rows at most."""
    arguments = problem(np.random.default_rng(0).standard_normal, 1, TOKENS)
    scans = {
        "none": Scan("number", "nothing", 1),
        "decayed": Scan("features", "vector", 1, starts=True),
        "reversed": Scan("row", "vector", 1, is_reversed=True),
        "mapped": Scan("features", "none", 16),
        "counted": Scan("features", "counts", 1),
        "joined": Scan("features", "summed", TOKENS // 4),
        "entropy": Scan("number", "entropy", 4),
        "normed": Scan("number", "normed", 4),
    }
    made = {name: tools.program(f"scan-{name}", scan, *arguments) for name, scan in scans.items()}
    cases = []
    for ranks, layout in ((4, "zigzag"), (3, "contiguous")):
        options = (f"--mesh=sp={ranks}", "--strategy=ring", f"--layout={layout}")
        _, attention, _ = tools.execute(harness.Case(made["none"], options))

        def check(promised: dict, _: dict, attention: dict = attention) -> None:
            for rank, most in enumerate(attention["bytesSentPerRank"]):
                sent = promised["bytesSentPerRank"][rank] - most
                if sent > TOKENS * WIDTH * 8 // 10:
                    raise harness.CaseError(f"rank {rank} sends {sent} bytes more than attention alone")

        cases += [harness.Case(made[name], options, check=check) for name in scans if name != "none"]
    return cases


def main() -> int:
    """So many of them, one in five with --quick."""
    parser = harness.arguments(__doc__)
    parser.add_argument("--count", type=int, default=40, help="models to draw")
    args = parser.parse_args()
    tools = harness.Tools(args.build, args.work)
    jax.config.update("jax_enable_x64", True)
    return harness.hold_all(tools, [*kept(tools), *cases_of("scan", drawn, tools, args)], args)


if __name__ == "__main__":
    raise SystemExit(main())
