"""Part 5: whole programs, timed by their traces: ranks beside one rank, score functions, idle time."""

from __future__ import annotations

import statistics
import sys
from functools import partial
from typing import Any

from part import Part, WrongError
from programs import busy, gaps, of_kind, traced, use_of

RUNS = 3
ROW_SECONDS = 60


def attention_seconds(part: Part, artifact: dict[str, Any]) -> tuple[float, float]:
    """Medians: seconds in which a rank attends, and the sum over the ranks."""
    runs = [of_kind(traced(part, artifact), "attend") for _ in range(1 if part.is_emulated else RUNS)]
    return (
        statistics.median(map(busy, runs)),
        statistics.median(sum(event["end"] - event["begin"] for event in events) for events in runs),
    )


def main() -> int:
    """All programs that are timed."""
    part = Part("traces", __doc__)
    busy_of = {row["name"]: row["secondsBusy"] for row in part.rows if row.get("secondsBusy")}

    def attend(artifact: dict[str, Any]) -> dict[str, Any]:
        own = attention_seconds(part, artifact)
        if not own[0]:
            raise WrongError("expected attention to take time but got 0 s")
        # The first of a kind is what the others are compared with.
        first = part.artifacts(artifact["kind"])[0]["name"]
        base = own[0] if first == artifact["name"] else busy_of.get(first)
        busy_of[artifact["name"]] = own[0]
        pairs = artifact["tokens"] * (artifact["tokens"] + 1) // 2 * artifact["heads"] * artifact["batch"]
        flops = 2.0 * (artifact["head"] + artifact["value"]) * pairs
        return {
            "secondsBusy": own[0], "secondsSummed": own[1], "teraflops": flops / own[0] / 1e12,
            **({"ratio": own[0] / base} if base else {}),
        }  # fmt: skip

    def layer(artifact: dict[str, Any]) -> dict[str, Any]:
        return gaps(traced(part, artifact))

    for kind, work in (("ranks", attend), ("gaps", layer), ("timed-scores", attend)):
        for artifact in part.artifacts(kind):
            use = [use_of(artifact)]
            part.row(partial(work, artifact), use, ROW_SECONDS, kind=kind, name=artifact["name"])
    return part.end()


if __name__ == "__main__":
    sys.exit(main())
