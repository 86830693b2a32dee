"""Near-attentions: programs of the other tests with one operation more, against the interpreter.

Whatever the compiler takes for attention has to have the numbers of the program as it is. A case is
right where it has them, whether or not attention is found; it is silent where the operation
changes nothing that can be told from rounding.
"""

from __future__ import annotations

import argparse
import functools
import json
import multiprocessing
import os
import shutil
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np

import draw
import harness
import near_bases
import near_changes
import near_forward
import near_judge
import near_operations
import near_range
from near_program import Place, Program

# Cases of one base, and how often one is drawn until its operation acts.
PER_BASE = 8
ATTEMPTS = 4
# One in so many runs on three ranks; of those without attention, one in so many runs at all.
RANKS_EVERY, RUN_EVERY = 6, 8
# How many changes of what may be differentiated are made before it is.
BEFORE = 0.4
# How many are another operation instead of one more.
INSTEAD = 0.1

# A guard does not hide NaN that inputs bring, and a derivative is one factor (README).
DIFFER_BESIDE_NAN = ("isfinite", "instead of other scores")


@dataclass(frozen=True)
class Outcome:
    """What became of a case. kind: taken, partly, ordinary, silent, or what is wrong with it."""

    number: int
    kind: str
    role: str = ""
    change: str = ""
    base: str = ""
    problem: str = ""


# Where the files of cases go.
KEPT = "near-cases"
RIGHT = ("taken", "partly", "ordinary", "silent", "refused", "rounding", "excess", "range")


class Hunter:
    """Changes one base."""

    def __init__(self, args: argparse.Namespace, work: Path, number: int) -> None:
        self.args, self.seed, self.work = args, args.seed, work
        self.base = near_bases.base(self.seed, number)
        self.judge = near_judge.Judge(
            harness.Tools(args.build, work), work, self.base.dtype, self.base.rounding
        )
        self.base.write(self.judge.tools)
        with np.load(self.work / "inputs.npz") as inputs:
            floats = [inputs[each] for each in inputs.files if inputs[each].dtype.kind == "f"]
            self.is_finite = all(np.isfinite(each).all() for each in floats)
        self.text = self.judge.inlined()
        self.places = Program(self.text).places()
        shown = [place for place in self.places if place.role != "far" or not place.loop]
        self.values = dict(zip(shown, self.judge.values(Program(self.text).show(shown)), strict=True))
        model = self.judge.text(self.text, "base.mlir")
        self.before = near_judge.Before(self.judge.interpret(model, "f64"), self.judge.imported(model))

    def case(self, number: int) -> Outcome:
        """The case of that number; what it needs is in the work folder."""
        random = Random(f"{self.seed} case {number}")
        outcome = None
        for _ in range(ATTEMPTS):
            outcome = self.attempt(number, random)
            if outcome.kind != "silent":
                break
        return outcome

    def attempt(self, number: int, random: Random) -> Outcome:
        """One change that is drawn for the case."""
        before = self.base.differentiate is not None and random.random() < BEFORE
        places = list(self.forward) if before else self.places
        place = chosen(random, places)
        change = near_operations.draw(random, place, {place: self.forward[place]} if before else self.values)
        instead = None
        if not before and random.random() < INSTEAD:
            instead = random.choice(Program(self.text).alternatives(place) or [None])
        if instead:
            change = near_changes.Change(f"{instead} instead", lambda x: x)
        use = random.randrange(place.uses) if place.uses > 1 and random.random() < 0.3 else None
        ranks = 3 if random.random() < 1 / RANKS_EVERY else 1
        plan = near_judge.Plan(
            ranks, random.random() < 1 / RUN_EVERY, self.args.import_only, draw.memory(random)
        )
        try:
            if instead:
                text = Program(self.text).replace(place, instead)
            elif before:
                text = self.differentiated(place, change)
            else:
                text = Program(self.text).insert(place, change.others, change.turn, change.text(place), use)
            model = self.judge.text(text, "near.mlir")
            kind, problem = self.judge.judge(model, change, self.before, plan)
            differs = change.name in DIFFER_BESIDE_NAN and not self.is_finite
            if kind == "wrong" and (differs or near_range.is_left(self.judge, text)):
                kind = "range"
        except harness.CaseError as failure:
            kind, problem = failure.kind, str(failure)
        except Exception:
            kind, problem = "test", traceback.format_exc()
        where = f"{place.role} of what is differentiated" if before else place.role
        return Outcome(number, kind, where, change.name, self.base.name, problem)

    @functools.cached_property
    def forward(self) -> dict[Place, np.ndarray]:
        """Places of the base's function, and what is there."""
        return near_forward.places(*self.base.forward)

    def differentiated(self, place: Place, change: near_changes.Change) -> str:
        """The base with a change that its gradients know of."""
        import spmlir

        function, arguments = self.base.forward
        changed = near_forward.changed(function, place, change)
        model, given = self.base.differentiate(changed, (*arguments, *change.arrays))
        return spmlir.export(model, *given).text


