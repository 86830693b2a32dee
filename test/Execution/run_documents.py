"""Packed documents that only the run's inputs tell apart: many batches through one artifact each.

Of every batch the loss is the model's to 1e-12 and its gradients to 1e-9 (f64), bytes and memory are
those promised once its documents are known, promised FLOPs are of exactly the documents' pairs (that no
other pair is computed, run_documents_sessions.py tells by NaN), and documents that each lie on one rank
send nothing for attention.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import jax
import jax.numpy as jnp
import numpy as np

import harness
import run_gradients
import run_matrix
import spmlir

HEADS, KV_HEADS, FEATURES = 4, 2, 4
WIDTH = 6
# Multiplications and additions of a pair, forward and of its gradients.
PAIR_FLOPS = 2 * (2 * FEATURES + 5 * FEATURES) * HEADS
STRATEGIES = (
    ("none", ()),
    ("allgather", ()),
    ("ring", ("--backward=kv",)),
    ("ring", ("--backward=q",)),
    ("ring", ("--bidirectional", "--backward=kv")),
    ("double-ring", ()),
    ("ulysses", ()),
    ("2d", ()),
    ("ring", ("--chunks=2", "--backward=kv")),
    ("ring", ("--offload=host", "--row-blocks=2")),
)
# Of each row documents follow each other, but in the last ones.
KINDS = ("one", "tokens", "short", "long", "any", "back", "padded")
IN_ORDER = KINDS[:-2]

Mask = Callable[[jax.Array], jax.Array]


def same(ids: jax.Array) -> jax.Array:
    return ids[:, :, None] == ids[:, None, :]


def causal(length: int) -> jax.Array:
    return jnp.tril(jnp.ones((length, length), bool))[None]


MASKS: dict[str, Mask] = {
    "causal": lambda ids: same(ids) & causal(ids.shape[1]),
    "bytes": lambda ids: (same(ids).astype(jnp.uint8) & causal(ids.shape[1]).astype(jnp.uint8)) != 0,
    "difference": lambda ids: (ids[:, :, None] - ids[:, None, :] == 0) & causal(ids.shape[1]),
    "real": lambda ids: same(ids) & causal(ids.shape[1]) & (ids[:, None, :] > 0),
}
FILLS = (-jnp.inf, -1e30, jnp.finfo(jnp.float32).min)


def runs(row: np.ndarray) -> np.ndarray:
    """Lengths of what follows each other with one number."""
    return np.diff(np.flatnonzero(np.diff(row, prepend=row[0] - 1, append=row[-1] - 1)))


def positions(ids: np.ndarray) -> np.ndarray:
    """Of each token in its document."""
    return np.array([np.concatenate([np.arange(n) for n in runs(row)]) for row in ids], np.int32)


def ends(ids: np.ndarray) -> np.ndarray:
    """Cumulative lengths of the first row's documents, as many as there are tokens at most."""
    cumulative = np.cumsum(runs(ids[0]))
    return np.pad(cumulative, (0, ids.size - len(cumulative)), constant_values=ids.shape[1]).astype(np.int32)


# What a model is given, made of ids, and how it numbers documents by that.
NUMBERINGS: dict[str, tuple[Callable[[np.ndarray], np.ndarray], Callable[[jax.Array, int], jax.Array]]] = {
    "ids": (lambda ids: ids, lambda ids, _: ids),
    "resets": (positions, lambda at, _: jnp.cumsum(at == 0, axis=1)),
    "starts": (positions, lambda at, n: jnp.arange(n)[None] - at + 1),
    "ends": (ends, lambda at, n: 1 + jnp.searchsorted(at, jnp.arange(n), side="right")[None]),
    "counted": (ends, lambda at, n: 1 + jnp.sum(jnp.arange(n)[:, None] >= at, axis=1)[None]),
}


