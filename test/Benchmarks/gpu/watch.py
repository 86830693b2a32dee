"""Processes that may never end: their lines go on at once, and who is late is killed with what it started."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import results

POLL_SECONDS = 0.02
# A process that has left a GPU in the middle of a kernel may take some time to go.
GONE_SECONDS = 5


@dataclass
class Outcome:
    """How a process ended: its code, or which limit it met, and its last lines."""

    code: int | None
    late: str
    said: str


class Doing:
    """What a process is at, for whoever finds it dead or late: a file beside its artifacts."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "doing.json"

    def begin(self, row: dict[str, Any], limit: float) -> None:
        partial = self.path.with_suffix(".partial")
        partial.write_text(json.dumps({"row": row, "until": time.monotonic() + limit, "limit": limit}))
        partial.replace(self.path)

    def end(self) -> None:
        self.path.unlink(missing_ok=True)

    def read(self) -> dict[str, Any]:
        """Empty between rows."""
        try:
            return json.loads(self.path.read_text())
        except FileNotFoundError:
            return {}


class Tail(threading.Thread):
    """Prints what comes, and keeps the end of it."""

    def __init__(self, pipe: IO[bytes]) -> None:
        super().__init__(daemon=True)
        self.pipe, self.text = pipe, ""

    def run(self) -> None:
        for line in self.pipe:
            said = line.decode(errors="replace")
            self.text = results.cut(self.text + said)
            print(said, end="", flush=True)


current: subprocess.Popen | None = None


def stop(process: subprocess.Popen) -> None:
    """With the programs that it started; a process that does not go is left behind."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(GONE_SECONDS)


def stop_current(number: int, _: object) -> None:
    """A signal's handler: whoever is ended here takes along what runs."""
    if current:
        stop(current)
    sys.exit(128 + number)


def run(command: list[str], doing: Doing, limit: float) -> Outcome:
    """Until it ends, its row is late, or so many seconds are over."""
    global current
    doing.end()
    until = time.monotonic() + limit
    current = process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, process_group=0
    )
    tail = Tail(process.stdout)
    tail.start()
    late = ""
    while process.poll() is None and not late:
        time.sleep(POLL_SECONDS)
        now, row = time.monotonic(), doing.read()
        if row and now > row["until"]:
            late = f"no end after {row['limit']:g} s"
        elif now > until:
            late = "part"
    if late:
        stop(process)
    current = None
    # A program that outlives the part may hold the pipe.
    tail.join(1)
    return Outcome(None if late else process.returncode, late, tail.text)
