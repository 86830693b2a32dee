"""Runs partitioned programs, and compares their results with those expected."""

import json
import re
import subprocess
import sys

import numpy as np


def check(partitioned: str, inputs: list[np.ndarray], expected: list[np.ndarray]) -> int:
    """Bytes that a rank sends in the mean; each must send what it promised."""
    stem = partitioned.removesuffix(".mlir")
    np.savez(
        stem + ".npz",
        **{f"arg{i}": x.astype("int32" if x.dtype.kind == "i" else "float32") for i, x in enumerate(inputs)},
    )
    np.savez(stem + ".expected.npz", **{f"result{i}": x.astype("float32") for i, x in enumerate(expected)})
    emit = ["sp-emit-partitioned", partitioned, "-o", stem + ".spx"]
    emitted = subprocess.run(emit, check=True, stdout=subprocess.PIPE, text=True).stdout
    checks = [f"--inputs={stem}.npz", f"--check={stem}.expected.npz", f"--report={stem}.json"]
    subprocess.run(["sp-run", stem + ".spx", *checks, "--threads=2"], check=True)
    promised = [int(n) for n in re.findall(r"^rank \d+ sends (\d+) bytes", emitted, re.M)]
    with open(stem + ".json") as file:
        sent = json.load(file)["bytesSentPerRank"]
    if promised != sent:
        sys.exit(f"{partitioned}: promised to send {promised} but sent {sent}")
    return sum(sent) // len(sent)
