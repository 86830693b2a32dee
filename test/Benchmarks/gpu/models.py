"""What a GPU run compiles: attention of every kernel, score functions, a decoder under every strategy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import jax

import llama
import spmlir
import tile_table
from exports import Shape, export_attention, export_decoder, export_kernel, export_product
from tile_table import Tile

SEED = 7
# Worst error over the greatest expected number. In bf16 a decoder rounds after each operation.
TOLERANCE = {"float32": 2e-4, "bfloat16": 6e-2}


@dataclass(frozen=True)
class Artifact:
    """One compilation. kind: which part runs it; facts: what else that part knows of it."""

    kind: str
    name: str
    model: str
    options: tuple[str, ...] = ("--mesh=sp=1", "--strategy=none")
    facts: dict[str, Any] = field(default_factory=dict)
    optional: bool = False  # left out where the compiler refuses it

    @property
    def file(self) -> str:
        return f"{self.kind}/{self.name}.spx"

    def entry(self) -> dict[str, Any]:
        return {"file": self.file, "kind": self.kind, "name": self.name, **self.facts}


@dataclass(frozen=True)
class Expected:
    """The result of a model on random inputs of SEED."""

    model: str
    int_range: int = 64

    @property
    def file(self) -> str:
        return f"{self.model}.npz"

    def inputs(self) -> list[str]:
        return [f"--random-inputs={SEED}", f"--int-range=0..{self.int_range - 1}"]


@dataclass
class Plan:
    """All of a folder."""

    models: dict[str, Callable[[], spmlir.Exported]] = field(default_factory=dict)
    artifacts: list[Artifact] = field(default_factory=list)
    expected: list[Expected] = field(default_factory=list)


def plan(dry: bool) -> Plan:
    """What is compiled: of a dry run, samples."""
    jax.config.update("jax_enable_x64", True)
    made = Plan()
    add_kernels(made, dry)
    add_scores(made, dry)
    add_decoders(made, dry)
    add_timed(made, dry)
    add_tiles(made, dry)
    add_turns(made, dry)
    return made


# Kernels that the smoke part runs, of the first also what a ring runs, on a carried state; and
# those that are launched a hundred times for equal bits.
SMOKE = (
    "bfloat16-128x128-full", "bfloat16-128x128-causal", "bfloat16-64x64-full", "bfloat16-64x64-causal",
    "bfloat16-256x256-causal", "bfloat16-96x96-causal", "float16-128x128-causal", "float32-64x64-causal",
)  # fmt: skip
DRY_SMOKE = ("bfloat16-128x128-full", "float16-64x64-causal", "float32-24x20-causal", "float64-16x16-causal")
LARGE = ("bfloat16-128x128-causal", "float16-64x64-causal")  # of a run, and of a dry run
REPEATED = (
    "bfloat16-128x128-full", "bfloat16-128x128-causal", "bfloat16-64x64-causal", "bfloat16-256x256-full",
)  # fmt: skip


def add_kernels(made: Plan, dry: bool) -> None:
    """Every kernel of the compiler's table, by element type, sizes and kind of mask; and a product."""
    sizes = [(128, 128), (64, 64), (256, 256), (96, 96), (80, 80), (48, 64), (192, 128)]
    cases = [
        (kind, dtype, *size)
        for dtype in ("bfloat16", "float16")
        for size in sizes
        for kind in ("full", "causal")
    ]
    cases += [("causal", "bfloat16", 20, 36), ("causal", "float32", 64, 64), ("causal", "float64", 64, 64)]
    cases += [("causal", "float32", 128, 128)]
    if dry:
        cases = [
            ("full", "bfloat16", 128, 128), ("causal", "float16", 64, 64),
            ("causal", "float32", 24, 20), ("causal", "float64", 16, 16),
        ]  # fmt: skip
    for kind, dtype, head, value in cases:
        name = f"{dtype}-{head}x{value}-{kind}"
        made.models[name] = partial(export_kernel, kind, Shape(1, 64, 1, 1, head, value, dtype))
        facts: dict[str, Any] = {"dtype": dtype, "head": head, "value": value, "mask": kind}
        if name in (DRY_SMOKE if dry else SMOKE):
            facts["smoke"] = "plain"
        if name in REPEATED:
            facts["repeats"] = 100
        facts["large"] = name in LARGE
        made.artifacts.append(Artifact("kernels", name, name, facts=facts))
    # What rings run: their state is the greatest exponent and the sum of powers, and what it multiplies.
    rings = [("bfloat16", 128, 128), ("bfloat16", 64, 64), ("bfloat16", 256, 256), ("float16", 128, 128)]
    ring_cases = [(kind, *size) for size in rings for kind in ("full", "causal")]
    ring_cases += [("causal", "float32", 64, 64), ("causal", "float64", 64, 64)]
    if dry:
        ring_cases = [("full", "bfloat16", 128, 128), ("causal", "float32", 24, 20)]
    for kind, dtype, head, value in ring_cases:
        name = f"{dtype}-{head}x{value}-{kind}"
        facts = {"dtype": dtype, "head": head, "value": value, "mask": kind, "sums": True}
        if name == (DRY_SMOKE if dry else SMOKE)[0]:
            facts["smoke"] = "carried"
        options = ("--mesh=sp=2", "--strategy=ring", "--layout=contiguous")
        made.artifacts.append(Artifact("kernels", f"{name}-ring", name, options, facts))
    made.models["product"] = partial(export_product, *((5, 12, 7) if dry else (256, 192, 320)))
    made.expected.append(Expected("product"))
    made.artifacts.append(Artifact("product", "product", "product", facts=checked("product", "float32")))


