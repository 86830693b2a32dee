"""Part 2: a decoder on P ranks of one GPU under every strategy, and score functions; against the CPU."""

import sys

from part import Part
from programs import check_all


def main() -> int:
    """All programs that have expected results."""
    part = Part("decoders", __doc__)
    check_all(part, "models")
    check_all(part, "scores")
    return part.end()


if __name__ == "__main__":
    sys.exit(main())
