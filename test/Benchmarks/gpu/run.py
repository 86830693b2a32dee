"""Runs parts of a prepared folder, each in a process and within a time of its own, and reports.

run.py FOLDER OUT [--device=N|emulated] [--only=PART]... [--seconds=S] [--seed=N] [--row-seconds=S]
    [--spoil=value|guard|repeat|crash|hang[:KERNEL]]...
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import hashlib
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import report
import results
import watch
from part import EMULATED, RESTART

# Seconds of each part, together under 15 minutes: three calls of a GPU that is lent for ten.
LIMITS = {
    "smoke": 40, "correctness": 170, "decoders": 120, "speed": 220, "traces": 90, "counters": 80, "tune": 150,
}  # fmt: skip
WITH_TORCH = ("smoke", "correctness", "speed", "counters", "tune")
# A part that has less than this left is not begun.
LEAST_SECONDS = 5
SLOWER = 4  # times the emulated device
SAMPLE_SECONDS = 0.5
SCRIPTS = Path(__file__).resolve().parent


class Clocks(threading.Thread):
    """Samples the GPU's clock, and says what it was while a part ran."""

    def __init__(self, device: str) -> None:
        super().__init__(daemon=True)
        self.command = ["nvidia-smi", f"--id={device}", "--query-gpu=clocks.sm,power.draw"]
        self.command += ["--format=csv,noheader,nounits"]
        self.samples: list[tuple[float, float]] = []

    def run(self) -> None:
        while True:
            with contextlib.suppress(OSError, ValueError, subprocess.SubprocessError):
                line = subprocess.run(
                    self.command, capture_output=True, text=True, timeout=5, check=True
                ).stdout
                clock, power = map(float, line.split(","))
                self.samples.append((clock, power))
            time.sleep(SAMPLE_SECONDS)

    def summary(self, first: int) -> dict[str, float]:
        """Of the samples from that one on."""
        if not (some := self.samples[first:]):
            return {}
        return {
            "medianMegahertz": statistics.median(clock for clock, _ in some),
            "leastMegahertz": min(clock for clock, _ in some),
            "mostWatts": max(power for _, power in some),
        }


# Says which libraries there are, once a tensor is on the GPU.
PROBE = """import torch
torch.zeros(1, device="cuda")
print("torch", torch.__version__, "cuDNN", torch.backends.cudnn.version())"""


