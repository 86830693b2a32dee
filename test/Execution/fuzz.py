"""Random attentions under random plans, against the interpreter; failures are made small.

A case is right where its results are the interpreter's, it sends the bytes and needs the
memory that were promised, and no tool refuses, crashes or hangs. Where no attention is
found, every rank computes the whole of it.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import os
import shutil
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import cases
import draw
import harness
import scores
import shrink

# By type: errors that are always allowed, and the most that is where the interpreter,
# rounding every result to its type, errs as much.
LIMITS = {"float64": (1e-10, 1e-10), "float32": (1e-5, 1e-3), "bfloat16": (2**-7, 0.05)}
# Of gradients, relative to the largest entry.
GRADIENT_LIMITS = {"float64": 1e-9, "float32": 2e-5, "bfloat16": 2**-6}
# What rounding leaves of terms of gradients that cancel, relative to the largest term.
CANCELLED = {"float64": 2**-49, "float32": 2**-20, "bfloat16": 2**-20}
# The same of gradients that are nothing, as of a bias that all keys share: what is subtracted from
# slopes is a sum over a result that is rounded to its type.
NOTHING = CANCELLED | {"bfloat16": 2**-9}
NOT_TAKEN = "expected an attention for strategy"
KEYS_TRAVEL = "expected keys and values to travel"
ATTEMPTS = 150
# JAX keeps some megabytes of every function that it has traced.
CASES_PER_PROCESS = 200


@dataclass(frozen=True)
class Outcome:
    """What became of a case. problem: None where it holds; kind: of the problem."""

    case: cases.Case
    found: bool
    kind: str = ""
    problem: str | None = None
    smallest: cases.Case | None = None


@dataclass(frozen=True)
class Fuzzer:
    """Judges cases in a work folder of its own."""

    build: Path
    work: Path

    def judge(self, case: cases.Case) -> Outcome:
        """Compile, run and compare one case."""
        found = False
        try:
            tools = harness.Tools(self.build, self.work)
            program = self._program(tools, case)
            results, promised, measured = self._execute(tools, program, case)
            found = bool(promised["attentions"])
            problems = self._compare(tools, program, case, results)
            wrong = bool(problems)
            problems += harness.broken(promised, measured)
            if not found and case.positional and (case.differentiable if case.grad else case.shown):
                return Outcome(case, found, "missed", "no attention is found though positions decide all")
        except harness.CaseError as failure:
            return Outcome(case, found, failure.kind, str(failure))
        except Exception:
            return Outcome(case, found, "test", traceback.format_exc())
        if problems:
            return Outcome(case, found, "wrong" if wrong else "promise", "\n".join(problems))
        return Outcome(case, found)

    def examine(self, case: cases.Case) -> Outcome:
        """Judge a case, and find the smallest that fails in the same way."""
        outcome = self.judge(case)
        if outcome.problem is None or outcome.kind in ("test", "hang"):
            return outcome

        def fails(other: cases.Case) -> bool:
            judged = self.judge(other)
            return judged.kind == outcome.kind and judged.found == outcome.found

        smallest = shrink.shrunk(case, fails, ATTEMPTS)
        return replace(outcome, problem=self.judge(smallest).problem, smallest=smallest)

    def _program(self, tools: harness.Tools, case: cases.Case) -> harness.Program:
        """Text, inputs and reference; nothing is computed in JAX."""
        import jax

        import spmlir

        jax.config.update("jax_enable_x64", True)
        fn, arguments = case.model()
        spmlir.export(fn, *arguments).save(self.work)
        model, inputs = self.work / "model.mlir", self.work / "inputs.npz"
        return harness.Program(model, inputs, [], self._interpret(tools, "f64"))

    def _interpret(self, tools: harness.Tools, precision: str) -> list[np.ndarray]:
        """What sp-interpret computes."""
        outputs = self.work / f"{precision}.npz"
        options = f"--inputs={self.work / 'inputs.npz'}", f"--outputs={outputs}", f"--precision={precision}"
        tools.run("sp-interpret", self.work / "model.mlir", *options)
        return harness.load_results(outputs)

    def _execute(
        self, tools: harness.Tools, program: harness.Program, case: cases.Case
    ) -> tuple[list[np.ndarray], dict, dict]:
        """As harness.Tools.execute; without the strategy where no attention is found.

        And without --backward=q where terms of pairs forbid it.
        """
        try:
            return tools.execute(harness.Case(program, case.options(), device=case.device()))
        except harness.CaseError as failure:
            if KEYS_TRAVEL in str(failure):
                return self._execute(tools, program, replace(case, backward="kv"))
            if NOT_TAKEN not in str(failure):
                raise
        options = (case.mesh(), "--strategy=auto", *case.targeting())
        return tools.execute(harness.Case(program, options, device=case.device()))

    def _compare(
        self, tools: harness.Tools, program: harness.Program, case: cases.Case, results: list[np.ndarray]
    ) -> list[str]:
        """What is wrong with the results."""
        if [x.shape for x in results] != [x.shape for x in program.reference]:
            shapes = [x.shape for x in program.reference]
            return [f"expected results of {shapes} but got {[x.shape for x in results]}"]
        least, most = LIMITS[case.type]
        if case.grad:
            least = max(least, GRADIENT_LIMITS[case.type])
        problems, rounded = [], None
        for number, (result, reference) in enumerate(zip(results, program.reference, strict=True)):
            scale = rounding(program, case, number) / least if case.grad else 0.0
            error = harness.relative(as_type(result, case.type), reference, least=scale)
            if error <= least:
                continue
            if case.type == "float64":
                problems.append(f"result{number}: error {error:.2e} > {least:.2e}")
                continue
            rounded = rounded or self._interpret(tools, "program")
            own = as_type(rounded[number], case.type)
            theirs = harness.relative(own, reference, least=scale)
            limit = max(least, min(harness.BF16_FACTOR * theirs, most))
            error = harness.relative(as_type(result, case.type), reference, own, least=scale)
            if error > limit:
                problems.append(
                    f"result{number}: error {error:.2e} > {limit:.2e} (by operation {theirs:.2e})"
                )
        return problems


def rounding(program: harness.Program, case: cases.Case, number: int) -> float:
    """What rounding may leave of terms that cancel in a result of a program with gradients."""
    largest = largest_term(program, case)
    argument = case.learned()[number - 1] if number else 0
    if argument < 3:
        return CANCELLED[case.type] * largest
    reference = program.reference[number]
    vanishes = np.abs(reference).max(initial=0) < CANCELLED["float64"] * largest * case.b * case.h * case.s
    rows = max(1, case.b * case.h * case.s / max(1, reference.size))
    return (NOTHING if vanishes else CANCELLED)[case.type] * largest * np.sqrt(rows)


def largest_term(program: harness.Program, case: cases.Case) -> float:
    """About the largest product of a cotangent, a value and a key or query."""
    with np.load(program.inputs) as file:
        cotangent, q, k, v = (
            np.abs(as_type(file[f"arg{i}"], case.type).astype(np.float64)).max(initial=0) for i in range(4)
        )
    return float(cotangent * v * max(q, k))


def as_type(array: np.ndarray, dtype: str) -> np.ndarray:
    """An array of a file, in which bf16 has no name."""
    import ml_dtypes

    return array.view(ml_dtypes.bfloat16) if dtype == "bfloat16" and array.dtype.itemsize == 2 else array


def examine(task: tuple[Path, Path, cases.Case]) -> Outcome:
    """One case in this process's own folder."""
    build, work, case = task
    folder = work / str(os.getpid())
    folder.mkdir(parents=True, exist_ok=True)
    return Fuzzer(build, folder).examine(case)