def add_tiles(made: Plan, dry: bool) -> None:
    """Tiles that fit, and those of the compiler's table: keys at a time, consumers, stages."""
    tiles: dict[tuple[int, int], tuple[Tile, ...]] = {
        (64, 64): ((128, 3, 2), (112, 3, 2), (128, 2, 2), (192, 2, 2), (128, 3, 4)),
        (96, 96): ((112, 2, 2), (128, 2, 2), (144, 2, 2), (80, 2, 4)),
        (128, 128): (
            (96, 2, 2), (128, 2, 2), (144, 2, 2), (160, 2, 2), (176, 2, 2), (192, 2, 2),
            (80, 3, 2), (80, 2, 4),
        ),
        (192, 128): ((96, 2, 2), (112, 2, 2), (64, 2, 4)),
        (256, 256): ((64, 2, 2), (80, 2, 2), (32, 2, 4)),
    }  # fmt: skip
    rows = tile_table.read().rows
    if dry:
        tiles, rows = {(64, 64): ((64, 3, 2), (64, 2, 4))}, ()
    for (head, value), some in tiles.items():
        own = [row.tile for row in rows if (row.head, row.value) == (head, value) and row.mask != "Scored"]
        for tile in dict.fromkeys((*some, *own)):
            name = f"{head}x{value}-" + "x".join(map(str, tile))
            shape = Shape(1, 64, 1, 1, head, value, "bfloat16")
            made.models[name] = partial(export_kernel, "causal", shape, tile)
            facts = {"dtype": "bfloat16", "head": head, "value": value, "tile": tile}
            made.artifacts.append(Artifact("tiles", name, name, facts=facts))


def add_turns(made: Plan, dry: bool) -> None:
    """Tiles whose warpgroups take turns, and the same without: a fifth number, of compilers that know it."""
    tiles = [(128, (176, 2, 2)), (128, (160, 2, 2)), (128, (128, 2, 2)), (64, (128, 3, 2)), (256, (80, 2, 2))]
    for size, tile in [(64, (64, 2, 2))] if dry else tiles:
        for turns in (0, 1):
            name = f"{size}x{size}-" + "x".join(map(str, tile)) + f"-turns{turns}"
            shape = Shape(1, 64, 1, 1, size, size, "bfloat16")
            made.models[name] = partial(export_kernel, "causal", shape, (*tile, 0, turns))
            facts = {"dtype": "bfloat16", "head": size, "value": size, "tile": tile, "turns": turns}
            made.artifacts.append(Artifact("turns", name, name, facts=facts, optional=True))


