"""What lies in a rank's memory over a program, from `sp-compile --emit=memory`, and its picture."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import dataclass, field

import numpy as np

# What has several kinds has the first; colors of the picture, from the bottom up.
KINDS = {
    "weights, optimizer state": "#4c6a92",
    "inputs of layers, and what else waits": "#e69f00",
    "attention: q, k, v, o, their gradients": "#56b4a0",
    "gradients of weights, gathered weights": "#c0504d",
    "loss head": "#9a6fb0",
    "others between attentions": "#b9b9b9",
}
STATE, WAITING, ATTENTION, SLOPES, HEAD, OTHER = KINDS
BYTES = {"64": 8, "32": 4, "16": 2, "8": 1, "1": 1}
GIB = 2**30
PLACE = re.compile(r"#sp\.place<(\w+) (#map\d*|affine_map<.*?\)>)>")
TENSOR = re.compile(r"tensor<([^<>]*)>")
NAME = re.compile(r"%\w+(?:#\d+)?")
# A result of these may lie where an operand does.
IN_PLACE = re.compile(r"stablehlo\.reshape|sp\.put|sp\.gemm|sp\.attend|sp\.\w+_start")
EXCHANGED = re.compile(r"sp\.attend|sp\.shift_start|sp\.all_to_all_start")


@dataclass
class Storage:
    """Bytes that a value, or several in turn, have from one line to another."""

    space: str
    start: int
    end: int
    first: int
    last: int
    kinds: set[str] = field(default_factory=set)

    @property
    def kind(self) -> str:
        return next((kind for kind in KINDS if kind in self.kinds), OTHER)


@dataclass
class Loop:
    """Its lines, the turns of its variable, and what it carries."""

    first: int
    last: int
    turns: range
    results: list[Storage]


class MemoryMap:
    """Bytes in the arena and in far memory by kind, at each line of @main."""

    def __init__(self, text: str) -> None:
        self.maps = dict(re.findall(r"^(#map\d*) = (affine_map<.*>)$", text, re.MULTILINE))
        head, *self.lines = text[text.index("func.func public @main") :].split("\n  }\n")[0].splitlines()
        self.sizes = {space: int(size) for space, size in re.findall(r"sp\.(arena|far)_bytes = (\d+)", head)}
        self.storages: list[Storage] = []
        self.values: dict[str, list[Storage]] = {}
        self.numbers: dict[str, int] = {}
        self.loops: list[Loop] = []
        self.weights: set[tuple[str, ...]] = set()
        self.vocabulary = ""
        self.read_arguments(head.split(") -> (tensor")[0])
        self.ends = self.find_ends()
        for number, line in enumerate(self.lines, 1):
            self.read(number, line)
        turn = min((each.first for each in self.storages if each.kind == HEAD), default=0)
        for each in self.storages:
            if each.first < turn < each.last and each.kind == OTHER:
                each.kinds.add(WAITING)

    def bytes_of(self, space: str) -> np.ndarray:
        """(kinds, lines); bytes that several have count once, as the larger's."""
        storages = [each for each in self.storages if each.space == space]
        cuts = np.unique([0, *itertools.chain.from_iterable((each.start, each.end) for each in storages)])
        grid = np.full((len(self.lines) + 1, len(cuts) - 1), -1, np.int8)
        for each in sorted(storages, key=lambda each: each.end - each.start):
            start, end = np.searchsorted(cuts, (each.start, each.end))
            grid[each.first : each.last + 1, start:end] = list(KINDS).index(each.kind)
        return np.stack([(grid == kind) @ np.diff(cuts) for kind in range(len(KINDS))])

    def peak(self, space: str) -> str:
        """The most, and what the plan says where that is over 2 % beside it."""
        most, planned = self.bytes_of(space).sum(axis=0).max(), self.sizes.get(space, 0)
        other = "" if abs(most - planned) <= 0.02 * planned else f" of the plan's {planned / GIB:.3g}"
        return f"{most / GIB:.3g}{other} GiB"

    def read_arguments(self, head: str) -> None:
        for name, type, attributes in re.findall(r"(%arg\d+): tensor<([^<>]*)> \{(.*?)\}(?=, %arg|$)", head):
            whole = tuple(re.findall(r"\[(\d+)", attributes.split("#sp.sharding")[-1]))
            if "i32" not in type and len(whole) > 1:
                self.weights |= {whole, dimensions(type)}
                self.vocabulary = self.vocabulary or max(whole, key=int)
            storage = self.place(*PLACE.search(attributes).groups(), type, 0)
            storage.last = 0 if "donated" in attributes else len(self.lines)
            storage.kinds = {STATE}
            self.values[name] = [storage]

    def find_ends(self) -> dict[int, int]:
        """The last lines of loops by their first."""
        ends, begun = {}, []
        for number, line in enumerate(self.lines, 1):
            if line.lstrip().startswith("}"):
                ends[begun.pop()] = number
            if line.endswith("{"):
                begun.append(number)
        return ends

    def read(self, number: int, line: str) -> None:
        if line.lstrip().startswith("}"):
            loop = self.loops.pop()
            for storage in loop.results:
                storage.last = max(storage.last, number)
            return
        assigned, _, operation = (
            line.strip().partition(" = ") if line.lstrip()[0] == "%" else ("", "", line.strip())
        )
        if found := re.match(r"arith\.constant (\d+) : index", operation):
            self.numbers[assigned] = int(found[1])
            return
        operands = [name for name in NAME.findall(operation) if name in self.values]
        read = [storage for name in operands for storage in self.values[name]]
        for storage in read:
            self.use(storage, number)
        names = flat(assigned)
        if operation.startswith("scf.for"):
            self.begin(number, operation, names)
            return
        places = PLACE.findall(operation)
        types = TENSOR.findall(operation)[-len(places) :] if places else []
        shared = read if IN_PLACE.match(operation) else []
        given = [self.place(*place, type, number, shared) for place, type in zip(places, types, strict=True)]
        self.values |= {name: [storage] for name, storage in zip(names, given, strict=False)}
        if len(names) > len(given):
            # A token: what waits for it is done with all that the operation has.
            self.values[names[-1]] = given + read
        self.mark(operation, given, read)

    def use(self, storage: Storage, number: int) -> None:
        """To the end of the outermost loop around which it lies."""
        outer = next((loop.last for loop in self.loops if loop.first >= storage.first), number)
        storage.last = max(storage.last, outer)

    def mark(self, operation: str, given: list[Storage], read: list[Storage]) -> None:
        """What kinds an operation tells."""
        if EXCHANGED.match(operation):
            for storage in given + read:
                storage.kinds.add(ATTENTION)
        if operation.startswith("return"):
            for storage in read:
                storage.kinds.add(STATE)
        if re.match(r"sp\.(evict|fetch)", operation):
            kinds = {STATE} if any(STATE in storage.kinds for storage in read) else {WAITING}
            for storage in given + read:
                storage.kinds |= kinds

    def begin(self, number: int, operation: str, results: list[str]) -> None:
        """Of a loop; what it says of places stands in its last line."""
        bounds = re.match(r"scf\.for %\w+ = (%\w+) to (%\w+)", operation).groups()
        carried, _, after = self.lines[self.ends[number] - 1].partition(" sp.places")
        types = TENSOR.findall(operation.rpartition(" -> ")[2])
        pairs = re.findall(r"(%\w+) = (%\w+(?:#\d+)?)", operation.partition("iter_args")[2])
        start = [self.values.get(initial, []) for _, initial in pairs]
        given = [
            self.place(*place, type, number, initial)
            for place, type, initial in zip(PLACE.findall(after), types, start, strict=True)
        ]
        begin, end = (self.numbers.get(name, 0) for name in bounds)
        turns = range(begin, max(end, begin + 1))
        self.loops.append(Loop(number, self.ends[number], turns, given))
        for (name, _), place, type, initial in zip(pairs, PLACE.findall(carried), types, start, strict=True):
            storage = self.place(*place, type, number, initial)
            storage.last = max(storage.last, self.ends[number])
            storage.kinds |= {kind for each in initial for kind in each.kinds}
            self.values[name] = [storage]
        self.values |= {name: [storage] for name, storage in zip(results, given, strict=True)}

    def place(
        self, space: str, where: str, type: str, number: int, shared: list[Storage] | tuple = ()
    ) -> Storage:
        """Storage from a line on, or that of `shared` at the same place."""
        start, end = self.bounds(self.maps.get(where, where))
        end += math.prod(map(int, dimensions(type))) * BYTES[re.search(r"\d+$", type.split(",")[0])[0]]
        for storage in shared:
            if (storage.space, storage.start, storage.end) == (space, start, end):
                return storage
        storage = Storage(space, start, end, number, number)
        if dimensions(type) in self.weights:
            storage.kinds.add(SLOPES)
        elif self.vocabulary in dimensions(type):
            storage.kinds.add(HEAD)
        self.storages.append(storage)
        return storage

    def bounds(self, where: str) -> tuple[int, int]:
        """The least and the largest offset over the turns of loops, which slots take in turn."""
        variables, offset = re.match(r"affine_map<\((.*?)\).* -> \((.*)\)>", where).groups()
        offset = offset.replace("mod", "%").replace("floordiv", "//")
        names = re.findall(r"\w+", variables)
        turns = [sorted({*loop.turns[:4], *loop.turns[-1:]}) for loop in self.loops[-len(names) :]]
        found = [
            eval(offset, dict(zip(names, each, strict=True)))
            for each in itertools.product(*turns[: len(names)])
        ]
        return min(found), max(found)


def dimensions(type: str) -> tuple[str, ...]:
    """Of a tensor's type."""
    return tuple(type.split(",")[0].split("x")[:-1])


def flat(assigned: str) -> list[str]:
    """Names of all results: `%1:2, %token` has %1#0, %1#1 and %token."""
    names = []
    for name, _, count in (each.partition(":") for each in assigned.split(", ") if each):
        names += [f"{name}#{i}" for i in range(int(count))] if count else [name]
    return names
