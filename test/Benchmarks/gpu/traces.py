"""Parts 5 to 7 where whole programs are timed: ranks beside one rank, score functions, idle time."""

from __future__ import annotations

import statistics
import sys
from functools import partial
from typing import Any

from part import Part, WrongError
from programs import busy, gaps, of_kind, traced

RUNS = 3


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
    first: dict[str, float] = {}

    def attend(artifact: dict[str, Any]) -> dict[str, Any]:
        kind, own = artifact["kind"], attention_seconds(part, artifact)
        # The first of a kind is what the others are compared with.
        base = first.setdefault(kind, own[0])
        if not base:
            raise WrongError("expected attention to take time but got 0 s")
        pairs = artifact["tokens"] * (artifact["tokens"] + 1) // 2 * artifact["heads"] * artifact["batch"]
        flops = 2.0 * (artifact["head"] + artifact["value"]) * pairs
        return {
            "secondsBusy": own[0], "secondsSummed": own[1], "ratio": own[0] / base,
            "teraflops": flops / own[0] / 1e12,
        }  # fmt: skip

    def layer(artifact: dict[str, Any]) -> dict[str, Any]:
        return gaps(traced(part, artifact))

    for kind, work in (("ranks", attend), ("timed-scores", attend), ("gaps", layer)):
        for artifact in part.artifacts(kind):
            part.row(partial(work, artifact), kind=kind, name=artifact["name"])
    return part.end()


if __name__ == "__main__":
    sys.exit(main())
