"""What pictures of the tools say, read back: shapes with their `data-` attributes."""

from __future__ import annotations

import pathlib
import xml.etree.ElementTree as ElementTree

MOST_BYTES = 1_000_000


def read(path: str | pathlib.Path) -> ElementTree.Element:
    """A picture that is valid XML, small, and runs nothing."""
    text = pathlib.Path(path).read_bytes()
    assert len(text) < MOST_BYTES, f"{path} has {len(text)} bytes"
    root = ElementTree.fromstring(text)
    names = {name_of(element) for element in root.iter()}
    assert names <= {"svg", "title", "rect", "polygon", "line", "text", "g", "path"}, names
    return root


def name_of(element: ElementTree.Element) -> str:
    """Without its namespace."""
    return element.tag.removeprefix("{http://www.w3.org/2000/svg}")


def groups(root: ElementTree.Element, kind: str) -> list[ElementTree.Element]:
    """All that are drawn of a kind of thing."""
    return [each for each in root.iter() if name_of(each) == "g" and each.get("class") == kind]


def shapes(root: ElementTree.Element, name: str, fact: str) -> list[ElementTree.Element]:
    """Those that say a fact."""
    return [each for each in root.iter() if name_of(each) == name and each.get(f"data-{fact}") is not None]


def number(element: ElementTree.Element, fact: str) -> int:
    """A fact of a shape."""
    return int(element.get(f"data-{fact}"))


def points(polygon: ElementTree.Element) -> list[tuple[float, float]]:
    """Its corners."""
    return [tuple(map(float, point.split(","))) for point in polygon.get("points").split()]


def area(polygon: ElementTree.Element) -> float:
    """In square pixels."""
    corners = points(polygon)
    return (
        abs(sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(corners, corners[1:] + corners[:1], strict=True)))
        / 2
    )


def texts(root: ElementTree.Element) -> str:
    """All that can be read."""
    return "\n".join(each.text or "" for each in root.iter() if name_of(each) == "text")