def outcomes(args: argparse.Namespace, chosen: Iterable[cases.Case]) -> Iterator[Outcome]:
    """Judge the cases in so many processes, in any order."""
    tasks = ((args.build, args.work, case) for case in chosen)
    if args.jobs == 1:
        yield from map(examine, tasks)
        return
    with multiprocessing.get_context("spawn").Pool(args.jobs, maxtasksperchild=CASES_PER_PROCESS) as pool:
        yield from pool.imap_unordered(examine, tasks)


def describe(outcome: Outcome) -> str:
    """What failed, and the command that repeats it."""
    smallest = outcome.smallest or outcome.case
    lines = [f"FAILED {outcome.kind}: tools/fuzz --case='{smallest.text()}'"]
    if smallest != outcome.case:
        lines.append(f"  drawn as --case='{outcome.case.text()}'")
    problem = (outcome.problem or "").splitlines()
    # A diagnostic is one line, below which is where it was called from.
    said = [line for line in problem if "error:" in line][:3] if outcome.kind == "refused" else problem[-12:]
    return "\n".join([*lines, *(f"  {line}" for line in said or problem[-12:])])


def missed(outcome: Outcome) -> list[str]:
    """Why an attention may be ordinary operations: what is more than a mask by positions."""
    names = [part.split(":")[0] for part in outcome.case.parts]
    return [name for name in names if name not in scores.POSITIONS] or ["positions alone"]


