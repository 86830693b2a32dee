"""What compute waits for gathers of parameters under --zero=3: layers written out, and as a scan.

A step of the Llama of zero.py, Adam, f32, traced. Where ranks have cores of their own, what they wait is the
time from the command before a wait for a gather to its end; where ranks share cores one thread of each does
everything, so that it is all that its gathers take. A column says how much of the step that is, the mean of
the ranks, and another how much of it gathers take in all.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import re
import statistics
import subprocess
import sys
from functools import partial
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path += [str(REPOSITORY / folder) for folder in ("python", "python/examples")]

import jax  # noqa: E402
import numpy as np  # noqa: E402

import zero  # noqa: E402
from cpu_attention import processor  # noqa: E402
from scan import scanned  # noqa: E402
from spmlir.exported import lower  # noqa: E402

MIB = 2**20


class Step:
    """A compiled step, and the turns that it has had."""

    def __init__(self, args: argparse.Namespace, name: str, is_scan: bool) -> None:
        self.args, self.name, self.folder = args, name, args.out / name.replace(" ", "-")
        config = zero.config_of(args)
        state, *batch = zero.problem(config)
        if is_scan:
            state = tuple(
                {**each, "layers": jax.tree.map(lambda *layers: np.stack(layers), *each["layers"])}
                for each in state
            )
        decode = scanned if is_scan else zero.llama.decoder
        step = jax.jit(partial(zero.step, config, decode=decode), donate_argnums=0, keep_unused=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        lower(step, (state, *batch), {}).save(self.folder)
        model = self.folder / "model.mlir"
        options = [f"--mesh=sp={args.ranks}", f"--strategy={args.strategy}", "--zero=3"]
        report = self.folder / "promise.json"
        self.call("sp-compile", model, *options, "-o", self.folder / "model.spx", f"--report={report}")
        self.promise = json.loads(report.read_text())
        self.gathers, self.waits = self.find(self.call("sp-compile", model, *options, "--emit=commands"))
        self.seconds: list[float] = []
        self.exposed: list[float] = []
        self.taken: list[float] = []

    def call(self, tool: str, *arguments: object) -> str:
        command = [self.args.build / "bin" / tool, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{tool}: {done.stderr}")
        return done.stdout

    @staticmethod
    def find(text: str) -> tuple[set[int], set[int]]:
        """Numbers of the gathers, and of what waits for them."""
        gathers, events, waits = set(), set(), set()
        for line in text.splitlines():
            number = re.match(r" *(\d+)  ", line)
            if number and '"all_gather"' in line:
                gathers.add(int(number[1]))
                events |= set(re.findall(r"-> (e\d+)", line))
            elif number and "sync" in line and set(re.findall(r"\be\d+", line)) & events:
                waits.add(int(number[1]))
        return gathers, waits

    def run(self) -> None:
        """Once to warm up, and once traced."""
        trace, report = self.folder / "trace.json", self.folder / "run.json"
        self.call(
            "sp-run", self.folder / "model.spx", f"--inputs={self.folder / 'inputs.npz'}", "--threads=1",
            "--warmup=1", "--repeat=1", f"--trace={trace}", f"--report={report}",
        )  # fmt: skip
        measured = json.loads(report.read_text())
        if measured["bytesSentPerRank"] != self.promise["bytesSentPerRank"]:
            raise SystemExit(f"{self.name}: sent other bytes than promised")
        self.seconds.append(measured["seconds"]["min"])
        events = json.loads(trace.read_text())
        events = events["traceEvents"] if isinstance(events, dict) else events
        exposed, taken = zip(*map(partial(self.of_rank, events), range(self.args.ranks)), strict=True)
        self.exposed.append(statistics.mean(exposed) / self.seconds[-1])
        self.taken.append(statistics.mean(taken) / self.seconds[-1])

    def of_rank(self, events: list[dict], rank: int) -> tuple[float, float]:
        """Seconds in which the rank's compute waits for gathers, and of all that it gathers."""
        own = [each for each in events if each["ph"] == "X" and each["pid"] == rank]
        taken = sum(each["dur"] for each in own if each["args"]["command"] in self.gathers)
        if self.args.ranks > len(os.sched_getaffinity(0)):
            return taken / 1e6, taken / 1e6
        exposed, before = 0.0, None
        for each in sorted((each for each in own if each["tid"] == 0), key=lambda each: each["ts"]):
            end = each["ts"] + each["dur"]
            if each["args"]["command"] in self.waits and before is not None:
                exposed += end - before
            before = end
        return exposed / 1e6, taken / 1e6

    def row(self) -> str:
        """Of the table."""
        best = int(np.argmin(self.exposed))
        mib = (max(self.promise[f"{name}PerRank"]) / MIB for name in ("peakBytes", "bytesSent"))
        return (
            f"| {self.name} | {min(self.seconds):.2f} | {' | '.join(f'{each:.0f}' for each in mib)} "
            f"| {self.taken[best]:.1%} | {self.exposed[best]:.1%} |"
        )


def main() -> None:
    """Compile both, let them take turns, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for gathers.md, models and traces")
    parser.add_argument("--build", type=Path, default=REPOSITORY / "build", help="default build")
    parser.add_argument("--layers", type=int, default=8, help="of the model (8)")
    parser.add_argument("--width", type=int, default=1024, help="of the model, a multiple of 128 (1 024)")
    parser.add_argument("--tokens", type=int, default=1024, help="of a sequence (1 024)")
    parser.add_argument("--batch", type=int, default=1, help="sequences (1)")
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--strategy", default="ulysses")
    parser.add_argument("--rounds", type=int, default=2, help="how often each has its turn (2)")
    args = parser.parse_args()
    steps = [Step(args, "written out", False), Step(args, "scan", True)]
    for _ in range(args.rounds):
        for step in steps:
            step.run()
    lines = [
        f"{datetime.date.today()}, {processor()}: {args.ranks} ranks, {args.layers} layers of width "
        f"{args.width}, {args.batch} x {args.tokens} tokens, f32, Adam, {args.strategy}, --zero=3; "
        f"best of {args.rounds} turns",
        "",
        "| layers | seconds | MiB a rank | MiB sent | gathers take | exposed |",
        "|---|---|---|---|---|---|",
        *(step.row() for step in steps),
    ]
    text = "\n".join(lines) + "\n"
    print(text)
    (args.out / "gathers.md").write_text(text)


if __name__ == "__main__":
    main()
