"""What the parts of a GPU run share: arguments, the manifest, and a result that is written as it grows."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

VERSION = 1
# The exit code of a part that wants to be started again.
RESTART = 75
SPOILS = ("value", "guard", "repeat", "crash")
EMULATED = "emulated"
LIMIT_SECONDS = 60  # of one run of a program
WAIT_SECONDS = 10  # of a rank for its GPU or another rank


class Part:
    """One part: its rows go to OUT/<name>.json, after each row anew.

    A row that failed carries `failure`, a text; the others go on.
    """

    def __init__(self, name: str, doc: str, argv: list[str] | None = None) -> None:
        parser = argparse.ArgumentParser(description=doc)
        parser.add_argument("folder", type=Path, help="what gpu.sh --prepare made, unpacked")
        parser.add_argument("out", type=Path, help="where results go")
        parser.add_argument("--device", default="0", help="number of a GPU, or emulated (0)")
        parser.add_argument("--seed", type=int, default=int(time.time()), help="of random sizes")
        parser.add_argument("--resume", action="store_true", help="after the rows that are there")
        parser.add_argument("--spoil", choices=SPOILS, help="damage what kernels give")
        args = parser.parse_args(argv)
        self.name, self.folder, self.out, self.device = name, args.folder, args.out, args.device
        self.seed, self.spoil = args.seed, args.spoil
        self.manifest = json.loads((args.folder / "manifest.json").read_text())
        self.rows: list[dict[str, Any]] = []
        self.made, self.began = 0, time.monotonic()
        self.path = self.out / f"{name}.json"
        self.out.mkdir(parents=True, exist_ok=True)
        if args.resume:
            before = json.loads(self.path.read_text())
            self.rows, self.began = before["rows"], self.began - before["seconds"]
        self.lost = {row["kernel"] for row in self.rows if row["lost"] and "kernel" in row}

    @property
    def is_emulated(self) -> bool:
        return self.device == EMULATED

    def write(self, status: str, doing: dict[str, Any] | None = None) -> None:
        """doing: the row that is being made, for whoever finds this process dead."""
        result = {
            "version": VERSION,
            "part": self.name,
            "status": status,
            "emulated": self.is_emulated,
            "seed": self.seed,
            "seconds": round(time.monotonic() - self.began, 3),
            "rows": self.rows,
        }
        write_json(self.path, result | ({"doing": doing} if doing else {}))

    def row(self, work: Callable[[], dict[str, Any]], **what: Any) -> dict[str, Any]:
        """Do one thing and keep what it gives beside `what` it was.

        After a failure that is no wrong number the GPU may be lost to this process: it ends, to be
        started anew with --resume, and then makes the rows that are not there. A kernel that failed
        so is not tried again.
        """
        self.made += 1
        if self.made <= len(self.rows):
            return self.rows[self.made - 1]
        row, lost = dict(what), False
        self.write("running", row)
        try:
            if what.get("kernel") in self.lost:
                raise WrongError("not run, because an earlier launch of this kernel ended the process")
            row |= work()
        except WrongError as error:
            row["failure"] = str(error)
        except RefusedError as error:
            row["failure"] = str(error)
        except Exception as error:
            traceback.print_exc()
            row["failure"], lost = f"{type(error).__name__}: {error}", True
        # A speed of the emulated device would say nothing.
        if self.is_emulated:
            row = {key: None if is_speed(key) else value for key, value in row.items()}
        row["lost"] = lost
        self.rows.append(row)
        self.write("running")
        if lost and not self.is_emulated:
            sys.stdout.flush()
            os._exit(RESTART)
        return row

    def end(self) -> int:
        """The exit code."""
        failed = sum("failure" in row for row in self.rows)
        if not self.rows:
            raise SystemExit(f"{self.name}: expected artifacts of its kinds in the manifest but found none")
        self.write("failed" if failed else "passed")
        print(f"{self.name}: {len(self.rows) - failed} of {len(self.rows)} as expected, seed {self.seed}")
        return 1 if failed else 0

    def artifacts(self, kind: str) -> list[dict[str, Any]]:
        return [each for each in self.manifest["artifacts"] if each["kind"] == kind]

    def path_of(self, artifact: dict[str, Any]) -> Path:
        if "refused" in artifact:
            raise RefusedError(f"sp-compile: {artifact['refused']}")
        return self.folder / artifact["file"]

    def run_program(self, artifact: dict[str, Any], *options: object) -> None:
        """sp-run on one of the artifacts."""
        fixed = (f"--device={self.device}", "--communicator=local", f"--timeout={WAIT_SECONDS}")
        command = [self.folder / "bin" / "sp-run", self.path_of(artifact), *fixed, *options]
        libraries = [str(self.folder / "lib"), os.environ.get("LD_LIBRARY_PATH", ""), *torch_libraries()]
        environment = os.environ | {"LD_LIBRARY_PATH": ":".join(filter(None, libraries))}
        try:
            done = subprocess.run(
                [str(word) for word in command],
                capture_output=True,
                text=True,
                timeout=LIMIT_SECONDS,
                check=False,
                env=environment,
            )
        except subprocess.TimeoutExpired:
            raise RefusedError(f"sp-run: no end after {LIMIT_SECONDS} s") from None
        if done.returncode:
            raise RefusedError(done.stderr.strip()[-1000:])


def torch_libraries() -> list[str]:
    """Where torch's packages keep CUDA's libraries, for machines that have no others."""
    found = importlib.util.find_spec("nvidia")
    folders = found.submodule_search_locations if found else None
    return [str(path) for folder in folders or () for path in sorted(Path(folder).glob("*/lib"))]


def is_speed(key: str) -> bool:
    """Whether a row's value is a time or derives from one."""
    return key.startswith(("seconds", "teraflops", "ratio", "idle"))


class WrongError(Exception):
    """A number that is not what was expected."""


class RefusedError(Exception):
    """A tool refused, or failed in a process of its own."""


def write_json(path: Path, value: Any) -> None:
    """Whole or not at all."""
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(value, indent=1) + "\n")
    partial.replace(path)
