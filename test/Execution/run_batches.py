"""Documents that say which rank has which tokens: many batches through one artifact each.

Each program is compiled once for at most so many tokens a rank (--tokens-per-rank); a batch's documents
then go to as few ranks as hold them. Of every batch the loss is the model's to 1e-12 and its gradients to
1e-9 (f64), bytes and memory are those promised once its documents are known, and promised FLOPs are of
exactly the pairs of each row's documents. Several rows are micro-batches, each with ranks of its own.
Documents that fit on a rank send nothing for attention, one that is longer what a ring of its ranks sends,
and ranks without it nothing. One document of all gives the bits of a static zigzag.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from random import Random

import jax
import numpy as np

import harness
import run_documents as documents
import spmlir

OPTIONS = (
    ("--backward=kv",),
    ("--backward=q",),
    ("--offload=host", "--row-blocks=2"),
    ("--strategy=2d", "--backward=kv"),
    ("--strategy=2d", "--backward=q"),
    ("--chunks=2",),
    ("--chunks=3", "--offload=host"),
)
RANKS = (2, 3, 4, 5, 7, 8)
# Bytes of a rank's gradients of weights, which all ranks add up.
WIDTH, FEATURES = documents.WIDTH, documents.FEATURES


def drawn(number: int, tokens: int, rows: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Arrays x and w of the model."""
    draw = np.random.default_rng(number).standard_normal
    return draw((rows, tokens, WIDTH)), draw((4, WIDTH, documents.HEADS * FEATURES))


def compiled(
    exported: spmlir.Exported, ranks: int, capacity: int, options: tuple[str, ...] = (), tensors: int = 1
) -> spmlir.Executable:
    """A program whose ranks have at most so many tokens."""
    more = [option for option in options if not option.startswith("--strategy=")]
    return spmlir.compile(
        exported,
        mesh={"sp": ranks, "tp": tensors},
        strategy="2d" if "--strategy=2d" in options else "auto",
        tokens_per_rank=capacity,
        options=more,
    )


