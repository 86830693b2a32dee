"""One case of the fuzzer: an attention and a plan, as text that a command line holds."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import jax

import attentions
import layers
import magnitudes
import row_steps
import scores

STRATEGIES = ("auto", "none", "allgather", "ulysses", "ring", "double-ring", "2d", "halo", "split-kv")
LAYOUTS = ("auto", "contiguous", "zigzag", "striped")
PLACEMENTS = ("head-first", "context-first")
# What travels in a ring's backward; "": --backward is not given.
TRAVELLING = ("", "kv", "q")
SPELLINGS = ("repeated", "grouped", "heads-first")
TARGETS = ("cpu", "cuda")
TYPES = ("float64", "float32", "bfloat16", "float16")


@dataclass(frozen=True)
class Case:
    """Every field has a short name, which is that of the text, and a default, which the text omits."""

    strategy: str = "ring"
    layout: str = "contiguous"
    # cuda: on an emulated device, which orders its work by `seed`.
    target: str = "cpu"
    # Ranks of the sequence, the batch, heads; --heads, --inner, --head-groups, 0: not given; --bidirectional.
    p: int = 1
    dp: int = 1
    tp: int = 1
    u: int = 0
    inner: int = 0
    groups: int = 0
    both: int = 0
    # --row-blocks, --accumulate and --chunks; 0: not given; and 1: --offload=host.
    rows: int = 0
    turns: int = 0
    chunks: int = 0
    far: int = 0
    # Features of the rows that donated weights make queries, keys and values of; 0: these are inputs.
    width: int = 0
    weights: str = "flat"
    zero: int = 0
    # --tokens-per-rank: one more than so many beyond the least; 0: not given.
    deal: int = 0
    placement: str = "head-first"
    backward: str = ""
    mask: str = "full"
    fill: str = "inf"
    # Queries, keys (0: as many), batch, heads, kv heads, sizes of a head and of a value (0: the same).
    s: int = 1
    k: int = 0
    b: int = 1
    h: int = 1
    kv: int = 1
    d: int = 4
    dv: int = 0
    type: str = "float64"
    spelling: str = "repeated"
    # 1: the gradients of queries, keys, values and sinks too; 2: and of all else that is
    # learned; 3: of what is learned alone.
    grad: int = 0
    # The largest score and a factor of values; 0: as drawn. What rows hold that masks hide: `k:nan`.
    scores: float = 0
    values: float = 0
    hidden: str = ""
    # Steps of row_steps.py that follow, with their numbers: `roll:2+averages:1`.
    after: str = ""
    seed: int = 0

    @property
    def keys(self) -> int:
        """How many there are."""
        return self.k or self.s

    @property
    def parts(self) -> list[str]:
        """The texts of what happens to the scores."""
        return self.mask.split("+")

    @property
    def names(self) -> list[str]:
        """The parts without their numbers."""
        return [part.split(":")[0] for part in self.parts]

    @property
    def positional(self) -> bool:
        """Whether positions decide all that is visible and scores have no company but sinks.

        With a single query, sinks of heads may be of queries as well.
        """
        known = {*scores.POSITIONS} | ({"sinks"} if self.s > 1 else set())
        return all(name in known for name in self.names)

    @property
    def made(self) -> tuple[scores.Part, ...]:
        """The parts, at the sizes of the case."""
        sizes = scores.Sizes(self.b, self.h, self.s, self.keys, self.type, self.seed)
        return scores.parts(self.mask, sizes)

    @property
    def has_terms(self) -> bool:
        """Whether scores read what may be learned."""
        return bool(set(scores.learned(self.made)) - set(scores.learned(self.made, ("sink",))))

    @property
    def by_queries(self) -> bool:
        """Whether ranks may have what scores read, or its gradients, by queries: these cannot travel then."""
        if self.reads_table:
            return True
        beside = [part for part in self.made if part.arrays and part.role not in ("cap", "sink")]
        rows = [jax.eval_shape(part.value, *part.arrays).shape[2] for part in beside]
        return self.grad > 1 or max(rows, default=1) > 1

    @property
    def reads_table(self) -> bool:
        """Whether a mask that a constant lists may hide nothing, so that scores read it.

        Its finite fill meets terms that may be as large or, where it is added, other fills.
        """
        if "blocks" not in self.names:
            return False
        beside = [part for part in self.made if part.role not in ("cap", "sink")]
        if any(part.role != "visible" for part in beside):
            return self.fill in ("add", "lowest")
        leaves_rows = not bool(self.positions.any(-1).all())
        return self.fill == "add" and (leaves_rows or any(part.arrays for part in beside))

    @property
    def positions(self) -> jax.Array | None:
        """The pairs that masks of positions leave visible, if there are such masks."""
        masks = [part.value() for part in self.made if part.role == "visible" and not part.arrays]
        return functools.reduce(operator.and_, masks) if masks else None

    @property
    def shown(self) -> bool:
        """Whether positions leave a pair visible."""
        return self.positions is None or bool(self.positions.any())

    @property
    def differentiable(self) -> bool:
        """Whether gradients are found: every query sees a key, and some of several see more than one."""
        if self.s == 1 or self.positions is None:
            return self.s > 1 and self.keys > 1
        seen = self.positions.sum(-1)
        return bool(seen.min() > 0 and seen.max() > 1)

    def text(self) -> str:
        """Fields that are not at their defaults."""
        values = ((field.name, getattr(self, field.name), field.default) for field in fields(self))
        return ",".join(
            f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
            for name, value, default in values
            if value != default
        )

    @staticmethod
    def parse(text: str) -> Case:
        """The inverse of `text`; ValueError where it is none."""
        types = {field.name: field.type for field in fields(Case)}
        given: dict[str, Any] = {}
        for each in filter(None, text.split(",")):
            name, _, value = each.partition("=")
            if name not in types:
                raise ValueError(f"expected a field of {', '.join(types)} but got '{name}'")
            given[name] = {"int": int, "float": float}.get(types[name], str)(value)
        case = Case(**given)
        for name, choices in (
            ("strategy", STRATEGIES),
            ("target", TARGETS),
            ("layout", LAYOUTS),
            ("placement", PLACEMENTS),
            ("backward", TRAVELLING),
            ("fill", attentions.FILLS),
            ("type", TYPES),
            ("spelling", SPELLINGS),
            ("weights", layers.FORMS),
            ("hidden", magnitudes.HIDDEN),
        ):
            if getattr(case, name) not in choices:
                raise ValueError(f"expected {name} of {', '.join(choices)} but got '{getattr(case, name)}'")
        case.attention()
        row_steps.parsed(case.after)
        if case.grad > 1 and not case.has_terms:
            raise ValueError(f"expected a part that is learned with grad={case.grad} but got '{case.mask}'")
        return case

    def mesh(self) -> str:
        """The option that says how many ranks there are."""
        batch, heads = f"dp={self.dp}," * (self.dp > 1), f",tp={self.tp}" * (self.tp > 1)
        return f"--mesh={batch}sp={self.p}{heads}"

    def options(self) -> tuple[str, ...]:
        """Of sp-compile."""
        given = {"heads": self.u, "inner": self.inner, "head-groups": self.groups}
        given |= {"placement": self.placement.replace("head-first", ""), "backward": self.backward}
        given |= {"row-blocks": self.rows, "accumulate": self.turns, "chunks": self.chunks}
        given |= {"zero": self.zero}
        factors = [f"--{name}={value}" for name, value in given.items() if value]
        factors += ["--bidirectional"] * self.both + ["--offload=host"] * self.far
        how = f"--tokens-per-rank={self.capacity}" if self.deal else f"--layout={self.layout}"
        plan = (f"--strategy={self.strategy}", how, *factors)
        return (self.mesh(), *plan, *self.targeting())

    @property
    def capacity(self) -> int:
        """Tokens of a rank, a multiple of the chunks, where documents deal them."""
        chunks = max(self.chunks, 1)
        return -(-(-(-self.s // self.p) + self.deal - 1) // chunks) * chunks

    @property
    def deals(self) -> bool:
        """Whether documents can deal the tokens: one row's at a time, on a ring."""
        by_row = self.dp == 1 and self.b in (1, self.turns) and self.keys == self.s > 1
        in_ring = self.strategy in ("ring", "2d") and self.ring() > 1
        in_ring &= not (self.chunks and self.exchanging() > 1)
        return by_row and in_ring and "segments" in self.names

    def targeting(self) -> tuple[str, ...]:
        """The options for another target than the CPU."""
        return ("--target=cuda", "--emulation") if self.target == "cuda" else ()

    def device(self) -> int | None:
        """The seed of the emulated device."""
        return self.seed if self.target == "cuda" else None

    def attention(self) -> attentions.Attention:
        """What is computed."""
        sizes = (self.h, self.kv, self.d, False, self.type, self.b)
        return attentions.Attention(
            *sizes,
            parts=self.made,
            value_size=self.dv or self.d,
            repeated=self.spelling != "grouped",
            fill=self.fill,
        )

    def model(self) -> tuple[Callable[..., Any], tuple]:
        """A JAX function and its arguments, the first of which are donated."""
        fn, arrays = self._forward()
        if self.width:
            return layers.model(self, fn, arrays)
        return attentions.differentiated(fn, arrays, self.seed, self.learned()) if self.grad else (fn, arrays)

    @property
    def donated(self) -> tuple[int, ...]:
        """Numbers of the model's arguments: weights and their momenta."""
        return tuple(range(4 if self.weights == "fused" else 8)) if self.width and self.grad else ()

    def learned(self) -> tuple[int, ...]:
        """Numbers of the arguments that gradients are with respect to."""
        numbers = scores.learned(self.made, ("sink",) if self.grad == 1 else ())
        return (*(() if self.grad == 3 else (0, 1, 2)), *(3 + number for number in numbers))

    def _forward(self) -> tuple[Callable[..., Any], tuple]:
        attention = self.attention()
        arrays = attention.arrays(self.s, self.keys, self.seed)
        arrays = magnitudes.magnified(arrays, self.made, self.scores, self.values, self.hidden)
        attend = row_steps.following(self.after, attention)
        if self.spelling != "heads-first":
            return attend, arrays

        def turned(q: Any, k: Any, v: Any, *rest: Any) -> Any:
            return attend(*(x.swapaxes(1, 2) for x in (q, k, v)), *rest).swapaxes(1, 2)

        return turned, (*(x.swapaxes(1, 2) for x in arrays[:3]), *arrays[3:])

    def exchanging(self) -> int:
        """Ranks that heads are dealt to; for 2d as sp-compile chooses where --heads is not given."""
        if self.strategy != "2d":
            return self.p if self.strategy == "ulysses" else 1
        most = min(self.p, self.kv_heads())
        return self.u or next(u for u in range(most, 0, -1) if self.p % u == 0)

    def kv_heads(self) -> int:
        """Of a rank at most, where a tensor axis deals them: to so many of it that query heads are fewest."""
        readers, least = self.h // self.kv, (self.h, self.kv)
        for parts in (n for n in range(1, self.tp + 1) if self.tp % n == 0):
            own = -(-self.kv // parts)
            each = math.gcd(self.tp // parts, readers) if own == 1 else 1
            least = min(least, (own * readers // each, own))
        return least[1]

    def ring(self) -> int:
        """Ranks of a ring."""
        return self.p // self.exchanging() if self.strategy == "2d" else self.p
