"""Runs a program of q, k, v, do, lse and delta, and compares its dq, dk and dv with NumPy's.

Usage: backward_check.py ARTIFACT KV_HEADS < what sp-emit-partitioned prints, whose promises
must be what ranks send.
"""

import json
import re
import subprocess
import sys

import numpy as np

artifact, kv_heads = sys.argv[1], int(sys.argv[2])
length, heads, head, value, scale = 13, 4, 4, 3, 0.5
rng = np.random.default_rng(0)
q = rng.standard_normal((1, length, heads, head))
k = rng.standard_normal((1, length, kv_heads, head))
v = rng.standard_normal((1, length, kv_heads, value))
do = rng.standard_normal((1, length, heads, value))

whose = np.arange(heads) * kv_heads // heads
scores = scale * np.einsum("bihd,bjhd->bhij", q, k[:, :, whose])
scores = np.where(np.tril(np.ones((length, length), bool)), scores, -np.inf)
lse = np.log(np.exp(scores).sum(-1))
p = np.exp(scores - lse[..., None])
delta = np.einsum("bhij,bjhd,bihd->bih", p, v[:, :, whose], do)
ds = p * (np.einsum("bihd,bjhd->bhij", do, v[:, :, whose]) - delta.transpose(0, 2, 1)[..., None]) * scale
sums = np.eye(kv_heads)[whose]
expected = [
    np.einsum("bhij,bjhd->bihd", ds, k[:, :, whose]),
    np.einsum("bhij,bihd,hg->bjgd", ds, q, sums),
    np.einsum("bhij,bihd,hg->bjgd", p, do, sums),
]

inputs = [q, k, v, do, lse.transpose(0, 2, 1), delta]
stem = artifact.removesuffix(".spx")
np.savez(stem + ".npz", **{f"arg{i}": np.ascontiguousarray(x, "float32") for i, x in enumerate(inputs)})
np.savez(stem + ".expected.npz", **{f"result{i}": x.astype("float32") for i, x in enumerate(expected)})
command = [
    "sp-run",
    artifact,
    f"--inputs={stem}.npz",
    f"--check={stem}.expected.npz",
    f"--report={stem}.json",
]
subprocess.run(command + ["--threads=2"], check=True)

with open(stem + ".json") as file:
    report = json.load(file)
promised = [int(n) for n in re.findall(r"^rank \d+ sends (\d+) bytes", sys.stdin.read(), re.M)]
sent = report["bytesSentPerRank"]
if promised != sent:
    sys.exit(f"promised to send {promised} but sent {sent}")
