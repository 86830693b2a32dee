"""Compares sp-interpret with JAX on a table of small functions.

    compare.py CASES.py [NAME...]

CASES.py defines `cases(case)`, which calls `case(name, fn, *args, tol=...)`. All cases become
one module, so that a whole table costs two evaluations and one process each. Every table is
compared three times:

  program   JAX's 32-bit program in its own types, against JAX
  raised    the same program with arithmetic in f64, against JAX within f32's accuracy
  x64       the program of the same functions on 64-bit types, in f64, against JAX in f64
"""

import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# As many devices as the largest mesh of a table.
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=6"

import jax
import numpy as np

# Relative to the largest magnitude of the result.
TOLERANCE = {"float64": 1e-13, "float32": 2e-6, "bfloat16": 8e-3, "float16": 1e-3}
TOLERANCE["complex64"], TOLERANCE["complex128"] = TOLERANCE["float32"], TOLERANCE["float64"]

MODES = ("program", "raised", "x64")

# Compiling is most of the time.
FAST_COMPILE = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}


@dataclass
class Case:
    """A function, its arguments, and how closely which evaluations must agree with JAX."""

    name: str
    fn: Callable
    args: tuple
    tol: float | None
    modes: tuple[str, ...]


def widened(array: np.ndarray) -> np.ndarray:
    """The argument in the 64-bit program: f32 becomes f64, everything else stays."""
    array = np.asarray(array)
    names = {"float32": np.float64, "complex64": np.complex128}
    return array.astype(names.get(array.dtype.name, array.dtype))


def evaluate(text: str, args: list, precision: str, folder: Path) -> list[np.ndarray] | str:
    """Results of sp-interpret, or what it printed."""
    model, inputs, outputs = (folder / n for n in ("model.mlir", "in.npz", "out.npz"))
    model.write_text(text)
    arrays = {}
    for i, array in enumerate(args):
        array = np.asarray(array)
        raw = {"bfloat16": np.uint16, "float8_e4m3fn": np.uint8, "float8_e5m2": np.uint8}
        arrays[f"arg{i}"] = array.view(raw.get(array.dtype.name, array.dtype))
    np.savez(inputs, **arrays)
    command = ["sp-interpret", model, f"--inputs={inputs}", f"--outputs={outputs}"]
    done = subprocess.run([*command, f"--precision={precision}"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return done.stderr or f"exit status {done.returncode}"
    with np.load(outputs) as file:
        return [file[f"result{i}"] for i in range(len(file.files))]


def difference(actual: np.ndarray, expected: np.ndarray, tol: float | None) -> str | None:
    """Text of what differs, or nothing. NaN equals NaN; infinities must agree."""
    name = expected.dtype.name
    if actual.shape != expected.shape:
        return f"shape {actual.shape} instead of {expected.shape}"
    if name in ("bfloat16", "float8_e4m3fn", "float8_e5m2") and actual.dtype.kind in "uV":
        actual = actual.view(expected.dtype)
    if name not in TOLERANCE and not name.startswith("float8"):
        if actual.dtype != expected.dtype:
            return f"type {actual.dtype} instead of {expected.dtype}"
        bad = np.argwhere(actual != expected)
    else:
        kind = np.complex128 if expected.dtype.kind == "c" else np.float64
        a, e = actual.astype(kind), expected.astype(kind)
        finite = np.isfinite(e)
        scale = max(np.abs(e[finite]).max(initial=0.0), 1e-30)
        limit = (TOLERANCE.get(name, 0.13) if tol is None else tol) * scale
        with np.errstate(invalid="ignore"):
            close = (np.abs(a - e) <= limit) | (a == e) | (np.isnan(a) & np.isnan(e))
        bad = np.argwhere(~close)
    if not len(bad):
        return None
    where = tuple(int(i) for i in bad[0])
    values = f"{actual[where]} instead of {expected[where]}"
    return f"{len(bad)} of {expected.size} differ, first at {where}: {values}"


def compare(cases: list[Case], mode: str, folder: Path) -> list[tuple[str, str]]:
    """Failures of one mode as (name, text); in halves when the whole table fails."""
    cases = [c for c in cases if mode in c.modes]
    if not cases:
        return []
    wide = mode == "x64"
    groups = [[widened(a) if wide else a for a in c.args] for c in cases]
    with jax.enable_x64(wide):
        args = [jax.numpy.asarray(a) for group in groups for a in group]

        def whole(*flat: jax.Array) -> list:
            results, flat = [], list(flat)
            for c in cases:
                own, flat = flat[: len(c.args)], flat[len(c.args) :]
                results.append(jax.tree.leaves(c.fn(*own)))
            return results

        lowered = jax.jit(whole, keep_unused=True).lower(*args)
        expected = lowered.compile(FAST_COMPILE)(*args)
    precision = "program" if mode == "program" else "f64"
    actual = evaluate(lowered.as_text(), args, precision, folder)
    if isinstance(actual, str):
        if len(cases) == 1:
            return [(cases[0].name, actual.strip())]
        half = len(cases) // 2
        return compare(cases[:half], mode, folder) + compare(cases[half:], mode, folder)
    failures, first = [], 0
    for c, results in zip(cases, expected, strict=True):
        own, first = actual[first : first + len(results)], first + len(results)
        for i, (a, e) in enumerate(zip(own, results, strict=True)):
            tol = c.tol
            if mode == "raised":
                # The program still rounds to f32 or bf16 in JAX.
                tol = max(tol or 0, 3 * TOLERANCE.get(e.dtype.name, 0))
            text = difference(np.asarray(a), np.asarray(e), None if wide and tol is None else tol)
            if text:
                failures.append((f"{c.name}[{i}]", text))
    return failures


def main() -> int:
    """Compare the table named on the command line."""
    path, names = Path(sys.argv[1]), sys.argv[2:]
    spec = importlib.util.spec_from_file_location("cases", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    cases = []

    def case(name: str, fn: Callable, *args: Any, tol: float | None = None, modes: tuple = MODES) -> None:
        if not names or name in names:
            cases.append(Case(name, fn, args, tol, modes))

    module.cases(case)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for mode in MODES:
            for name, text in compare(cases, mode, Path(folder)):
                failed += 1
                print(f"FAIL {mode} {name}: {text}")
    print(f"{len(cases)} cases, {failed} failures")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
