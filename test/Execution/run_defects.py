"""What published systems got wrong, each by its name: none of it may happen here.

Left out is the rounding of gradients between windows of a double ring: there is no
backward yet. That a wrong schedule is refused is checked of waits, of turns and of places;
nothing yet proves that the steps of a schedule meet every pair of query and key once.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator

import jax
import jax.numpy as jnp
import numpy as np

import harness
import llama
import masks
from attentions import Attention

Cases = Iterator[harness.Case]
RINGS = ("--strategy=ring", "--strategy=double-ring --inner=2", "--strategy=2d --heads=2")
ALL = (*RINGS, "--strategy=ulysses", "--strategy=allgather")
LAYOUTS = ("contiguous", "zigzag", "striped")


def plans(
    strategies: tuple[str, ...], ranks: tuple[int, ...], layouts: tuple[str, ...] = LAYOUTS
) -> Iterator[tuple[str, ...]]:
    """Options of every combination that divides; what splits a ring in two takes four ranks or more."""
    for count in ranks:
        for strategy in strategies:
            if "=2" in strategy and (count < 4 or count % 2):
                continue
            for layout in layouts:
                yield (f"--mesh=sp={count}", *strategy.split(), f"--layout={layout}")


def model(
    tools: harness.Tools, name: str, kinds: list[Attention], queries: int, keys: int = 0
) -> harness.Program:
    """Several attentions in one program."""
    arrays = [kind.arrays(queries, keys or queries, seed) for seed, kind in enumerate(kinds)]
    return program(tools, name, kinds, arrays)


def program(
    tools: harness.Tools, name: str, kinds: list[Attention], arrays: list[tuple[np.ndarray, ...]]
) -> harness.Program:
    """Several attentions of given arrays in one program."""

    def fn(arrays: list) -> list[jax.Array]:
        return [kind(*each) for kind, each in zip(kinds, arrays, strict=True)]

    return tools.program(f"defects-{name}", fn, arrays)


def scores_of_200_across_blocks(tools: harness.Tools) -> Cases:
    """Scores near 200 and near -200 in turns: exp of their difference overflows every type."""
    rng = np.random.default_rng(0)
    kinds, arrays = [], []
    for dtype in ("float64", "float32", "bfloat16"):
        for turn in (1, -1):
            # A scale of 1/2 and few digits: scores are exact in f32.
            q, k, v = (np.round(rng.standard_normal((1, 40, 2, 4)) * 4) / 4 for _ in range(3))
            q[..., 0] = 20
            k[..., 0] = np.where(np.arange(40) // 5 % 2 == 0, turn * 20, -turn * 20)[None, :, None]
            kinds.append(Attention(2, 2, 4, True, dtype))
            arrays.append(tuple(x.astype(jnp.dtype(dtype)) for x in (q, k, v)))
    made = program(tools, "scores", kinds, arrays)
    for options in plans(ALL, (3, 8)):
        yield harness.Case(made, options, attentions=len(kinds))


def window_unshifted_in_ring_blocks(tools: harness.Tools) -> Cases:
    """Windows of less and of more than a rank's rows, to one side and to both."""
    windows = [masks.window(*each) for each in ((2, 0), (11, 0), (3, 5), (0, 20), (30, 0))]
    kinds = [Attention(2, 2, 8, False, "float64", mask=window) for window in windows]
    made = model(tools, "window", kinds, 45)
    for options in plans(RINGS, (3, 4, 8)):
        yield harness.Case(made, options, attentions=len(kinds))


def rank_fully_masked(tools: harness.Tools) -> Cases:
    """Queries of a whole rank that see nothing, and keys of one that nobody sees."""
    hidden = [masks.blind(8, 16), masks.blind(0, 16), masks.unseen(8, 16), masks.unseen(0, 8)]
    hidden = [each for mask in hidden for each in (mask, masks.both(masks.causal, mask))]
    kinds = [
        Attention(2, 2, 8, False, dtype, mask=mask, fill=fill)
        for mask in hidden
        for dtype, fill in (("float64", "inf"), ("float32", "lowest"), ("float64", "zero"))
    ]
    made = model(tools, "masked", kinds, 32)
    for options in plans(ALL, (4,), ("contiguous",)):
        yield harness.Case(made, options, attentions=len(kinds))


def sequence_prime(tools: harness.Tools) -> Cases:
    """Lengths that no number of ranks divides."""
    kinds = [Attention(4, 2, 8, causal, "float64") for causal in (False, True)]
    for tokens in (37, 61):
        made = model(tools, f"prime-{tokens}", kinds, tokens)
        for options in plans(ALL, (2, 3, 5, 7, 8), ("zigzag",)):
            yield harness.Case(made, options, attentions=len(kinds))


