"""Packed documents from run to run: what is computed of them, kept inputs, and steps on a GPU.

NaN in one document stays there, under every strategy: no pair of two documents is computed. Numbers
are those of the inputs that a session was given last, whichever of them results feed meanwhile.
"""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import jax
import jax.numpy as jnp
import numpy as np

import harness
import run_documents
import spmlir

TOKENS, RANKS = 48, 4


def attend(q: jax.Array, k: jax.Array, v: jax.Array, ids: jax.Array) -> jax.Array:
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / q.shape[-1] ** 0.5
    weights = jax.nn.softmax(jnp.where(run_documents.MASKS["causal"](ids)[:, None], scores, -1e30))
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


def operands(dtype: type, features: int) -> list[np.ndarray]:
    draw = np.random.default_rng(7).standard_normal
    return [draw((1, TOKENS, 4, features)).astype(dtype) for _ in range(3)]


def apart(strategy: str) -> list[str]:
    """What is wrong with results beside a document of NaN: a pair of two would carry it over."""
    q, k, v = operands(np.float64, 4)
    ids = np.repeat([5, 2, 9], (17, 11, 20))[None].astype(np.int32)
    program = spmlir.compile(spmlir.export(attend, q, k, v, ids), mesh={"sp": RANKS}, strategy=strategy)
    clean = program(q, k, v, ids)[0]
    wrong = []
    for number in (5, 2, 9):
        inside = (ids == number)[..., None, None]
        dirty = program(*(np.where(inside, np.nan, each) for each in (q, k, v)), ids)[0]
        if not np.abs(np.where(inside, 0, dirty - clean)).max() <= 1e-12:
            wrong.append(f"{strategy}: NaN of document {number} reaches others")
        if not np.isnan(dirty[np.broadcast_to(inside, dirty.shape)]).all():
            wrong.append(f"{strategy}: NaN of document {number} is lost")
    return wrong


