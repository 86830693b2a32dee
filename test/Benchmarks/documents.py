"""A training step over packed documents that inputs tell apart, beside the same lengths as constants.

One layer of attention (2 heads of 128, one kv head, width 256, vocabulary 512, f32) over documents
of log-normal lengths (median 900), causal. Documents are told apart by ids, by positions that begin
again, by cumulative lengths, or by constants; or not at all. All forms take turns.
"""

from __future__ import annotations

import argparse
import datetime
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path += [str(REPOSITORY / folder) for folder in ("python", "python/examples")]

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

from cpu_attention import processor  # noqa: E402
from scan import Compiled, in_turn  # noqa: E402

HEADS, HEAD_SIZE, WIDTH, WORDS = 2, 128, 256, 512
MIB = 2**20
FORMS = ("constants", "ids", "positions", "lengths", "causal only")


def lengths(tokens: int, seed: int) -> list[int]:
    """Of documents that fill the tokens."""
    random = np.random.default_rng(seed)
    found: list[int] = []
    while sum(found) < tokens:
        found.append(min(max(16, int(random.lognormal(np.log(900), 1.2))), tokens - sum(found)))
    return found


def rotated(x: jax.Array, positions: jax.Array) -> jax.Array:
    angles = positions[..., None] / 10000 ** (jnp.arange(0, HEAD_SIZE, 2) / HEAD_SIZE)
    cos, sin = jnp.cos(angles)[:, :, None], jnp.sin(angles)[:, :, None]
    a, b = jnp.split(x, 2, axis=-1)
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


def training_step(number: Callable[[jax.Array, jax.Array], jax.Array] | None) -> Callable[..., tuple]:
    """Loss and new weights. number: documents' numbers of positions and cumulative lengths."""

    def loss(
        weights: dict, words: jax.Array, ids: jax.Array, at: jax.Array, ends: jax.Array, labels: jax.Array
    ):
        tokens = words.shape[1]
        x = weights["embedding"][words]
        q, k, v = ((x @ weights[name]).reshape(1, tokens, -1, HEAD_SIZE) for name in "qkv")
        row = jnp.arange(tokens)
        mask = (row[:, None] >= row)[None]
        if number is not None:
            of = number(ids, at, ends)
            mask = mask & (of[:, :, None] == of[:, None, :])
        result = jax.nn.dot_product_attention(rotated(q, at), rotated(k, at), v, mask=mask[:, None])
        logits = (x + result.reshape(1, tokens, -1) @ weights["o"]) @ weights["head"]
        logs = jax.nn.log_softmax(logits)
        return -jnp.mean(jnp.take_along_axis(logs, labels[..., None], axis=-1))

    def step(weights: dict, *batch: jax.Array) -> tuple:
        value, gradient = jax.value_and_grad(loss)(weights, *batch)
        return value, jax.tree.map(lambda weight, slope: weight - 0.1 * slope, weights, gradient)

    return step


def main() -> None:
    """Compile every form for each number of ranks, run them in turn, print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=32768, help="length of the sequence (32 768)")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 8], help="one rank, and eight")
    parser.add_argument("--rounds", type=int, default=3, help="how often each has its turn (3)")
    parser.add_argument("--seed", type=int, default=1, help="of the lengths (1)")
    parser.add_argument("--build", type=Path, default=REPOSITORY / "build", help="default build")
    args = parser.parse_args()
    parts = lengths(args.tokens, args.seed)
    ids = np.repeat(np.arange(1, len(parts) + 1, dtype=np.int32), parts)[None]
    at = np.concatenate([np.arange(part, dtype=np.int32) for part in parts])[None]
    ends = np.pad(np.cumsum(parts), (0, 256), constant_values=args.tokens)[:256].astype(np.int32)
    numbers = {
        "constants": lambda *_: jnp.asarray(ids),
        "ids": lambda ids, *_: ids,
        "positions": lambda ids, at, ends: jnp.cumsum(at == 0, axis=1),
        "lengths": lambda ids, at, ends: jnp.searchsorted(ends, jnp.arange(args.tokens), side="right")[None],
        "causal only": None,
    }
    random = np.random.default_rng(args.seed)

    def normal(*shape: int) -> np.ndarray:
        return (random.standard_normal(shape) / shape[0] ** 0.5).astype(np.float32)

    inner = HEADS * HEAD_SIZE
    shapes = {
        "embedding": (WORDS, WIDTH),
        "q": (WIDTH, inner),
        "k": (WIDTH, HEAD_SIZE),
        "v": (WIDTH, HEAD_SIZE),
    }
    weights = {name: normal(*shape) for name, shape in shapes.items()}
    weights |= {"o": normal(inner, WIDTH), "head": normal(WIDTH, WORDS)}
    words, labels = (random.integers(0, WORDS, (1, args.tokens), dtype=np.int32) for _ in range(2))
    today = datetime.date.today()
    print(f"{today}, {processor()}: {args.tokens} tokens of {len(parts)} documents, longest {max(parts)}\n")
    print("| ranks | documents | seconds | beside constants | beside causal only | MiB sent by most |")
    print("|---|---|---|---|---|---|")
    for ranks in args.ranks:
        with tempfile.TemporaryDirectory() as folder:
            made = {
                form: Compiled(
                    args.build, Path(folder) / form.replace(" ", "-"), [f"--mesh=sp={ranks}"],
                    training_step(numbers[form]), weights, words, ids, at, ends, labels,
                )
                for form in FORMS
            }  # fmt: skip
            seconds, sent = in_turn(made, args.rounds, "bytesSentPerRank")
            losses = {float(made[form].first()) for form in FORMS[:-1]}
        if max(losses) - min(losses) > 1e-5:
            raise SystemExit(f"losses differ: {losses}")
        for form in FORMS:
            beside = [seconds[form] / seconds[other] for other in ("constants", "causal only")]
            ratios = f"{beside[0]:.2f} | {beside[1]:.2f}"
            print(f"| {ranks} | {form} | {seconds[form]:.2f} | {ratios} | {sent[form] / MIB:.1f} |")


if __name__ == "__main__":
    main()
