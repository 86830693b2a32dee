"""The attentions that the hunter of near-attentions changes: those of the other execution tests."""

from __future__ import annotations

import functools
import gzip
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import attentions
import draw
import harness
import models_training
import near_judge
import near_program
import run_models
from settle import settled

HEADS = ((5, 5), (6, 2), (7, 7), (8, 4), (5, 1), (9, 3), (2, 2), (4, 2))
LENGTHS = (7, 13, 17, 24, 31, 37, 48)
# What is left of sums that cancel, relative to their largest terms.
CANCELLED = {"float64": 2**-49, "float32": 2**-20, "bfloat16": 2**-20}
SCALES = (0.3, 1, 1, 1, 3, 8, 30, 1000)
# Of results beside their cotangents: a mean makes these small, the scale of a loss large.
SIZES = (1, 1, 1, 1e-9, 1e9)
# Dropout's bits are a loop of hundreds of operations, and there is no attention in one query.
WITHOUT = ("dropout", "bf16")


EXPORTED = Path(__file__).parent / "Exported"
IMPORT = Path(__file__).parents[1] / "Import"


@dataclass(frozen=True)
class Base:
    """A program; dtype: in which it computes; write: puts model.mlir and inputs.npz into a work folder.

    forward: what is differentiated in it, with arguments; differentiate: makes the program of such;
    rounding: what it may leave of terms that cancel in each result, where that is known.
    """

    name: str
    dtype: str
    write: Callable[[harness.Tools], Any]
    forward: tuple[Callable[..., Any], tuple] | None = None
    differentiate: Callable[[Callable[..., Any], tuple], tuple] | None = None
    rounding: tuple[float, ...] = ()


def traced(name: str, dtype: str, function: Callable[..., Any], arguments: tuple) -> Base:
    """A JAX function."""
    import spmlir

    exported = spmlir.export(function, *arguments)
    return Base(name, dtype, lambda tools: exported.save(tools.work))


def drawn(random_: random.Random) -> Base:
    """A random attention, three of five with gradients; queries make scores small or large."""
    while True:
        case = draw.case(random_)
        if not any(part.split(":")[0] in WITHOUT for part in case.parts):
            break
    h, kv = random_.choice(HEADS)
    case = settled(
        replace(
            case,
            strategy="none",
            p=1,
            dp=1,
            tp=1,
            width=0,
            s=random_.choice(LENGTHS),
            k=random_.choice(LENGTHS) if random_.random() < 0.2 else 0,
            b=random_.choice((1, 1, 2, 3)),
            h=h,
            kv=kv,
            d=random_.choice((2, 4, 5, 8)),
            dv=random_.choice((0, 0, 3)),
            type=random_.choice(("float32", "float32", "float64")),
            grad=random_.choice((0, 0, 1, 2, 3)),
        )
    )
    case = draw.alike(case)
    forward, arguments = replace(case, grad=0).model()
    scale = random_.choice(SCALES)
    arguments = ((arguments[0] * scale).astype(arguments[0].dtype), *arguments[1:])

    size = random_.choice(SIZES)

    def differentiate(function: Callable[..., Any], arguments: tuple) -> tuple:
        if not case.grad:
            return function, arguments
        sized = function if size == 1 else lambda *given: function(*given) * size
        return attentions.differentiated(sized, arguments, case.seed, case.learned())

    name = f"{case.text()} scale {scale} size {size:g}"
    base = traced(name, case.type, *differentiate(forward, arguments))
    q, k, v = (near_judge.largest(each.astype("f8"), None).item() for each in arguments[:3])
    # A cotangent is at most about 4 sizes; what many queries share is a sum.
    largest = 4 * size * v * max(q, k, 1) * np.sqrt(case.b * case.h * case.s)
    left = CANCELLED[case.type] * largest
    rounding = (0.0, *(left for _ in case.learned())) if case.grad else ()
    return replace(base, forward=(forward, arguments), differentiate=differentiate, rounding=rounding)


@functools.cache
def small_models() -> list[tuple[str, Callable[[int, str], Any]]]:
    """All small models, and spellings among projections."""
    found = []
    for what in ("models", "spellings", *(each for each in run_models.SETS if each != "perceptrons")):
        found += [(f"{what} {name}", make) for name, make in run_models.chosen(what).models.items()]
    return found


def modelled(random_: random.Random) -> Base:
    """A small model, or a spelling among projections."""
    name, make = random_.choice(small_models())
    dtype = "float32" if name == "spellings library" else random_.choice(("float32", "float64"))
    function, arguments, _ = make(random_.choice((12, 24, 37)), dtype)
    return traced(f"{name} {dtype}", dtype, function, arguments)


def trained(random_: random.Random) -> Base:
    """A step of training."""
    name = random_.choice([each for each in models_training.TRAINING if each not in WITHOUT])
    function, arguments, _ = models_training.TRAINING[name]()
    return traced(f"training {name}", "float64", function, arguments)


def exported(random_: random.Random) -> Base:
    """A model of a library, as it was exported."""
    name = random_.choice(sorted(each.name.removesuffix(".npz") for each in EXPORTED.glob("*.npz")))

    def write(tools: harness.Tools) -> None:
        (tools.work / "model.mlir").write_bytes(gzip.decompress((EXPORTED / f"{name}.mlir.gz").read_bytes()))
        with np.load(EXPORTED / f"{name}.npz") as file:
            np.savez(
                tools.work / "inputs.npz", **{key: file[key] for key in file.files if key.startswith("arg")}
            )

    return Base(f"exported {name}", "float32", write)


@functools.cache
def functions() -> list[tuple[str, str]]:
    """Those of the tests of Import that are nothing but StableHLO, with their names."""
    found = []
    for path in sorted(IMPORT.glob("*.mlir")):
        for number, text in enumerate(re.split(r"^// -----.*$", path.read_text(), flags=re.M)):
            text = re.sub("//.*", "", text)
            if re.search(r"bf16|f16|f8|\bsp\.|sdy", text):
                continue
            name = f"{path.stem} {number}"
            found += [(f"{name} {function}", alone) for function, alone in near_program.functions_of(text)]
    return found


def imported(random_: random.Random) -> Base:
    """A function of the tests of Import, with random inputs."""
    name, text = random_.choice(functions())
    seed = random_.randrange(1000)

    def write(tools: harness.Tools) -> None:
        (tools.work / "model.mlir").write_text(text)
        options = f"--random-inputs={seed}", f"--save-inputs={tools.work / 'inputs.npz'}"
        tools.run("sp-interpret", tools.work / "model.mlir", *options)

    return Base(f"Import/{name}", "float64" if "f64" in text else "float32", write)


KINDS = ((drawn, 55), (modelled, 25), (trained, 7), (exported, 8), (imported, 12))


def base(seed: int, number: int) -> Base:
    """The base of that number."""
    random_ = random.Random(f"{seed} base {number}")
    makers, weights = zip(*KINDS, strict=True)
    return random_.choices(makers, weights)[0](random_)
