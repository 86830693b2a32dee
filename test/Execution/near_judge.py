"""Judges a near-attention: what sp-compile makes of it against what sp-interpret says."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

import harness
import near_changes
import rounding

# How MLIR packs booleans in hexadecimal text depends on its version.
WITHOUT_HEX = "--mlir-print-elementsattrs-with-hex-if-larger=-1"
# Of the largest entry of a matrix, by the type that is computed in.
FLOOR = {"float32": 1e-5, "float64": 1e-9}
# Of what rounding each result to its type does to the interpreter's own.
NOISE = 30
# The same of other matrices of a result: what is nothing may be left of terms that cancel.
OTHERS = 0.3
# How often inputs are moved to see how far results do.
SHAKES = 3
# An operation acts where it moves results so many times further than they may err.
ACTS = 5


RESULTS = "results.npz"


@dataclasses.dataclass(frozen=True)
class Before:
    """A program without the change: results, and what Import makes of it."""

    results: list[np.ndarray]
    imported: str


@dataclasses.dataclass(frozen=True)
class Plan:
    """thorough: programs are run whether or not attention is found in them; import_only: none is."""

    ranks: int
    thorough: bool
    import_only: bool
    blocks: tuple[str, ...] = ()


@dataclasses.dataclass
class Judge:
    """Runs the tools of a build in one folder."""

    tools: harness.Tools
    work: Path
    dtype: str
    # What rounding may leave of terms that cancel, by result.
    rounding: tuple[float, ...] = ()
    # Arguments of the last program that was imported.
    unread: set[str] = dataclasses.field(default_factory=set)

    def text(self, text: str, name: str) -> Path:
        """A file."""
        path = self.work / name
        path.write_text(text)
        return path

    def inlined(self) -> str:
        """The model without calls."""
        return self.tools.run("sp-opt", self.work / "model.mlir", "--sp-inline-calls", WITHOUT_HEX)

    def values(self, text: str) -> list[np.ndarray]:
        """What the results of a program are."""
        return self.interpret(self.text(text, "values.mlir"), "f64")

    def interpret(self, model: Path, precision: str, inputs: str = "inputs.npz") -> list[np.ndarray]:
        """What sp-interpret computes."""
        outputs = self.work / f"{precision}.npz"
        options = f"--inputs={self.work / inputs}", f"--outputs={outputs}", f"--precision={precision}"
        self.tools.run("sp-interpret", model, *options)
        return harness.load_results(outputs)

    def imported(self, model: Path) -> str:
        """The program with the attentions that are found in it; names of values are numbers in order."""
        said = self.tools.run("sp-compile", model, "--mesh=sp=1", "--strategy=auto", "--emit=import")
        self.unread = {name for name, uses in Counter(re.findall(r"%arg\d+", said)).items() if uses == 1}
        names: dict[str, str] = {}
        return re.sub(r"%\w+", lambda name: names.setdefault(name[0], f"%{len(names)}"), said)

    def run(self, model: Path, *options: str, inputs: str = "near.npz") -> list[np.ndarray]:
        """Compile and run."""
        artifact, outputs = self.work / "near.spx", self.work / RESULTS
        self.tools.run("sp-compile", model, "-o", artifact, *options)
        self.tools.run(
            "sp-run", artifact, f"--inputs={self.work / inputs}", f"--outputs={outputs}", "--timeout=60"
        )
        return harness.load_results(outputs)

    def judge(self, model: Path, change: near_changes.Change, before: Before, plan: Plan) -> tuple[str, str]:
        """The kind of outcome, and what is wrong. model: with the change, which is in `before` not yet."""
        with np.load(self.work / "inputs.npz") as file:
            inputs = {name: file[name] for name in file.files}
        inputs |= {f"arg{len(inputs) + i}": array for i, array in enumerate(change.arrays)}
        np.savez(self.work / "near.npz", **inputs)
        truth = self.interpret(model, "f64", "near.npz")
        exact = self.limits(truth, truth)
        if not change.excess and not acts(truth, before.results, exact) and not plan.thorough:
            return "silent", ""
        imported = self.imported(model)
        found, of = attentions(imported), attentions(before.imported)
        kind = "ordinary" if not found else "taken" if found >= of else "partly"
        if not found and not plan.thorough:
            return kind, ""
        own = self.interpret(model, "program", "near.npz")
        limits = self.limits(truth, own)
        if not acts(own if change.excess else truth, before.results, limits):
            if not plan.thorough or plan.import_only:
                return "silent", ""
            return self.compared(model, truth, own, limits, f"--mesh=sp={plan.ranks}") or ("silent", "")
        if imported == before.imported and not change.excess:
            return "wrong", "the same is imported as without the operation"
        if plan.import_only:
            ignored = any(f"%arg{len(inputs) - 1 - i}" in self.unread for i in range(len(change.arrays)))
            return ("wrong", "an input of the operation is not read") if ignored else (kind, "")
        strategy = f"--strategy={'ring' if plan.ranks > 1 and found else 'auto'}"
        options = f"--mesh=sp={plan.ranks}", strategy, *plan.blocks
        failure = self.compared(model, truth, own, limits, *options)
        if failure:
            return failure[0], f"found {found} of {of} ({' '.join(options)}); {failure[1]}"
        got = harness.load_results(self.work / RESULTS)
        if change.excess and any(differ(a, b, limit) for a, b, limit in zip(got, own, limits, strict=True)):
            return "excess", ""
        return kind, ""

    def compared(
        self,
        model: Path,
        truth: list[np.ndarray],
        own: list[np.ndarray],
        limits: list[np.ndarray],
        *options: str,
    ) -> tuple[str, str] | None:
        """What is wrong with what a program computes: `rounding` where it is not in f64."""
        got = self.run(model, *options)
        if not self.problems(got, truth, own, limits):
            return None
        shaken, rounded = self.shaken(model, truth), self.rounded(model)
        loose = [a + NOISE * b + rounding.MOST * c for a, b, c in zip(limits, shaken, rounded, strict=True)]
        problems = "; ".join(self.problems(got, truth, own, loose))
        if not problems:
            return "rounding", "; ".join(self.problems(got, truth, own, limits))
        if self.dtype == "float64":
            return "wrong", problems
        self.save("wide.npz", lambda x: x.astype("f8"))
        got = self.run(model, *options, "--precision=f64", inputs="wide.npz")
        return ("wrong" if self.problems(got, truth, truth, limits) else "rounding"), problems

    def rounded(self, model: Path) -> list[np.ndarray]:
        """What rounding may do to each element, such as where terms of 1e9 cancel."""
        errors = self.work / "errors.npz"
        options = f"--inputs={self.work / 'near.npz'}", "--precision=program", f"--errors={errors}"
        self.tools.run("sp-interpret", model, *options)
        found = harness.load_results(errors, "error")
        return [np.where(np.isfinite(each), each, 0) for each in map(as_floats, found)]

    def shaken(self, model: Path, truth: list[np.ndarray]) -> list[np.ndarray]:
        """How far results move where inputs do by a few units of their last places."""
        moved = [np.zeros(()) for _ in truth]
        by = 4 * np.finfo(self.dtype).eps
        for seed in range(SHAKES):
            factors = np.random.default_rng(seed)
            self.save(
                "shaken.npz", lambda x, f=factors: (x * (1 + f.uniform(-by, by, x.shape))).astype(x.dtype)
            )
            others = self.interpret(model, "f64", "shaken.npz")
            with np.errstate(invalid="ignore"):
                moved = [
                    np.maximum(most, largest(as_floats(a) - as_floats(b), last_axes(a)))
                    for most, a, b in zip(moved, others, truth, strict=True)
                ]
        return moved

    def save(self, name: str, change: Callable[[np.ndarray], np.ndarray]) -> None:
        """The inputs with floats changed."""
        with np.load(self.work / "near.npz") as file:
            arrays = {each: file[each] for each in file.files}
        np.savez(self.work / name, **{k: change(x) if x.dtype.kind == "f" else x for k, x in arrays.items()})

    def limits(self, truth: list[np.ndarray], own: list[np.ndarray]) -> list[np.ndarray]:
        """How far each element of each result may be off."""
        rounding = self.rounding or (0.0,) * len(truth)
        return [self.limit(*each) + left for *each, left in zip(truth, own, rounding, strict=True)]

    def limit(self, truth: np.ndarray, own: np.ndarray) -> np.ndarray:
        """How far each element may be off."""
        truth, own = (as_floats(x) for x in (truth, own))
        axes = last_axes(truth)
        with np.errstate(invalid="ignore"):
            size = largest(truth, axes)
            noise = largest(own - truth, axes)
        floor = FLOOR[self.dtype]
        return np.maximum(floor * size, NOISE * noise) + OTHERS * floor * largest(truth, None)

    def problems(
        self, got: list[np.ndarray], truth: list[np.ndarray], own: list[np.ndarray], limits: list[np.ndarray]
    ) -> list[str]:
        """Which results are those of neither reference."""
        said = []
        for number, (result, *references, limit) in enumerate(zip(got, truth, own, limits, strict=True)):
            wrong = unlike(result, references[0], limit) & unlike(result, references[1], limit)
            if wrong.any():
                said.append(f"result{number}{worst(wrong, result, references[0], limit)}")
        return said


def attentions(imported: str) -> int:
    """How many there are, forward and backward."""
    return imported.count("sp.attention")


def worst(wrong: np.ndarray, result: np.ndarray, truth: np.ndarray, limit: np.ndarray) -> str:
    """Says which of the wrong elements is furthest off."""
    result, truth = as_floats(result), as_floats(truth)
    with np.errstate(invalid="ignore"):
        error = np.nan_to_num(np.abs(result - truth), nan=np.inf)
    at = np.unravel_index(np.argmax(np.where(wrong, error, -1)), error.shape)
    within = np.broadcast_to(limit, error.shape)[at]
    text = f"{list(map(int, at))} is {result[at]:.6g}, not {truth[at]:.6g} (within {within:.1e})"
    return f"{text}, {wrong.sum()} of {wrong.size}"


def as_floats(array: np.ndarray) -> np.ndarray:
    """In f64; bf16 of a file has no name."""
    import ml_dtypes

    if array.dtype.kind == "V":
        array = array.view(ml_dtypes.bfloat16)
    return array.astype(np.float64)


def last_axes(x: np.ndarray) -> tuple[int, ...]:
    """Those of a matrix."""
    return tuple(range(max(0, x.ndim - 2), x.ndim))


def largest(x: np.ndarray, axes: tuple[int, ...] | None) -> np.ndarray:
    """The largest finite magnitude."""
    return np.max(np.where(np.isfinite(x), np.abs(x), 0), axis=axes, keepdims=True, initial=0)


def unlike(a: np.ndarray, b: np.ndarray, limit: np.ndarray) -> np.ndarray:
    """Where two results are further apart, or are not infinite or NaN alike."""
    a, b = as_floats(a), as_floats(b)
    with np.errstate(invalid="ignore"):
        near = (np.abs(a - b) <= limit) | (a == b)
    return ~(near | (np.isnan(a) & np.isnan(b)))


def acts(after: list[np.ndarray], before: list[np.ndarray], limits: list[np.ndarray]) -> bool:
    """Whether results differ by more than what may be taken for rounding."""
    return any(differ(a, b, ACTS * limit) for a, b, limit in zip(after, before, limits, strict=True))


def differ(a: np.ndarray, b: np.ndarray, limit: np.ndarray) -> bool:
    """Whether they do anywhere."""
    return a.shape != b.shape or bool(unlike(a, b, limit).any())
