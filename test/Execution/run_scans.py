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
from scans import GATES, STATES, Scan

TOKENS = 768


@dataclass(frozen=True)
class Model:
    """Attention, a scan over its rows, and the gradients of a loss. ends: of its last state, too."""

    scan: Scan
    ends: bool = True

    def __call__(self, *arguments: jax.Array) -> tuple:
        def loss(q: jax.Array, k: jax.Array, v: jax.Array, w: jax.Array) -> tuple:
            last, rows = self.scan(attend(q, k, v) @ w, w[0])
            signs = jnp.cos(jnp.arange(rows.shape[1], dtype=rows.dtype))[:, None]
            return jnp.sum(jnp.sin(rows) * signs) + jnp.sum(last) * self.ends, rows

        return jax.value_and_grad(loss, argnums=(0, 1, 2, 3), has_aux=True)(*arguments)


def problem(draw_normal: Callable, batch: int, tokens: int) -> list[np.ndarray]:
    rows = [draw_normal((batch, tokens, HEADS, FEATURES)) for _ in range(3)]
    return [*rows, draw_normal((HEADS * FEATURES, WIDTH))]


def drawn(random: Random) -> tuple[Model, list[np.ndarray]]:
    batch, tokens = random.choice((1, 1, 2)), random.choice((16, 16, 24, 48, 48, 17))
    scan = Scan(
        random.choice([*GATES]),
        random.choice((*STATES, *STATES[:3])),
        random.choice((1, 1, 2, 4)),
        is_reversed=random.random() < 0.4,
        starts=random.random() < 0.5,
    )
    ends = random.random() < 0.5
    arguments = problem(np.random.default_rng(random.getrandbits(32)).standard_normal, batch, tokens)
    scan = replace(scan, remade=random.random() < 0.3)
    if random.random() < 0.3:
        state = random.choice(("mapped", "summed", "entropy", "normed"))
        chunk, slices = random.choice((3, 4, 8, 12)), random.random() < 0.5
        scan = replace(scan, state=state, chunk=chunk, slices=slices)
    return Model(scan, ends), arguments


def kept(tools: harness.Tools) -> list[harness.Case]:
    """Scans that send states beside what the attention before them does, a tenth of all rows at most."""
    arguments = problem(np.random.default_rng(0).standard_normal, 1, TOKENS)
    scans = {
        "none": Scan("number", "nothing", 1),
        "decayed": Scan("features", "vector", 1, starts=True),
        "reversed": Scan("row", "vector", 1, is_reversed=True),
        "remade": Scan("features", "vector", 1, remade=True),
        "mapped": Scan("features", "none", 16),
        "counted": Scan("features", "counts", 1),
        "joined": Scan("features", "summed", TOKENS // 4),
        "entropy": Scan("number", "entropy", 4),
        "normed": Scan("number", "normed", 4),
        "sliced": Scan("number", "entropy", 4, slices=True),
        "sliced-norms": Scan("number", "normed", 4, slices=True),
    }
    made = {name: tools.program(f"scan-{name}", Model(scan), *arguments) for name, scan in scans.items()}
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
