"""The longest sequence that fits, by promise: two models on several ranks, by each mechanism, nothing run.

With --write, the model alone as DIR/model.mlir, with --values its inputs beside it. --out keeps
the promises, so that a search that was cut off goes on, and a picture of memory over the step.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cpu_attention import processor
from longest_models import MODELS, SIZES
from memory_map import GIB, MemoryMap
from memory_picture import Picture

REPOSITORY = Path(__file__).resolve().parents[2]

# So many lengths behind one that does not fit are tried.
LATER = 4
# Each beside those before it.
MECHANISMS = {
    "none": ["--row-blocks=1", "--offload=none"],
    "row-blocks": ["--row-blocks=auto", "--offload=none"],
    "far": ["--row-blocks=auto", "--offload=host"],
    "far-state": ["--row-blocks=auto", "--offload=host+state"],
    "turns": ["--row-blocks=auto", "--offload=host+state", "--chunks=8"],
}
PUBLISHED = """\
| published, not measured here | model | ranks | tokens |
|---|---|---|---|
| FPDT | 8B | 4 and 8 of 80 GB | 2 M and 4 M |
| ALST | 8B | 8 | 3.8 M |
| UPipe (arXiv 2602.21196) | 8B | 8 H100 | 5 M |
| chunk recurrence, OOMB (arXiv 2602.02108) | 7B | one H200 | 4 M |
"""


def tokens_at(index: int) -> int:
    """Lengths that are tried: 16 from one power of two to the next, from 1 024 on."""
    return 16 + index % 16 << index // 16 + 6


def index_of(tokens: float) -> int:
    """Of the longest of them that is no longer."""
    power = max(int(math.log2(max(tokens, 1024))), 10)
    return 16 * (power - 10) + max(int(tokens / 2 ** (power - 4)) - 16, 0)


def spaced(number: int) -> str:
    return f"{number:_}".replace("_", " ")


class Promises:
    """What sp-compile promises of a model, tokens, ranks and a mechanism, asked for once: --out keeps it."""

    def __init__(self, args: argparse.Namespace, work: Path) -> None:
        self.args, self.work = args, work
        self.file = (args.out or work) / "longest.json"
        commit = subprocess.check_output(
            ["git", "-C", REPOSITORY, "rev-parse", "--short=12", "HEAD"], text=True
        )
        self.version = f"{self.call('--version').strip()}, commit {commit.strip()}"
        kept = json.loads(self.file.read_text()) if self.file.exists() else {}
        self.known: dict[str, dict] = kept["promises"] if kept.get("version") == self.version else {}

    def call(self, *arguments: object) -> str:
        command = [self.args.build / "bin" / "sp-compile", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError((done.stderr.splitlines() or [f"ended with {done.returncode}"])[0])
        return done.stdout

    def key(self, name: str, tokens: int, ranks: int, mechanism: str) -> str:
        config = MODELS[name].sized(self.args.sizes | {"tokens": tokens}).config
        return f"{config} --mesh=sp={ranks} --strategy={self.args.strategy} {' '.join(MECHANISMS[mechanism])}"

    def compile(self, name: str, tokens: int, ranks: int, mechanism: str, *more: object) -> str:
        """The model, written for as many tokens, parameters dealt where it has an optimizer's state."""
        path = self.work / f"{name}-{tokens}.mlir"
        model = MODELS[name].sized(self.args.sizes | {"tokens": tokens})
        if not path.exists():
            path.write_text(model.export().text)
        options = [f"--mesh=sp={ranks}", f"--strategy={self.args.strategy}", *MECHANISMS[mechanism]]
        return self.call(path, *options, *(model.dealt() if model.adam else []), *more)

    def of(self, *what: object, exact: bool = False) -> dict:
        """Bytes a rank, or an error; exact with threads' scratch memory, as the artifact has it."""
        key = self.key(*what) + (" exact" if exact else "")
        if key not in self.known:
            begun = time.monotonic()
            try:
                promise = self.reported(what) if exact else self.placed(what)
            except RuntimeError as error:
                promise = {"error": str(error)}
            promise |= {"seconds": round(time.monotonic() - begun, 1), "date": str(datetime.date.today())}
            self.known[key] = promise
            kept = {"version": self.version, "processor": processor(), "promises": self.known}
            self.file.write_text(json.dumps(kept, indent=1) + "\n")
        return self.known[key]

    def placed(self, what: tuple) -> dict:
        text = self.compile(*what, "--emit=memory")
        sizes = {space: int(size) for space, size in re.findall(r"sp\.(\w+)_bytes = (\d+)", text)}
        return {"near": sizes["arena"] + sizes["constant"], "far": sizes.get("far", 0)}

    def reported(self, what: tuple) -> dict:
        report = self.work / "report.json"
        self.compile(*what, "-o", self.work / "model.spx", f"--report={report}")
        found = json.loads(report.read_text())
        names = {"near": "peakBytesPerRank", "far": "farPeakBytesPerRank", "written": "farWrittenPerRank"}
        return {short: max(found.get(name, [0])) for short, name in names.items()}


