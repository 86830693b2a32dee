"""Whole programs under sp-run: their results, and what a trace says of their commands."""

from __future__ import annotations

import json
import statistics
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from part import Part, WrongError

COMPUTE = 0  # the stream's number in a trace


def floats(array: np.ndarray) -> np.ndarray:
    """sp-run writes bf16 as its bits."""
    if array.dtype == np.uint16:
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array


def check(part: Part, artifact: dict[str, Any]) -> dict[str, float]:
    """The worst error over the greatest expected number, against the file of expected results."""
    outputs = part.out / "outputs.npz"
    part.run_program(artifact, *artifact["inputs"], f"--outputs={outputs}")
    with np.load(part.folder / artifact["expected"]) as expected, np.load(outputs) as got:
        pairs = [(floats(got[name]), floats(expected[name])) for name in expected.files]
    outputs.unlink()
    # Not the maximum of a list, which leaves NaN out.
    error = float(np.max([np.max(np.abs(a - b)) / np.max(np.abs(b)) for a, b in pairs]))
    if part.spoil == "value":
        error += artifact["tolerance"]
    if not error <= artifact["tolerance"]:
        raise WrongError(f"expected an error of at most {artifact['tolerance']} but got {error}")
    return {"error": error}


def check_all(part: Part, kind: str) -> None:
    """A row for each artifact of a kind."""
    for artifact in part.artifacts(kind):
        what = {key: artifact[key] for key in ("name", "dtype", "ranks", "strategy") if key in artifact}
        part.row(lambda artifact=artifact: check(part, artifact), **what)


def traced(part: Part, artifact: dict[str, Any]) -> list[dict[str, Any]]:
    """The events of a run's commands, begin and end in seconds; the run before it warmed up."""
    path = part.out / "trace.json"
    part.run_program(artifact, "--random-inputs=1", "--warmup=2", "--repeat=1", f"--trace={path}")
    events = spans(path)
    path.unlink()
    return events


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
