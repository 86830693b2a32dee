"""A batch of documents as a picture: who works on which of them, when, and who waits."""

from __future__ import annotations

import colorsys
import operator
from collections.abc import Iterable, Sequence

import numpy as np

_WIDTH, _ROW, _LEFT, _TOP = 900, 26, 60, 30
# Micro-batches, which are a pixel wide at least.
_MOST = 10_000


def draw_batch(pieces: Iterable[Sequence[int]], ranks: int) -> str:
    """An SVG of ranks by micro-batches, in which a document has one colour and idle time is hatched.

    pieces: rank, micro-batch, document, begin and end of each, as `last_run["documents"]["pieces"]` has
        them, or those of a `BatchPlan`. A piece is as wide as the causally visible pairs of its
        queries; a micro-batch as its dearest rank.
    """
    rows = np.array([[operator.index(each) for each in piece] for piece in pieces], np.int64).reshape(-1, 5)
    if not len(rows):
        raise ValueError("expected pieces of documents but got none: all ranks share all of them")
    if rows.min() < 0:
        raise ValueError(f"expected pieces of numbers from 0 on but got {rows.min()}")
    if rows[:, 0].max() >= ranks:
        raise ValueError(f"expected pieces of {ranks} ranks but got one of rank {rows[:, 0].max()}")
    if (rows[:, 4] < rows[:, 3]).any():
        raise ValueError("expected pieces that end behind where they begin")
    if rows[:, 1].max() >= _MOST:
        raise ValueError(f"expected micro-batches below {_MOST} but got {rows[:, 1].max()}")
    rows = _without_padding(rows)
    costs = _pairs(rows)
    batches = rows[:, 1].max() + 1
    # By rank and micro-batch, in tokens' pairs.
    busy = np.zeros((ranks, batches))
    np.add.at(busy, (rows[:, 0], rows[:, 1]), costs)
    begins = np.concatenate([[0], np.cumsum(busy.max(0))])
    scale = _WIDTH / max(begins[-1], 1)
    height = _TOP + ranks * _ROW + 40
    idle = 1 - busy.sum() / max(ranks * begins[-1], 1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_LEFT + _WIDTH + 20}" height="{height}" '
        'font-family="sans-serif" font-size="12">',
        '<defs><pattern id="idle" width="6" height="6" patternUnits="userSpaceOnUse">'
        '<path d="M0 6L6 0" stroke="#bbb"/></pattern></defs>',
        f'<rect x="{_LEFT}" y="{_TOP}" width="{_WIDTH}" height="{ranks * _ROW}" fill="url(#idle)"/>',
    ]
    done = np.zeros((ranks, batches))
    for (rank, batch, document, begin, end), cost in zip(rows.tolist(), costs.tolist(), strict=True):
        x = _LEFT + scale * (begins[batch] + done[rank, batch])
        done[rank, batch] += cost
        # Neighbouring numbers get colours that are far apart.
        colour = _colour((document * 137 + batch * 61) % 360)
        parts.append(
            f'<rect x="{x:.1f}" y="{_TOP + rank * _ROW + 2}" width="{scale * cost:.1f}" '
            f'height="{_ROW - 4}" fill="{colour}"><title>rank {rank}, micro-batch {batch}: '
            f"document {document}, positions {begin} to {end}</title></rect>"
        )
    for rank in range(ranks):
        parts.append(f'<text x="4" y="{_TOP + rank * _ROW + 17}">rank {rank}</text>')
    for batch in range(batches):
        x = _LEFT + scale * begins[batch]
        parts.append(f'<line x1="{x:.1f}" y1="20" x2="{x:.1f}" y2="{height - 36}" stroke="#444"/>')
        parts.append(f'<text x="{x + 3:.1f}" y="16">{batch}</text>')
    parts.append(
        f'<text x="{_LEFT}" y="{height - 14}">{_count(rows)} documents in {batches} micro-batches; '
        f"hatched: idle, {100 * idle:.0f} % of what attention takes; a document has one colour</text></svg>"
    )
    return "\n".join(parts)


def _colour(hue: int) -> str:
    red, green, blue = colorsys.hls_to_rgb(hue / 360, 0.65, 0.6)
    return f"#{int(255 * red):02x}{int(255 * green):02x}{int(255 * blue):02x}"


def _without_padding(rows: np.ndarray) -> np.ndarray:
    """Without documents of one token, as padding is, unless there are no others."""
    _, of = np.unique(rows[:, 1:3], axis=0, return_inverse=True)
    tokens = np.bincount(of.ravel(), rows[:, 4] - rows[:, 3])[of.ravel()]
    return rows[tokens > 1] if (tokens > 1).any() else rows


def _count(rows: np.ndarray) -> int:
    return len(np.unique(rows[:, 1:3], axis=0))


def _pairs(rows: np.ndarray) -> np.ndarray:
    """Causally visible pairs of each piece: its queries see what of their document lies before them."""
    _, of = np.unique(rows[:, 1:3], axis=0, return_inverse=True)
    first = np.full(of.max() + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, of.ravel(), rows[:, 3])
    begin, end = rows[:, 3] - first[of.ravel()], rows[:, 4] - first[of.ravel()]
    return (end * (end + 1) - begin * (begin + 1)) / 2
