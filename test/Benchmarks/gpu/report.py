"""One table of a GPU run. report.py OUT prints it; 1 where a file of OUT is not as it should be."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# What every part's file holds, and of which type.
KEYS: dict[str, type | tuple[type, ...]] = {
    "version": int,
    "part": str,
    "status": str,
    "emulated": bool,
    "seed": int,
    "seconds": (int, float),
    "rows": list,
}
STATUSES = ("passed", "failed", "timed out", "running")
MACHINE_KEYS = ("commit", "date", "device", "driver", "libraries")
PARTS = ("correctness", "decoders", "speed", "traces", "tune")


class DamagedError(Exception):
    """A file is not what a run writes."""


@dataclass
class Run:
    """All files of one run."""

    machine: dict[str, str]
    parts: dict[str, dict[str, Any]]

    def rows(self, part: str, kind: str) -> list[dict[str, Any]]:
        """Those of a kind that did not fail."""
        rows = self.parts.get(part, {}).get("rows", [])
        return [row for row in rows if row.get("kind") == kind and "failure" not in row]


def validate(name: str, result: Any) -> None:
    """DamagedError unless `result` is a part's."""
    if not isinstance(result, dict):
        raise DamagedError(f"{name}: expected an object but got {type(result).__name__}")
    for key, kind in KEYS.items():
        if not isinstance(result.get(key), kind):
            raise DamagedError(f"{name}: expected {key} of type {kind} but got {result.get(key)!r}")
    if result["version"] != 1 or result["part"] != name or result["status"] not in STATUSES:
        raise DamagedError(
            f"{name}: got version {result['version']}, part {result['part']}, status {result['status']}"
        )
    for row in result["rows"]:
        if not isinstance(row, dict):
            raise DamagedError(f"{name}: expected rows that are objects but got {row!r}")
        for key, value in row.items():
            if key.startswith(("seconds", "teraflops", "ratio", "idle")):
                check_speed(name, key, value, result["emulated"])


def check_speed(name: str, key: str, value: Any, emulated: bool) -> None:
    """A dry run has no speed, a run has only such as can be."""
    if emulated and value is not None:
        raise DamagedError(f"{name}: expected no {key} of the emulated device but got {value}")
    if not emulated and not (isinstance(value, (int, float)) and value >= 0):
        raise DamagedError(f"{name}: expected {key} of at least 0 but got {value!r}")


def read(out: Path) -> Run:
    """All files; DamagedError where one is not as it should be."""
    machine = json.loads((out / "machine.json").read_text())
    if missing := [key for key in MACHINE_KEYS if not isinstance(machine.get(key), str)]:
        raise DamagedError(f"machine.json: expected {', '.join(missing)}")
    parts = {}
    for name in PARTS:
        if (path := out / f"{name}.json").exists():
            parts[name] = json.loads(path.read_text())
            validate(name, parts[name])
    return Run(machine, parts)


def cell(value: Any, digits: int = 2) -> str:
    """Null is what nobody measured."""
    if value is None:
        return "not run"
    return f"{value:.{digits}f}" if isinstance(value, float) else str(value)


def table(columns: list[str], rows: list[list[Any]]) -> list[str]:
    if not rows:
        return []
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    return [*lines, *("| " + " | ".join(map(cell, row)) + " |" for row in rows), ""]


def microseconds(value: Any) -> Any:
    return None if value is None else 1e6 * value


def status_of(run: Run) -> list[str]:
    """A line a part."""
    rows = []
    for name in PARTS:
        if (result := run.parts.get(name)) is None:
            rows.append([name, "not run", "", "", ""])
            continue
        failed = sum("failure" in row for row in result["rows"])
        clocks = result.get("clocks") or {}
        clock = f"{clocks['medianMegahertz']:.0f} ({clocks['leastMegahertz']:.0f})" if clocks else ""
        done = f"{len(result['rows']) - failed} of {len(result['rows'])}"
        rows.append([name, result["status"], done, f"{result['seconds']:.0f}", clock])
    return table(["part", "status", "rows as expected", "seconds", "SM clock, MHz: median (least)"], rows)


def subjects(rows: list[dict[str, Any]]) -> list[str]:
    """Who was timed, ours first."""
    return list(
        dict.fromkeys(
            key.removeprefix("seconds ") for row in rows for key in row if key.startswith("seconds ")
        )
    )


def compared(rows: list[dict[str, Any]], keys: list[str]) -> list[str]:
    """TFLOP/s of each subject, and of a peer how many times as long it took."""
    names = subjects(rows)

    def of(row: dict[str, Any], name: str) -> str:
        if f"teraflops {name}" not in row:
            return "failed" if name in row.get("failures", {}) else ""
        rate = row[f"teraflops {name}"]
        if rate is None or name == "ours":
            return cell(rate, 0)
        return f"{rate:.0f} ({row[f'ratio {name}']:.2f})"

    return table(
        [*keys, *names], [[*(row[key] for key in keys), *(of(row, name) for name in names)] for row in rows]
    )


