"""The compiler's table of tiles, lib/Codegen/CUDA/CudaTiles.def, read and written."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

NAME = "CudaTiles.def"
HERE = Path(__file__).resolve().parent
# Beside this script, as in a prepared folder, or else the repository's.
PATH = HERE / NAME if (HERE / NAME).exists() else HERE.parents[2] / "lib" / "Codegen" / "CUDA" / NAME
MASKS = ("Whole", "Masked", "Scored")
ORDERS = ("HeaviestFirst", "LightestFirst")
ROW = re.compile(r"SP_CUDA_TILE\((\d+), (\d+), (\w+), (\d+), (\d+), (\d+), (\d+), (\w+)\)", re.ASCII)
# Keys at a time, consumers, stages.
Tile = tuple[int, int, int]


class TableError(Exception):
    """A text is no table of tiles."""


@dataclass(frozen=True)
class Row:
    """A tile, for heads and values of at most these sizes, a mask and at most `keys` keys (0: any)."""

    head: int
    value: int
    mask: str
    keys: int
    tile: Tile
    order: str = ORDERS[0]

    def __str__(self) -> str:
        numbers = ", ".join(map(str, self.tile))
        return f"SP_CUDA_TILE({self.head}, {self.value}, {self.mask}, {self.keys}, {numbers}, {self.order})"

    def fits(self, head: int, value: int, mask: str, keys: int) -> bool:
        return (
            head <= self.head
            and value <= self.value
            and mask == self.mask
            and (self.keys == 0 or keys <= self.keys)
        )


@dataclass(frozen=True)
class Table:
    """The rows, and the text around them."""

    head: str
    rows: tuple[Row, ...]
    tail: str

    def __str__(self) -> str:
        return self.head + "".join(f"{row}\n" for row in self.rows) + self.tail

    def find(self, head: int, value: int, mask: str, keys: int) -> Row:
        """The first row that fits, as the compiler looks it up; TableError where none does."""
        for row in self.rows:
            if row.fits(head, value, mask, keys):
                return row
        raise TableError(
            f"expected a row for heads of {head} and {value}, {mask}, {keys} keys but found none"
        )

    def replace(self, new: Iterable[Row]) -> Table:
        """Each size of heads and mask in `new` has just its rows there; all others keep theirs."""
        rows = list(self.rows)
        groups: dict[tuple[int, int, str], list[Row]] = {}
        for row in new:
            groups.setdefault((row.head, row.value, row.mask), []).append(row)
        for key, group in groups.items():
            # The first row that fits is one of its own, or what would be taken otherwise.
            at = next((i for i, row in enumerate(rows) if row.fits(*key, 0)), len(rows))
            others = [row for row in rows[at:] if (row.head, row.value, row.mask) != key]
            rows = [*rows[:at], *group, *others]
        return Table(self.head, tuple(rows), self.tail)


def parse(text: str) -> Table:
    """TableError where a line between the first row and the last is none."""
    lines = text.splitlines(keepends=True)
    numbers = [i for i, line in enumerate(lines) if line.startswith("SP_CUDA_TILE(")]
    if not numbers:
        raise TableError("expected rows SP_CUDA_TILE(...) but found none")
    first, end = numbers[0], numbers[-1] + 1
    rows = tuple(row_of(line.rstrip("\n")) for line in lines[first:end])
    return Table("".join(lines[:first]), rows, "".join(lines[end:]))


def row_of(line: str) -> Row:
    found = ROW.fullmatch(line)
    if not found or found[3] not in MASKS or found[8] not in ORDERS:
        raise TableError(f"expected a row of the table of tiles but got {line!r}")
    head, value, keys, *tile = (int(found[i]) for i in (1, 2, 4, 5, 6, 7))
    return Row(head, value, found[3], keys, tuple(tile), found[8])


def read() -> Table:
    """The table that there is."""
    return parse(PATH.read_text())