def chosen(random: Random, places: list[Place]) -> Place:
    """Mostly between products and exponentials; as many of each role."""
    roles = ["scores", "scores", "terms", "weights", "weights", "slopes", "slopes", "cotangents"]
    role = random.choice(roles) if random.random() < 0.92 else "far"
    of_role = [place for place in places if place.role == role]
    return random.choice(of_role or [place for place in places if place.role != "far"] or places)


def hunt(task: tuple[argparse.Namespace, int, list[int]]) -> list[Outcome]:
    """All cases of one base."""
    args, base, numbers = task
    import jax

    jax.config.update("jax_enable_x64", True)
    folder = args.work / "near" / str(os.getpid())
    folder.mkdir(parents=True, exist_ok=True)
    try:
        hunter = Hunter(args, folder, base)
        return [keep(hunter.case(number), folder, args) for number in numbers]
    except Exception:
        # Said once.
        said = traceback.format_exc()
        return [Outcome(number, "base", problem=said * (number == numbers[0])) for number in numbers]
    finally:
        shutil.rmtree(folder)


def keep(outcome: Outcome, folder: Path, args: argparse.Namespace) -> Outcome:
    """Copy the files of a case that is wrong, or of the only one."""
    if outcome.kind not in RIGHT or args.case:
        case = args.work / KEPT / f"{args.seed}-{outcome.number}"
        shutil.copytree(folder, case, dirs_exist_ok=True)
        (case / "case.json").write_text(json.dumps(outcome.__dict__, indent=1))
    return outcome


def outcomes(args: argparse.Namespace, numbers: list[int]) -> Iterator[Outcome]:
    """Judge the cases in so many processes, a base at a time."""
    bases: dict[int, list[int]] = {}
    for number in numbers:
        bases.setdefault(number // PER_BASE, []).append(number)
    tasks = [(args, base, each) for base, each in bases.items()]
    if args.jobs == 1 or len(tasks) == 1:
        for task in tasks:
            yield from hunt(task)
        return
    with multiprocessing.get_context("spawn").Pool(args.jobs, maxtasksperchild=30) as pool:
        for each in pool.imap_unordered(hunt, tasks):
            yield from each


def describe(outcome: Outcome, seed: int) -> str:
    """What is wrong, and the command that repeats it."""
    problem = [line for line in outcome.problem.splitlines() if line.strip()]
    said = [line for line in problem if "error:" in line][:2] or problem[-4:]
    head = f"{outcome.kind}: tools/fuzz --near --case='seed={seed},number={outcome.number}'"
    return "\n  ".join([f"{head}  # {outcome.change} at {outcome.role} of {outcome.base}", *said])


def main() -> int:
    """Judge one case, or as many as a seed draws."""
    parser = harness.arguments(__doc__)
    parser.add_argument("--count", type=int, default=100, help="cases to draw; one in thirty with --quick")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--case", help="seed=S,number=N: judge this one")
    parser.add_argument("--import-only", action="store_true", help="only find operations that Import drops")
    parser.add_argument("--show-all", action="store_true", help="print right cases too")
    args = parser.parse_args()
    numbers = list(range(args.first, args.first + (args.count // 30 if args.quick else args.count)))
    if args.case:
        given = dict(each.split("=") for each in args.case.split(","))
        args.seed, numbers = int(given["seed"]), [int(given["number"])]
    began, found = time.monotonic(), []
    for outcome in outcomes(args, numbers):
        found.append(outcome)
        if outcome.problem or args.case or args.show_all:
            print(describe(outcome, args.seed), flush=True)
        if len(found) % 100 == 0:
            print(f"{len(found)} of {len(numbers)}: {summary(found)}", flush=True)
    seconds = time.monotonic() - began
    print(f"{len(found)} cases in {seconds:.0f} s: {summary(found)}")
    for role, of in sorted(by_role(found).items()):
        print(f"  at {role}: {summary(of)}")
    if args.case or any(outcome.kind not in RIGHT for outcome in found):
        print(f"files of {'the case' if args.case else 'wrong cases'}: {args.work / KEPT}")
    return int(any(outcome.kind not in RIGHT for outcome in found))


def by_role(found: list[Outcome]) -> dict[str, list[Outcome]]:
    """The outcomes whose operation stands at a value of each role."""
    return {
        role: [each for each in found if each.role == role] for role in {each.role for each in found} - {""}
    }


def summary(found: list[Outcome]) -> str:
    """How many of each kind."""
    counts = Counter(outcome.kind for outcome in found)
    return ", ".join(f"{kind} {count}" for kind, count in counts.most_common())


if __name__ == "__main__":
    raise SystemExit(main())
