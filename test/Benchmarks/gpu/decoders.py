"""Part 3: a decoder on P ranks of one GPU under every strategy, and score functions; against the CPU."""

import sys
from functools import partial

from part import Part
from programs import check, use_of

ROW_SECONDS = 30


def main() -> int:
    """All programs that have expected results, a decoder of each type first."""
    part = Part("decoders", __doc__)
    artifacts = part.artifacts("models") + part.artifacts("scores")
    for artifact in sorted(artifacts, key=lambda each: (each["kind"], each["ranks"])):
        what = {key: artifact[key] for key in ("dtype", "ranks", "strategy") if key in artifact}
        part.row(partial(check, part, artifact), [use_of(artifact)], ROW_SECONDS, what, name=artifact["name"])
    return part.end()


if __name__ == "__main__":
    sys.exit(main())