def batches(random: Random, number: int, plan: tuple) -> list[str]:
    """What is wrong with some batches through one artifact."""
    ranks, tokens, slack, rows, options = plan
    chunks = next((int(option[9:]) for option in options if option.startswith("--chunks=")), 1)
    # A multiple of the chunks that is enough, and no more than all tokens.
    capacity = -(-min(tokens, -(-tokens // ranks) + slack) // chunks) * chunks
    tokens = max(tokens, capacity)
    numbering = random.choice(("ids", "resets", "starts", "ends")[: 3 + (rows == 1)])
    mask = random.choice(list(documents.MASKS))
    fill = random.choice(documents.FILLS[1:] if mask == "real" else documents.FILLS)
    function = documents.model(mask, fill, numbering)
    x, w = drawn(number, tokens, rows)
    source = documents.NUMBERINGS[numbering][0]
    ids = documents.batch(random, (rows, tokens), ranks, "any")
    if rows > 1:
        options = (*options, f"--accumulate={rows}")
    tensors = random.choice((1, 1, 2))
    program = compiled(spmlir.export(function, x, w, source(ids)), ranks, capacity, options, tensors)
    name = f"sp={ranks},tp={tensors}, {capacity} of {rows} x {tokens} tokens {' '.join(options)}"
    name += f", {mask} {fill} {numbering}"
    run = documents.Packed(name, program, jax.jit(function), [], numbering)
    reports = []
    for kind in documents.KINDS if numbering == "ids" else documents.IN_ORDER:
        ids = documents.batch(random, (rows, tokens), ranks, kind)
        reports.append((ids, run.run(x, w, ids, f"{kind}: {ids.tolist()}")))
    run.count(reports, pairs=lambda ids: sum(documents.pairs(row[None]) for row in ids))
    return run.problems


def sent() -> list[str]:
    """What is wrong with the bytes of documents on one rank each, and of one on some ranks."""
    problems = []
    ranks, capacity = 8, 6
    tokens = ranks * capacity
    x, w = drawn(3, tokens)
    function = documents.model("causal", -np.inf)
    exported = spmlir.export(function, x, w, np.ones((1, tokens), np.int32))
    program = compiled(exported, ranks, capacity, ("--backward=kv",))
    run = documents.Packed("bytes", program, jax.jit(function), [])

    def bytes_of(lengths: list[int]) -> np.ndarray:
        ids = np.repeat(np.arange(len(lengths)) + 1, lengths)[None].astype(np.int32)
        return np.array(run.run(x, w, ids, str(lengths))["bytesSentPerRank"])

    # Documents of the capacity, which fill their ranks.
    whole = bytes_of([capacity] * ranks)
    if (bytes_of([1] * tokens) != whole).any():
        problems.append(f"documents on one rank send other bytes than tokens of their own: {whole}")
    for degree in (2, 3, 7, ranks):
        shared = degree * capacity
        # The long one comes first: ranks of its group are all that send more.
        more = bytes_of([shared] + [capacity] * (ranks - degree)) - whole
        row = documents.KV_HEADS * FEATURES * 2 * 8  # of k and v, or of their gradients, and an id
        ids = 4
        forward = (degree - 1) * capacity * (row + ids)
        backward = (degree - 1) * capacity * (row + ids) + degree * capacity * row
        expected = sorted([0] * (ranks - degree) + [forward + backward] * degree)
        if sorted(more) != expected:
            problems.append(f"a document over {degree} ranks sends {more}, expected {expected}")
    return problems + run.problems


def static() -> list[str]:
    """What is wrong with one document of all tokens: the bits of a zigzag ring of all ranks."""
    problems = []
    for ranks, tokens in ((3, 48), (4, 64)):
        x, w = drawn(tokens, tokens)
        ids = np.ones((1, tokens), np.int32)
        exported = spmlir.export(documents.model("causal", -np.inf), x, w, ids)
        batch = compiled(exported, ranks, tokens // ranks, ("--backward=kv",))
        zigzag = spmlir.compile(
            exported, mesh={"sp": ranks}, strategy="ring", layout="zigzag", options=["--backward=kv"]
        )
        for mine, others in zip(batch(x, w, ids), zigzag(x, w, ids), strict=True):
            if np.asarray(mine).tobytes() != np.asarray(others).tobytes():
                problems.append(f"{tokens} tokens on {ranks} ranks differ from a static zigzag")
    return problems


def shared() -> list[str]:
    """What is wrong with micro-batches whose rows have the same documents, said once."""
    ranks, tokens, rows = 4, 24, 3
    of_rows = documents.model("causal", -np.inf)

    def function(x: jax.Array, w: jax.Array, ids: jax.Array) -> tuple:
        return of_rows(x, w, jax.numpy.broadcast_to(ids, x.shape[:2]))

    x, w = drawn(7, tokens, rows)
    first = np.ones((1, tokens), np.int32)
    program = compiled(spmlir.export(function, x, w, first), ranks, 8, (f"--accumulate={rows}",))
    run = documents.Packed("shared", program, jax.jit(function), [])
    for lengths in ([24], [8, 8, 8], [16, 4, 4], [1] * 24):
        run.run(x, w, np.repeat(np.arange(len(lengths)), lengths)[None].astype(np.int32), str(lengths))
    return run.problems


def spread() -> list[str]:
    """What is wrong with documents that would fit on a rank but cost too much for one, or fill all rows."""
    problems = []
    ranks, tokens = 4, 1400
    x, w = drawn(9, tokens)
    exported = spmlir.export(documents.model("causal", -np.inf), x, w, np.ones((1, tokens), np.int32))
    for options in (("--backward=kv",), ("--backward=q",), ("--chunks=2",)):
        for capacity, lengths, most in (
            (1240, [1200, 50, 50, 50, 50], 4),
            (350, [500, 350, 300, 250], 4),
        ):
            program = compiled(exported, ranks, capacity, options)
            run = documents.Packed(
                f"spread {lengths}", program, jax.jit(documents.model("causal", -np.inf)), []
            )
            ids = np.repeat(np.arange(len(lengths)) + 1, lengths)[None].astype(np.int32)
            pieces = run.run(x, w, ids, " ".join(options))["documents"]["pieces"]
            longest = lengths.index(max(lengths))
            holders = {piece[0] for piece in pieces if piece[2] == longest}
            if not 1 < len(holders) <= most:
                run.problems.append(f"{lengths} at {capacity}: the longest lies on {holders}")
            problems += run.problems
    return problems


# What has positions of several rows, or of none: (x [rows, tokens, features], ids, a bias [heads, tokens,
# tokens], a table [tokens, features]) to a result, where `attend` is attention within documents.
MEETINGS: dict[str, Callable] = {
    "mean of rows": lambda attend, x, ids, bias, table: attend(x - x.mean(0), ids),
    "rows back": lambda attend, x, ids, bias, table: attend(x[::-1], ids),
    "results back": lambda attend, x, ids, bias, table: attend(x, ids)[::-1],
    "ids back": lambda attend, x, ids, bias, table: jax.numpy.where(
        (ids[::-1] > 1)[..., None], attend(x, ids), 0
    ),
    "softmax of rows": lambda attend, x, ids, bias, table: jax.nn.softmax(attend(x, ids), 0),
    "sorted rows": lambda attend, x, ids, bias, table: jax.numpy.sort(attend(x, ids), 0),
    "transposed": lambda attend, x, ids, bias, table: attend(x, ids).transpose(1, 0, 2),
    "sum of rows": lambda attend, x, ids, bias, table: attend(x, ids).sum(0),
    "a bias": lambda attend, x, ids, bias, table: attend(x, ids, bias),
    "a table": lambda attend, x, ids, bias, table: attend(x + table, ids),
    "positions": lambda attend, x, ids, bias, table: attend(
        x * jax.numpy.cos(jax.numpy.arange(x.shape[1]))[:, None], ids
    ),
    "masked": lambda attend, x, ids, bias, table: (x + attend(x, ids)) * (ids > 1)[..., None],
    "gated": lambda attend, x, ids, bias, table: attend(x, ids) * table[0],
    "shifted": lambda attend, x, ids, bias, table: attend(x[:, :-1], ids[:, :-1])[:, 1:],
}


def attend(x: jax.Array, ids: jax.Array, bias: jax.Array | float = 0) -> jax.Array:
    """Attention of what fixed matrices make of x, two features a head."""
    parts = np.random.default_rng(1).standard_normal((3, x.shape[-1], x.shape[-1]))
    q, k, v = ((x @ part).reshape(*x.shape[:2], -1, 2) for part in parts)
    seen = documents.same(ids) & documents.causal(ids.shape[1])
    scores = jax.numpy.einsum("bqhd,bkhd->bhqk", q, k) / 4 + bias
    weights = jax.nn.softmax(jax.numpy.where(seen[:, None], scores, -jax.numpy.inf))
    return jax.numpy.einsum("bhqk,bkhd->bqhd", weights, v).reshape(x.shape)


def meetings() -> list[str]:
    """What is wrong with results and gradients of what does not stay in its row."""
    problems = []
    # As many rows as heads: no shape tells them apart.
    ranks, tokens, rows = 3, 12, 4
    draw = np.random.default_rng(11).standard_normal
    x, table = draw((rows, tokens, 2 * rows)), draw((tokens, 2 * rows))
    bias = draw((rows, tokens, tokens))
    for name, meet in MEETINGS.items():

        def function(*arrays: jax.Array, meet: Callable = meet) -> tuple:
            return jax.value_and_grad(
                lambda *each: jax.numpy.sum(jax.numpy.sin(meet(attend, *each))), argnums=(0, 2, 3)
            )(*arrays)

        def forward(*arrays: jax.Array, meet: Callable = meet) -> tuple:
            return (meet(attend, *arrays),)

        for made in (function, forward) if name in ("transposed", "sum of rows") else (function,):
            ids = np.ones((rows, tokens), np.int32)
            exported = spmlir.export(made, x, ids, bias, table)
            program = compiled(exported, ranks, 6, (f"--accumulate={rows}",))
            for number in range(2):
                ids = documents.batch(Random(number), (rows, tokens), ranks, "any" if number else "long")
                expected = jax.tree.leaves(made(x, ids, bias, table))
                got = program(x, ids, bias, table)
                off = np.max([np.abs(a - b).max() for a, b in zip(got, expected, strict=True)])
                broken = harness.broken(program.report, program.last_run)
                broken += [f"off by {off:.1e}"] if not off <= 1e-9 else []
                problems += [f"{name}, {made.__name__}, {ids.tolist()}: {problem}" for problem in broken]
    return problems


def often(count: int) -> list[str]:
    """What is wrong with so many random batches through one artifact."""
    ranks, tokens, rows = 4, 40, 2
    function = documents.model("causal", -np.inf)
    x, w = drawn(5, tokens, rows)
    first = np.ones((rows, tokens), np.int32)
    program = compiled(spmlir.export(function, x, w, first), ranks, 14, (f"--accumulate={rows}",))
    run = documents.Packed("often", program, jax.jit(function), [])
    random = Random(count)
    for number in range(count):
        kind = random.choice(documents.KINDS)
        ids = documents.batch(random, (rows, tokens), ranks, kind)
        x, w = drawn(number, tokens, rows)
        what = f"{number}, {kind}: {ids.tolist()}"
        if not run.run(x, w, ids, what)["documents"]["dealt"]:
            run.problems.append(f"{what} was not dealt")
    return run.problems


def main() -> int:
    """Run a sample, or with --all the whole product."""
    args = harness.arguments(__doc__).parse_args()
    jax.config.update("jax_enable_x64", True)
    grid = [
        (ranks, tokens, slack, rows, options)
        for ranks in RANKS
        for tokens in (2, ranks - 1, ranks + 1, 2 * ranks + 1, 29, 48, 61)
        for slack in (0, 1, 5, tokens)
        for rows in (1, 2, 3)
        for options in OPTIONS
        if tokens > 1 and ("--strategy=2d" not in options or ranks in (4, 8))
    ]
    chosen = harness.sampled(grid, 2 if args.quick else 40, args)
    wrong = sent() + static() + spread() + shared() + meetings() + often(200)
    for number, plan in enumerate(chosen):
        wrong += batches(Random(f"{args.seed} {number}"), number, plan)
    for problem in wrong:
        print(problem, file=sys.stderr)
    print(f"{len(chosen)} artifacts of {len(documents.IN_ORDER)} to {len(documents.KINDS)} batches each")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
