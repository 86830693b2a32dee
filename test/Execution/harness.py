"""What the execution tests share: programs with references, compiled, run and compared.

A *program* is a JAX function with concrete arguments. Its text, inputs, JAX's results
and the interpreter's f64 results are made once and kept under the test's build folder.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import rounding

# Measured peak memory over the promise, at least; at most 1. And where far memory is in reports.
PEAK_FLOOR = 0.95
FAR = ("farPeakBytesPerRank", "farReadPerRank", "farWrittenPerRank")
TIMEOUT_SECONDS = 240


class CaseError(Exception):
    """A case that did not hold, with what a person needs to repeat it.

    kind: `refused` or `crashed` where a tool ended so, `hang` where it did not end.
    """

    def __init__(self, text: str, kind: str = "wrong") -> None:
        super().__init__(text)
        self.kind = kind


@dataclass(frozen=True)
class Program:
    """A program on disk with its references.

    results: what unsharded JAX computed; the others of sp-interpret: reference: in f64;
    rounded: in the program's types; errors: what rounding may do to each element.
    """

    model: Path
    inputs: Path
    results: list[np.ndarray]
    reference: list[np.ndarray]
    rounded: list[np.ndarray]
    errors: list[np.ndarray]


@dataclass(frozen=True)
class Case:
    """One compilation and one run of a program.

    attentions: how many the compiler has to find; device: the seed of the emulated
    device that runs it, None for the CPU.
    """

    program: Program
    options: tuple[str, ...]
    attentions: int | None = None
    device: int | None = None
    check: Callable[[dict, dict], None] | None = None

    def emulated(self, seed: int) -> Case:
        """The same for GPUs, on an emulated one that orders its work by `seed`."""
        return replace(self, options=(*self.options, "--target=cuda", "--emulation"), device=seed)


@dataclass
class Tools:
    """Runs the tools of one build in one work folder."""

    build: Path
    work: Path

    def run(self, name: str, *arguments: str | os.PathLike[str], seed: int = 1) -> str:
        """Run a tool to success and return its stdout. seed: of an emulated device."""
        command = [str(self.build / "bin" / name), *map(str, arguments)]
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=TIMEOUT_SECONDS,
                check=False,
                env=os.environ | {"SPRT_EMULATION_SEED": str(seed)},
            )
        except subprocess.TimeoutExpired:
            text = f"no end after {TIMEOUT_SECONDS} s: {' '.join(command)}"
            raise CaseError(text, "hang") from None
        if done.returncode != 0:
            # The diagnostic is at the beginning, what a sanitizer says at the end.
            said = (
                done.stderr if len(done.stderr) < 4000 else f"{done.stderr[:2000]}\n…\n{done.stderr[-2000:]}"
            )
            text = f"{' '.join(command)}\nended with {done.returncode}:\n{said}"
            # What a verifier of the compiler's own operations finds is no word for a user.
            is_own = name == "sp-compile" and re.search(r"'sp\.\w+' op ", done.stderr)
            raise CaseError(text, "refused" if done.returncode in (1, 2) and not is_own else "crashed")
        return done.stdout

    def program(self, name: str, fn: Callable[..., Any], *args: Any, key: str = "") -> Program:
        """Export `fn`, run it in JAX and in sp-interpret; reuse what is there.

        key: what distinguishes this program from another of the same name and source.
        """
        folder = self.work / "programs" / name
        folder.mkdir(parents=True, exist_ok=True)
        sources = sorted(Path(__file__).parent.glob("*.py"))
        digest = hashlib.sha256(key.encode())
        for source in sources:
            digest.update(source.read_bytes())
        binary = (self.build / "bin" / "sp-interpret").stat()
        digest.update(f"{binary.st_mtime_ns} {binary.st_size}".encode())
        stamp = folder / "stamp"
        with open(folder / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not stamp.exists() or stamp.read_text() != digest.hexdigest():
                stamp.unlink(missing_ok=True)
                self._make(folder, fn, args)
                stamp.write_text(digest.hexdigest())
        return self.made(folder, load_results(folder / "results.npz"))

    def made(self, folder: Path, results: list[np.ndarray]) -> Program:
        """The program in a folder, with results of their types and what `interpret` left there."""
        return Program(
            folder / "model.mlir",
            folder / "inputs.npz",
            results,
            load_results(folder / "reference.npz"),
            load_results(folder / "rounded.npz"),
            load_results(folder / "errors.npz", "error"),
        )

    def interpret(self, folder: Path) -> None:
        """What sp-interpret says of a folder's program: reference.npz, rounded.npz and errors.npz."""
        model, inputs = folder / "model.mlir", f"--inputs={folder / 'inputs.npz'}"
        self.run("sp-interpret", model, inputs, f"--outputs={folder / 'reference.npz'}")
        options = (f"--outputs={folder / 'rounded.npz'}", f"--errors={folder / 'errors.npz'}")
        self.run("sp-interpret", model, inputs, "--precision=program", *options)

    def _make(self, folder: Path, fn: Callable[..., Any], args: Sequence[Any]) -> None:
        import jax

        import spmlir

        results = [np.asarray(result) for result in jax.tree.leaves(jax.jit(fn)(*args))]
        spmlir.export(fn, *args).save(folder, results)
        self.interpret(folder)

    def execute(self, case: Case) -> tuple[list[np.ndarray], dict, dict]:
        """Compile and run; return the results and both reports."""
        tag = hashlib.sha256(" ".join([str(case.program.model), *case.options]).encode()).hexdigest()[:16]
        folder = self.work / "runs"
        folder.mkdir(parents=True, exist_ok=True)
        stem = folder / tag
        artifact, promised, measured, outputs = (
            f"{stem}.{end}" for end in ("spx", "c.json", "r.json", "npz")
        )
        self.run("sp-compile", case.program.model, "-o", artifact, *case.options, f"--report={promised}")
        arguments = [f"--inputs={case.program.inputs}", f"--outputs={outputs}", f"--report={measured}"]
        if case.device is None:
            if FAR[0] in read_report(Path(promised)) and int(tag, 16) % 2:
                arguments.append(f"--far={folder}")
            self.run("sp-run", artifact, *arguments, "--timeout=60")
        else:
            self.run("sp-run", artifact, *arguments, "--device=emulated", seed=case.device)
        reports = [read_report(Path(report)) for report in (promised, measured)]
        results = load_results(Path(outputs))
        for path in (artifact, promised, measured, outputs):
            os.unlink(path)
        return results, reports[0], reports[1]

    def hold(self, case: Case) -> None:
        """Raise CaseError unless the case holds."""
        results, promised, measured = self.execute(case)
        problems = compare(results, case.program) + broken(promised, measured)
        found = len(promised["attentions"])
        if case.attentions is not None and found != case.attentions:
            problems.append(f"expected {case.attentions} attentions but found {found}")
        if case.check is not None:
            try:
                case.check(promised, measured)
            except CaseError as failure:
                problems.append(str(failure))
        if problems:
            command = f"sp-compile {case.program.model} {' '.join(case.options)}"
            raise CaseError("\n  ".join([command, *problems]))


