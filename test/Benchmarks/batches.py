"""Batches of mixed lengths: documents on as few ranks as hold them, beside static layouts and torch.

One layer of attention (2 heads of 128, one kv head, width 256, vocabulary 512, f32) trains on packed
documents of log-normal lengths (median 900, sigma 1.2), another batch every step, through one artifact
each:

    dealt       --tokens-per-rank: a document on as few ranks as hold it
    zigzag      a static zigzag of all ranks, which skips pairs of two documents
    masked      the same zigzag, whose mask is a score function that nobody knows documents of

All forms take turns, batch by batch. With --torch, the Python of a torch, attention alone is run beside
FlexAttention's document masks, compiled, which has no backward on CPUs.
"""

from __future__ import annotations

import argparse
import datetime
import itertools
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path += [str(REPOSITORY / folder) for folder in ("python", "python/examples")]

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

import spmlir  # noqa: E402
from cpu_attention import processor  # noqa: E402
from documents import HEAD_SIZE, HEADS, WIDTH, WORDS, rotated  # noqa: E402

MIB = 2**20
NAMES = ("tokens", "segments", "positions", "labels")

PEER = """
import json, sys, time, torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
torch.set_num_threads(int(sys.argv[2]))
segments = [torch.tensor(row) for row in json.load(open(sys.argv[1]))]
n = len(segments[0])
features, heads = int(sys.argv[3]), int(sys.argv[4])
q, k, v = (torch.randn(1, each, n, features) for each in (heads, 1, 1))
attend = torch.compile(flex_attention)
for row in segments:
    def seen(b, h, i, j):
        return (i >= j) & (row[i] == row[j])
    begin = time.monotonic()
    mask = create_block_mask(seen, 1, None, n, n, device="cpu", _compile=True)
    masking, seconds = time.monotonic() - begin, []
    with torch.no_grad():
        for turn in range(3):
            begin = time.monotonic()
            attend(q, k, v, block_mask=mask, enable_gqa=True)
            seconds.append(time.monotonic() - begin)
    print(masking, min(seconds), flush=True)
"""


