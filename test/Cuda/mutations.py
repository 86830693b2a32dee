"""Defects in the forward kernel, one at a time: does its emulation find them?

    mutations.py [--quick | --all] HEADERS BUILD_FOLDER

Each line of the table below is put into a copy of the kernel, which MutationProbe.cpp
then checks under several orders of events. Prints what was missed and ends with 1 if
that is not the list in `MISSED`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
CONSUMER, FORWARD, TILES = "ForwardConsumer.cuh", "AttentionForward.cuh", "ForwardTiles.cuh"
WORK, STATE = "AttendWork.cuh", "SoftmaxState.cuh"


@dataclass(frozen=True)
class Mutation:
    """`old`, the n-th of its kind in the file, becomes `new`."""

    name: str
    file: str
    old: str
    new: str = ";"
    which: int = 0


MUTATIONS = [
    # Fences, commits and waits of products.
    Mutation("no fence before scores", CONSUMER, "ptx::productFence();"),
    Mutation("no fence before values", CONSUMER, "ptx::productFence();", which=1),
    Mutation("scores not committed", CONSUMER, "ptx::productCommit();"),
    Mutation("values not committed", CONSUMER, "ptx::productCommit();", which=1),
    Mutation("no wait for the first scores", CONSUMER, "ptx::productWait<0>();"),
    Mutation("no wait for scores", CONSUMER, "ptx::productWait<1>();"),
    Mutation("scores waited for too late", CONSUMER, "ptx::productWait<1>();", "ptx::productWait<2>();"),
    Mutation("no wait for values", CONSUMER, "ptx::productWait<0>();", which=1),
    Mutation("no wait for the last values", CONSUMER, "ptx::productWait<0>();", which=2),
    # Barriers: waits and phases.
    Mutation("keys not waited for", CONSUMER, "ptx::barrierWait(barriers.keys(stage.index), stage.parity);"),
    Mutation(
        "values not waited for", CONSUMER, "ptx::barrierWait(barriers.values(before.index), before.parity);"
    ),
    Mutation("queries not waited for", CONSUMER, "ptx::barrierWait(barriers.queries(number), parities / 2);"),
    Mutation("phase of queries stays", CONSUMER, "parities ^= 2;"),
    Mutation("phase of keys swapped", CONSUMER, "stage.parity);", "stage.parity ^ 1);"),
    Mutation("item not waited for", TILES, "awaitFull(turn);"),
    Mutation("item overwritten", FORWARD, "notes.awaitEmpty(turn);"),
    Mutation("lanes read an item late", TILES, "ptx::syncWarp();"),
    Mutation("end not said", FORWARD, "notes.store(Notes::kItemBlocks, -1, 0);"),
    Mutation("producer's phase swapped", FORWARD, "stage.parity ^ 1);", "stage.parity);"),
    Mutation("full keys overwritten", FORWARD, "ptx::barrierWait(full + barriers.kEmpty, stage.parity ^ 1);"),
    Mutation(
        "full values overwritten",
        FORWARD,
        "ptx::barrierWait(full + barriers.kEmpty, stage.parity ^ 1);",
        which=1,
    ),
    Mutation(
        "queries overwritten", FORWARD, "ptx::barrierWait(full + barriers.kEmpty, turns & kQueries ? 0 : 1);"
    ),
    Mutation("stage stays", FORWARD, "turns += kKeys;"),
    Mutation("values of another stage", CONSUMER, "before.index * C", "stage.index * C"),
    # Arrivals: dropped and too early.
    Mutation("keys never released", CONSUMER, "isElected && isTaken);", "false);"),
    Mutation(
        "values never released",
        CONSUMER,
        "ptx::barrierArrive(barriers.values(before.index) + barriers.kEmpty,\n"
        "                       isElected);",
    ),
    Mutation(
        "keys released before they are read",
        CONSUMER,
        "takePowers(scores, shrink);\n    weigh(scores);\n    releaseKeys();",
        "releaseKeys();\n    takePowers(scores, shrink);\n    weigh(scores);",
    ),
    Mutation(
        "values released before they are read",
        CONSUMER,
        "ptx::productWait<0>();\n    releaseValues();",
        "releaseValues();\n    ptx::productWait<0>();",
    ),
    Mutation("queries never released", CONSUMER, "isElected && isLast);", "false);"),
    Mutation("queries released before the last scores", CONSUMER, "isElected && isLast);", "isElected);"),
    Mutation(
        "queries released before they are read",
        CONSUMER,
        "turns.end();\n    ptx::productWait<1>();\n    releaseQueries(isLast);",
        "turns.end();\n    releaseQueries(isLast);\n    ptx::productWait<1>();",
    ),
    # Turns.
    Mutation("turn not waited for", TILES, "ptx::namedSync(own, kThreads);"),
    Mutation("turn not passed on", TILES, "ptx::namedArrive(next, kThreads);"),
    Mutation("first turn not given", TILES, "if (consumer == C::kConsumers - 1)", "if (false)"),
    Mutation("last turn not taken", TILES, "if (consumer == 0)\n      begin();", ""),
    Mutation("block not kept together", FORWARD, "ptx::syncBlock();"),
    Mutation(
        "one reader too few", TILES, "initialise(keys(stage), C::kConsumers,", "initialise(keys(stage), 1,"
    ),
    Mutation(
        "too few bytes expected",
        FORWARD,
        "ptx::barrierExpect(full, C::kShape.keyBytes());",
        "ptx::barrierExpect(full, C::kShape.keyBytes() - 128);",
    ),
    # Descriptors and places.
    Mutation("descriptor of the same elements", CONSUMER, "d % C::kShape.kPanel * 2", "0"),
    Mutation("descriptor of another panel", CONSUMER, "panel * C::kShape.queryPanelBytes()", "0 * panel"),
    Mutation("values a row on", CONSUMER, "values.at(k * C::kShape.kPanel * 2)", "values.at(128 + k * 128)"),
    Mutation(
        "panels too near", CONSUMER, "C::kShape.keyPanelBytes());\n", "C::kShape.keyPanelBytes() / 2);\n"
    ),
    # State and powers.
    Mutation(
        "carried sums lost", CONSUMER, "ptx::loadPair(out + 2 * i, sums[i + 2 * r], sums[i + 2 * r + 1]);"
    ),
    Mutation("carried maximum lost", CONSUMER, "greatest[r] = *lse * kLog2e;", "greatest[r] = 0;"),
    Mutation("carried power in each lane", CONSUMER, "if (isOwner && *lse", "if (*lse"),
    Mutation("sums not shrunk", CONSUMER, "sums[i] *= shrink[i >> 1 & 1];"),
    Mutation("sums shrunk by another row", CONSUMER, "shrink[i >> 1 & 1]", "shrink[i & 1]"),
    Mutation("maximum of two lanes", CONSUMER, "most = ptx::larger(most, ptx::shuffleXor(most, 2));"),
    Mutation("no mask", CONSUMER, "hide(scores, bounds);"),
    Mutation("no mask of later blocks", CONSUMER, "hide(scores, bounds);", which=1),
    Mutation(
        "notes of another block", CONSUMER, "if (slice < 0)\n      return;", "if (slice < 1)\n      return;"
    ),
    # Score functions.
    Mutation("one row for two", CONSUMER, "use(i + 2, scored[1], key);", "use(i + 2, scored[0], key);"),
    Mutation("rows swapped", CONSUMER, "use(i, scored[0], key);", "use(i ^ 2, scored[0], key);"),
    Mutation("row of another lane", CONSUMER, "atMost(row + 8 * r, arguments.queries - 1)", "work.firstRow"),
    Mutation(
        "query that is not there", CONSUMER, "atMost(row + 8 * r, arguments.queries - 1)", "row + 8 * r"
    ),
    Mutation("key that is not there", CONSUMER, ", arguments.keys - 1)", ", INT32_MAX)"),
    Mutation("first key lost", CONSUMER, "firstKey + firstColumn();", "firstColumn();"),
    Mutation("column lost", CONSUMER, "firstKey + firstColumn();", "firstKey;"),
    Mutation(
        "column of another pair", CONSUMER, "first + i / 4 * 8 + (i & 1)", "first + i / 4 * 4 + (i & 1)"
    ),
    Mutation("head of the batch", CONSUMER, "arguments.headFirst + work.head", "work.batch"),
    Mutation("batch lost", CONSUMER, "batch = work.batch;", "batch = 0;"),
    Mutation("scale lost", CONSUMER, "scores[i] * arguments.scale);", "scores[i]);"),
    Mutation("no scores of the first block", CONSUMER, "score(scores);"),
    Mutation("no scores of later blocks", CONSUMER, "score(scores);", which=1),
    Mutation("no factors", CONSUMER, "weigh(scores);"),
    Mutation("factors of the mean", CONSUMER, "if (slice >= 0 && arg", "if (slice >= 99 && arg"),
    Mutation(
        "carried power lost",
        CONSUMER,
        "powers[r] = !isOwner || lse[1] < 0 ? 0 : lse[1];",
        "powers[r] = isOwner;",
    ),
    Mutation("sums less than 0 taken up", CONSUMER, "!isOwner || lse[1] < 0", "!isOwner"),
    Mutation("counter left as it is", WORK, "ptx::store(arguments.counter, 0);"),
    Mutation("counter set too early", WORK, "ptx::blocks() - 1;", "ptx::blocks() - 2;"),
    Mutation("kept sums divided", STATE, "Sums)\n    return 1;", "Sums && sum == 0)\n    return 1;"),
    Mutation("rows of no scores give 0", STATE, "Config::Score::kIsNone && sum == 0", "sum == 0"),
    Mutation(
        "large scores overflow", CONSUMER, "(exponent - from) * kLog2e", "exponent * kLog2e - from * kLog2e"
    ),
]

#: What is missed, and why.
MISSED = {
    # No defect: the producer brings values, which are released later, before the next keys.
    "keys released before they are read",
}


def text_of(headers: Path, mutation: Mutation) -> str:
    """The mutated file."""
    pieces = (headers / "sprt/cuda" / mutation.file).read_text().split(mutation.old)
    if len(pieces) < mutation.which + 2:
        sys.exit(f"{mutation.name}: {mutation.file} has no such line any more: {mutation.old}")
    before = mutation.old.join(pieces[: mutation.which + 1])
    after = mutation.old.join(pieces[mutation.which + 1 :])
    return before + mutation.new + after


def found(headers: Path, work: Path, number: int, mutation: Mutation | None) -> str:
    """How the probe ends with the mutation: "right", or what was found."""
    folder = work / str(number)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    include = headers
    if mutation:
        shutil.copytree(headers / "sprt", folder / "sprt")
        (folder / "sprt/cuda" / mutation.file).write_text(text_of(headers, mutation))
        include = folder
    probe = folder / "probe"
    compiler = os.environ.get("CXX", "c++")
    command = [compiler, "-std=c++17", "-O1", "-w", "-DSPRT_EMULATED", f"-I{include}"]
    command += [HERE / "MutationProbe.cpp", "-o", probe, "-lgtest", "-lgtest_main", "-lpthread"]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if built.returncode:
        sys.exit(f"{mutation and mutation.name}: {built.stderr[:2000]}")
    try:
        run = subprocess.run(
            [probe, "--gtest_break_on_failure=0"], capture_output=True, timeout=120, check=False
        )
    except subprocess.TimeoutExpired:
        return "hangs"
    shutil.rmtree(folder)
    if run.returncode == 0:
        return "right"
    return "faults" if b"throws" in run.stdout or run.returncode < 0 else "wrong numbers"


def main() -> None:
    """Try one mutation in three, in forty, or every one."""
    options = {argument for argument in sys.argv[1:] if argument.startswith("--")}
    step = 40 if "--quick" in options else 1 if "--all" in options else 6
    headers, work = (Path(argument) for argument in sys.argv[1:] if argument not in options)
    for mutation in MUTATIONS:
        text_of(headers, mutation)
    chosen = MUTATIONS[::step]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        ends = list(pool.map(lambda pair: found(headers, work, *pair), enumerate([None, *chosen])))
    if ends[0] != "right":
        sys.exit(f"the kernel itself: {ends[0]}")
    missed = set()
    for mutation, end in zip(chosen, ends[1:], strict=True):
        print(f"{'MISSED' if end == 'right' else end:14} {mutation.name}")
        if end == "right":
            missed.add(mutation.name)
    print(f"{len(chosen) - len(missed)} of {len(chosen)} found")
    if missed != MISSED & {mutation.name for mutation in chosen}:
        sys.exit(f"expected to miss {sorted(MISSED)} but missed {sorted(missed)}")


if __name__ == "__main__":
    main()