def run(args: argparse.Namespace, chosen: list[cases.Case]) -> int:
    """Judge the cases, print failures and counts, return the exit status."""
    began = time.monotonic()
    results: list[Outcome] = []
    for outcome in outcomes(args, chosen):
        results.append(outcome)
        end = "\r\033[K" if sys.stdout.isatty() else ""
        if outcome.problem is not None:
            print(end + describe(outcome), flush=True)
        if end:
            print(f"{end}{len(results)} of {len(chosen)}", end="", flush=True)
        elif len(results) % 500 == 0:
            print(f"{len(results)} of {len(chosen)}", flush=True)
    seconds = time.monotonic() - began
    failed = sum(outcome.problem is not None for outcome in results)
    if sys.stdout.isatty():
        print("\r\033[K", end="")
    unfound = [outcome for outcome in results if not outcome.found and outcome.problem is None]
    why = Counter(name for outcome in unfound for name in missed(outcome))
    print(f"{len(results) - failed} of {len(results)} cases hold ({len(results) / seconds:.1f} a second)")
    print(f"attention found in {sum(outcome.found for outcome in results)}, not in {len(unfound)}")
    if why:
        print("not found with: " + ", ".join(f"{name} {count}" for name, count in why.most_common()))
    return 1 if failed else 0


def run_apart(args: argparse.Namespace, chosen: list[cases.Case]) -> int:
    """Run in a folder that no other process uses."""
    args.work = args.work / f"fuzz-{os.getpid()}"
    try:
        return run(args, chosen)
    finally:
        shutil.rmtree(args.work, ignore_errors=True)


def main() -> int:
    """Judge one case, or many that a seed draws."""
    parser = harness.arguments(__doc__)
    parser.add_argument("--count", type=int, default=100, help="cases to draw; one in thirty with --quick")
    parser.add_argument(
        "--case", type=cases.Case.parse, help="judge this one; nothing is drawn or made smaller"
    )
    parser.add_argument("--target", choices=cases.TARGETS, default="cpu", help="of the cases drawn")
    args = parser.parse_args()
    if args.case:
        args.work.mkdir(parents=True, exist_ok=True)
        outcome = Fuzzer(args.build, args.work).judge(args.case)
        print(describe(outcome) if outcome.problem else "the case holds")
        print(f"attention {'' if outcome.found else 'not '}found; the model and its inputs: {args.work}")
        return 1 if outcome.problem else 0
    count = args.count // 30 if args.quick else args.count
    drawn = itertools.islice(draw.stream(args.seed), count)
    return run_apart(args, [replace(case, target=args.target).settled() for case in drawn])


if __name__ == "__main__":
    raise SystemExit(main())