def add_scores(made: Plan, dry: bool) -> None:
    """Score functions, on one rank and with a state that is carried round a ring."""
    kinds = ("soft-cap", "segments") if dry else ("soft-cap", "alibi", "bias", "segments", "sinks")
    for kind in kinds:
        for dtype in ("float32",) if dry else ("float32", "bfloat16"):
            name = f"{kind}-{dtype}"
            shape = Shape(1, 26, 2, 1, 16, 16, dtype) if dry else Shape(2, 300, 4, 2, 64, 64, dtype)
            made.models[name] = partial(export_attention, kind, shape)
            made.expected.append(Expected(name, int_range=3))
            for ranks in (2,) if dry else (1, 4):
                options = (f"--mesh=sp={ranks}", "--strategy=" + ("none" if ranks == 1 else "ring"))
                facts = {"ranks": ranks} | asdict(shape) | checked(name, dtype, int_range=3)
                made.artifacts.append(Artifact("scores", f"{name}-p{ranks}", name, options, facts))


def checked(model: str, dtype: str, int_range: int = 64) -> dict[str, Any]:
    """How the results of a program are checked."""
    expected = Expected(model, int_range)
    return {"expected": expected.file, "inputs": expected.inputs(), "tolerance": TOLERANCE[dtype]}


def add_decoders(made: Plan, dry: bool) -> None:
    """A small decoder on every number of ranks, under every strategy."""
    small = llama.Config(
        layers=1, tokens=27, vocabulary=40, width=32, hidden=48, heads=4, kv_heads=2, head_size=16
    )
    config = small if dry else llama.Config(tokens=500, vocabulary=256, head_size=64)
    plans = [(1, "none", ())]
    plans += [
        (ranks, strategy, more)
        for ranks in ((2,) if dry else (2, 4, 8))
        for strategy, more in (
            ("ring", ()), ("ulysses", ()), ("allgather", ()),
            ("2d", ("--heads=2",)), ("double-ring", ("--inner=2",)),
        )
        if ranks > 2 or not more
    ]  # fmt: skip
    for dtype in ("float32",) if dry else ("float32", "bfloat16"):
        name = f"decoder-{dtype}"
        made.models[name] = partial(export_decoder, config, dtype)
        made.expected.append(Expected(name, config.vocabulary))
        for ranks, strategy, more in plans:
            options = (f"--mesh=sp={ranks}", f"--strategy={strategy}", *more)
            facts = {"ranks": ranks, "strategy": strategy} | of_decoder(config, dtype)
            facts |= checked(name, dtype, config.vocabulary)
            made.artifacts.append(Artifact("models", f"{name}-p{ranks}-{strategy}", name, options, facts))


def of_decoder(config: llama.Config, dtype: str) -> dict[str, Any]:
    """What its attention is, and that it multiplies."""
    size = config.head_size
    return {"dtype": dtype, "head": size, "value": size, "mask": "causal", "needs": ["product"]}


def add_timed(made: Plan, dry: bool) -> None:
    """Programs that are timed: a long ring, a decoder's layer, score functions."""
    shape = Shape(1, 24, 2, 1, 16, 16, "bfloat16") if dry else Shape(1, 65536, 8, 2, 128, 128, "bfloat16")
    made.models["long"] = partial(export_attention, "causal", shape)
    for ranks in (1, 2) if dry else (1, 8):
        options = (f"--mesh=sp={ranks}", "--strategy=" + ("none" if ranks == 1 else "ring"))
        facts = {"ranks": ranks, "keep": ranks > 1} | asdict(shape)
        made.artifacts.append(Artifact("ranks", f"long-p{ranks}", "long", options, facts))
    config = llama.Config(
        layers=1, tokens=4096, vocabulary=256, width=2048, hidden=5632, heads=16, kv_heads=4, head_size=128
    )
    if dry:
        config = llama.Config(
            layers=1, tokens=20, vocabulary=40, width=32, hidden=48, heads=2, kv_heads=1, head_size=16
        )
    made.models["layer"] = partial(export_decoder, config, "bfloat16")
    made.artifacts.append(Artifact("gaps", "layer", "layer", facts=of_decoder(config, "bfloat16")))
    for kind in ("causal", "soft-cap") if dry else ("causal", "soft-cap", "alibi", "bias"):
        # What is read a pair is as large as the scores.
        shape = Shape(1, 24, 2, 2, 16, 16, "bfloat16") if dry else Shape(1, 4096, 8, 8, 128, 128, "bfloat16")
        name = f"timed-{kind}"
        made.models[name] = partial(export_attention, kind, shape)
        made.artifacts.append(Artifact("timed-scores", kind, name, facts=asdict(shape)))
