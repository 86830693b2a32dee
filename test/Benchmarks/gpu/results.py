"""What a run leaves in OUT: a log that only grows, the table, tiles, a trace, a profile. Five files at most.

A process may be killed at any time, so no file is written under another name first: the log
gets one line a row, and what is made of it is written over what it was.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

VERSION = 1
LOG, TABLE, TRACE, PROFILE = "results.jsonl", "gpu.md", "trace.json", "profile.txt"
# A borrowed GPU gives back files of at most 16 MiB.
MOST_BYTES = 15 << 20
TEXT_BYTES = 2000


@dataclass
class Run:
    """All that a log holds."""

    machine: dict[str, Any] = field(default_factory=dict)
    parts: dict[str, dict[str, Any]] = field(default_factory=dict)

    def rows(self, part: str, kind: str | None = None) -> list[dict[str, Any]]:
        """Those of a kind that were made and did not fail."""
        rows = self.parts.get(part, {}).get("rows", [])
        return [
            row for row in rows if not {"failure", "skipped"} & row.keys() and kind in (None, row.get("kind"))
        ]


class DamagedError(ValueError):
    """A file is not what a run writes."""


def cut(text: str, most: int = TEXT_BYTES) -> str:
    """Its end, where it is long."""
    return text if len(text) <= most else "… " + text[-most:]


def append(out: Path, line: dict[str, Any]) -> None:
    """One line, behind one that was cut off; a log that is full takes no more rows, but says so."""
    with open(out / LOG, "a+b", buffering=0) as log:
        size = log.seek(0, os.SEEK_END)
        if size > MOST_BYTES and "row" in line:
            line = {
                "part": line["part"],
                "end": {"reason": f"expected at most {MOST_BYTES >> 20} MiB of rows"},
            }
        log.seek(max(0, size - 1))
        torn = log.read(1) not in (b"", b"\n")
        # One call of write: whoever kills this process cuts off one line at most.
        log.write((b"\n" if torn else b"") + json.dumps(line).encode() + b"\n")


def overwrite(path: Path, text: str) -> None:
    """Never empty in between: whoever kills this process finds the old text or the new."""
    data = text.encode()
    if len(data) > MOST_BYTES:
        data = data[:MOST_BYTES] + b"\ncut here\n"
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o644)
        with open(descriptor, "wb", buffering=0) as file:
            file.write(data)
            file.truncate()
    except OSError as failure:
        # What it would say is in the log, from which a later call makes it.
        print(f"{path}: {failure.strerror}", file=sys.stderr, flush=True)


def lines_of(out: Path) -> list[dict[str, Any]]:
    """All lines but a last one that was cut off; DamagedError where another is none."""
    path = out / LOG
    text = path.read_text() if path.exists() else ""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError as error:
            # A process was killed while it wrote; the next one began a new line.
            if error.pos == len(line) or error.msg.startswith("Unterminated") or not line.endswith("}"):
                continue
            raise DamagedError(f"{LOG}:{number}: {error}") from None
        if not isinstance(found[-1], dict):
            raise DamagedError(f"{LOG}:{number}: expected an object but got {type(found[-1]).__name__}")
    return found


def read(out: Path) -> Run:
    """The log, folded: of rows of one label the last, of a part what ran of the folder that ran last."""
    run = Run()
    for line in lines_of(out):
        if "machine" in line:
            run.machine = line["machine"]
        elif "begin" in line:
            begin(run, line["part"], line["begin"])
        elif (part := run.parts.get(line.get("part"))) is None:
            raise DamagedError(f"{LOG}: expected a part that has begun but got {line}")
        elif "row" in line:
            add(part["rows"], line["row"])
        else:
            part |= line["end"]
    return run


def begin(run: Run, name: str, facts: dict[str, Any]) -> None:
    """Goes on where the same artifacts were run on the same device before."""
    before = run.parts.get(name, {})
    same = all(before.get(key) == facts.get(key) for key in ("prepared", "device", "seed"))
    rows = before["rows"] if before and same else []
    run.parts[name] = (
        {"version": VERSION, "part": name, "status": "running", "seconds": 0} | facts | {"rows": rows}
    )


def add(rows: list[dict[str, Any]], row: dict[str, Any]) -> None:
    """In place of that of the same label."""
    if not isinstance(row, dict) or not isinstance(row.get("label"), str):
        raise DamagedError(f"{LOG}: expected a row with a label but got {row!r}")
    at = next((i for i, each in enumerate(rows) if each["label"] == row["label"]), len(rows))
    rows[at : at + 1] = [row]
