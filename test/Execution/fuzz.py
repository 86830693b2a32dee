"""Random attentions under random plans, against the interpreter; failures are made small.

Of wrong results the smallest case says which stage differs first, or that none does.

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
import stages

NOT_TAKEN = (
    "expected an attention for strategy",
    "expected an attention for --chunks",
    "expected an attention for --tokens-per-rank",
    "expected an attention, whose batch",
)
NO_DOCUMENTS = "where all attentions are within the same documents"
KEYS_TRAVEL = "expected keys and values to travel"
# maxBands of lib/Import/Masks/MaskRows.cpp.
MOST_BANDS = 4096
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

    def judge(self, case: cases.Case, blames: bool = False) -> Outcome:
        """Compile, run and compare one case. blames: of wrong results say which stage differs first."""
        found = False
        try:
            tools = harness.Tools(self.build, self.work)
            program = self._program(tools, case)
            ran, (results, promised, measured) = self._execute(tools, program, case)
            found = bool(promised["attentions"])
            problems = harness.compare(results, program)
            wrong = bool(problems)
            problems += harness.broken(promised, measured)
            problems += [stages.blame(tools, ran)] if wrong and blames else []
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
        return replace(outcome, problem=self.judge(smallest, blames=True).problem, smallest=smallest)

    def _program(self, tools: harness.Tools, case: cases.Case) -> harness.Program:
        """Text, inputs and reference; nothing is computed in JAX."""
        import jax

        import spmlir.exported

        jax.config.update("jax_enable_x64", True)
        fn, arguments = case.model()
        jitted = jax.jit(fn, keep_unused=True, donate_argnums=case.donated)
        spmlir.exported.lower(jitted, arguments, {}).save(self.work)
        tools.interpret(self.work)
        rounded = harness.load_results(self.work / "rounded.npz")
        return tools.made(self.work, [harness.as_type(each, case.type) for each in rounded])

    def _execute(
        self, tools: harness.Tools, program: harness.Program, case: cases.Case
    ) -> tuple[harness.Case, tuple[list[np.ndarray], dict, dict]]:
        """What ran, and as harness.Tools.execute; without the strategy where no attention is found.

        And without --backward=q where what ranks have by queries forbids it.
        """
        planned = harness.Case(program, case.options(), device=case.device())
        try:
            return planned, tools.execute(planned)
        except harness.CaseError as failure:
            may_not = case.by_queries or has_many_blocks(case)
            if KEYS_TRAVEL in str(failure) and case.backward == "q" and may_not:
                return self._execute(tools, program, replace(case, backward="kv"))
            if NO_DOCUMENTS in str(failure) and not has_plain_documents(case):
                return self._execute(tools, program, replace(case, deal=0))
            if not any(text in str(failure) for text in NOT_TAKEN):
                raise
        planned = replace(planned, options=(case.mesh(), "--strategy=auto", *case.targeting()))
        return planned, tools.execute(planned)


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
    return [name for name in outcome.case.names if name not in scores.POSITIONS] or ["positions alone"]


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
    return 1 if failed or not results else 0


def judge(args: argparse.Namespace) -> int:
    """Judge the cases that are named, the last of which stays in the work folder."""
    args.work.mkdir(parents=True, exist_ok=True)
    status = 0
    for case in args.case:
        outcome = Fuzzer(args.build, args.work).judge(case, blames=True)
        print(describe(outcome) if outcome.problem else "the case holds")
        print(f"attention {'' if outcome.found else 'not '}found; the model and its inputs: {args.work}")
        status |= bool(outcome.problem)
    return status


def has_plain_documents(case: cases.Case) -> bool:
    """Whether documents and positions alone hide pairs, with minus infinity."""
    return case.fill == "inf" and {*case.names} <= {*scores.POSITIONS, "segments"}


def has_many_blocks(case: cases.Case) -> bool:
    """Whether a mask may have more blocks than the importer makes bands of: scores read it then."""
    sizes = [part.split(":")[1:] for part in case.parts if part.startswith("blocks:")]
    return any(
        -(-case.s // int(rows)) * -(-(case.k or case.s) // int(columns)) > MOST_BANDS
        for rows, columns in sizes
    )


def case_of(text: str) -> cases.Case:
    """The case of --case, or what is wrong with it."""
    try:
        return cases.Case.parse(text)
    except ValueError as problem:
        raise argparse.ArgumentTypeError(str(problem)) from None


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
        "--case",
        type=case_of,
        action="append",
        help="judge this one, and others so named; nothing is drawn or made smaller",
    )
    parser.add_argument("--target", choices=cases.TARGETS, default="cpu", help="of the cases drawn")
    args = parser.parse_args()
    if args.case:
        return judge(args)
    count = args.count // 30 if args.quick else args.count
    drawn = itertools.islice(draw.stream(args.seed), count)
    return run_apart(args, [draw.on(args.target, case) for case in drawn])


if __name__ == "__main__":
    raise SystemExit(main())
