"""Runs all parts of a prepared folder, each in a process and within a time of its own, and reports.

run.py FOLDER OUT [--device=N|emulated] [--seed=N] [--only=PART] [--spoil=…]
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
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
from pathlib import Path
from typing import Any

import report
from part import EMULATED, RESTART, VERSION, write_json

# Seconds; under 8 minutes in all.
LIMITS = {"correctness": 90, "decoders": 100, "speed": 130, "traces": 70, "tune": 70}
WITH_TORCH = ("correctness", "speed", "tune")
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


def run_part(name: str, arguments: list[str], out: Path, limit: float) -> None:
    """Leaves OUT/<name>.json in any case: where the part did not end, with what it had and the reason.

    A part that lost its GPU, or that a signal ended, goes on behind that row in a new process.
    """
    path, log = out / f"{name}.json", out / f"{name}.log"
    path.unlink(missing_ok=True)
    log.unlink(missing_ok=True)
    began = time.monotonic()
    command = [sys.executable, str(SCRIPTS / f"{name}.py"), *arguments]
    code = run_once(command, log, limit)
    while (code == RESTART or (code or 0) < 0) and path.exists():
        result = json.loads(path.read_text())
        if code < 0 and "doing" in result:
            failure = {"failure": f"ended by signal {-code}", "lost": True}
            result["rows"].append(result.pop("doing") | failure)
            write_json(path, result)
        code = run_once([*command, "--resume"], log, limit - (time.monotonic() - began))
    result = {"rows": [], "seed": 0, "emulated": f"--device={EMULATED}" in arguments}
    if path.exists():
        result = json.loads(path.read_text())
    if result.get("status") in ("passed", "failed"):
        return
    status, reason = "timed out", f"no end after {limit:g} s"
    if code is not None:
        status, reason = "failed", f"ended with {code}: {log.read_text().strip()[-1000:]}"
    if doing := result.pop("doing", None):
        reason += f", in {doing}"
    result |= {"version": VERSION, "part": name, "status": status, "reason": reason}
    write_json(path, result | {"seconds": round(time.monotonic() - began, 3)})


def leave_out(name: str, out: Path, seed: int, reason: str) -> None:
    """The file of a part that cannot begin."""
    result = {"version": VERSION, "part": name, "status": "failed", "emulated": False, "seed": seed}
    write_json(out / f"{name}.json", result | {"seconds": 0, "rows": [], "reason": reason})


def run_once(command: list[str], log: Path, limit: float) -> int | None:
    """The exit code, or None after that many seconds."""
    with open(log, "a") as said:
        process = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            return process.wait(max(limit, 0))
        except subprocess.TimeoutExpired:
            # With the programs it started.
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return None


def main() -> int:
    """Run, report after each part, and end with 1 unless all passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--device", default="0")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", choices=LIMITS, action="append")
    parser.add_argument("--spoil")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    manifest = json.loads((args.folder / "manifest.json").read_text())
    # Torch and sp-run see one GPU.
    device = args.device if args.device == EMULATED else "0"
    if device != EMULATED:
        os.environ["CUDA_VISIBLE_DEVICES"] = args.device
    found, problem = machine(manifest, args.device)
    write_json(args.out / "machine.json", found)
    clocks = Clocks(args.device)
    if args.device != EMULATED and shutil.which("nvidia-smi"):
        clocks.start()
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(args.folder / "prepared.tar.gz") as packed:
            # Debian 12's Python 3.11.2 has no filters yet.
            filters = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
            packed.extractall(folder, **filters)
        shutil.copy(args.folder / "manifest.json", folder)
        for name in args.only or LIMITS:
            arguments = [folder, str(args.out), f"--device={device}", f"--seed={args.seed}"]
            arguments += [f"--spoil={args.spoil}"] if args.spoil else []
            first = len(clocks.samples)
            print(f"{name} …", flush=True)
            if problem and name in WITH_TORCH:
                leave_out(name, args.out, args.seed, problem)
            else:
                run_part(name, arguments, args.out, LIMITS[name])
            path = args.out / f"{name}.json"
            write_json(path, json.loads(path.read_text()) | {"clocks": clocks.summary(first)})
            (args.out / "gpu.md").write_text(report.text(report.read(args.out)))
    text, results = (args.out / "gpu.md").read_text(), report.read(args.out).parts
    print(text)
    return 0 if all(result["status"] == "passed" for result in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
