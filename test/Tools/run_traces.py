"""run_traces.py FOLDER: events of traces add up to what reports say and sp-compile has promised."""

from __future__ import annotations

import json
import pathlib
import re
import subprocess
import sys
from collections import Counter, defaultdict

HERE = pathlib.Path(__file__).parent
CASES = [
    "--mesh=sp=3 --strategy=ring",
    "--mesh=sp=4 --strategy=ring --bidirectional --backward=kv",
    "--mesh=dp=2,sp=2 --strategy=ulysses --zero=3",
    "--mesh=sp=5 --strategy=allgather",
    "--mesh=sp=4 --strategy=2d --heads=2",
    "--mesh=sp=2,tp=2 --strategy=ring",
    "--mesh=sp=3 --strategy=ring --chunks=2 --offload=host",
    "--mesh=sp=1 --strategy=none",
]


def call(*command: object) -> None:
    """A tool, which must succeed."""
    done = subprocess.run([str(each) for each in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def run(folder: pathlib.Path, options: str, *more: str) -> tuple[list, dict, dict]:
    """The events of a run, its report, and what was promised."""
    promised, report, trace = (folder / f"{name}.json" for name in ("promised", "report", "trace"))
    program = folder / "model.spx"
    call("sp-compile", folder / "train.mlir", *options.split(), "-o", program, f"--report={promised}")
    call("sp-run", program, "--random-inputs=1", f"--report={report}", f"--trace={trace}", *more)
    events = json.loads(trace.read_text())["traceEvents"]
    return events, json.loads(report.read_text()), json.loads(promised.read_text())


def prepare() -> pathlib.Path:
    """The folder of the command line, with a step of training."""
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    call(sys.executable, HERE / "layer_steps.py", folder / "train.mlir", "2")
    return folder


def check_trace(events: list, report: dict, promised: dict) -> None:
    """Bytes and FLOPs of events add up to those of ranks; peers name each other; lines are the model's."""
    sent, far, flops, lines = Counter(), Counter(), Counter(), set()
    pairs = defaultdict(Counter)
    for event in events:
        if event["ph"] != "X":
            continue
        rank, of = event["pid"], event["args"]
        (far if event["cat"] == "copy" else sent)[rank] += of.get("bytes", 0)
        flops[rank] += of.get("FLOPs", 0)
        lines |= {of["line"]} if "line" in of else set()
        if "to" in of:
            pairs["sent"][rank, of["to"], event["name"]] += 1
        if "from" in of:
            pairs["received"][of["from"], rank, event["name"]] += 1
    ranks = range(report["ranks"])
    assert [sent[rank] for rank in ranks] == report["bytesSentPerRank"] == promised["bytesSentPerRank"]
    assert [flops[rank] for rank in ranks] == promised["flopsPerRank"]
    if "farReadPerRank" in report:
        both = zip(report["farReadPerRank"], report["farWrittenPerRank"], strict=True)
        assert [far[rank] for rank in ranks] == [sum(each) for each in both]
    assert pairs["sent"] == pairs["received"], pairs
    assert lines
    assert all(re.search(r"train\.mlir:[1-9]\d*$", line) for line in lines), lines
    names = {event["name"] for event in events if event["ph"] == "X"}
    assert {"layer0", "layer1", "gradients of layer0", "gradients of layer1"} <= names, names
    assert any(name.startswith("gemm arg") for name in names), names
    if "ring" in promised["attentions"][0]["strategy"] and report["ranks"] > 1:
        assert {"shift layer0", "shift layer1"} <= names, names


def check_memory(events: list, report: dict, promised: dict) -> None:
    """The counter's peak is nearly the report's, and never above the promise."""
    most = Counter()
    for event in events:
        if event["ph"] == "C" and event["name"] == "memory":
            most[event["pid"]] = max(most[event["pid"]], event["args"]["bytes"])
    assert len(most) == report["ranks"]
    for rank, bytes_used in most.items():
        peak = promised["peakBytesPerRank"][rank]
        assert 0.85 * peak <= bytes_used <= peak, (rank, bytes_used, peak)


def main() -> None:
    """Runs each case and compares."""
    folder = prepare()
    for options in CASES:
        events, report, promised = run(folder, options)
        check_trace(events, report, promised)
        check_memory(events, report, promised)
        print(options, "holds")


if __name__ == "__main__":
    main()
