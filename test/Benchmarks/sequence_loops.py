"""Loops over the sequence: what ranks send and compute, and how long that takes on one rank and on several.

Each model is causal attention over a few heads and then a loop over all tokens: a state with a gate, gated
linear attention, a map over chunks, a cumulative sum. Bytes and FLOPs are of a rank, promised, of the forward
and, with --gradients, of gradients too; the bytes of the attention alone are the row without a loop. Seconds
are the least of some runs.
"""

from __future__ import annotations

import argparse
import datetime
import sys
import time
from collections.abc import Callable
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path += [str(REPOSITORY / folder) for folder in ("python", "python/examples")]

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

import llama  # noqa: E402
import spmlir  # noqa: E402
from cpu_attention import processor  # noqa: E402

HEADS, FEATURES = 4, 64
WIDTH = HEADS * FEATURES


def scan(trip: Callable, first: jax.Array, rows: tuple) -> jax.Array:
    """What a scan over rows [1, tokens, ..] leaves, in that form."""
    made = jax.lax.scan(trip, first, jax.tree.map(lambda x: x[0], rows))[1]
    return made.reshape(1, made.shape[0], -1)


def decayed(x: jax.Array, weight: jax.Array) -> jax.Array:
    """state = gate * state + x, gates of each feature."""

    def trip(state: jax.Array, row: tuple) -> tuple:
        gate, each = row
        state = gate * state + each
        return state, state

    return scan(trip, jnp.zeros(WIDTH, x.dtype), (jax.nn.sigmoid(x @ weight), x))


def linear_attention(x: jax.Array, weight: jax.Array) -> jax.Array:
    """state = gate * state + key value^T, with a gate for each head and feature of the keys."""
    q, k, v, gate = (
        y.reshape(1, -1, HEADS, FEATURES) for y in (x, x @ weight, x, jax.nn.sigmoid(x @ weight))
    )

    def trip(state: jax.Array, row: tuple) -> tuple:
        q, k, v, gate = row
        state = gate[:, :, None] * state + k[:, :, None] * v[:, None, :]
        return state, jnp.einsum("hd,hde->he", q, state)

    return scan(trip, jnp.zeros((HEADS, FEATURES, FEATURES), x.dtype), (q, k, v, gate))


def mapped(x: jax.Array, weight: jax.Array) -> jax.Array:
    """A feed-forward network, 64 chunks one after the other."""
    wide = jnp.concatenate([weight] * 4, axis=1)
    chunks = x.reshape(64, -1, WIDTH)
    return jax.lax.map(lambda rows: jax.nn.gelu(rows @ wide) @ wide.T, chunks).reshape(x.shape)


def unmapped(x: jax.Array, weight: jax.Array) -> jax.Array:
    """The same at once."""
    wide = jnp.concatenate([weight] * 4, axis=1)
    return jax.nn.gelu(x @ wide) @ wide.T


def summed(x: jax.Array, _: jax.Array) -> jax.Array:
    return jnp.cumsum(x, axis=1) / x.shape[1]


LOOPS: dict[str, Callable | None] = {
    "no loop": None,
    "state with a gate": decayed,
    "gated linear attention": linear_attention,
    "feed-forward in chunks": mapped,
    "feed-forward at once": unmapped,
    "cumulative sum": summed,
}


def model(args: argparse.Namespace, loop: Callable | None) -> tuple[Callable, tuple]:
    """The program of a loop, and its inputs."""

    def forward(x: jax.Array, weight: jax.Array) -> jax.Array:
        if not args.no_attention:
            heads = x.reshape(1, -1, HEADS, FEATURES)
            x = llama.attention(heads, heads, heads).reshape(x.shape)
        return loop(x, weight) if loop else x

    def loss(x: jax.Array, weight: jax.Array) -> jax.Array:
        return jnp.mean(jnp.sin(forward(x, weight)))

    draw = np.random.default_rng(0).standard_normal
    inputs = draw((1, args.tokens, WIDTH)), draw((WIDTH, WIDTH)) / WIDTH**0.5
    program = jax.value_and_grad(loss, argnums=(0, 1)) if args.gradients else forward
    return program, tuple(array.astype(np.float32) for array in inputs)


def measure(args: argparse.Namespace, loop: Callable | None, ranks: int) -> dict:
    program, inputs = model(args, loop)
    named = {"shard": "arg0=_,sp,_"} if args.no_attention else {"layout": args.layout}
    strategy = "none" if args.no_attention else "ring"
    compiled = spmlir.compile(
        spmlir.export(program, *inputs), mesh={"sp": ranks}, strategy=strategy, **(named if ranks > 1 else {})
    )
    seconds = []
    for _ in range(args.runs):
        began = time.perf_counter()
        compiled(*inputs)
        seconds.append(time.perf_counter() - began)
    report = compiled.report
    return {
        "sent": max(report["bytesSentPerRank"]),
        "flops": max(report["flopsPerRank"]),
        "seconds": min(seconds, default=float("nan")),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tokens", type=int, default=32768)
    parser.add_argument("--ranks", type=int, default=4, help="of the sequence (4)")
    parser.add_argument("--layout", default="zigzag")
    parser.add_argument("--gradients", action="store_true")
    parser.add_argument("--no-attention", action="store_true", help="loops alone, of rows dealt contiguously")
    parser.add_argument(
        "--runs", type=int, default=0, help="to time, on one rank and on all (0: bytes alone)"
    )
    parser.add_argument("--only", choices=[*LOOPS], nargs="*", default=[*LOOPS])
    args = parser.parse_args()
    print(f"`test/Benchmarks/sequence_loops.py {' '.join(sys.argv[1:])}`\n")
    print(
        f"{datetime.date.today()}, {processor()}: {args.tokens} tokens of width {WIDTH}, {args.ranks} ranks\n"
    )
    print("| | KiB sent by a rank | MFLOP of a rank | s on one rank | s on all | beside one |")
    print("|---|---|---|---|---|---|")
    for name in args.only:
        many = measure(args, LOOPS[name], args.ranks)
        row = f"| {name} | {many['sent'] / 1024:.1f} | {many['flops'] / 1e6:.0f} |"
        if args.runs:
            one = measure(args, LOOPS[name], 1)["seconds"]
            row += f" {one:.2f} | {many['seconds']:.2f} | {many['seconds'] / one:.2f} |"
        print(row if args.runs else f"{row} | | |", flush=True)


if __name__ == "__main__":
    main()
