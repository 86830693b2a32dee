"""What the compiler's stages make of a program, evaluated: which one changes what it means.

sp-interpret runs the text that sp-compile prints after a stage, from Partition on for every rank. So
a wrong stage is told from a wrong kernel: where all stages are right and a run is not, kernels, places
in memory or the runtime are to blame. Of Memory the copies are evaluated, not where values lie.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

import harness

STAGES = ("import", "plan", "partition", "schedule", "memory")


def text_after(tools: harness.Tools, case: harness.Case, stage: str) -> str:
    """What a stage makes of the case's program."""
    return tools.run("sp-compile", case.program.model, *case.options, f"--emit={stage}")


def evaluated(tools: harness.Tools, program: harness.Program, text: str) -> list[np.ndarray]:
    """The results of such a text, in the program's types."""
    with tempfile.TemporaryDirectory(dir=tools.work) as folder:
        model, outputs = Path(folder) / "model.mlir", Path(folder) / "outputs.npz"
        model.write_text(text)
        tools.run("sp-interpret", model, f"--inputs={program.inputs}", f"--outputs={outputs}")
        results = harness.load_results(outputs)
    # What a run gives is of the program's types, and so judged in them.
    named = ["bfloat16" if theirs.dtype.kind == "V" else theirs.dtype.name for theirs in program.results]
    with np.errstate(over="ignore", invalid="ignore"):
        return [
            harness.as_type(result, name).astype(harness.as_type(theirs, name).dtype)
            for result, theirs, name in zip(results, program.results, named, strict=True)
        ]


def problem(tools: harness.Tools, case: harness.Case) -> str:
    """What is wrong after the first stage after which something is; "" where nothing is.

    A tool that refuses the stage, crashes or takes too long says nothing of its results.
    """
    for stage in STAGES:
        try:
            results = evaluated(tools, case.program, text_after(tools, case, stage))
        except harness.CaseError as failure:
            return f"is not known from {stage.capitalize()} on:\n{failure}"
        if problems := harness.compare(results, case.program):
            return "\n".join([f"differs first after {stage.capitalize()}:", *problems])
    return ""


def blame(tools: harness.Tools, case: harness.Case) -> str:
    """Where to look for what makes a run of the case wrong."""
    nothing = f"after {STAGES[-1].capitalize()} all is equal: kernels, places in memory or the runtime differ"
    return problem(tools, case) or nothing


def with_stages(tools: harness.Tools, case: harness.Case) -> harness.Case:
    """The same case, which holds where every stage is right, too."""

    def check(promised: dict, measured: dict) -> None:
        if case.check is not None:
            case.check(promised, measured)
        if wrong := problem(tools, case):
            raise harness.CaseError(wrong)

    return replace(case, check=check)
