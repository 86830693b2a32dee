"""Runs programs of backward-scores.mlir, and compares o, dq, dk and dv with NumPy's.

Usage: backward_scores_check.py PARTITIONED... ; what each promises to send its ranks must send.
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
of_keys = np.sort(rng.integers(0, 3, (batch, length)), axis=1)
of_queries = of_keys.copy()
of_queries[1, 4:6] = 7  # which no key is
falls = 0.25 * rng.standard_normal(heads)
bias = rng.standard_normal((heads, length, length))

whose = np.arange(heads) * kv_heads // heads
at = np.arange(length)
tanh = np.tanh(scale * np.einsum("bihd,bjhd->bhij", q, k[:, :, whose]) / 2)
exponents = 2 * tanh + falls[:, None, None] * (at - at[:, None]) + bias
seen = (of_queries[:, :, None] == of_keys[:, None]) & (at <= at[:, None])
powers = np.where(seen[:, None], np.exp(exponents), 0)
sums = powers.sum(-1, keepdims=True)
p = np.divide(powers, sums, out=np.zeros_like(powers), where=sums > 0)
places = np.arange(heads)[:, None, None] + at[:, None] + at
weighted = p * np.where(places % 3 == 0, 0, 1.5)
o = np.einsum("bhij,bjhd->bihd", weighted, v[:, :, whose])
delta = np.einsum("bihd,bihd->bhi", o, do)[..., None]
to_values = np.einsum("bihd,bjhd->bhij", do, v[:, :, whose])
ds = (weighted * to_values - p * delta) * (1 - tanh**2) * scale
groups = np.eye(kv_heads)[whose]
expected = [
    o,
    np.einsum("bhij,bjhd->bihd", ds, k[:, :, whose]),
    np.einsum("bhij,bihd,hg->bjgd", ds, q, groups),
    np.einsum("bhij,bihd,hg->bjgd", weighted, do, groups),
]
assert (sums == 0).any(), "expected a query that sees no key"

inputs = [q, k, v, do, of_queries[..., None, None], of_keys[..., None, None]]
inputs += [falls[None, None, :, None], bias[None]]
for partitioned in sys.argv[1:]:
    print(f"{partitioned}: {check(partitioned, inputs, expected)} bytes a rank")
