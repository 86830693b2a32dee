"""Imports gradients of attention whose result goes into chunks or patches of rows at once.

No projection makes a value of its own of the result, so that its cotangent has the queries in several
dimensions.
"""

import sys
from itertools import product

from live import report
from live_gradients import BATCH, HEADS, KV_HEADS, LONG, SIZE, check, heads_first, library, shaped

SHAPES = (
    (BATCH, 3, LONG // 3, HEADS * SIZE),
    (BATCH, 3, LONG // 3, HEADS, SIZE),
    (BATCH, LONG // 3, 3 * HEADS * SIZE),
    (BATCH * 3, LONG // 3, HEADS, SIZE),
    (BATCH, LONG * HEADS, SIZE),
)


def cut_into(shape):
    def cut(q, k, v):
        return library(q, k, v).reshape(shape)

    cut.__name__ = f"cut_into{shape}"
    return cut


def heads_first_cut(q, k, v):
    return heads_first(q, k, v).reshape(BATCH, HEADS, 3, LONG // 3, SIZE).swapaxes(1, 2)


if __name__ == "__main__":
    q = shaped(BATCH, LONG, HEADS, SIZE)
    kv = shaped(BATCH, LONG, KV_HEADS, SIZE)
    some = ((0, 1, 2), (0,), (1, 2), (2,))
    cases = [(cut_into(shape), (q, kv, kv), of, False, 1, 1) for shape, of in product(SHAPES, some)]
    cases += [(cut_into(shape), (q, kv, kv), (0, 1), True, 1, 1) for shape in SHAPES]
    cases.append((heads_first_cut, [shaped(BATCH, HEADS, LONG, SIZE)] * 3, (0, 1, 2), False, 1, 1))
    sys.exit(report(cases, check))