class Search:
    """The longest sequence of a model on some ranks by one mechanism."""

    def __init__(self, promises: Promises, name: str, ranks: int, mechanism: str, guess: int) -> None:
        self.ask = lambda index, **more: promises.of(name, tokens_at(index), ranks, mechanism, **more)
        self.limit, self.title = promises.args.memory * 1e9, f"{name}, sp={ranks}, {mechanism}"
        self.tried: dict[int, dict] = {}
        self.best: int | None = None
        kept = [
            i for i in range(1, 400) if promises.key(name, tokens_at(i), ranks, mechanism) in promises.known
        ]
        self.find([0, *(kept or [guess])])
        self.promise = self.ask(self.best or 0, exact=True)
        while self.best and self.promise.get("near", math.inf) > self.limit:
            self.best -= 1
            self.promise = self.ask(self.best, exact=True)
        self.seconds = sum(each["seconds"] for each in [*self.tried.values(), self.promise])

    def fits(self, index: int) -> bool:
        promise = self.tried[index] = self.ask(index)
        told = f"{promise['near'] / GIB:.3g} GiB" if "near" in promise else promise["error"]
        print(f"{self.title}: {spaced(tokens_at(index))} tokens, {told}", file=sys.stderr, flush=True)
        return promise.get("near", math.inf) <= self.limit

    def find(self, begin: list[int]) -> None:
        """From the shortest, which may need more, and guesses to what fits while the next ones do not."""
        beyond = None
        while beyond is None or (self.best is not None and beyond - self.best > 1):
            index = begin.pop(0) if begin else self.next(self.best, beyond)
            if self.fits(index):
                self.best = index
            elif index:
                beyond, begin = index, []
            # Packing is better at some lengths than at shorter ones.
            if beyond is not None and self.best is not None and beyond - self.best == 1:
                later = next((more for more in range(beyond + 1, beyond + LATER) if self.fits(more)), None)
                if later is not None:
                    self.best, beyond = later, None

    def next(self, fitting: int, beyond: int | None) -> int:
        """Where a line through two promises meets the limit, or half way where there is none."""
        last = fitting + 64 if beyond is None else beyond - 1
        others = [each for each in self.tried if each < fitting] if beyond is None else [beyond]
        low, other = self.tried[fitting], self.tried[max(others, default=fitting)]
        if other.get("near", 0) == low["near"]:
            return fitting + 16
        if "near" not in other:
            return (fitting + beyond) // 2
        slope = (tokens_at(max(others)) - tokens_at(fitting)) / (other["near"] - low["near"])
        reached = index_of(tokens_at(fitting) + (self.limit - low["near"]) * slope)
        return min(max(reached, fitting + 1), last)

    def cell(self, first: Search) -> str:
        """Of the table: tokens, times those of the row's first cell, GiB near and far."""
        if "error" in self.promise:
            return self.promise["error"]
        size = " + ".join(f"{self.promise[each] / GIB:.3g}" for each in ("near", "far") if self.promise[each])
        if self.best is None:
            return f"none, 1 024 need {size}"
        times = f", {tokens_at(self.best) / tokens_at(first.best):.1f} times" if first.best else ""
        return f"{spaced(tokens_at(self.best))}{times if self is not first else ''} ({size})"


