"""One table of a GPU run. report.py OUT prints it; 1 where a file of OUT is not as it should be."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import results
from results import DamagedError, Run

# What every part holds, and of which type.
KEYS: dict[str, type | tuple[type, ...]] = {
    "status": str,
    "emulated": bool,
    "commit": str,
    "device": str,
    "seed": int,
    "seconds": (int, float),
    "rows": list,
}
STATUSES = ("passed", "failed", "timed out", "running")
MACHINE_KEYS = ("commit", "date", "device", "driver", "libraries")
PARTS = ("smoke", "correctness", "decoders", "speed", "traces", "counters", "tune")
# What a verdict shows of a row, and how.
SHOWN = {
    "error": "error {:.2g}", "lseError": "of lse {:.2g}", "teraflops ours": "{:.0f} TFLOP/s",
    "ratio cudnn": "{:.2f} of cudnn's speed", "ratio turns": "{:.3f} with turns",
    "secondsBusy": "{:.4f} s busy",
    "idleMedian": "{:.1e} s idle",
}  # fmt: skip


def validate(name: str, result: Any) -> None:
    """DamagedError unless `result` is a part's."""
    for key, kind in KEYS.items():
        if not isinstance(result.get(key), kind):
            raise DamagedError(f"{name}: expected {key} of type {kind} but got {result.get(key)!r}")
    if name not in PARTS or result["status"] not in STATUSES:
        raise DamagedError(f"{name}: expected a part and one of {STATUSES} but got {result['status']}")
    for row in result["rows"]:
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
    """The log; DamagedError where it is not as it should be."""
    run = results.read(out)
    if missing := [key for key in MACHINE_KEYS if not isinstance(run.machine.get(key), str)]:
        raise DamagedError(f"{results.LOG}: expected a machine with {', '.join(missing)}")
    for name, result in run.parts.items():
        validate(name, result)
    return run


def verdict(row: dict[str, Any]) -> str:
    """One line."""
    for key, word in (("failure", "FAILED"), ("skipped", "skipped")):
        if key in row:
            return f"{row['label']}: {word}: {(row[key].splitlines() or [''])[0]}"
    numbers = [shown.format(row[key]) for key, shown in SHOWN.items() if row.get(key) is not None]
    return ", ".join([f"{row['label']}: ok", *numbers])


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
        status = result["status"] if result["status"] != "running" else "cut off"
        # Calls with one OUT may have met several machines, and artifacts of several commits.
        if result["commit"] != run.machine["commit"]:
            status += f", of {result['commit']}"
        if result["device"] != run.machine["device"]:
            status += f", on {result['device']}"
        clocks = result.get("clocks") or {}
        clock = f"{clocks['medianMegahertz']:.0f} ({clocks['leastMegahertz']:.0f})" if clocks else ""
        done = f"{len(result['rows']) - failed} of {len(result['rows'])}"
        rows.append([name, status, done, f"{result['seconds']:.0f}", clock])
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
            if "failure" in row:
                lines.append(f"- {name}, {row['label']}: {(row['failure'].splitlines() or [''])[0]}")
            lines += [
                f"- {name}, {row['label']}, {peer}: {text.splitlines()[0]}"
                for peer, text in row.get("failures", {}).items()
            ]
    return [*lines, ""] if lines else []


def skipped(run: Run) -> list[str]:
    return [
        f"- {name}, {row['label']}: {row['skipped']}"
        for name, result in run.parts.items()
        for row in result["rows"]
        if "skipped" in row
    ]


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
    if rows := run.parts.get("smoke", {}).get("rows"):
        lines += ["Smoke: a process each", ""]
        lines += table(
            ["kernel", "verdict"],
            [[row["label"], verdict(row).removeprefix(f"{row['label']}: ")] for row in rows],
        )
    if rows := run.rows("speed", "speed"):
        lines += ["Attention, bf16, TFLOP/s (in brackets: how many times as long the peer takes as ours)", ""]
        lines += compared(rows, ["size", "mask", "tokens"])
    if rows := run.rows("speed", "step"):
        lines += ["A step of a ring with a carried state, TFLOP/s", "", *compared(rows, ["step", "tokens"])]
    if rows := run.rows("speed", "turns"):
        lines += ["Turns of warpgroups", ""]
        values = [[*(row[key] for key in ("tile", "mask", "tokens", "ratio turns"))] for row in rows]
        lines += table(["size: tile", "mask", "tokens", "speed with turns / without"], values)
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
            [row["name"], *(ms(row[key]) if key.startswith("sec") else row.get(key, "") for key in keys[1:])]
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
    if rows := run.rows("counters"):
        lines += [f"Counters by ncu (all of them: {results.PROFILE})", ""]
        lines += table(
            ["launch", "counter", "value"],
            [[row["label"], *each] for row in rows for each in row["counters"]],
        )
    if found := skipped(run):
        lines += ["Not run", "", *found, ""]
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
