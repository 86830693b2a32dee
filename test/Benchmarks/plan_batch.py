"""What it takes to plan a batch of documents, how even plans are, and a naive plan beside them.

32 Mi tokens of log-normal documents (median 900, sigma 1.2, at least 16), one of 2 Mi, in random
order, on 1 024 ranks of 8 192 tokens. Seconds are those of the call of the C ABI, hash included.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from spmlir import runtime

TOKENS, LONGEST, RANKS, CAPACITY = 32 << 20, 2 << 20, 1024, 8192


def draw(seed: int) -> np.ndarray:
    """The lengths of a batch."""
    rng = np.random.default_rng(seed)
    lengths = np.maximum(rng.lognormal(np.log(900), 1.2, TOKENS // 1000).astype(np.int64), 16)
    lengths = np.minimum(lengths, LONGEST)
    ends = np.cumsum(lengths)
    count = int(np.searchsorted(ends, TOKENS - LONGEST))
    lengths = lengths[: count + 1]
    lengths[-1] -= ends[count] - (TOKENS - LONGEST)
    return rng.permutation(np.append(lengths, LONGEST))


def shares(length: int, degree: int, token_cost: int) -> np.ndarray:
    """Costs of the ranks that share a document zigzag."""
    chunks = 2 * degree
    bounds = np.arange(chunks + 1) * (length // chunks)
    bounds += np.minimum(np.arange(chunks + 1), length % chunks)
    costs = token_cost * np.diff(bounds) + np.diff(bounds * (bounds + 1) // 2)
    return (costs + costs[::-1])[:degree]


def naive(lengths: np.ndarray, token_cost: int) -> tuple[np.ndarray, int]:
    """Costs by rank and micro-batches: documents as they come, long ones on the first free ranks."""
    costs = np.zeros(RANKS, np.int64)
    count = np.zeros(RANKS, np.int64)  # micro-batches of a rank
    room = np.zeros(RANKS, np.int64)  # of the last one
    turn = 0
    free = []  # by micro-batch, the first rank that is in no group
    for length in lengths.tolist():
        if length > CAPACITY:
            degree = -(-length // CAPACITY)
            index = next((i for i, first in enumerate(free) if first + degree <= RANKS), len(free))
            if index == len(free):
                free.append(0)
            costs[free[index] : free[index] + degree] += shares(length, degree, token_cost)
            free[index] += degree
            continue
        if room[turn] < length:
            count[turn] += 1
            room[turn] = CAPACITY
        room[turn] -= length
        costs[turn] += token_cost * length + length * (length + 1) // 2
        turn = (turn + 1) % RANKS
    # Whole documents have micro-batches of their own, behind the groups.
    return costs, len(free) + int(count.max())


def measure(plans: int, token_cost: int, spread: bool) -> dict[str, list[float]]:
    """Of each seed: milliseconds, evenness and micro-batches of a plan and a naive one."""
    found = {name: [] for name in ("ms", "even", "bound", "count", "naive even", "naive count")}
    library = runtime.library()
    for seed in range(plans):
        lengths = draw(seed)
        options = {"token_cost": token_cost, "spread": int(spread)}
        began = time.perf_counter()
        planned = runtime.batch(lengths, RANKS, CAPACITY, options)
        found["ms"].append(1e3 * (time.perf_counter() - began))
        costs = np.zeros(RANKS, np.int64)
        library.sprt_batch_costs(planned, RANKS, costs.ctypes.data)
        found["count"].append(library.sprt_batch_micro_batches(planned))
        library.sprt_batch_free(planned)
        most = shares(LONGEST, -(-LONGEST // CAPACITY), token_cost).max()
        found["even"].append(costs.max() / costs.mean())
        found["bound"].append(1.0 if spread else max(1.0, most / costs.mean()))
        costs, count = naive(lengths, token_cost)
        found["naive even"].append(costs.max() / costs.mean())
        found["naive count"].append(count)
    return found


def main() -> None:
    """Print a line for each kind of cost, with and without spreading long documents."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plans", type=int, default=200, help="seeds a line")
    plans = parser.parse_args().plans
    print("a token costs | spread | ms median, 99 % | max/mean median, worst (bound) | micro-batches", end="")
    print(" | naive: max/mean, micro-batches")
    for token_cost, spread in ((24576, False), (24576, True), (250000, False), (250000, True)):
        found = measure(plans, token_cost, spread)
        print(
            f"{token_cost} pairs | {'yes' if spread else 'no'} "
            f"| {np.median(found['ms']):.2f}, {np.percentile(found['ms'], 99):.2f} "
            f"| {np.median(found['even']):.4f}, {max(found['even']):.4f} ({max(found['bound']):.4f}) "
            f"| {min(found['count'])} to {max(found['count'])} "
            f"| {np.median(found['naive even']):.3f} to {max(found['naive even']):.3f}, "
            f"{min(found['naive count'])} to {max(found['naive count'])}"
        )


if __name__ == "__main__":
    main()
