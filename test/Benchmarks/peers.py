"""One peer's attention, timed in a process of its own: prints its seconds as JSON.

peers.py xla|xla-ring|torch HEADS TOKENS HEAD_SIZE full|causal float32|bfloat16 RUNS [gradients]

With `gradients`, the forward and the gradients of q, k and v for a cotangent.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

DEVICES = 8


def differentiated(attention: Callable[..., Any]) -> Callable[..., Any]:
    """The result and its gradients for a cotangent, of a function of JAX; the values serve as one."""
    import jax

    def both(q: Any, k: Any, v: Any) -> Any:
        result, pull = jax.vjp(attention, q, k, v)
        return result, *pull(v)

    return both


def xla(heads: int, tokens: int, size: int, causal: bool, dtype: str, gradients: bool) -> Callable[[], Any]:
    """Attention as models write it, under jax.jit."""
    import jax
    import jax.numpy as jnp

    q, k, v = (
        jax.random.normal(key, (1, tokens, heads, size), dtype)
        for key in jax.random.split(jax.random.key(0), 3)
    )

    def attention(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=jnp.float32) * size**-0.5
        if causal:
            scores = jnp.where(jnp.tril(jnp.ones((tokens, tokens), bool)), scores, -jnp.inf)
        return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores).astype(dtype), v)

    run = jax.jit(differentiated(attention) if gradients else attention)
    return lambda: jax.block_until_ready(run(q, k, v))


def xla_ring(
    heads: int, tokens: int, size: int, causal: bool, dtype: str, gradients: bool
) -> Callable[[], Any]:
    """The usual ring: shard_map, ppermute, a running softmax; chunks that are all masked are skipped."""
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={DEVICES}"
    import jax
    import jax.numpy as jnp
    from jax.sharding import NamedSharding, PartitionSpec

    mesh = jax.make_mesh((DEVICES,), ("sp",))
    spec = PartitionSpec(None, "sp")
    chunk = tokens // DEVICES

    def attend(state: tuple, q: jax.Array, k: jax.Array, v: jax.Array, first: jax.Array) -> tuple:
        maximum, total, out = state
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=jnp.float32) * size**-0.5
        if causal:
            rows = jnp.arange(chunk)
            scores = jnp.where(rows[:, None] + first >= rows[None, :], scores, -jnp.inf)
        new = jnp.maximum(maximum, scores.max(-1))
        powers = jnp.exp(scores - new[..., None])
        rescale = jnp.exp(maximum - new)
        product = jnp.einsum("bhqk,bkhd->bhqd", powers.astype(dtype), v, preferred_element_type=jnp.float32)
        return new, total * rescale + powers.sum(-1), out * rescale[..., None] + product

    def ring(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
        rank = jax.lax.axis_index("sp")
        rows = (1, heads, chunk)
        # The first step attends the own chunk, in which every query sees itself.
        state = jnp.full(rows, -jnp.inf), jnp.zeros(rows), jnp.zeros((*rows, size))
        turn = [(i, (i + 1) % DEVICES) for i in range(DEVICES)]
        for step in range(DEVICES):
            first = (rank - (rank - step) % DEVICES) * chunk
            if causal:
                state = jax.lax.cond(first >= 0, attend, lambda state, *_: state, state, q, k, v, first)
            else:
                state = attend(state, q, k, v, first)
            if step + 1 < DEVICES:
                k, v = jax.lax.ppermute((k, v), "sp", turn)
        return (state[2] / state[1][..., None]).swapaxes(1, 2).astype(dtype)

    sharded = jax.shard_map(ring, mesh=mesh, in_specs=(spec,) * 3, out_specs=spec, check_vma=False)
    program = jax.jit(differentiated(sharded) if gradients else sharded)
    q, k, v = (
        jax.device_put(jax.random.normal(key, (1, tokens, heads, size), dtype), NamedSharding(mesh, spec))
        for key in jax.random.split(jax.random.key(0), 3)
    )
    return lambda: jax.block_until_ready(program(q, k, v))


def torch(heads: int, tokens: int, size: int, causal: bool, dtype: str, gradients: bool) -> Callable[[], Any]:
    """scaled_dot_product_attention."""
    import torch

    q, k, v, cotangent = (torch.randn(1, heads, tokens, size, dtype=getattr(torch, dtype)) for _ in range(4))
    attention = torch.nn.functional.scaled_dot_product_attention

    def run() -> None:
        with torch.no_grad():
            attention(q, k, v, is_causal=causal)

    def both() -> None:
        inputs = [x.requires_grad_() for x in (q, k, v)]
        torch.autograd.grad(attention(*inputs, is_causal=causal), inputs, cotangent)

    return both if gradients else run


PEERS = {"xla": xla, "xla-ring": xla_ring, "torch": torch}


def main() -> None:
    """Time the peer that the command line names; no output where it is not installed."""
    name, heads, tokens, size, mask, dtype, runs, *more = sys.argv[1:]
    try:
        run = PEERS[name](int(heads), int(tokens), int(size), mask == "causal", dtype, more == ["gradients"])
    except ImportError:
        return
    run()
    seconds = []
    for _ in range(int(runs)):
        began = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - began)
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()
