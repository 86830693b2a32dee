"""run_pictures.py FOLDER: pictures of sp-run have bars where its traces have events."""

from __future__ import annotations

import pathlib
import re

import pictures
import run_traces

LEFT, WIDTH = 150, 1000
KINDS = {
    "attention": ("attend", "attend_backward"),
    "matrix products": ("gemm",),
    "other kernels": ("launch", "rows_table"),
    "sends and receives, with waits": ("send_recv", "exchange"),
    "sums over ranks": ("all_reduce", "reduce_scatter"),
}
CASES = [
    "--mesh=sp=3 --strategy=ring --chunks=2 --offload=host",
    "--mesh=dp=2,sp=2 --strategy=ulysses --zero=3",
    "--mesh=sp=1 --strategy=none",
    # Thousands of events of many ranks: bars are joined.
    "--mesh=sp=48 --strategy=ring",
]


def draw(folder: pathlib.Path, options: str) -> tuple[pictures.ElementTree.Element, list, int]:
    """The picture of a run, its events, and how many ranks it has."""
    events, report, _ = run_traces.run(folder, options, f"--svg={folder}/run.svg")
    return pictures.read(folder / "run.svg"), events, report["ranks"]


def spans(row: pictures.ElementTree.Element) -> list[tuple[float, float]]:
    """From where to where its bars reach."""
    found = []
    for element in row:
        if pictures.name_of(element) == "rect":
            found.append((float(element.get("x")), float(element.get("x")) + float(element.get("width"))))
        if pictures.name_of(element) == "path":
            moves = re.findall(r"M([\d.]+) [\d.]+H([\d.]+)", element.get("d"))
            found += [(float(begin), float(end)) for begin, end in moves]
    return found


def check_timeline(root: pictures.ElementTree.Element, events: list, ranks: int) -> None:
    """Every rank has bars, and they lie within the run and where the trace has them."""
    rows = {
        (pictures.number(row, "rank"), pictures.number(row, "stream")): row
        for row in pictures.groups(root, "row")
    }
    streams = {
        (each["pid"], each["tid"]) for each in events if each["ph"] == "M" and each["name"] == "thread_name"
    }
    assert set(rows) == streams
    last = max(event["ts"] + event["dur"] for event in events if event["ph"] == "X")
    for rank in range(ranks):
        busy = spans(rows[rank, 0])
        assert busy, f"rank {rank} does nothing"
        first = min(
            event["ts"] for event in events
            if event["ph"] == "X" and (event["pid"], event["tid"]) == (rank, 0) and event["cat"] != "sync"
        )  # fmt: skip
        assert abs(min(begin for begin, _ in busy) - LEFT - WIDTH * first / last) < 1
    for row in rows.values():
        for begin, end in spans(row):
            assert LEFT - 0.01 <= begin < end <= LEFT + WIDTH + 0.01, (begin, end)


def check_texts(root: pictures.ElementTree.Element, events: list, ranks: int) -> None:
    """Shares of kinds are of the time on their streams, no more than all of it; the axis has one unit."""
    done = [event for event in events if event["ph"] == "X"]
    last = max(event["ts"] + event["dur"] for event in done)
    lines = pictures.texts(root).splitlines()
    text = next(line for line in lines if line.startswith("of the time that all ranks have on the streams"))
    for kind, categories in KINDS.items():
        own = [event for event in done if event["cat"] in categories]
        share = re.search(rf"{kind} ([\d.]+) %", text)
        assert bool(share) == bool(own), (kind, text)
        if own:
            streams = len({event["tid"] for event in own})
            expected = 100 * sum(event["dur"] for event in own) / (last * ranks * streams)
            assert abs(float(share[1]) - expected) < 0.06 and float(share[1]) <= 100, (text, expected)
    labels = [re.fullmatch(r"[\d.]+ (us|ms|s)", line) for line in lines]
    assert len({label[1] for label in labels if label}) == 1, lines


def main() -> None:
    """Runs each case and compares."""
    folder = run_traces.prepare()
    for options in CASES:
        root, events, ranks = draw(folder, options)
        check_timeline(root, events, ranks)
        check_texts(root, events, ranks)
        print(options, "holds")
    bars = sum(len(spans(row)) for row in pictures.groups(root, "row"))
    assert ranks < bars < sum(event["ph"] == "X" for event in events)
    print("joined bars hold")


if __name__ == "__main__":
    main()
