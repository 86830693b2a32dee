"""Makes a failing case of the fuzzer smaller."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import cases
import scores
from settle import settled

# Numbers that are made smaller, first to last, and how far.
FLOORS = {"b": 1, "dp": 1, "tp": 1, "k": 0, "s": 1, "p": 1, "h": 1, "d": 4, "dv": 0}
# Simple ones first.
SIMPLEST = ("none", "ring", "allgather", "ulysses", "double-ring", "2d", "split-kv", "auto")


def simpler(case: cases.Case) -> Iterator[cases.Case]:
    """Cases a step simpler, the boldest steps first."""
    for index in range(len(case.parts)):
        rest = case.parts[:index] + case.parts[index + 1 :]
        yield replace(case, mask="+".join(rest) or "full")
    steps = case.after.split("+")
    yield from (replace(case, after="+".join(steps[:at] + steps[at + 1 :])) for at in range(len(steps)))
    for name, floor in FLOORS.items():
        value = getattr(case, name)
        smaller = (floor, floor + 1, value // 2, value - 1)
        yield from (replace(case, **{name: step}) for step in dict.fromkeys(smaller) if floor <= step < value)
    yield replace(case, kv=case.h)
    yield replace(case, kv=1)
    for name, plain in (
        ("target", "cpu"),
        ("u", 0),
        ("inner", 0),
        ("groups", 0),
        ("both", 0),
        ("deal", 0),
        ("deal", 1),
        ("zero", 0),
        ("width", 0),
        ("width", 3),
        ("weights", "flat"),
        ("placement", "head-first"),
        ("backward", ""),
        ("layout", "contiguous"),
        ("fill", "inf"),
        ("spelling", "repeated"),
        ("scores", 0),
        ("values", 0),
        ("hidden", ""),
        ("seed", 0),
    ):
        yield replace(case, **{name: plain})
    yield from (replace(case, grad=grad) for grad in range(case.grad))
    for name, order in (("strategy", SIMPLEST), ("type", cases.TYPES)):
        yield from (replace(case, **{name: plain}) for plain in order[: order.index(getattr(case, name))])
    for index, part in enumerate(case.parts):
        name, *rest = part.split(":")
        for at, text in enumerate(rest):
            if name not in scores.SHAPED and int(text) > 1:
                for number in (1, int(text) // 2, int(text) - 1):
                    changed = ":".join([name, *rest[:at], str(number), *rest[at + 1 :]])
                    yield replace(
                        case, mask="+".join([*case.parts[:index], changed, *case.parts[index + 1 :]])
                    )
            elif name in scores.SHAPED:
                for letter in set(text) - {"1"}:
                    changed = f"{name}:{text.replace(letter, '1')}"
                    yield replace(
                        case, mask="+".join([*case.parts[:index], changed, *case.parts[index + 1 :]])
                    )


def shrunk(case: cases.Case, fails: Callable[[cases.Case], bool], attempts: int) -> cases.Case:
    """The simplest case that still fails, of so many that are tried."""
    tried = {case}
    found = True
    while found:
        found = False
        for step in simpler(case):
            step = settled(step)
            if step in tried:
                continue
            tried.add(step)
            if len(tried) > attempts:
                return case
            if fails(step):
                case, found = step, True
                break
    return case
