"""What --memory-limit does where a plan needs more: the cheapest option that fits, the least if none does."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np

import harness
import run_far

# Lines of an explanation.
SCREEN = 50
PLAN = ("--mesh=sp=2", "--strategy=ring")
WHOLE = "--row-blocks=1"
# Of numbers with checkpoints, beside the largest of a result.
TOLERANCE = 1e-5


class Limits:
    """One model's compilations under limits."""

    def __init__(self, tools: harness.Tools, folder: Path) -> None:
        self.tools, self.folder, self.problems = tools, folder, []
        run_far.Model(run_far.LONG).save(folder)

    def compile(self, *options: str) -> tuple[dict, str]:
        """The report, and what was taken for a limit."""
        report, artifact = self.folder / "report.json", self.folder / "model.spx"
        more = ("--explain", f"--report={report}", "-o", artifact)
        said = self.tools.run("sp-compile", self.folder / "model.mlir", *PLAN, *options, *more)
        alike = said.count(f" ({run_far.LONG.layers}), ")
        self.expect(alike == 1 and len(said.splitlines()) < SCREEN, f"expected layers told once, not {said}")
        taken = re.search(r"a rank (--\S.*?) is taken, which nobody asked for", said)
        return harness.read_report(report), taken[1] if taken else ""

    def run(self, report: dict) -> list[np.ndarray]:
        """The results; promises hold."""
        outputs, measured = self.folder / "out.npz", self.folder / "measured.json"
        arguments = (f"--inputs={self.folder / 'inputs.npz'}", f"--outputs={outputs}", f"--report={measured}")
        self.tools.run("sp-run", self.folder / "model.spx", *arguments)
        self.problems += harness.broken(report, harness.read_report(measured))
        return harness.load_results(outputs)

    def expect(self, holds: bool, what: str) -> None:
        if not holds:
            self.problems.append(what)

    def refused(self, limit: int, *options: str) -> str:
        """What is said of a limit that nothing keeps to."""
        text = ""
        try:
            self.compile(f"--memory-limit={limit}B", *options)
        except harness.CaseError as failure:
            text = str(failure)
        told = re.search(r"expected a rank to need at most [\d.]+ [KMG]?i?B but the plan needs", text)
        self.expect(
            told is not None, f"expected a limit of {limit} to be refused with {options} but got {text}"
        )
        return text


def needs(report: dict) -> int:
    return max(report["peakBytesPerRank"])


def problems(tools: harness.Tools, folder: Path) -> list[str]:
    """What is wrong."""
    limits = Limits(tools, folder)
    near, _ = limits.compile(WHOLE)
    expected = limits.run(near)
    far, _ = limits.compile("--offload=host", WHOLE)
    roomy, taken = limits.compile(f"--memory-limit={2 * needs(near)}B", WHOLE)
    limits.expect(not taken and needs(roomy) == needs(near), f"with room enough '{taken}' is taken")

    between = (needs(near) + needs(far)) // 2
    some, taken = limits.compile(f"--memory-limit={between}B", WHOLE)
    limits.expect(taken == "--offload=host", f"between near and far '{taken}' is taken")
    limits.expect(needs(some) <= between, f"expected at most {between} but got {needs(some)}")
    moved = [max(report.get("farWrittenPerRank", [0])) for report in (some, far)]
    limits.expect(0 < moved[0] < moved[1], f"expected less than all to go but got {moved}")
    same = all(map(np.array_equal, limits.run(some), expected))
    limits.expect(same, "results differ under a limit")

    kept, taken = limits.compile(f"--memory-limit={between}B", "--offload=none", WHOLE)
    limits.expect(taken.startswith("--checkpoint="), f"without far memory '{taken}' is taken")
    limits.expect(needs(kept) <= between, f"expected at most {between} but got {needs(kept)}")
    for got, wanted in zip(limits.run(kept), expected, strict=True):
        error = np.abs(got - wanted).max() / np.abs(wanted).max()
        limits.expect(error <= TOLERANCE, f"a result differs by {error:.1e} with {taken}")

    # In blocks of rows as they are chosen, what a plan needs is a limit that it keeps to.
    for options, levers in (((), ""), (("--offload=host",), "--offload=host")):
        own, _ = limits.compile(*options)
        _, taken = limits.compile(f"--memory-limit={needs(own)}B")
        limits.expect(taken == levers, f"for what {options} need '{taken}' is taken")

    text = limits.refused(needs(far) // 10, WHOLE)
    found = re.search(
        r"but the plan needs [\d.]+ [KMG]iB \((\d+) bytes\).*, the least, with (--\S.*?);", text
    )
    limits.expect(found is not None, f"expected the least and its options but got {text}")
    if found:
        least = int(found[1])
        fits, taken = limits.compile(f"--memory-limit={least}B", WHOLE)
        limits.expect(taken == found[2] and needs(fits) <= least, f"the least does not fit: {taken}, {found}")
        limits.refused(least - 4096, WHOLE)
    given = ("--offload=host", "--checkpoint=as-written", WHOLE)
    turns, _ = limits.compile("--chunks=8", *given)
    limits.expect(needs(turns) < needs(far), f"turns save nothing: {needs(turns)}, {needs(far)}")
    fits, taken = limits.compile(f"--memory-limit={needs(turns)}B", *given)
    holds = taken == "--chunks=8" and needs(fits) <= needs(turns)
    limits.expect(holds, f"with far memory '{taken}' is taken")
    asked = limits.refused(between, "--offload=none", "--checkpoint=none", "--chunks=1", WHOLE)
    limits.expect("the least, with" not in asked, f"what was asked for was changed: {asked}")
    return limits.problems


def main() -> int:
    """One model under several limits."""
    args = harness.arguments(__doc__).parse_args()
    wrong = problems(harness.Tools(args.build, args.work), args.work / "levers")
    for problem in wrong:
        print(problem, file=sys.stderr)
    print("limits hold" if not wrong else "limits do not hold")
    return bool(wrong)


if __name__ == "__main__":
    raise SystemExit(main())