def model(mask: str, fill: float, numbering: str = "ids") -> Callable[..., tuple]:
    """The loss of every token, divided by all, and its gradients by x and w."""

    def loss(x: jax.Array, w: jax.Array, source: jax.Array) -> jax.Array:
        ids = NUMBERINGS[numbering][1](source, x.shape[1])
        q, k, v = (
            (x @ part).reshape(*x.shape[:2], -1, FEATURES)[:, :, :heads]
            for part, heads in zip(w[:3], (HEADS, KV_HEADS, KV_HEADS), strict=True)
        )
        k, v = (jnp.repeat(each, HEADS // KV_HEADS, axis=2) for each in (k, v))
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / FEATURES**0.5
        weights = jax.nn.softmax(jnp.where(MASKS[mask](ids)[:, None], scores, fill))
        result = jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(*x.shape[:2], -1) @ w[3].T
        return jnp.sum(jnp.where((ids > 0)[..., None], result**2, 0)) / ids.size

    return jax.value_and_grad(loss, argnums=(0, 1))


def lengths(random: Random, tokens: int, ranks: int, kind: str) -> list[int]:
    """Documents that fill so many tokens."""
    if kind == "one":
        return [tokens]
    if kind == "tokens":
        return [1] * tokens
    most = {"short": ranks, "any": tokens, "long": 2 * ranks + 1}[kind]
    found: list[int] = []
    while sum(found) < tokens:
        found.append(min(random.randint(1, most), tokens - sum(found)))
    return found


def batch(random: Random, shape: tuple[int, int], ranks: int, kind: str) -> np.ndarray:
    """Which document each token is of, from 1 on; 0 is padding, and "back" are some that come back."""
    rows = []
    for _ in range(shape[0]):
        parts = lengths(random, shape[1], ranks, "any" if kind in ("back", "padded") else kind)
        names = random.sample(range(1, len(parts) + 1), len(parts))
        if kind == "back":
            names = [random.randint(1, 2) for _ in parts]
        row = np.repeat(names, parts)
        if kind == "padded":
            row[len(row) - random.randint(1, max(1, len(row) // 2)) :] = 0
        rows.append(row)
    return np.array(rows, np.int32)


def pairs(ids: np.ndarray) -> int:
    """Those that the documents of any row of the batch leave of a causal mask."""
    alike = (ids[:, :, None] == ids[:, None, :]).any(0)
    return int(np.tril(alike).sum()) * ids.shape[0]


@dataclass
class Packed:
    """One program, compiled once, and what is wrong with its batches."""

    name: str
    program: spmlir.Executable
    function: Callable[..., tuple]
    problems: list[str]
    numbering: str = "ids"

    def run(self, x: np.ndarray, w: np.ndarray, ids: np.ndarray, what: str) -> dict:
        """The report of a batch, whose numbers and promises are checked."""
        source = NUMBERINGS[self.numbering][0](ids)
        results = self.program(x, w, source)
        loss, gradients = self.function(x, w, source)
        off = abs(results[0] - loss) / max(abs(loss), 1e-30)
        # Of numpy, that NaN counts.
        worst = np.max([np.abs(a - b).max() for a, b in zip(results[1:], gradients, strict=True)])
        report = self.program.last_run
        problems = harness.broken(self.program.report, report)
        if not off <= 1e-12 or not worst <= 1e-9:
            problems.append(f"the loss is off by {off:.1e}, gradients by {worst:.1e}")
        if not report.get("documents", {}).get("skipped"):
            problems.append(f"pairs of two documents are not skipped: {report.get('documents')}")
        self.problems += [f"{self.name}, {what}: {problem}" for problem in problems]
        return report

    def count(
        self, reports: list[tuple[np.ndarray, dict]], pairs: Callable[[np.ndarray], int] = pairs
    ) -> None:
        """Check that FLOPs differ by those of the pairs that differ."""
        totals = [sum(report["documents"]["promised"]["flopsPerRank"]) for _, report in reports]
        seen = [pairs(ids) for ids, _ in reports]
        for (ids, _), total, count in zip(reports, totals, seen, strict=True):
            expected = totals[0] + (count - seen[0]) * PAIR_FLOPS
            if total != expected:
                self.problems.append(
                    f"{self.name}, {ids.tolist()}: {total} FLOPs but {expected} of its pairs"
                )


def packed(random: Random, number: int, plan: tuple) -> list[str]:
    """What is wrong with some batches through one artifact."""
    strategy, more, layout, ranks, options, tokens = plan
    numbering = random.choice(("ids", *NUMBERINGS)) if number else "resets"
    rows = 1 if numbering in ("ends", "counted") else random.choice((1, 1, 2))
    mask = random.choice(list(MASKS))
    # Rows of padding that see nothing are NaN where hidden scores are -inf.
    fill = random.choice(FILLS[1:] if mask == "real" else FILLS)
    function = model(mask, fill, numbering)
    draw = np.random.default_rng(number).standard_normal
    x, w = draw((rows, tokens, WIDTH)), draw((4, WIDTH, HEADS * FEATURES))
    ids = batch(random, (rows, tokens), ranks, "any")
    exported = spmlir.export(function, x, w, NUMBERINGS[numbering][0](ids))
    extra, mesh = [*options, *more], {"sp": ranks, "tp": random.choice((1, 1, 2))}
    program = spmlir.compile(exported, mesh=mesh, strategy=strategy, layout=layout, options=extra)
    what = f"{rows} x {tokens} tokens, {mask} {fill} {numbering}"
    name = f"{strategy} {layout} {' '.join(extra)} {mesh}, {what}"
    run = Packed(name, program, jax.jit(function), [], numbering)
    reports = []
    for kind in KINDS if numbering == "ids" else IN_ORDER:
        ids = batch(random, (rows, tokens), ranks, kind)
        reports.append((ids, run.run(x, w, ids, f"{kind}: {ids.tolist()}")))
    if "--chunks=2" not in extra:
        run.count(reports)
    return run.problems


def aligned() -> list[str]:
    """What is wrong with documents that each lie on one rank: their attention sends nothing."""
    function, tokens, ranks = model("causal", -jnp.inf), 24, 4
    draw = np.random.default_rng(3).standard_normal
    x, w = draw((1, tokens, WIDTH)), draw((4, WIDTH, HEADS * FEATURES))
    whole = np.repeat(np.arange(1, 5), 6)[None].astype(np.int32)
    program = spmlir.compile(
        spmlir.export(function, x, w, whole),
        mesh={"sp": ranks},
        strategy="ring",
        layout="contiguous",
    )
    run = Packed("aligned", program, jax.jit(function), [])
    single = np.arange(1, tokens + 1, dtype=np.int32)[None]
    sent = [sum(run.run(x, w, ids, str(ids.tolist()))["bytesSentPerRank"]) for ids in (single, whole)]
    across = sum(run.run(x, w, np.ones_like(whole), "one")["bytesSentPerRank"])
    if sent[0] != sent[1] or not across > sent[0]:
        run.problems.append(
            f"documents on one rank each send {sent[1]} bytes, tokens {sent[0]}, one {across}"
        )
    return run.problems


def main() -> int:
    """Run a sample, or with --all the whole product."""
    args = harness.arguments(__doc__).parse_args()
    jax.config.update("jax_enable_x64", True)
    grid = [
        (strategy, more, layout, ranks, options, tokens)
        for strategy, more in STRATEGIES
        for layout in run_gradients.LAYOUTS
        for ranks in run_matrix.RANKS
        for options in run_matrix.factors(strategy, ranks)
        for tokens in (2, ranks - 1, ranks + 1, 2 * ranks + 1, 29, 48)
        if (ranks > 1) == (strategy != "none")
        and tokens > 1
        and ("--chunks=2" not in more or tokens >= 2 * ranks)
    ]
    chosen = harness.sampled(grid, 2 if args.quick else 30, args)
    wrong = aligned()
    for number, plan in enumerate(chosen):
        wrong += packed(Random(f"{args.seed} {number}"), number, plan)
    for problem in wrong:
        print(problem, file=sys.stderr)
    print(f"{len(chosen)} artifacts of {len(IN_ORDER)} to {len(KINDS)} batches each")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