def batches(ranks: int, capacity: int, rows: int, seed: int) -> Iterator[dict]:
    """Packed rows without end, of as many documents as fit in 95 % of their tokens."""
    random = np.random.default_rng(seed)
    left: list[int] = []
    while True:
        taken = left
        while sum(taken) < 0.95 * rows * ranks * capacity:
            taken.append(int(np.clip(random.lognormal(np.log(900), 1.2), 16, ranks * capacity // 2)))
        left = []
        while True:
            documents = [random.integers(0, WORDS, length) for length in taken]
            try:
                yield spmlir.pack_rows(documents, ranks, capacity, rows)
                break
            except spmlir.RunError:
                left.append(taken.pop())


def attention(q: jax.Array, k: jax.Array, v: jax.Array, segments: jax.Array) -> jax.Array:
    """Causal, within documents; (batch, tokens, heads, features)."""
    row = jnp.arange(q.shape[1])
    seen = (row[:, None] >= row) & (segments[:, :, None] == segments[:, None, :])
    return jax.nn.dot_product_attention(q, k, v, mask=seen[:, None])


def loss(weights: dict, *batch: jax.Array) -> jax.Array:
    """Mean over tokens that have a next one."""
    words, segments, positions, labels = batch
    x = weights["embedding"][words]
    q, k, v = ((x @ weights[name]).reshape(*words.shape, -1, HEAD_SIZE) for name in "qkv")
    result = attention(rotated(q, positions), rotated(k, positions), v, segments)
    logits = (x + result.reshape(*words.shape, -1) @ weights["o"]) @ weights["head"]
    logs = jax.nn.log_softmax(logits)
    each = -jnp.take_along_axis(logs, jnp.maximum(labels, 0)[..., None], axis=-1)[..., 0]
    return jnp.sum(jnp.where(labels >= 0, each, 0)) / jnp.sum(labels >= 0)


def step(weights: dict, *batch: jax.Array) -> tuple:
    """Loss and new weights."""
    value, gradient = jax.value_and_grad(loss)(weights, *batch)
    return value, jax.tree.map(lambda weight, slope: weight - 0.1 * slope, weights, gradient)


def masked(batch: dict) -> dict:
    """Segments as fractions, which nobody takes for documents."""
    return {**batch, "segments": batch["segments"].astype(np.float32)}


def spread(values: list[float]) -> float:
    return max(values) / (sum(values) / len(values))


def train(args: argparse.Namespace, found: list[dict]) -> None:
    """Print a row for each form."""
    random = np.random.default_rng(args.seed)

    def normal(*shape: int) -> np.ndarray:
        return (random.standard_normal(shape) / shape[0] ** 0.5).astype(np.float32)

    inner = HEADS * HEAD_SIZE
    weights = {"embedding": normal(WORDS, WIDTH), "q": normal(WIDTH, inner), "k": normal(WIDTH, HEAD_SIZE)}
    weights |= {"v": normal(WIDTH, HEAD_SIZE), "o": normal(inner, WIDTH), "head": normal(WIDTH, WORDS)}
    make = partial(spmlir.train_step, step, weights, mesh={"sp": args.ranks})
    many = {"accumulate": args.rows} if args.rows > 1 else {}
    first = [found[0][name] for name in NAMES]
    other = [masked(found[0])[name] for name in NAMES]
    trainers = {
        "dealt": (make(*first, tokens_per_rank=args.capacity, **many), dict),
        "zigzag": (make(*first, strategy="ring", layout="zigzag", **many), dict),
        "masked": (make(*other, strategy="ring", layout="zigzag", **many), masked),
    }
    seconds: dict[str, list[float]] = {form: [] for form in trainers}
    reports: dict[str, list[dict]] = {form: [] for form in trainers}
    losses: dict[str, list[float]] = {form: [] for form in trainers}
    for batch in found:
        for form, (trainer, change) in trainers.items():
            arrays = [change(batch)[name] for name in NAMES]
            begin = time.monotonic()
            losses[form].append(trainer.step(*arrays))
            seconds[form].append(time.monotonic() - begin)
            reports[form].append(trainer.last_run)
    tokens = [int((batch["segments"] > 0).sum()) for batch in found]
    print("| form | tokens a second | beside masked | busy seconds, max / mean | MiB sent by most | loss |")
    print("|---|---|---|---|---|---|")
    rates = {form: sum(tokens[1:]) / sum(seconds[form][1:]) for form in trainers}
    for form in trainers:
        busy = np.sum([report["busySecondsPerRank"] for report in reports[form][1:]], axis=0).tolist()
        sent = max(max(report["bytesSentPerRank"]) for report in reports[form]) / MIB
        print(
            f"| {form} | {rates[form]:.0f} | {rates[form] / rates['masked']:.2f} | {spread(busy):.2f} "
            f"| {sent:.1f} | {losses[form][-1]:.5f} |",
            flush=True,
        )
    dealt = [report["documents"]["dealt"] for report in reports["dealt"]]
    print(f"\n{sum(dealt)} of {len(dealt)} batches were dealt; no artifact was compiled anew.")


def beside_torch(args: argparse.Namespace, found: list[dict]) -> None:
    """Print attention alone, forward, beside FlexAttention."""
    length = args.ranks * args.capacity
    draw = np.random.default_rng(args.seed).standard_normal
    q, k, v = (draw((1, length, heads, HEAD_SIZE)).astype(np.float32) for heads in (HEADS, 1, 1))
    rows = [row[None] for batch in found for row in batch["segments"]]
    program = spmlir.compile(
        spmlir.export(attention, q, k, v, rows[0]), mesh={"sp": args.ranks}, tokens_per_rank=args.capacity
    )
    mine = []
    for row in rows:
        each = []
        for _ in range(3):
            begin = time.monotonic()
            program(q, k, v, row)
            each.append(time.monotonic() - begin)
        mine.append(min(each))
    name = Path(args.work) / "segments.json"
    name.write_text(json.dumps([row[0].tolist() for row in rows]))
    command = [args.torch, "-c", PEER, str(name), *map(str, (args.threads, HEAD_SIZE, HEADS))]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    made, peer = np.array([line.split() for line in ran.stdout.splitlines()], float).T
    print("\n| attention alone, forward | seconds a row | beside torch |\n|---|---|---|")
    for what, each in (("dealt", mine), ("torch FlexAttention", peer)):
        print(f"| {what} | {np.mean(each):.3f} | {np.mean(peer) / np.mean(each):.2f} |")
    print(f"\nMaking torch's block mask of a row, compiled, takes {made[1:].mean():.2f} s besides.")


def main() -> None:
    """Train all forms in turn, print tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ranks", type=int, default=8, help="ranks (8)")
    parser.add_argument("--capacity", type=int, default=4096, help="tokens of a rank and row (4 096)")
    parser.add_argument("--rows", type=int, default=1, help="micro-batches (1)")
    parser.add_argument(
        "--steps", type=int, default=6, help="batches, of which the first one is not timed (6)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the lengths (1)")
    parser.add_argument("--torch", help="the Python of a torch, to run FlexAttention beside")
    parser.add_argument("--threads", type=int, default=2, help="of torch (2)")
    parser.add_argument("--work", default="/tmp", help="a folder for the peer's inputs (/tmp)")
    args = parser.parse_args()
    packed = batches(args.ranks, args.capacity, args.rows, args.seed)
    found = list(itertools.islice(packed, args.steps))
    rows = [row[row > 0] for batch in found for row in batch["segments"]]
    longest = max(int(np.unique(row, return_counts=True)[1].max()) for row in rows if len(row))
    print(
        f"{datetime.date.today()}, {processor()}: {args.ranks} ranks of {args.capacity} tokens, {args.rows} "
        f"row(s), {args.steps} batches of {np.mean([len(b['documents']) for b in found]):.0f} documents, "
        f"longest {longest}\n"
    )
    train(args, found)
    if args.torch:
        beside_torch(args, found[:2])


if __name__ == "__main__":
    sys.exit(main())
