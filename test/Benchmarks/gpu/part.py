"""What the parts of a GPU run share: arguments, the manifest, and rows that are kept as they are made."""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import re
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import families
import report
import results
from families import Artifact
from watch import Doing

# The exit code of a part that wants to be started again.
RESTART = 75
EMULATED = "emulated"
ROW_SECONDS = 20
SLOWER = 6  # times the emulated device
PR_SET_PDEATHSIG = 1

# A kernel of the manifest, under a mask, and whether it takes up a state.
Use = tuple[Artifact, str, bool]


class Part:
    """One part: each row goes to OUT's log when it is made, and its verdict to stdout.

    A row has a label, its own in the part; those that OUT has of these artifacts are not made
    again. One that failed carries `failure`, a text; one that had no sense here `skipped`; the
    others go on.
    """

    def __init__(self, name: str, doc: str, argv: list[str] | None = None) -> None:
        parser = argparse.ArgumentParser(description=doc)
        parser.add_argument("folder", type=Path, help="what gpu.sh --prepare made, unpacked")
        parser.add_argument("out", type=Path, help="where results go")
        parser.add_argument("--device", default="0", help="number of a GPU, or emulated (0)")
        parser.add_argument("--seed", type=int, required=True, help="of random sizes")
        parser.add_argument("--row-seconds", type=float, default=0, help="limit of every row")
        parser.add_argument(
            "--spoil", action="append", default=[], help="WHAT[:KERNEL]: damage what it gives"
        )
        args = parser.parse_args(argv)
        # Whoever started this is not outlived, even where it is killed.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        self.name, self.folder, self.out, self.device = name, args.folder, args.out, args.device
        self.seed, self.spoiled = args.seed, [each.partition(":") for each in args.spoil]
        self.row_seconds, self.doing = args.row_seconds, Doing(args.folder)
        self.manifest = json.loads((args.folder / "manifest.json").read_text())
        self.run = results.read(self.out)
        self.result = self.run.parts[name]
        self.labels = {row["label"]: row for row in self.rows}
        self.lost = {kernel for row in self.rows if row.get("lost") for kernel in row["kernels"]}

    @property
    def is_emulated(self) -> bool:
        return self.device == EMULATED

    @property
    def rows(self) -> list[dict[str, Any]]:
        return self.result["rows"]

    def spoils(self, what: str, kernel: str) -> bool:
        return any(what == each and re.search(of, kernel) for each, _, of in self.spoiled)

    def row(
        self,
        work: Callable[[], dict[str, Any]],
        uses: Iterable[Use] = (),
        limit: float = ROW_SECONDS,
        facts: dict[str, Any] | None = None,
        **what: Any,
    ) -> dict[str, Any]:
        """Do one thing within so many seconds, and keep what it gives beside `what` it was, and facts of it.

        After a failure that is no wrong number the GPU may be lost to this process: it ends, to be
        started anew. A kernel that failed so is not tried again.
        """
        uses, label = list(uses), label_of(what)
        if label in self.labels:
            return self.labels[label]
        row = {"label": label, **what, **(facts or {}), "kernels": [use[0]["name"] for use in uses]}
        self.doing.begin(row, self.row_seconds or limit * (SLOWER if self.is_emulated else 1))
        began, lost = time.monotonic(), False
        try:
            if reason := next(filter(None, map(self.problem_of, uses)), None):
                raise RefusedError(reason)
            row |= work()
        except SkippedError as error:
            row["skipped"] = str(error)
        except (WrongError, RefusedError) as error:
            row["failure"] = results.cut(str(error))
        except LostError as error:
            row["failure"], row["lost"] = str(error), True
        except Exception as error:
            traceback.print_exc()
            row["failure"], row["lost"], lost = results.cut(f"{type(error).__name__}: {error}"), True, True
        # A speed of the emulated device would say nothing.
        if self.is_emulated:
            row = {key: None if is_speed(key) else value for key, value in row.items()}
        if "lost" in row:
            self.lost |= set(row["kernels"])
        self.keep(row | {"took": round(time.monotonic() - began, 3)})
        if lost and not self.is_emulated:
            os._exit(RESTART)
        return row

    def keep(self, row: dict[str, Any]) -> None:
        """In the log, the table, and on stdout."""
        results.append(self.out, {"part": self.name, "row": row})
        self.doing.end()
        results.add(self.rows, row)
        self.labels[row["label"]] = row
        results.overwrite(self.out / results.TABLE, report.text(self.run))
        print(f"{self.name}: {report.verdict(row)}", flush=True)

    def problem_of(self, use: Use) -> str | None:
        """Why a kernel is left out, or None."""
        artifact, mask, carried = use
        if artifact["name"] in self.lost:
            return "not run, because an earlier launch of this kernel did not end well"
        found = self.problems("smoke") if self.name != "smoke" else {}
        for name in families.of(artifact, mask, carried, self.artifacts("kernels")):
            if name in found:
                return f"left out, because smoke found {name}: {found[name]}"
        for row in self.rows_of("correctness") if self.name not in ("smoke", "correctness") else ():
            is_alike = row.get("lost") or row["mask"] == mask
            if "failure" in row and is_alike and artifact["name"] in row["kernels"]:
                return f"left out, because correctness found {row['label']}: {first(row['failure'])}"
        return None

    def problems(self, part: str) -> dict[str, str]:
        """By label what failed in another part of the same artifacts."""
        return {row["label"]: first(row["failure"]) for row in self.rows_of(part) if "failure" in row}

    def rows_of(self, part: str) -> list[dict[str, Any]]:
        result = self.run.parts.get(part, {})
        return result["rows"] if result.get("prepared") == self.result["prepared"] else []

    def end(self) -> int:
        """The exit code."""
        self.doing.end()
        failed = sum("failure" in row for row in self.rows)
        if not self.rows:
            raise SystemExit(f"{self.name}: expected artifacts of its kinds in the manifest but found none")
        print(f"{self.name}: {len(self.rows) - failed} of {len(self.rows)} as expected, seed {self.seed}")
        sys.stdout.flush()
        return 1 if failed else 0

    def artifacts(self, kind: str) -> list[Artifact]:
        return [each for each in self.manifest["artifacts"] if each["kind"] == kind]

    def path_of(self, artifact: Artifact) -> Path:
        if "refused" in artifact:
            raise RefusedError(f"sp-compile: {artifact['refused']}")
        return self.folder / artifact["file"]


def label_of(what: dict[str, Any]) -> str:
    """Texts as they are, truths by their names, numbers with theirs."""
    words = []
    for key, value in what.items():
        if isinstance(value, bool):
            words += [key] if value else []
        else:
            words.append(value if isinstance(value, str) else f"{key} {value}")
    return " ".join(words)


def first(text: str) -> str:
    return text.splitlines()[0] if text else ""


def is_speed(key: str) -> bool:
    """Whether a row's value is a time or derives from one."""
    return key.startswith(("seconds", "teraflops", "ratio", "idle"))


class WrongError(Exception):
    """A number that is not what was expected."""


class RefusedError(Exception):
    """A tool refused, or failed in a process of its own."""


class LostError(Exception):
    """A process of its own did not end well; this one goes on."""


class SkippedError(Exception):
    """What this machine does not have."""
