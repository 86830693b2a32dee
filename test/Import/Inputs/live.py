"""What all live checks of imported functions end in."""

from collections.abc import Callable


def report(cases: list[tuple], check: Callable[..., str | None]) -> int:
    """Print what is wrong with the cases, and return the exit status."""
    failures = [failure for case in cases if (failure := check(*case))]
    print("\n".join(failures) or f"{len(cases)} functions, all as expected")
    return 1 if failures else 0
