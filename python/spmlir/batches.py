"""Batches of packed documents: their arrays, and which rank works on which of them.

arrays = spmlir.pack(documents, 65536)
plan = spmlir.plan_batch([len(each) for each in documents], ranks=8, capacity=8192)
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import runtime
from .arrays import as_numpy

_PIECE = np.dtype([(name, np.int64) for name in ("rank", "micro_batch", "document", "begin", "end")])
_GROUP = np.dtype([(name, np.int64) for name in ("micro_batch", "first", "size", "document")])


@dataclass(frozen=True, eq=False)
class BatchPlan:
    """Which rank works on which positions of a batch, and when.

    pieces: a structured array, by rank, micro-batch and position, of int64 fields `rank`,
        `micro_batch`, `document`, `begin` and `end`: positions [begin, end) of the batch.
    groups: a structured array, by micro-batch and rank, of int64 fields `micro_batch`, `first`,
        `size` and `document`: ranks [first, first + size) share a document.
    costs: int64 [ranks], of all micro-batches.
    hash: SHA-256 of the plan, 64 hexadecimal digits. The same in every process.
    """

    ranks: int
    capacity: int
    micro_batches: int
    pieces: np.ndarray
    groups: np.ndarray
    costs: np.ndarray
    hash: str

    def of(self, micro_batch: int, rank: int) -> np.ndarray:
        """The pieces of a rank in a micro-batch, by position."""
        own = self.pieces[slice(*np.searchsorted(self.pieces["rank"], (rank, rank + 1)))]
        return own[own["micro_batch"] == micro_batch]


def plan_batch(
    lengths: Sequence[int] | np.ndarray,
    ranks: int,
    capacity: int,
    *,
    token_cost: int | None = None,
    pair_cost: int | None = None,
    max_micro_batches: int = 0,
    spread: bool = False,
) -> BatchPlan:
    """Assign documents, which lie one behind another, to ranks and micro-batches.

    A document of at most `capacity` tokens lies whole on one rank. A longer one is dealt zigzag to
    the fewest neighbouring ranks that hold it, its group, all in one micro-batch. Ranks are given
    equal costs, as far as that goes.

    lengths: tokens of each document, integers, [documents].
    capacity: tokens of a rank in a micro-batch.
    token_cost, pair_cost: of a token and a causally visible pair, in a common unit; by default
        24576 and 1, as a token takes 6 h times the FLOPs of a pair in a decoder of width h = 4096.
    max_micro_batches: of a rank; 0 stands for as many as needed.
    spread: whether a document may take more ranks than hold it, as many as bring its cost on each
        down to the mean of all ranks, where that saves 256 pairs a token.
    Raises RunError for what does not fit, TypeError and ValueError for lengths that are no list of
    integers.
    """
    given = _integers(lengths, "lengths").astype(np.int64)
    ranks, capacity = operator.index(ranks), operator.index(capacity)
    options = {
        "token_cost": token_cost,
        "pair_cost": pair_cost,
        "max_micro_batches": max_micro_batches,
        "spread": int(spread),
    }
    for name, number in {"ranks": ranks, "capacity": capacity, **options}.items():
        if number is not None and not -(2**63) <= number < 2**63:
            raise ValueError(f"expected {name} to fit in 64 bits but got {number}")
    library = runtime.library()
    planned = runtime.batch(given, ranks, capacity, options)
    try:
        pieces = runtime.batch_pieces(planned).view(_PIECE).reshape(-1)
        costs = np.zeros(ranks, np.int64)
        library.sprt_batch_costs(planned, ranks, costs.ctypes.data)
        micro_batches = library.sprt_batch_micro_batches(planned)
        digits = library.sprt_batch_hash(planned).decode()
    finally:
        library.sprt_batch_free(planned)
    groups = _groups(pieces, given)
    return BatchPlan(ranks, capacity, micro_batches, pieces, groups, costs, digits)


def pack(documents: Sequence[Any], capacity_tokens: int) -> dict[str, np.ndarray]:
    """The arrays of a batch of one row: documents one behind another, then padding.

    documents: integers, each [tokens] (anything that `Executable` takes).
    Returns int32 arrays [1, capacity_tokens]:
        tokens: of the documents; 0 in padding.
        segments: 1, 2, ... for the documents; -1, -2, ... in padding, which attends to itself alone.
        positions: 0, 1, ... within each document; 0 in padding.
        labels: the next token of the document; -1 at its end and in padding.
    Raises ValueError for more tokens than that, an empty document or a token that does not fit in
    32 bits, TypeError for tokens that are no integers.
    """
    given = _documents(documents)
    if operator.index(capacity_tokens) < 1:
        raise ValueError(f"expected room for at least 1 token but got {capacity_tokens}")
    total = sum(map(len, given))
    if total > capacity_tokens:
        raise ValueError(f"expected at most {capacity_tokens} tokens but {len(given)} documents have {total}")
    return _arrays([given], capacity_tokens)


def pack_rows(
    documents: Sequence[Any], ranks: int, capacity: int, rows: int | None = None
) -> dict[str, np.ndarray]:
    """The arrays of a batch of several rows, each a micro-batch of all ranks.

    For a step compiled with `accumulate=rows` and `--tokens-per-rank=capacity`: which documents share a
    row is planned as `plan_batch` does it, for equal costs of all ranks, and so that each rank has at
    most `capacity` tokens of a row.

    documents: integers, each [tokens], in any order.
    rows: of the arrays; None stands for as few as hold the documents.
    Returns int32 arrays [rows, ranks * capacity], which are those of `pack`, and `documents`: int64
    [len(documents)], the row of each.
    Raises RunError for documents that do not fit in so many rows, which says what capacity they fit with,
    ValueError for no or over 65 536 rows, and what `pack` raises.
    """
    if rows is not None and not 1 <= rows <= 65536:
        raise ValueError(f"expected 1 to 65536 rows but got {rows}")
    given = _documents(documents)
    lengths = np.array([len(each) for each in given], np.int64)
    length = operator.index(ranks) * operator.index(capacity)
    try:
        plan = _plan_rows(lengths, ranks, capacity, rows)
    except runtime.RunError as error:
        fitting = _fitting_capacity(lengths, ranks, capacity, rows) if rows else None
        if fitting is None:
            raise
        raise runtime.RunError(
            f"{error}, or compile with --tokens-per-rank={fitting} and pack with that capacity "
            f"instead of {capacity}"
        ) from None
    row_of = np.zeros(len(given), np.int64)
    row_of[plan.pieces["document"]] = plan.pieces["micro_batch"]
    count = rows or max(1, plan.micro_batches)
    members = [np.flatnonzero(row_of == row) for row in range(count)]
    arrays = _arrays([[given[index] for index in own] for own in members], length)
    return {**arrays, "documents": row_of}


def _plan_rows(lengths: np.ndarray, ranks: int, capacity: int, rows: int | None) -> BatchPlan:
    # Padding is computed as tokens are: what ranks differ by are pairs.
    return plan_batch(
        lengths, ranks, capacity, token_cost=0, pair_cost=1, max_micro_batches=rows or 0, spread=True
    )


def _fitting_capacity(lengths: np.ndarray, ranks: int, capacity: int, rows: int) -> int | None:
    """A larger capacity with which documents fit in so many rows; None where they never do."""
    total = int(lengths.sum())
    tried = max(capacity + 1, -(-total // (max(ranks, 1) * rows)))
    while True:
        try:
            _plan_rows(lengths, ranks, tried, rows)
            return tried
        except runtime.RunError:
            if tried >= total:
                return None
            tried = min(tried + tried // 16 + 1, total)


def _documents(documents: Sequence[Any]) -> list[np.ndarray]:
    """Tokens of each, checked."""
    given = [_integers(each, f"document {index}") for index, each in enumerate(documents)]
    for index, each in enumerate(given):
        if not len(each):
            raise ValueError(f"expected documents of at least 1 token but document {index} has 0")
        if each.min() < -(2**31) or each.max() >= 2**31:
            raise ValueError(f"expected tokens of 32 bits but document {index} has others")
    return given


def _arrays(rows: Sequence[Sequence[np.ndarray]], length: int) -> dict[str, np.ndarray]:
    """The arrays of documents by row, each row filled up with padding."""
    names = ("tokens", "segments", "positions", "labels")
    arrays = {name: np.zeros((len(rows), length), np.int32) for name in names}
    arrays["labels"][:] = -1
    for row, documents in enumerate(rows):
        begin = 0
        for index, each in enumerate(documents):
            end = begin + len(each)
            arrays["tokens"][row, begin:end] = each
            arrays["segments"][row, begin:end] = index + 1
            arrays["positions"][row, begin:end] = np.arange(len(each))
            arrays["labels"][row, begin : end - 1] = each[1:]
            begin = end
        arrays["segments"][row, begin:] = -1 - np.arange(length - begin)
    return arrays


def _integers(given: Any, name: str) -> np.ndarray:
    """A one-dimensional array of integers, any type of them."""
    array = as_numpy(np.asarray(given) if isinstance(given, (list, tuple)) else given)
    if array.ndim != 1:
        raise ValueError(f"expected one dimension of {name} but got {array.ndim}")
    if not array.size:
        return array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise TypeError(f"expected integers as {name} but got {array.dtype}")
    if array.dtype == np.uint64 and array.max() >= 2**63:
        raise ValueError(f"expected {name} to fit in 64 bits but got {array.max()}")
    return array


def _groups(pieces: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The groups of documents on several ranks: from the first rank that has a piece to the last."""
    held = pieces["end"] - pieces["begin"]
    shared = pieces[lengths[pieces["document"]] > held]
    documents, first = np.unique(shared["document"], return_index=True)
    groups = np.zeros(len(documents), _GROUP)
    groups["document"] = documents
    groups["micro_batch"] = shared["micro_batch"][first]
    groups["first"] = shared["rank"][first]
    last = np.zeros(len(lengths), np.int64)
    np.maximum.at(last, shared["document"], shared["rank"])
    groups["size"] = last[documents] + 1 - groups["first"]
    return groups[np.lexsort((groups["first"], groups["micro_batch"]))]