class Table:
    """Of one model: a row for each number of ranks, a column for each mechanism."""

    def __init__(self, promises: Promises, name: str) -> None:
        self.promises, self.name, self.args = promises, name, promises.args
        self.found: dict[tuple[int, str], Search] = {}
        for ranks in self.args.ranks:
            for mechanism in self.args.mechanisms:
                guess = self.guess(ranks, mechanism)
                self.found[ranks, mechanism] = Search(promises, name, ranks, mechanism, guess)

    def guess(self, ranks: int, mechanism: str) -> int:
        """As many tokens a rank as other ranks hold, or as many as the mechanism before does."""
        near = [(False, 65536)]
        for (other, same), search in self.found.items():
            if search.best and (same == mechanism or other == ranks):
                near.append((same == mechanism, tokens_at(search.best) * ranks / other))
        return index_of(max(near)[1])

    def __str__(self) -> str:
        sizes = "".join(f", {size} {number}" for size, number in self.args.sizes.items())
        lines = [
            f"{MODELS[self.name].title}{sizes}; each layer a checkpoint; --strategy={self.args.strategy}:",
            "",
            f"| ranks | {' | '.join(self.args.mechanisms)} | searched for |",
            f"|---|{'---|' * len(self.args.mechanisms)}---|",
        ]
        for ranks in sorted(self.args.ranks):
            row = [self.found[ranks, mechanism] for mechanism in self.args.mechanisms]
            cells = " | ".join(search.cell(row[0]) for search in row)
            lines.append(f"| {ranks} | {cells} | {sum(search.seconds for search in row):.0f} s |")
        return "\n".join(lines) + "\n"

    def picture(self) -> Picture:
        """Of four ranks, or else the most, with the tokens that far memory lets fit, or else the last."""
        ranks = 4 if 4 in self.args.ranks else self.args.ranks[-1]
        shown = [each for each in self.args.mechanisms if each != "none"] or ["none"]
        tokens = tokens_at(self.found[ranks, "far" if "far" in shown else shown[-1]].best or 0)
        maps = {
            each: MemoryMap(self.promises.compile(self.name, tokens, ranks, each, "--emit=memory"))
            for each in shown
        }
        title = f"A step of {self.name}, {spaced(tokens)} tokens on {ranks} ranks, by promise (exact plan)"
        return Picture(title, maps, self.args.memory * 1e9)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=REPOSITORY / "build", help="default build")
    parser.add_argument("--out", type=Path, help="folder for table.md, longest.json and memory.svg")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS), help="default both")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 4, 8, 32], help="1 4 8 32")
    parser.add_argument("--mechanisms", nargs="+", choices=MECHANISMS, help="default all that there are")
    parser.add_argument("--strategy", default="ring", help="sp-compile's (ring)")
    parser.add_argument("--memory", type=float, default=80, metavar="GB", help="of a rank (80)")
    parser.add_argument("--quick", action="store_true", help="table with 2 layers, 1 and 4 ranks of 4 GB")
    parser.add_argument("--write", type=Path, metavar="DIR", help="write the first model there, and end")
    parser.add_argument("--values", action="store_true", help="write inputs.npz, too")
    for size in SIZES:
        parser.add_argument(f"--{size.name.replace('_', '-')}", type=int, help="of every model")
    args = parser.parse_args()
    sizes = {size.name: getattr(args, size.name) for size in SIZES}
    args.sizes = {name: size for name, size in sizes.items() if size is not None}
    if args.write:
        MODELS[args.models[0]].sized(args.sizes).export(args.values).save(args.write)
        return
    if args.quick:
        args.models, args.ranks, args.memory = ["table"], [1, 4], 4
        args.sizes = {"layers": 2} | args.sizes
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        promises = Promises(args, Path(work))
        turns = "--chunks" in promises.call("--help")
        args.mechanisms = args.mechanisms or [each for each in MECHANISMS if turns or each != "turns"]
        texts = [
            f"{datetime.date.today()}, {promises.version}; {processor()}.\n"
            f"The longest sequence in {args.memory:g} GB a rank, by promise (exact plan), not run: "
            "tokens, times those of the first (GiB near + far).\n"
        ]
        print(texts[0])
        for name in args.models:
            table = Table(promises, name)
            texts.append(str(table))
            print(texts[-1], flush=True)
        print(PUBLISHED)
        if args.out:
            (args.out / "table.md").write_text("\n".join([*texts, PUBLISHED]))
            (args.out / "memory.svg").write_text(str(table.picture()))


if __name__ == "__main__":
    main()