def ask(command: list[str]) -> tuple[str, str]:
    """What it prints, or why it does not."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        return "", str(error)
    if done.returncode:
        return "", (
            done.stderr.strip() or done.stdout.strip() or f"ended with {done.returncode}"
        ).splitlines()[-1]
    return done.stdout.strip(), ""


def machine(manifest: dict[str, Any], device: str) -> tuple[dict[str, str], str]:
    """What ran, and where; and why torch cannot, or an empty text."""
    found = {"commit": manifest["commit"], "date": str(datetime.date.today())}
    if device == EMULATED:
        return found | {"device": "the emulated device", "driver": "", "libraries": ""}, ""
    query = ["nvidia-smi", f"--id={device}", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    said, unknown = ask(query)
    name, _, driver = said.partition(", ")
    libraries, problem = ask([sys.executable, "-c", PROBE])
    found |= {"device": name or f"GPU {device} ({unknown})", "driver": driver, "libraries": libraries}
    return found, f"torch: {problem}" if problem else ""


@dataclass
class Call:
    """One call: the unpacked folder, and what every part is told."""

    folder: Path
    out: Path
    arguments: list[str]
    facts: dict[str, Any]  # of each part's beginning
    until: float
    clocks: Clocks


def run_part(call: Call, name: str, limit: float) -> None:
    """Leaves rows of the part in the log in any case, and how it ended.

    A part that lost its GPU, that a signal ended, or one of whose rows was late goes on behind
    that row in a new process.
    """
    began, first = time.monotonic(), len(call.clocks.samples)
    results.append(call.out, {"part": name, "begin": call.facts})
    doing = watch.Doing(call.folder)
    command = [sys.executable, str(SCRIPTS / f"{name}.py"), str(call.folder), str(call.out), *call.arguments]
    while True:
        outcome = watch.run(command, doing, limit - (time.monotonic() - began))
        row, code = doing.read().get("row"), outcome.code
        if outcome.late != "part" and row and (outcome.late or code < 0):
            failure = outcome.late or f"ended by signal {-code}"
            row |= {"failure": failure, "lost": True}
            results.append(call.out, {"part": name, "row": row})
            print(f"{name}: {report.verdict(row)}", flush=True)
        elif code != RESTART:
            break
    end = {"status": {0: "passed", 1: "failed"}.get(code, "failed"), "log": outcome.said}
    if outcome.late:
        end |= {
            "status": "timed out",
            "reason": f"no end after {limit:.3g} s" + (f", in {row['label']}" if row else ""),
        }
    elif code not in (0, 1) or not report.read(call.out).parts[name]["rows"]:
        end["reason"] = f"ended with {code}: {outcome.said.strip()}"
    end |= {"seconds": round(time.monotonic() - began, 3), "clocks": call.clocks.summary(first)}
    finish(call, name, end)


def finish(call: Call, name: str, end: dict[str, Any]) -> None:
    """Of a part that has begun."""
    results.append(call.out, {"part": name, "end": end})
    results.overwrite(call.out / results.TABLE, report.text(report.read(call.out)))


def leave_out(call: Call, name: str, reason: str) -> None:
    """A part that has no sense to begin."""
    results.append(call.out, {"part": name, "begin": call.facts})
    print(f"{name}: {reason}", flush=True)
    finish(call, name, {"status": "failed", "reason": reason, "seconds": 0})


def without_sense(call: Call, name: str) -> str | None:
    """Why a part is left out: smoke found no kernel that is right."""
    smoke = report.read(call.out).parts.get("smoke", {})
    rows = [row for row in smoke.get("rows", []) if row["kernels"]]
    if name == "smoke" or smoke.get("prepared") != call.facts["prepared"] or not rows:
        return None
    if all("failure" in row for row in rows):
        return "left out, because smoke found no kernel that is right"
    return None


def unpack(source: Path, folder: Path) -> str:
    """The name of what was unpacked: artifacts of the same name are the same."""
    with tarfile.open(source / "prepared.tar.gz") as packed:
        # Debian 12's Python 3.11.2 has no filters yet.
        filters = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        packed.extractall(folder, **filters)
    shutil.copy(source / "manifest.json", folder)
    digest = hashlib.sha256((source / "manifest.json").read_bytes())
    digest.update((source / "prepared.tar.gz").read_bytes())
    return digest.hexdigest()[:12]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--device", default="0")
    parser.add_argument("--only", choices=LIMITS, action="append")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="limit of this call")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--row-seconds", type=float, default=0)
    parser.add_argument("--spoil", action="append", default=[])
    return parser.parse_args()


def main() -> int:
    """Run, report after each row, and end with 1 unless all that ran passed."""
    args, began = arguments(), time.monotonic()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, watch.stop_current)
    args.out.mkdir(parents=True, exist_ok=True)
    manifest = json.loads((args.folder / "manifest.json").read_text())
    # Torch and sp-run see one GPU.
    device = args.device if args.device == EMULATED else "0"
    if device != EMULATED:
        os.environ["CUDA_VISIBLE_DEVICES"] = args.device
    found, problem = machine(manifest, args.device)
    results.append(args.out, {"machine": found})
    clocks = Clocks(args.device)
    if args.device != EMULATED and shutil.which("nvidia-smi"):
        clocks.start()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepared = unpack(args.folder, folder)
        earlier = report.read(args.out).parts.values()
        seeds = [part["seed"] for part in earlier if part.get("prepared") == prepared]
        seed = next(seed for seed in (args.seed, *seeds, int(time.time())) if seed is not None)
        facts = {"prepared": prepared, "device": found["device"], "commit": found["commit"], "seed": seed}
        facts["emulated"] = device == EMULATED
        options = [f"--device={device}", f"--seed={seed}", f"--row-seconds={args.row_seconds}"]
        options += [f"--spoil={each}" for each in args.spoil]
        call = Call(folder, args.out, options, facts, began + args.seconds, clocks)
        for name in args.only or LIMITS:
            limit = LIMITS[name] * (SLOWER if device == EMULATED else 1)
            limit = min(limit, call.until - time.monotonic())
            print(f"{name} …", flush=True)
            if limit < min(LEAST_SECONDS, LIMITS[name]):
                print(f"{name}: not begun, because {args.seconds:g} s are over", flush=True)
            elif problem and name in WITH_TORCH:
                leave_out(call, name, problem)
            elif reason := without_sense(call, name):
                leave_out(call, name, reason)
            else:
                run_part(call, name, limit)
    run = report.read(args.out)
    print(report.text(run))
    return 0 if run.parts and all(part["status"] == "passed" for part in run.parts.values()) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, ValueError, EOFError, tarfile.TarError) as failure:
        sys.exit(f"gpu.sh --run {' '.join(sys.argv[1:3])}: {str(failure).splitlines()[0]}")
