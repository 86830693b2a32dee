"""Random decoders with caches of keys and values, under random plans, against the interpreter.

New tokens attend to a cache that is dealt along the sequence, once their keys are written at a
position that an input says: one token or several, through one layer, several or a scan over
layers, in one call or a scan over steps that carries the caches. Where the strategy is chosen no
more is sent than what merges the states of the new tokens, where these are fewer than ranks. Long
caches are written where they lie.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from random import Random
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import harness
from models import normal
from spmlir.exported import lower

STRATEGIES = ("auto", "auto", "auto", "split-kv", "ring", "ulysses", "allgather", "none")
TYPES = ("float64", "float32", "float32", "bfloat16")


def by_slices(cache: jax.Array, new: jax.Array, position: jax.Array) -> jax.Array:
    return lax.dynamic_update_slice_in_dim(cache, new, position, axis=1)


def by_index(cache: jax.Array, new: jax.Array, position: jax.Array) -> jax.Array:
    return cache.at[:, position + jnp.arange(new.shape[1])].set(new)


def by_comparison(cache: jax.Array, new: jax.Array, position: jax.Array) -> jax.Array:
    """Of one new token."""
    return jnp.where((jnp.arange(cache.shape[1]) == position)[:, None, None], new, cache)


def by_rows(cache: jax.Array, new: jax.Array, positions: jax.Array) -> jax.Array:
    """At a position of each row of the batch."""
    places = positions[:, None] + jnp.arange(new.shape[1])
    return cache.at[jnp.arange(len(cache))[:, None], places].set(new)


def mapped(cache: jax.Array, new: jax.Array, positions: jax.Array) -> jax.Array:
    """The same by slices."""
    return jax.vmap(lambda *row: lax.dynamic_update_slice_in_dim(*row, axis=0))(cache, new, positions)


WRITES: dict[str, Callable] = {
    "slices": by_slices,
    "index": by_index,
    "comparison": by_comparison,
    "rows": by_rows,
    "mapped": mapped,
}
OF_SEVERAL = ("slices", "index", "rows", "mapped")
OF_ROWS = ("rows", "mapped")


@dataclass(frozen=True)
class Decoder:
    """So many new tokens a step, which attend to a cache of `length` tokens.

    layers: 0: one, whose caches have no leading dimension; else written out, or with `scan` a loop.
    steps: 0: one call; else a loop over so many. window: how many tokens back a token sees; 0: all.
    """

    length: int
    heads: tuple[int, int]
    tokens: int = 1
    batch: int = 1
    size: int = 8
    write: str = "slices"
    layers: int = 0
    scan: bool = False
    steps: int = 0
    window: int = 0
    dtype: str = "float32"

    def layer(self, x: jax.Array, caches: tuple, position: jax.Array, weights: tuple) -> tuple:
        """What a layer makes of new tokens, and the caches with those."""
        heads, kv_heads = self.heads
        q, k, v = (
            (x @ matrix).reshape(*x.shape[:2], -1, self.size)
            for matrix in (weights[0], weights[1], weights[2])
        )
        if self.write in OF_ROWS:
            position = jnp.maximum(position - jnp.arange(self.batch), 0)
        keys, values = (
            WRITES[self.write](cache, new, position) for cache, new in zip(caches, (k, v), strict=True)
        )
        groups = q.reshape(*x.shape[:2], kv_heads, heads // kv_heads, self.size)
        scores = jnp.einsum("bqhgd,bkhd->bhgqk", groups, keys) / self.size**0.5
        row, column = position + jnp.arange(self.tokens)[:, None], jnp.arange(self.length)
        if self.write in OF_ROWS:
            row = (position[:, None] + jnp.arange(self.tokens))[:, None, None, :, None]
        seen = column <= row
        if self.window:
            seen &= column > row - self.window
        weights_of = jax.nn.softmax(jnp.where(seen, scores, -jnp.inf), axis=-1)
        out = jnp.einsum("bhgqk,bkhd->bqhgd", weights_of, values).reshape(*x.shape[:2], -1)
        return x + out @ weights[3], (keys, values)

    def step(self, x: jax.Array, caches: Any, position: jax.Array, weights: Any) -> tuple:
        """The same of all layers."""
        if not self.layers:
            return self.layer(x, caches, position, weights)
        if self.scan:
            return lax.scan(lambda x, each: self.layer(x, each[0], position, each[1]), x, (caches, weights))
        made = []
        for own, matrices in zip(caches, weights, strict=True):
            x, own = self.layer(x, own, position, matrices)
            made.append(own)
        return x, made

    def __call__(self, caches: Any, x: jax.Array, position: jax.Array, weights: Any) -> tuple:
        """Caches, and the new tokens of the last step or of every one."""
        if not self.steps:
            return self.step(x, caches, position, weights)[::-1]

        def body(carried: tuple, _: None) -> tuple:
            caches, x, position = carried
            x, caches = self.step(x, caches, position, weights)
            return (caches, x, position + self.tokens), x

        (caches, _, _), rows = lax.scan(body, (caches, x, position), None, length=self.steps)
        return caches, rows

    def arguments(self, position: int) -> tuple:
        """Caches whose rows behind the position hold what nobody may read."""
        heads, kv_heads = (count * self.size for count in self.heads)
        shapes = (heads, heads), (heads, kv_heads), (heads, kv_heads), (heads, heads)

        def made(seed: int) -> tuple:
            cache = self.batch, self.length, self.heads[1], self.size
            caches = tuple(np.array(normal(seed + i, *cache, dtype=self.dtype)) for i in range(2))
            for each in caches:
                each[:, position:] = 9
            matrices = tuple(
                np.asarray(normal(seed + 2 + i, *shape, dtype=self.dtype)) / np.asarray(4, each.dtype)
                for i, shape in enumerate(shapes)
            )
            return caches, matrices

        every = [made(9 * i) for i in range(max(self.layers, 1))]
        caches, weights = [each[0] for each in every], [each[1] for each in every]
        if not self.layers:
            caches, weights = caches[0], weights[0]
        elif self.scan:
            caches, weights = (
                jax.tree.map(lambda *each: np.stack(each), *trees) for trees in (caches, weights)
            )
        x = np.asarray(normal(77, self.batch, self.tokens, heads, dtype=self.dtype))
        return caches, x, np.int32(position), weights

    @property
    def attentions(self) -> int:
        """How many there are, and how often each is computed."""
        return 1 if self.scan else max(self.layers, 1)

    @property
    def turns(self) -> int:
        return max(self.steps, 1) * (self.layers if self.scan else 1)


def sends_states(decoder: Decoder, ranks: int, sequences: int) -> Callable[[dict, dict], None]:
    """A check that a rank sends what merges states and nothing else, where queries are whole."""
    heads, number = decoder.heads[0], 8 if decoder.dtype == "float64" else 4
    numbers = decoder.batch * decoder.tokens * heads * (decoder.size + 2)

    def check(promised: dict, _: dict) -> None:
        # Reduced and gathered; the largest part of three values is less than an element more.
        most = (
            2 * (ranks - 1) * (numbers / sequences / ranks + 3) * number * decoder.attentions * decoder.turns
        )
        sent = max(promised["bytesSentPerRank"])
        if sent > most:
            raise harness.CaseError(f"a rank sends {sent} bytes, of states there are {most:.0f}")

    return check


def drawn(random: Random) -> tuple[Decoder, int, int]:
    """A decoder, a number of ranks, and a position at a border of one or anywhere."""
    ranks, length = random.randint(1, 8), random.choice((24, 29, 37, 64))
    layers, tokens = random.choice((0, 0, 2, 3)), random.choice((1, 1, 1, 2, 5, 11))
    steps = random.choice((0, 0, 0, 2, 3)) if tokens < 5 else 0
    decoder = Decoder(
        length,
        random.choice(((4, 4), (4, 2), (6, 2), (8, 1), (3, 3))),
        tokens,
        batch=random.choice((1, 1, 2)),
        size=random.choice((4, 8, 16)),
        write=random.choice([*WRITES] if tokens == 1 else OF_SEVERAL),
        layers=layers,
        scan=layers > 0 and random.random() < 0.5,
        steps=steps,
        window=random.choice((0, 0, 7)),
        dtype=random.choice(TYPES),
    )
    last = length - tokens * max(steps, 1)
    border = random.randrange(ranks) * -(-length // ranks) + random.choice((-1, 0, 1))
    position = random.choice((0, last, border, random.randint(0, last)))
    return decoder, ranks, min(max(position, 0), last)


def donating(made: harness.Program, decoder: Decoder, arguments: tuple) -> harness.Program:
    """The same program whose caches are donated for those that it makes."""
    step = jax.jit(decoder, keep_unused=True, donate_argnums=0)
    folder = lower(step, arguments, {}).save(made.model.parent / "donated")
    return replace(made, model=folder / "model.mlir")


def cases_of(tools: harness.Tools, count: int, seed: int) -> list[harness.Case]:
    """So many drawn decoders, each under a drawn plan."""
    cases = []
    for number in range(count):
        random = Random(f"{seed} {number}")
        decoder, ranks, position = drawn(random)
        arguments = decoder.arguments(position)
        program = tools.program(f"decode-{number}", decoder, *arguments, key=str(seed))
        strategy = random.choice(STRATEGIES)
        # Query heads that share keys may be rows, where they are more than tokens.
        rows = max(decoder.tokens, decoder.heads[0] // decoder.heads[1])
        sequences = random.choice((1, 2)) if decoder.batch > 1 and ranks <= 4 else 1
        are_whole = strategy in ("auto", "split-kv") and rows < ranks
        cases.append(
            harness.Case(
                donating(program, decoder, arguments),
                (f"--mesh=dp={sequences},sp={ranks}", f"--strategy={strategy}"),
                attentions=decoder.attentions,
                check=sends_states(decoder, ranks, sequences) if are_whole else None,
            )
        )
    return cases


def written_in_place(tools: harness.Tools) -> list[harness.Case]:
    """Caches of which a rank has one copy, whatever writes to them."""
    cases = []
    for write in WRITES:
        for layers, steps, scan in product((0, 2, 3), (0, 2), (False, True)):
            if scan and not layers:
                continue
            decoder = Decoder(4096, (4, 2), size=16, write=write, layers=layers, steps=steps, scan=scan)
            arguments = decoder.arguments(4090)
            name = f"in-place-{write}-{layers}-{steps}{'-scan' * scan}"
            program = tools.program(name, decoder, *arguments)
            own = sum(each.nbytes for each in jax.tree.leaves(arguments[0])) // 2

            def check(promised: dict, _: dict, own: int = own) -> None:
                if not max(promised["peakBytesPerRank"]) < 1.5 * own:
                    peak = max(promised["peakBytesPerRank"])
                    raise harness.CaseError(f"a rank needs {peak} bytes, its caches have {own}")

            program = donating(program, decoder, arguments)
            cases.append(harness.Case(program, ("--mesh=sp=2", "--strategy=auto"), check=check))
    return cases


def main() -> int:
    """So many of them, one in five with --quick."""
    parser = harness.arguments(__doc__)
    parser.add_argument("--count", type=int, default=40, help="decoders to draw")
    args = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    tools = harness.Tools(args.build, args.work)
    count = max(1, args.count // 5) if args.quick else args.count
    cases = cases_of(tools, count, args.seed)
    cases += harness.sampled(written_in_place(tools), 3 if args.quick else 20, args)
    return harness.hold_all(tools, cases, args)


if __name__ == "__main__":
    raise SystemExit(main())