def fed() -> list[str]:
    """What is wrong with numbers of two inputs, of which a result feeds one in the second step."""

    def step(q: jax.Array, k: jax.Array, v: jax.Array, a: jax.Array, b: jax.Array) -> tuple:
        return attend(q, k, v, 100 * a + b), b + 0

    first, second, ones = (
        np.repeat(parts, TOKENS // len(parts))[None].astype(np.int32) for parts in ([0, 1, 2, 3], [0, 1], [1])
    )
    tensors = operands(np.float64, 4)
    program = spmlir.compile(spmlir.export(step, *tensors, first, ones), mesh={"sp": RANKS}, strategy="ring")
    session = program.open_session()
    session.feed(1, 4)
    wrong = []
    given = ((first, ones), (second, None), (None, ones))
    for number, (inputs, a, known) in enumerate(
        zip(given, (first, second, second), (True, False, True), strict=True)
    ):
        results = [np.empty_like(tensors[0]), np.empty_like(ones)]
        session.step([*tensors, *inputs], results)
        off = np.abs(results[0] - attend(*tensors, 100 * a + ones)).max()
        if not off <= 1e-12:
            wrong.append(f"step {number} of a session with fed numbers: off by {off:.1e}")
        if ("documents" in session.report(RANKS)) != known:
            wrong.append(f"step {number}: documents are known although results feed them, or the other way")
    return wrong


def stuck(artifact: Path) -> list[str]:
    """What is wrong with numbers that are computed for ever: the run fails, and another call works."""

    def step(q: jax.Array, k: jax.Array, v: jax.Array, ids: jax.Array, turns: jax.Array) -> jax.Array:
        counted = jax.lax.while_loop(lambda at: at[0] != turns, lambda at: (at[0] + 1, at[1] ^ at[0]), (0, 0))
        return attend(q, k, v, ids + 0 * counted[1])

    tensors = operands(np.float64, 4)
    ids = np.repeat([3, 4], TOKENS // 2)[None].astype(np.int32)
    few, endless = np.int32(3), np.int32(-1)
    exported = spmlir.export(step, *tensors, ids, few)
    spmlir.compile(exported, mesh={"sp": RANKS}, strategy="ring", output=artifact)
    program = spmlir.Executable(artifact, timeout=1)
    try:
        program(*tensors, ids, endless)
        return ["numbers that never come are no failure"]
    except spmlir.RunError as failure:
        wrong = [] if "numbering documents" in str(failure) else [f"unexpected: {failure}"]
    off = np.abs(program(*tensors, ids, few)[0] - attend(*tensors, ids)).max()
    return wrong if off <= 1e-12 else [*wrong, f"after a failure to number documents: off by {off:.1e}"]


def often() -> list[str]:
    """What is wrong with documents that come back too often to be skipped, and with those of the next run."""
    tokens, wrong = 256, []
    draw = np.random.default_rng(9).standard_normal
    tensors = [draw((1, tokens, 2, 4)) for _ in range(3)]
    turns, halves = (np.arange(tokens)[None] % 2).astype(np.int32), np.repeat([0, 1], tokens // 2)[None]
    program = spmlir.compile(
        spmlir.export(attend, *tensors, turns), mesh={"sp": RANKS}, strategy="ring", layout="contiguous"
    )
    for ids, skipped in ((halves.astype(np.int32), True), (turns, False), (halves.astype(np.int32), True)):
        off = np.abs(program(*tensors, ids)[0] - attend(*tensors, ids)).max()
        said = program.last_run["documents"]["skipped"]
        if not off <= 1e-12 or said != skipped:
            wrong.append(f"documents that come back: off by {off:.1e}, skipped {said}, not {skipped}")
        wrong += harness.broken(program.report, program.last_run)
    return wrong


def truths() -> list[str]:
    """What is wrong with bytes of truths that are neither 0 nor 1: all are true."""
    tensors = operands(np.float64, 4)
    ids = np.repeat([0, 1], TOKENS // 2)[None].astype(bool)
    odd = np.repeat([0, 2, 3], TOKENS // 3)[None].astype(np.uint8).view(bool)
    program = spmlir.compile(spmlir.export(attend, *tensors, ids), mesh={"sp": RANKS}, strategy="ring")
    off = np.abs(program(*tensors, odd)[0] - attend(*tensors, odd.view(np.uint8) != 0)).max()
    return [] if off <= 1e-12 else [f"documents of odd truths: off by {off:.1e}"]


def on_device(tools: harness.Tools, *more: str) -> list[str]:
    """What is wrong with batches that are steps of one session of an emulated GPU.

    more: options of the compiler.
    """
    wrong = []
    q, k, v = operands(np.float32, 64)
    batches = [run_documents.batch(Random(kind), (1, TOKENS), 3, kind) for kind in run_documents.KINDS]
    folder = tools.work / "documents-on-device"
    spmlir.export(attend, q, k, v, batches[0]).save(folder)
    artifact, outputs = folder / "model.spx", folder / "out.npz"
    reports = folder / "c.json", folder / "r.json"
    options = ("--mesh=sp=3", "--strategy=ring", "--target=cuda", "--emulation", *more)
    tools.run("sp-compile", folder / "model.mlir", "-o", artifact, *options, f"--report={reports[0]}")
    for steps, ids in enumerate(batches, 1):
        # What documents deal comes with each of them.
        tensors = [np.stack([each] * steps) if more else each for each in (q, k, v)]
        names = dict(zip(("arg0", "arg1", "arg2"), tensors, strict=True))
        np.savez(folder / "steps.npz", **names, arg3=np.stack(batches[:steps]))
        run = (f"--inputs={folder / 'steps.npz'}", f"--outputs={outputs}", f"--report={reports[1]}")
        tools.run("sp-run", artifact, *run, f"--steps={steps}", "--device=emulated")
        off = np.abs(harness.load_results(outputs)[0] - attend(q, k, v, ids)).max()
        problems = harness.broken(*map(harness.read_report, reports))
        problems += [f"off by {off:.1e}"] if not off <= 1e-5 else []
        wrong += [f"on a device {more}, {steps} steps: {problem}" for problem in problems]
    return wrong


def main() -> int:
    """Run all; a few strategies with --quick."""
    args = harness.arguments(__doc__).parse_args()
    jax.config.update("jax_enable_x64", True)
    strategies = ("none", "ring", "ulysses", "allgather", "2d", "double-ring")
    wrong = [problem for strategy in strategies[: 3 if args.quick else None] for problem in apart(strategy)]
    tools = harness.Tools(args.build, args.work)
    wrong += (
        fed()
        + stuck(tools.work / "stuck.spx")
        + often()
        + truths()
        + on_device(tools)
        + on_device(tools, "--tokens-per-rank=16")
    )
    for problem in wrong:
        print(problem, file=sys.stderr)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
