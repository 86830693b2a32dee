"""Writes the array files of arrays.test: arrays.py FOLDER."""

import sys
from pathlib import Path

import ml_dtypes
import numpy as np

folder = Path(sys.argv[1])
ids = np.array([2, 0], np.int32)
table = np.arange(6, dtype=np.float32).reshape(3, 2) / 8
narrow = np.array([0.1, 1.5], ml_dtypes.bfloat16)
good = {"arg0": ids, "arg1": table, "arg2": narrow.view(np.uint16)}


def write(name: str, **changes: np.ndarray | None) -> None:
    """The good arrays, some of them replaced or left out."""
    arrays = {k: v for k, v in (good | changes).items() if v is not None}
    np.savez(folder / f"{name}.npz", **arrays)


write("good")
write("dtypes", arg2=narrow)
write("named", arg1=None, table=table)
write("wide", arg1=table.astype(np.float64) + 1e-12)
write("missing", arg1=None)
write("unknown", arg9=ids)
write("shape", arg1=table.T)
write("kind", arg0=ids.astype(np.float32))
write("width", arg0=ids.astype(np.int64))
(folder / "damaged.npz").write_bytes((folder / "good.npz").read_bytes()[:100])
