"""Where a report says that arguments lie, beside what was asked for."""

from __future__ import annotations

import re
from math import prod

WORD = {"f32": 4, "f64": 8}


def ranks_of(axes: str, mesh: dict[str, int]) -> int:
    """How many parts "dp*sp:(2)2" has: of an axis, or of the part of it that is named last."""
    parts = (re.fullmatch(r"(\w+)(:\(\d+\)(\d+))?", axis) for axis in axes.split("*"))
    return prod(int(part[3]) if part[3] else mesh.get(part[1], 1) for part in parts)


def rank_bytes(kind: str, layout: str, mesh: dict[str, int]) -> int:
    """Of a type such as 96x20xf64, what the rank with most of it has under a layout such as dp*sp,_."""
    *sizes, element = kind.split("x")
    dims = ["_"] * len(sizes) if layout == "whole" else layout.split(",")
    own = (-(-int(size) // ranks_of(dim, mesh)) for size, dim in zip(sizes, dims, strict=True))
    return WORD[element] * prod(own)


def axes_of(layout: str) -> set[str]:
    """That deal any dimension, alone or with others, or parts of them."""
    return {*re.split("[,*]", layout)} - {"_", "whole"}


def misplaced(group: dict, expected: str | set[str] | None, mesh: dict[str, int]) -> list[str]:
    """What is wrong with where arguments lie that a report has together.

    expected: a layout, or the axes of one, whichever dimensions they deal; None: any.
    """
    text, layout = f"{group['count']} {group['type']} such as {group['example']}", group["layout"]
    if expected not in (None, layout, axes_of(layout)):
        return [f"{text} lie as {layout}, expected {expected or 'whole'}"]
    own = rank_bytes(group["type"], layout, mesh)
    return [f"{text} have {group['rankBytes']} bytes, expected {own}"] if own != group["rankBytes"] else []
