"""What score functions cost: attention with one beside the plain one, by turns in one process.

Runs of both alternate, so that they meet the same machine; the ratio is of the fastest runs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "python"))

import spmlir  # noqa: E402

HEADS = 2
Scores = jax.Array


@dataclass(frozen=True)
class Subject:
    """A score function and what it reads: a type and a shape, "hqk" for (1, H, S, S)."""

    name: str
    score: Callable[..., Scores]
    dtype: str = ""
    shape: str = ""

    def inputs(self, tokens: int) -> list[np.ndarray]:
        if not self.dtype:
            return []
        if self.shape == "s":
            return [np.repeat(np.arange(4, dtype=self.dtype), -(-tokens // 4))[None, :tokens]]
        shape = 1, HEADS if self.shape == "hqk" else 1, tokens, tokens
        drawn = np.random.default_rng(1).standard_normal(shape, np.float32)
        return [drawn < 1 if self.dtype == "bool" else drawn.astype(jnp.dtype(self.dtype))]


def of_segments(scores: Scores, ids: jax.Array) -> Scores:
    return jnp.where(ids[:, None, :, None] == ids[:, None, None, :], scores, -jnp.inf)


def alibi(scores: Scores) -> Scores:
    slopes = 2.0 ** -jnp.arange(1, HEADS + 1, dtype=scores.dtype)
    distance = jnp.arange(scores.shape[3])[None, :] - jnp.arange(scores.shape[2])[:, None]
    return scores + slopes[:, None, None] * distance.astype(scores.dtype)


def capped(scores: Scores) -> Scores:
    return 30 * jnp.tanh(scores / 30)


def biased(scores: Scores, bias: jax.Array) -> Scores:
    return scores + bias.astype(scores.dtype)


def masked(scores: Scores, mask: jax.Array) -> Scores:
    return jnp.where(mask, scores, -jnp.inf)


PLAIN = Subject("plain", lambda scores: scores)
SUBJECTS = [
    Subject("segment ids", of_segments, "int32", "s"),
    Subject("ALiBi", alibi),
    Subject("soft cap", capped),
    Subject("bias f32, all heads", biased, "float32", "hqk"),
    Subject("bias f32, shared", biased, "float32", "qk"),
    Subject("bias bf16, all heads", biased, "bfloat16", "hqk"),
    Subject("bias bf16, shared", biased, "bfloat16", "qk"),
    Subject("boolean mask, all heads", masked, "bool", "hqk"),
    Subject("boolean mask, shared", masked, "bool", "qk"),
]


@dataclass(frozen=True)
class Case:
    """One attention: B = 1, HEADS heads."""

    tokens: int
    size: int
    mask: str
    dtype: str

    def program(self, subject: Subject, threads: int) -> Callable[[], float]:
        """What runs it once and returns its seconds."""

        def attention(q: jax.Array, k: jax.Array, v: jax.Array, *inputs: jax.Array) -> jax.Array:
            scores = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=jnp.float32)
            scores = subject.score(scores * self.size**-0.5, *inputs)
            if self.mask == "causal":
                seen = jnp.tril(jnp.ones((self.tokens, self.tokens), bool))
                scores = jnp.where(seen, scores, -jnp.inf)
            return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores).astype(q.dtype), v)

        shape = 1, self.tokens, HEADS, self.size
        draw = np.random.default_rng(0)
        heads = [draw.standard_normal(shape, np.float32).astype(jnp.dtype(self.dtype)) for _ in "qkv"]
        arrays = [*heads, *subject.inputs(self.tokens)]
        shapes = [jax.ShapeDtypeStruct(array.shape, array.dtype) for array in arrays]
        with tempfile.TemporaryDirectory() as folder:
            artifact = Path(folder) / "model.spx"
            exported = spmlir.export(attention, *shapes)
            spmlir.compile(exported, mesh={"sp": 1}, strategy="none", output=artifact)
            program = spmlir.Executable(artifact, threads_per_rank=threads)

        def run() -> float:
            program(*arrays)
            return program.last_run["seconds"]

        return run

    def ratios(self, turns: int, threads: int) -> Iterator[tuple[str, float]]:
        """Name and ratio of each subject."""
        plain = self.program(PLAIN, threads)
        for subject in SUBJECTS:
            run = self.program(subject, threads)
            seconds = [(plain(), run()) for _ in range(turns)]
            before, after = map(min, zip(*seconds, strict=True))
            yield subject.name, after / before


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=4096, help="length of the sequence (4096)")
    parser.add_argument("--turns", type=int, default=15, help="timed runs of each (15)")
    parser.add_argument("--threads", type=int, default=0, help="threads (0: one a core)")
    parser.add_argument("--quick", action="store_true", help="f32, D=128 only")
    args = parser.parse_args()

    cases = [
        Case(args.tokens, size, mask, dtype)
        for dtype, size in [("float32", 128), ("float32", 64), ("bfloat16", 128)][: 1 if args.quick else None]
        for mask in ("full", "causal")
    ]
    columns = [dict(case.ratios(args.turns, args.threads)) for case in cases]
    names = [f"{case.dtype} D={case.size} {case.mask}" for case in cases]
    print(f"Seconds beside the plain attention's, B=1 H={HEADS} S={args.tokens}\n")
    print("| score function | " + " | ".join(names) + " |")
    print("|---|" + "---|" * len(names))
    for subject in SUBJECTS:
        cells = [f"{column[subject.name]:.2f}" for column in columns]
        print(f"| {subject.name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