def documents_shorter_than_two_ranks(tools: harness.Tools) -> Cases:
    """Documents of 1, 2, … 2P + 1 tokens, up and down: no token is lost."""
    for ranks in (2, 3, 4):
        up = np.arange(1, 2 * ranks + 2)
        kinds = [
            Attention(2, 2, 8, False, "float64", mask=masks.both(masks.causal, masks.documents(*starts)))
            for starts in (np.cumsum(up), np.cumsum(up[::-1]))
        ]
        made = model(tools, f"documents-{ranks}", kinds, int(up.sum()))
        for options in plans(ALL, (ranks,)):
            yield harness.Case(made, options, attentions=len(kinds))


def parallelism_silently_off(tools: harness.Tools) -> Cases:
    """Every rank sends, and what it would compute of its own rows alone is another result."""
    kind = Attention(4, 4, 8, False, "float64")
    q, k, v = kind.arrays(24, 24, 0)
    made = program(tools, "silent", [kind], [(q, k, v)])
    alone = [np.asarray(kind(q[:, i : i + 8], k[:, i : i + 8], v[:, i : i + 8])) for i in (0, 8, 16)]
    if np.abs(np.concatenate(alone, axis=1) - made.reference[0]).max() < 0.1:
        raise harness.CaseError("attention of own rows cannot be told from attention of all")

    def sends(_: dict, measured: dict) -> None:
        if not all(sent > 0 for sent in measured["bytesSentPerRank"]):
            raise harness.CaseError(f"a rank sent nothing: {measured['bytesSentPerRank']}")

    for options in plans(ALL, (2, 3, 4, 8)):
        yield harness.Case(made, options, attentions=1, check=sends)


def kv_heads_fewer_than_head_degree(tools: harness.Tools) -> Cases:
    """More ranks than kv heads, and heads that they do not divide."""
    groups = ((8, 2), (4, 1), (7, 7), (20, 4), (6, 2), (3, 1))
    kinds = [Attention(*heads, 8, True, "float64") for heads in groups]
    made = model(tools, "heads", kinds, 29)
    for options in plans(("--strategy=ulysses",), (2, 3, 5, 8), ("contiguous", "zigzag")):
        yield harness.Case(made, options, attentions=len(kinds))
    for heads in (2, 4):
        for options in plans((f"--strategy=2d --heads={heads}",), (8,), ("contiguous", "zigzag")):
            yield harness.Case(made, options, attentions=len(kinds))


def rope_and_loss_under_zigzag(tools: harness.Tools) -> Cases:
    """Rotary positions and labels of the next token, in layouts that permute the sequence."""
    config = llama.Config(2, 37, 50, 32, 48, 4, 2, 16, batch=2)
    weights = jax.tree.map(lambda x: x.astype("float64"), llama.parameters(config))

    def loss(weights: dict, ids: jax.Array) -> tuple[jax.Array, jax.Array]:
        logits = jax.nn.log_softmax(llama.decoder(config, weights, ids))
        each = -jnp.take_along_axis(logits[:, :-1], ids[:, 1:, None], axis=-1)[..., 0]
        return each.mean(), each

    made = tools.program("defects-loss", loss, weights, llama.tokens(config))
    for options in plans(ALL, (3, 4), ("zigzag", "striped")):
        yield harness.Case(made, options, attentions=2)


def collectives_hang(tools: harness.Tools) -> list[str]:
    """A schedule that was changed is refused, and a rank that stalls ends the run of all."""
    made = model(tools, "hang", [Attention(4, 2, 8, True, "float32")], 40)
    problems = []
    for strategy in ("ring", "ulysses", "allgather", "double-ring --inner=2", "2d --heads=2"):
        options = ("--mesh=sp=4", *f"--strategy={strategy}".split())
        for stage in ("schedule", "memory"):
            text = tools.run("sp-compile", made.model, *options, f"--emit={stage}")
            for name, changed in mutants(text, stage):
                problems += accepted(tools, changed, stage, f"{strategy}, {name}")
        problems += stalls(tools, made, options)
    return problems


