"""Whole programs under sp-run: their results, and what a trace says of their commands."""

from __future__ import annotations

import importlib.util
import json
import os
import statistics
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import results
from part import Part, RefusedError, Use, WrongError

COMPUTE = 0  # the stream's number in a trace


TRACE_BYTES = 8 << 20
PROGRAM_SECONDS, EMULATED_SECONDS = 20, 60  # of one run of a program
WAIT_SECONDS = 10  # of a rank for its GPU or another rank


def run_program(part: Part, artifact: dict[str, Any], *options: object) -> None:
    """sp-run on one of the artifacts."""
    fixed = (f"--device={part.device}", "--communicator=local", f"--timeout={WAIT_SECONDS}")
    command = [part.folder / "bin" / "sp-run", part.path_of(artifact), *fixed, *options]
    libraries = [str(part.folder / "lib"), os.environ.get("LD_LIBRARY_PATH", ""), *torch_libraries()]
    environment = os.environ | {"LD_LIBRARY_PATH": ":".join(filter(None, libraries))}
    limit = EMULATED_SECONDS if part.is_emulated else PROGRAM_SECONDS
    try:
        done = subprocess.run(
            [str(word) for word in command],
            capture_output=True,
            text=True,
            timeout=limit,
            check=False,
            env=environment,
        )
    except subprocess.TimeoutExpired:
        raise RefusedError(f"sp-run: no end after {limit} s") from None
    if done.returncode:
        raise RefusedError(done.stderr.strip()[-1000:])


def torch_libraries() -> list[str]:
    """Where torch's packages keep CUDA's libraries, for machines that have no others."""
    found = importlib.util.find_spec("nvidia")
    folders = found.submodule_search_locations if found else None
    return [str(path) for folder in folders or () for path in sorted(Path(folder).glob("*/lib"))]


def floats(array: np.ndarray) -> np.ndarray:
    """sp-run writes bf16 as its bits."""
    if array.dtype == np.uint16:
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array


def check(part: Part, artifact: dict[str, Any]) -> dict[str, float]:
    """The worst error over the greatest expected number, against the file of expected results."""
    outputs = part.folder / "outputs.npz"
    run_program(part, artifact, *artifact["inputs"], f"--outputs={outputs}")
    with np.load(part.folder / artifact["expected"]) as expected, np.load(outputs) as got:
        pairs = [(floats(got[name]), floats(expected[name])) for name in expected.files]
    outputs.unlink()
    # Not the maximum of a list, which leaves NaN out.
    error = float(np.max([np.max(np.abs(a - b)) / np.max(np.abs(b)) for a, b in pairs]))
    if part.spoils("value", artifact["name"]):
        error += artifact["tolerance"]
    if not error <= artifact["tolerance"]:
        raise WrongError(f"expected an error of at most {artifact['tolerance']} but got {error}")
    return {"error": error}


def use_of(artifact: dict[str, Any]) -> Use:
    """Its attention, which has a state to take up where there is a ring."""
    return artifact, artifact.get("mask", "causal"), artifact.get("ranks", 1) > 1


def traced(part: Part, artifact: dict[str, Any]) -> list[dict[str, Any]]:
    """The events of a run's commands, begin and end in seconds; the run before it warmed up."""
    path = part.folder / "trace.json"
    run_program(part, artifact, "--random-inputs=1", "--warmup=2", "--repeat=1", f"--trace={path}")
    events = spans(path)
    if artifact.get("keep"):
        results.overwrite(part.out / results.TRACE, kept(path))
    path.unlink()
    return events


def kept(path: Path) -> str:
    """The trace, or as many of its first events as are not too large, and how many those are."""
    text, trace = path.read_text(), json.loads(path.read_text())
    events = trace["traceEvents"]
    if len(text) <= TRACE_BYTES:
        return text
    some = events[: len(events) * TRACE_BYTES // len(text)]
    note = f"the first {len(some)} of {len(events)} events"
    return json.dumps(trace | {"traceEvents": some, "cut": note})


def spans(path: Path) -> list[dict[str, Any]]:
    events = json.loads(path.read_text())["traceEvents"]
    return [
        {
            "name": event["name"], "kind": event["cat"], "rank": event["pid"], "stream": event["tid"],
            "begin": 1e-6 * event["ts"], "end": 1e-6 * (event["ts"] + event["dur"]),
        }
        for event in events
        if event["ph"] == "X"
    ]  # fmt: skip


def busy(events: list[dict[str, Any]]) -> float:
    """Seconds in which at least one of the events went on; ranks of one GPU also wait inside theirs."""
    total, until = 0.0, -np.inf
    for event in sorted(events, key=lambda event: event["begin"]):
        total += max(0.0, event["end"] - max(event["begin"], until))
        until = max(until, event["end"])
    return total


def of_kind(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    chosen = [event for event in events if event["kind"] == kind]
    if not chosen:
        raise WrongError(f"expected a command of kind {kind} in the trace but got none")
    return chosen


def gaps(events: list[dict[str, Any]]) -> dict[str, Any]:
    """Idle time between commands of the compute stream of rank 0."""
    own = sorted(
        (event for event in events if event["rank"] == 0 and event["stream"] == COMPUTE),
        key=lambda event: event["begin"],
    )
    if len(own) < 2:
        raise WrongError(f"expected two commands on the compute stream but got {len(own)}")
    idle = [max(0.0, after["begin"] - before["end"]) for before, after in pairwise(own)]
    whole = own[-1]["end"] - own[0]["begin"]
    return {
        "commands": len(own),
        "secondsWhole": whole,
        "idleMedian": statistics.median(idle),
        "idleP90": sorted(idle)[int(0.9 * (len(idle) - 1))],
        "idleFraction": sum(idle) / whole if whole else 0.0,
    }