def broken(promised: dict, measured: dict) -> list[str]:
    """What was sent or used otherwise than sp-compile promised, or sp-run once it knew the documents."""
    promised, problems = promised | measured.get("documents", {}).get("promised", {}), []
    floor = 0 if "documents" in measured else PEAK_FLOOR  # another batch may need what one leaves
    peaks = zip(measured["peakBytesPerRank"], promised["peakBytesPerRank"], strict=True)
    for rank, (peak, limit) in enumerate(peaks):
        if not floor * limit <= peak <= limit:
            problems.append(f"rank {rank}: peak {peak} bytes but promised {limit}")
    for name in ("bytesSentPerRank", *FAR):
        if promised.get(name) != measured.get(name):
            problems.append(f"promised {name} {promised.get(name)} but got {measured.get(name)}")
    return problems


def read_report(path: Path) -> dict:
    """What a tool wrote with --report."""
    return json.loads(path.read_text())


def load_results(path: Path, name: str = "result") -> list[np.ndarray]:
    """result0, result1, … of an npz file."""
    with np.load(path) as file:
        return [file[f"{name}{i}"] for i in range(len(file.files))]


def as_type(array: np.ndarray, dtype: str) -> np.ndarray:
    """An array of a file, in which bf16 has no name."""
    import ml_dtypes

    return array.view(ml_dtypes.bfloat16) if dtype == "bfloat16" and array.dtype.itemsize == 2 else array


def compare(results: list[np.ndarray], program: Program) -> list[str]:
    """What is wrong with `results`: shapes, types, and elements that rounding.py does not let pass."""
    problems = []
    if len(results) != len(program.results):
        return [f"expected {len(program.results)} results but got {len(results)}"]
    for i, (got, theirs, *expected) in enumerate(
        zip(results, program.results, program.reference, program.rounded, program.errors, strict=True)
    ):
        # JAX's bf16 comes back without a name, as no other type does.
        dtype = "bfloat16" if theirs.dtype.kind == "V" else theirs.dtype.name
        got, theirs, rounded = (as_type(x, dtype) for x in (got, theirs, expected[1]))
        if got.shape != theirs.shape or got.dtype != theirs.dtype:
            problems.append(f"result{i} is {got.dtype}{got.shape}, not {theirs.dtype}{theirs.shape}")
            continue
        if got.dtype.kind in "iub":
            if not np.array_equal(got, expected[0].astype(got.dtype)):
                problems.append(f"result{i}: integers differ")
            continue
        wrong = rounding.problem(got, rounding.Expected(expected[0], rounded, expected[2], theirs))
        if wrong:
            problems.append(f"result{i} {got.dtype}{got.shape}: {wrong}")
    return problems


def arguments(description: str) -> argparse.ArgumentParser:
    """The options every execution test takes."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--build", type=Path, required=True, help="the build folder")
    parser.add_argument("--work", type=Path, required=True, help="where programs and artifacts go")
    parser.add_argument("--quick", action="store_true", help="only a small sample")
    parser.add_argument("--all", action="store_true", help="every case, where else a sample is run")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="cases at once")
    parser.add_argument("--emulated", action="store_true", help="for GPUs, on an emulated one")
    return parser


def sampled(cases: Sequence[Any], count: int, args: argparse.Namespace) -> list[Any]:
    """So many of the cases, or with --all every one. args: of `arguments`."""
    return list(cases) if args.all else random.Random(args.seed).sample(cases, min(count, len(cases)))


def hold_all(tools: Tools, cases: Iterable[Case], args: argparse.Namespace) -> int:
    """Run the cases, print every failure, return the exit status. args: of `arguments`."""

    def failure(case: Case) -> str | None:
        try:
            tools.hold(case)
        except CaseError as problem:
            return str(problem)
        except Exception:
            return f"{' '.join(case.options)}\n{traceback.format_exc()}"
        return None

    cases = list(cases)
    if not cases:
        print("no cases", file=sys.stderr)
        return 1
    if args.emulated:
        cases = [case.emulated(seed) for seed, case in enumerate(cases, 1)]
    with ThreadPoolExecutor(args.jobs) as pool:
        failures = [outcome for outcome in pool.map(failure, cases) if outcome is not None]
    for text in failures[:20]:
        print(text, file=sys.stderr)
    print(f"{len(cases) - len(failures)} of {len(cases)} cases hold")
    return 1 if failures else 0