def mutants(text: str, stage: str) -> Iterator[tuple[str, str]]:
    """A name and a text for each way to spoil a line of communication."""
    lines = text.splitlines()

    def spoiled(at: int, *instead: str) -> str:
        return "\n".join([*lines[:at], *instead, *lines[at + 1 :]])

    for at, line in enumerate(lines):
        if "sp.wait" in line:
            yield f"line {at + 1} without its wait", spoiled(at)
            yield f"line {at + 1} waited for twice", spoiled(at, line, line)
            for later in range(at + 1, len(lines)):
                # Behind the next use: the kernel that reads what arrives.
                if "sp.attend" in lines[later] or "sp.launch" in lines[later]:
                    moved = [*lines[:at], *lines[at + 1 : later + 1], line, *lines[later + 1 :]]
                    yield f"line {at + 1} waited for too late", "\n".join(moved)
                    break
        if "_start" in line:
            yield f"line {at + 1} without its start", spoiled(at)
        if "sp.shift_start" in line:
            # Ranks along a factor of the axis, or along the whole of it.
            ranks = re.search(r'along "\S+\)(\d+)"', line) or re.search(r"of (\d+)>", line)
            yield f"line {at + 1} turned all the way", spoiled(at, line.replace("by 1 ", f"by {ranks[1]} "))
        if "_start" in line and stage == "memory":
            yield f"line {at + 1} without places", spoiled(at, re.sub(r"sp\.places = \[[^]]*\]", "", line))
            # What arrives lies where the queries are, which all ranks still read.
            queries = r"%arg0: [^{]*\{sp\.place = (#sp\.place<arena (?:#\w+|affine_map<\(\) -> \(\d+\)>)>)"
            place = re.search(queries, text)[1]
            overwritten = re.sub(r"sp\.places = \[#sp\.place<arena #\w+>", f"sp.places = [{place}", line)
            if "to_rows" not in line and "%arg0 rows" not in line:
                yield f"line {at + 1} over the queries", spoiled(at, overwritten)


def accepted(tools: harness.Tools, text: str, stage: str, name: str) -> list[str]:
    """A problem unless the guards up to the stage refuse the text."""
    path = tools.work / "mutant.mlir"
    path.write_text(text)
    guards = ["--sp-verify-schedule"]
    if stage == "memory":
        guards += ["--sp-verify-memory", "--sp-verify-places"]
    try:
        tools.run("sp-opt", path, *guards, "-o", "/dev/null")
    except harness.CaseError as failure:
        return [] if failure.kind == "refused" else [str(failure)]
    return [f"sp-verify-{stage} accepts {name}"]


def stalls(tools: harness.Tools, made: harness.Program, options: tuple[str, ...]) -> list[str]:
    """Problems of runs in which rank 1 stalls at one command, each in turn."""
    artifact = tools.work / "stall.spx"
    tools.run("sp-compile", made.model, "-o", artifact, *options)
    command, problems = 0, []
    while True:
        began = time.monotonic()
        stall = f"--inject=1:{command}:stall"
        try:
            tools.run("sp-run", artifact, f"--inputs={made.inputs}", stall, "--timeout=0.3")
            problems.append(f"{' '.join(options)} ends well though {stall}")
        except harness.CaseError as failure:
            text = str(failure)
            if "a command below" in text:
                return problems
            if failure.kind != "refused" or "rank 1, command" not in text or time.monotonic() - began > 60:
                problems.append(f"{' '.join(options)} {stall}: {text}")
        command += 1


DEFECTS: dict[str, Callable[[harness.Tools], Cases]] = {
    fn.__name__: fn
    for fn in (
        scores_of_200_across_blocks,
        window_unshifted_in_ring_blocks,
        rank_fully_masked,
        sequence_prime,
        documents_shorter_than_two_ranks,
        parallelism_silently_off,
        kv_heads_fewer_than_head_degree,
        rope_and_loss_under_zigzag,
    )
}


def main() -> int:
    """Look for every defect, or for the one that is named."""
    parser = harness.arguments(__doc__)
    parser.add_argument("--only", choices=[*DEFECTS, collectives_hang.__name__], help="one defect")
    args = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    tools = harness.Tools(args.build, args.work)
    status = 0
    for name, make in DEFECTS.items():
        if args.only not in (None, name):
            continue
        cases = list(make(tools))
        print(f"{name}: ", end="", flush=True)
        status |= harness.hold_all(tools, cases[:: 9 if args.quick else 1 if args.all else 4], args)
    if args.only in (None, collectives_hang.__name__) and not args.quick:
        problems = collectives_hang(tools)
        print(f"{collectives_hang.__name__}: {problems or 'every change is refused, every stall ends'}")
        status |= bool(problems)
    return status


if __name__ == "__main__":
    raise SystemExit(main())
