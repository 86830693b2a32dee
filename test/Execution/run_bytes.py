"""Bytes sent: the promise, the measurement and the formula agree where everything divides."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp

import attentions
import harness

LENGTH = 64


def formula(strategy: str, ranks: int, kind: attentions.Attention) -> int:
    """Bytes that one rank sends in one forward attention.

    A ring and an all-gather move K and V to every other rank; Ulysses moves Q and the
    result too, but each element once, and kv heads again for every rank that needs them.
    """
    element = jnp.dtype(kind.dtype).itemsize
    rows = kind.batch * LENGTH // ranks
    width, kv_width = kind.heads * kind.head_size, kind.kv_heads * kind.head_size
    if strategy == "ulysses":
        replicated = kv_width * max(1, ranks // kind.kv_heads)
        return element * rows * (2 * width + 2 * replicated) * (ranks - 1) // ranks
    return element * 2 * rows * kv_width * (ranks - 1)


def equals(
    strategy: str, layout: str, ranks: int, kind: attentions.Attention
) -> Callable[[dict, dict], None]:
    """A check of both reports against the formula."""
    expected = formula(strategy, ranks, kind)

    def check(promised: dict, measured: dict) -> None:
        sent = measured["bytesSentPerRank"]
        # Contiguous blocks under a causal mask: what no later rank sees is not sent.
        less = strategy == "ring" and layout == "contiguous" and kind.causal
        held = all(b <= expected for b in sent) if less else sent == [expected] * ranks
        if not held or promised["attentions"][0]["bytesSentPerRank"] != sent:
            raise harness.CaseError(f"expected {expected} bytes from each rank but sent {sent}")

    return check


def main() -> int:
    """Run every strategy over masks, groups, types and ranks that divide."""
    args = harness.arguments(__doc__).parse_args()
    tools = harness.Tools(args.build, args.work)
    cases = []
    for kind in (
        attentions.Attention(8, 8, 8, False, "float32"),
        attentions.Attention(8, 2, 16, True, "float32", batch=2),
        attentions.Attention(8, 1, 16, True, "bfloat16"),
        attentions.Attention(8, 4, 8, False, "bfloat16", batch=3),
    ):
        name = f"bytes-{kind.heads}-{kind.kv_heads}-{kind.dtype}"
        program = tools.program(name, kind, *kind.arrays(LENGTH, LENGTH, 0))
        for strategy in ("ring", "ulysses", "allgather"):
            for layout in ("contiguous", "zigzag", "striped"):
                for ranks in (2, 4, 8):
                    options = (f"--mesh=sp={ranks}", f"--strategy={strategy}", f"--layout={layout}")
                    check = equals(strategy, layout, ranks, kind)
                    cases.append(harness.Case(program, options, attentions=1, check=check))
    return harness.hold_all(tools, cases[:: 17 if args.quick else 1], args.jobs)


if __name__ == "__main__":
    raise SystemExit(main())
