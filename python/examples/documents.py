"""Trains a Llama-style decoder on documents of mixed lengths, packed anew for every step.

    build/venv/bin/python python/examples/documents.py --steps=10

The corpus is random: lengths are log-normal (median 900, sigma 1.2), and the tokens of each document
count on from a random one, which a decoder can learn. The step is compiled once, for so many tokens a
rank; then no compiler is needed. Of each batch a document that fits goes to one rank, a longer one to
neighbours who share it, and every row is a micro-batch of all ranks.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import llama
import spmlir


def corpus(config: llama.Config, longest: int, seed: int) -> Iterator[np.ndarray]:
    """Documents without end, int32 [tokens] each."""
    random = np.random.default_rng(seed)
    while True:
        length = int(np.clip(random.lognormal(np.log(900), 1.2), 16, longest))
        first = random.integers(config.vocabulary)
        yield ((first + np.arange(length)) % config.vocabulary).astype(np.int32)


def batches(documents: Iterator[np.ndarray], ranks: int, capacity: int, rows: int) -> Iterator[dict]:
    """Packed rows without end, each of as many documents as fit."""
    left: list[np.ndarray] = []
    while True:
        taken = left
        # Whoever fills rows to the last token finds no place for a document of many.
        while sum(map(len, taken)) < 0.95 * rows * ranks * capacity:
            taken.append(next(documents))
        left = []
        while True:
            try:
                yield spmlir.pack_rows(taken, ranks, capacity, rows)
                break
            except spmlir.RunError:
                left.append(taken.pop())


def loss(config: llama.Config, weights: dict, *batch: jax.Array) -> jax.Array:
    """Mean over all tokens that have a next one."""
    words, segments, positions, labels = batch
    logits = llama.decoder(config, weights, words, positions, segments)
    log = jax.nn.log_softmax(logits)
    each = -jnp.take_along_axis(log, jnp.maximum(labels, 0)[..., None], axis=-1)[..., 0]
    counts = labels >= 0
    return jnp.sum(jnp.where(counts, each, 0)) / jnp.sum(counts)


def step(config: llama.Config, weights: dict, *batch: jax.Array) -> tuple:
    """New weights and the loss: gradients, without momentum."""
    value, gradient = jax.value_and_grad(partial(loss, config))(weights, *batch)
    return value, jax.tree.map(lambda weight, slope: weight - 0.5 * slope, weights, gradient)


def balance(report: dict) -> float:
    """FLOPs of the rank that has most, beside the mean."""
    flops = report["documents"]["promised"]["flopsPerRank"]
    return max(flops) / (sum(flops) / len(flops))


def between(least: int, most: int) -> Callable[[str], int]:
    """Numbers from the command line."""

    def number(text: str) -> int:
        if not text.isdecimal() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"expected a number of {least} to {most} but got {text}")
        return int(text)

    return number


def picture(text: str) -> Path:
    """A file that can be written, before the training rather than after it."""
    path = Path(text)
    try:
        path.open("a").close()
    except OSError as error:
        raise argparse.ArgumentTypeError(f"cannot write {text}: {error.strerror}") from None
    return path


def main() -> None:
    """Compile once, then train."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ranks", type=between(2, 1024), default=8, help="of the sequence axis (8)")
    parser.add_argument(
        "--capacity",
        type=between(32, 1 << 20),
        default=1024,
        help="tokens of a rank and micro-batch (1 024)",
    )
    parser.add_argument("--rows", type=between(1, 1024), default=2, help="micro-batches of a step (2)")
    parser.add_argument("--steps", type=between(1, 1 << 30), default=10, help="how many (10)")
    parser.add_argument("--seed", type=between(0, 1 << 31), default=1, help="of the corpus (1)")
    parser.add_argument("--picture", type=picture, metavar="FILE.svg", help="draw the last batch")
    args = parser.parse_args()
    config = llama.Config(layers=2, tokens=args.ranks * args.capacity, vocabulary=512, batch=args.rows)
    weights = llama.parameters(config)
    packed = batches(corpus(config, config.tokens // 2, args.seed), args.ranks, args.capacity, args.rows)
    first = next(packed)
    names = ("tokens", "segments", "positions", "labels")
    begin = time.monotonic()
    trainer = spmlir.train_step(
        partial(step, config),
        weights,
        *(first[name] for name in names),
        mesh={"sp": args.ranks},
        tokens_per_rank=args.capacity,
        **({"accumulate": args.rows} if args.rows > 1 else {}),
    )
    print(f"compiled in {time.monotonic() - begin:.1f} s")
    for number, batch in enumerate(itertools.islice(itertools.chain([first], packed), args.steps)):
        begin = time.monotonic()
        value = trainer.step(*(batch[name] for name in names))
        seconds = time.monotonic() - begin
        report = trainer.last_run
        print(
            f"step {number + 1}: loss {value:.4f}   {len(batch['documents'])} documents, "
            f"{int((batch['segments'] > 0).sum())} tokens   "
            f"{(batch['segments'] > 0).sum() / seconds:.0f} tokens/s   "
            f"dearest rank {balance(report):.2f} x the mean",
            flush=True,
        )
    if args.picture:
        args.picture.write_text(spmlir.draw_batch(report["documents"]["pieces"], args.ranks))


if __name__ == "__main__":
    sys.exit(main())
