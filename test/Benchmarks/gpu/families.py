"""Which kernels stand for which others: what the smoke part found to hang or to be wrong is left out later.

A family is a kernel of the manifest that has `smoke`. One that was not run there goes by the
family of its kind of kernel, its mask, and the next larger heads, or else the largest.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Artifact = dict[str, Any]


def is_plain(artifact: Artifact) -> bool:
    """Not of the kernel for Hopper, which has 16-bit elements and heads of multiples of 16."""
    sizes = artifact["head"], artifact["value"]
    return artifact["dtype"] in ("float32", "float64") or any(size % 16 for size in sizes)


def size_of(artifact: Artifact) -> int:
    return max(artifact["head"], artifact["value"])


def family_of(artifact: Artifact, mask: str, kernels: Iterable[Artifact]) -> str | None:
    """The name of the kernel that stands for an artifact under a mask, full or not; None where none does."""
    size = size_of(artifact)

    def distance(each: Artifact) -> tuple[bool, bool, int]:
        own = size_of(each)
        return (own, each["dtype"]) != (size, artifact["dtype"]), own < size, abs(own - size)

    alike = [
        each for each in kernels if each.get("smoke") == "plain" and is_plain(each) == is_plain(artifact)
    ]
    # The plain kernel is one for all masks.
    if not is_plain(artifact):
        alike = [each for each in alike if (each["mask"] == "full") == (mask == "full")]
    return min(alike, key=distance)["name"] if alike else None


def of(artifact: Artifact, mask: str, carried: bool, kernels: list[Artifact]) -> list[str]:
    """Labels of the smoke part's rows that an artifact goes by."""
    if "head" not in artifact:
        return list(artifact.get("needs", ()))
    names = [family_of(artifact, mask, kernels)]
    # A ring's kernel stands for all that take up a state.
    if carried and not is_plain(artifact):
        names += [f"{each['name']} carried" for each in kernels if each.get("smoke") == "carried"]
    return [name for name in names if name] + list(artifact.get("needs", ()))
