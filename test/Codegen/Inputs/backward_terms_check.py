"""Runs programs of backward-terms.mlir, and compares o and all gradients with NumPy's.

Usage: backward_terms_check.py PARTITIONED...
"""

import sys

import numpy as np
from partitioned_runs import check

batch, length, heads, kv_heads, head, value, scale = 2, 13, 8, 4, 4, 3, 0.5
rng = np.random.default_rng(0)
q = rng.standard_normal((batch, length, heads, head))
k = rng.standard_normal((batch, length, kv_heads, head))
v = rng.standard_normal((batch, length, kv_heads, value))
do = rng.standard_normal((batch, length, heads, value))
# A query and a key of different signs do not see each other.
of_queries = rng.standard_normal((batch, length))
of_keys = rng.standard_normal((batch, length))
of_keys[1, :3] = np.abs(of_keys[1, :3])
of_queries[1, :3] = -np.abs(of_queries[1, :3])
falls = 0.25 * rng.standard_normal(heads)
bias = rng.standard_normal((heads, length, length))

whose = np.arange(heads) * kv_heads // heads
at = np.arange(length)
distance = at - at[:, None]
tanh = np.tanh(scale * np.einsum("bihd,bjhd->bhij", q, k[:, :, whose]))
both = (of_queries[:, :, None] * of_keys[:, None])[:, None]
exponents = tanh + both + falls[:, None, None] * distance + bias
seen = (both > 0) & (distance <= 0)
powers = np.where(seen, np.exp(exponents), 0)
sums = powers.sum(-1, keepdims=True)
p = np.divide(powers, sums, out=np.zeros_like(powers), where=sums > 0)
places = np.arange(heads)[:, None, None] + at[:, None] + at
weighted = p * np.where(places % 3 == 0, 0, 1.5)
o = np.einsum("bhij,bjhd->bihd", weighted, v[:, :, whose])
delta = np.einsum("bihd,bihd->bhi", o, do)[..., None]
de = weighted * np.einsum("bihd,bjhd->bhij", do, v[:, :, whose]) - p * delta
ds = de * (1 - tanh**2) * scale
groups = np.eye(kv_heads)[whose]
expected = [
    o,
    np.einsum("bhij,bjhd->bihd", ds, k[:, :, whose]),
    np.einsum("bhij,bihd,hg->bjgd", ds, q, groups),
    np.einsum("bhij,bihd,hg->bjgd", weighted, do, groups),
    np.einsum("bhij->bihj", de),
    np.einsum("bhij,bj->bih", de, of_keys)[..., None],
    np.einsum("bhij,bi->bhj", de, of_queries)[:, None],
    np.einsum("bhij,ij->bh", de, distance)[:, None, :, None],
]
assert (sums == 0).any(), "expected a query that sees no key"

inputs = [q, k, v, do, of_queries[..., None, None], of_keys[..., None, None]]
inputs += [falls[None, None, :, None], bias[None]]
for partitioned in sys.argv[1:]:
    check(partitioned, inputs, expected)
