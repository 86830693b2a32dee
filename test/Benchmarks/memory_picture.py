"""A picture of what lies in a rank's memory over a program."""

from __future__ import annotations

import math

import numpy as np

from memory_map import GIB, KINDS, MemoryMap


class Picture:
    """Programs beside each other, near memory above far memory in one scale, stacked by kind."""

    WIDTH, GAP, LEFT, TOP, HEIGHT, COLUMNS = 330, 30, 62, 74, 460, 330

    def __init__(self, title: str, programs: dict[str, MemoryMap], limit: float) -> None:
        self.parts: list[str] = []
        self.programs = programs
        self.width = self.LEFT + max(len(programs) * (self.WIDTH + self.GAP), 900)
        near, far = (
            {name: self.columns(program.bytes_of(space) / GIB) for name, program in programs.items()}
            for space in ("arena", "far")
        )
        most = max(limit / GIB, *(stack.sum(axis=0).max() for stack in near.values()))
        farther = max(stack.sum(axis=0).max() for stack in far.values())
        self.scale = self.HEIGHT / (most + farther)
        self.text(self.LEFT, 26, title, "font-size='16' font-weight='bold'")
        bottom = self.TOP + most * self.scale
        self.row(near, "arena", "near", most, bottom)
        y = bottom - limit / GIB * self.scale
        right = self.LEFT + len(programs) * (self.WIDTH + self.GAP) - self.GAP
        self.line(self.LEFT, y, right, y, "stroke='#c00' stroke-dasharray='5 4'")
        self.text(right, y - 4, f"{limit / 1e9:g} GB", "fill='#c00' text-anchor='end'")
        if farther:
            bottom += 48 + farther * self.scale
            self.row(far, "far", "far", farther, bottom)
        self.text(self.LEFT, bottom + 36, "x: operation of the program, a loop's once")
        self.height = self.legend(bottom + 52)

    def __str__(self) -> str:
        size = f"width='{self.width:.0f}' height='{self.height:.0f}'"
        font = "font-family='Helvetica, Arial, sans-serif' font-size='12'"
        head = f"<svg xmlns='http://www.w3.org/2000/svg' {size} {font}>\n<rect {size} fill='white'/>\n"
        return head + "\n".join(self.parts) + "\n</svg>\n"

    def columns(self, stack: np.ndarray) -> np.ndarray:
        """As many as are drawn, each the fullest of its lines."""
        parts = np.array_split(np.arange(stack.shape[1]), min(self.COLUMNS, stack.shape[1]))
        total = stack.sum(axis=0)
        return stack[:, [part[total[part].argmax()] for part in parts]]

    def row(self, stacks: dict, space: str, label: str, most: float, bottom: float) -> None:
        for number, (name, stack) in enumerate(stacks.items()):
            left, top = self.LEFT + number * (self.WIDTH + self.GAP), bottom - most * self.scale
            heading = f"{name}: at most {self.programs[name].peak(space)} {label}"
            self.text(left, top - 12, heading, "font-weight='bold'")
            self.panel(left, bottom, stack)
            self.axes(left, bottom, most, len(self.programs[name].lines), number == 0)
        middle = f"translate(16 {bottom - most * self.scale / 2:.1f}) rotate(-90)"
        self.text(0, 0, f"GiB a rank, {label}", f"transform='{middle}' text-anchor='middle'")

    def panel(self, left: float, bottom: float, stack: np.ndarray) -> None:
        edges = left + np.linspace(0, self.WIDTH, stack.shape[1] + 1)
        tops = bottom - np.cumsum(np.vstack([np.zeros(stack.shape[1]), stack]), axis=0) * self.scale
        for below, above, color in zip(tops, tops[1:], KINDS.values(), strict=False):
            if (below == above).all():
                continue
            steps = [(x, y) for i, y in enumerate(above) for x in edges[i : i + 2]]
            steps += [(x, y) for i, y in reversed([*enumerate(below)]) for x in edges[i : i + 2][::-1]]
            points = " ".join(f"{x:.1f},{y:.1f}" for x, y in steps)
            self.parts.append(f"<polygon points='{points}' fill='{color}'/>")

    def axes(self, left: float, bottom: float, most: float, lines: int, labelled: bool) -> None:
        self.line(left, bottom, left + self.WIDTH, bottom)
        self.line(left, bottom, left, bottom - most * self.scale)
        for value in ticks(most):
            y = bottom - value * self.scale
            self.line(left - 4, y, left, y)
            if labelled:
                self.text(left - 8, y + 4, f"{value:g}", "text-anchor='end'")
        for value in ticks(lines):
            x = left + value / lines * self.WIDTH
            self.line(x, bottom, x, bottom + 4)
            self.text(x, bottom + 17, f"{value:g}", "text-anchor='middle'")

    def legend(self, top: float) -> float:
        """Three to a row; returns where it ends."""
        for number, (kind, color) in enumerate(KINDS.items()):
            x, y = self.LEFT + number % 3 * 300, top + number // 3 * 22
            self.parts.append(f"<rect x='{x}' y='{y:.1f}' width='14' height='14' fill='{color}'/>")
            self.text(x + 20, y + 11, kind)
        return top + 22 * math.ceil(len(KINDS) / 3) + 8

    def text(self, x: float, y: float, text: str, style: str = "") -> None:
        self.parts.append(f"<text x='{x:.1f}' y='{y:.1f}' {style}>{text}</text>")

    def line(self, x1: float, y1: float, x2: float, y2: float, style: str = "stroke='black'") -> None:
        self.parts.append(f"<line x1='{x1:.1f}' y1='{y1:.1f}' x2='{x2:.1f}' y2='{y2:.1f}' {style}/>")


def ticks(most: float) -> list[float]:
    """Round numbers from 0 on, four to nine of them."""
    step = 10.0 ** math.floor(math.log10(most))
    step = next(step * part for part in (1, 0.5, 0.2, 0.1) if most / (step * part) >= 3)
    return [step * i for i in range(int(most / step) + 1)]