def fastest(row: dict[str, Any]) -> list[Any]:
    """Of the tiles of one row."""
    times = {name: row[f"seconds {name}"] for name in subjects([row])}
    tile, ratio = None, None
    if times and None not in times.values():
        tile = min(times, key=times.__getitem__)
        ratio = times[row["table"]] / times[tile] if row.get("table") in times else "no time"
    order = row.get("ratio lightest", "")
    return [*(row[key] for key in ("size", "mask", "tokens")), tile, ratio, order]


def of_tile(row: dict[str, Any], rows: list[dict[str, Any]]) -> Any:
    """Time of a visible tile over that of the causal mask."""
    causal = [each for each in rows if each["mask"] == "causal"]
    if not causal or row["seconds ours"] is None:
        return None
    mine, base = (each["seconds ours"] / each["tiles"] for each in (row, causal[0]))
    return mine / base


def failures(run: Run) -> list[str]:
    lines = []
    for name, result in run.parts.items():
        if "reason" in result:
            lines.append(f"- {name}: {result['reason'].splitlines()[-1]}")
        for row in result["rows"]:
            what = " ".join(
                str(row[key])
                for key in ("kernel", "kind", "name", "step", "mask", "size", "tokens")
                if key in row
            )
            if text := row.get("failure"):
                lines.append(f"- {name}, {what}: {text.splitlines()[0]}")
            lines += [
                f"- {name}, {what}, {peer}: {text.splitlines()[0]}"
                for peer, text in row.get("failures", {}).items()
            ]
    return [*lines, ""] if lines else []


def text(run: Run) -> str:
    """The whole table."""
    emulated = any(result["emulated"] for result in run.parts.values())
    machine = run.machine
    driver = f"driver {machine['driver']}" if machine["driver"] else ""
    facts = (machine["date"], machine["device"], driver, machine["libraries"], f"commit {machine['commit']}")
    lines = [", ".join(filter(None, facts)), ""]
    if emulated:
        lines += ["**Emulated: results were checked, nothing was timed.**", ""]
    lines += status_of(run)
    if rows := run.rows("speed", "speed"):
        lines += ["Attention, bf16, TFLOP/s (in brackets: how many times as long the peer takes as ours)", ""]
        lines += compared(rows, ["size", "mask", "tokens"])
    if rows := run.rows("speed", "step"):
        lines += ["A step of a ring with a carried state, TFLOP/s", "", *compared(rows, ["step", "tokens"])]
    if rows := run.rows("speed", "masks"):
        lines += ["Masks, D=128", ""]
        values = [
            [*(row[key] for key in ("mask", "tokens", "tiles", "teraflops ours")), of_tile(row, rows)]
            for row in rows
        ]
        lines += table(["mask", "tokens", "visible tiles", "TFLOP/s", "time of a tile / causal"], values)
    timed = run.rows("traces", "ranks") + run.rows("traces", "timed-scores")
    if timed:
        lines += ["Whole programs: seconds in which any rank attends", ""]
        keys = ("name", "secondsBusy", "secondsSummed", "teraflops", "ratio")
        columns = ["program", "ms", "ms, summed over ranks", "TFLOP/s", "ratio to the first of its kind"]
        values = [
            [row["name"], *(ms(row[key]) if key.startswith("sec") else row[key] for key in keys[1:])]
            for row in timed
        ]
        lines += table(columns, values)
    if rows := run.rows("tune", "tiles"):
        lines += [
            "Tiles (keys x consumers x stages): the fastest, the time of the compiler's over its, and its",
            "time with the lightest blocks of queries first over that with the heaviest first",
            "",
        ]
        columns = ["size", "mask", "tokens", "tile", "table / fastest", "lightest / heaviest"]
        lines += table(columns, [fastest(row) for row in rows])
    if rows := run.rows("traces", "gaps"):
        lines += ["Idle time between commands of the compute stream", ""]
        values = [
            [
                row["name"],
                row["commands"],
                microseconds(row["idleMedian"]),
                microseconds(row["idleP90"]),
                row["idleFraction"],
            ]
            for row in rows
        ]
        lines += table(["program", "commands", "median, µs", "90 %, µs", "of the run"], values)
    found = failures(run)
    return "\n".join([*lines, *(["Not as expected", "", *found] if found else [])])


def ms(value: Any) -> Any:
    return None if value is None else 1e3 * value


def main() -> int:
    """Print the table."""
    try:
        print(text(read(Path(sys.argv[1]))))
    except (DamagedError, json.JSONDecodeError) as damage:
        print(damage, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
