"""Random loops over rows of stacks, as scans, updates of caches and hand-written loops have them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

Body = Callable[[list, list, Any], tuple[list, list]]

# Row sizes that are multiples of 64 bytes in f32, and that are not.
ROWS = ((16,), (3,), (7,), (4, 16), (2, 3), (1, 1, 32), (), (1,))
TYPES = ("float32", "float32", "float32", "bfloat16", "float16", "int32", "int8", "bool")

# Row of a stack of n in turn i; those beyond its ends are its first and last.
INDICES: dict[str, Callable[[Any, int], Any]] = {
    "turn": lambda i, n: i,
    "back": lambda i, n: n - 1 - i,
    "before": lambda i, n: i - 1,
    "after": lambda i, n: i + 1,
    "twice": lambda i, n: 2 * i,
    "round": lambda i, n: (i + 1) % n,
    "square": lambda i, n: i * i,
    "first": lambda i, n: 0,
    "beyond": lambda i, n: i + 100,
    # 0 - 1 is the greatest number, and 126 + 2 the least.
    "unsigned": lambda i, n: jnp.asarray(i).astype(jnp.uint32) - 1,
    "narrow": lambda i, n: jnp.asarray(i).astype(jnp.int8) + 126,
}


def changed(x: jax.Array) -> jax.Array:
    """Other elements of the same type and about the same size."""
    if x.dtype == bool:
        return ~x
    return jnp.tanh(x) * 0.75 + 0.125 if jnp.issubdtype(x.dtype, jnp.floating) else x * 3 + 1


def mixed(x: jax.Array, y: jax.Array) -> jax.Array:
    """Elements that both have a part in."""
    if x.dtype == bool:
        return x ^ y
    return x * 0.5 - y * 0.25 if jnp.issubdtype(x.dtype, jnp.floating) else x - y * 2


@dataclass(frozen=True)
class Sizes:
    """How many stacks of how many rows, and how many values of the size of a row."""

    stacks: int
    values: int
    rows: int


def put(stack: jax.Array, row: jax.Array, at: Any) -> jax.Array:
    return lax.dynamic_update_index_in_dim(stack, row, at, 0)


def take(stack: jax.Array, at: Any) -> jax.Array:
    return lax.dynamic_index_in_dim(stack, at, 0, keepdims=False)


def statement(random: Random, sizes: Sizes, branches: bool = True) -> Body:
    """Something that a turn does to stacks `s` and values `v`."""
    a, b = random.randrange(sizes.stacks), random.randrange(sizes.stacks)
    x = random.randrange(sizes.values)
    here, there = (INDICES[random.choice(["turn", "turn", "back", *INDICES])] for _ in range(2))
    n = sizes.rows

    def read(s: list, v: list, i: Any) -> None:
        v[x] = mixed(v[x], take(s[a], here(i, n)))

    def save(s: list, v: list, i: Any) -> None:
        s[a] = put(s[a], v[x], here(i, n))

    def save_changed(s: list, v: list, i: Any) -> None:
        s[a] = put(s[a], changed(v[x]), here(i, n))

    def save_twice(s: list, v: list, i: Any) -> None:
        v[x] = changed(v[x])
        s[a] = put(s[a], v[x], here(i, n))
        s[b] = put(s[b], v[x], there(i, n))

    def accumulate(s: list, v: list, i: Any) -> None:
        s[a] = put(s[a], mixed(take(s[a], here(i, n)), v[x]), here(i, n))

    def move(s: list, v: list, i: Any) -> None:
        s[b] = put(s[b], take(s[a], here(i, n)), there(i, n))

    def whole(s: list, v: list, i: Any) -> None:
        v[x] = mixed(v[x], changed(s[a])[0])
        s[b] = changed(s[b])

    def swap(s: list, v: list, i: Any) -> None:
        s.append(s.pop(0))
        v.append(v.pop(0))

    def count(s: list, v: list, i: Any) -> None:
        v[x] = mixed(v[x], jnp.asarray(i).astype(v[x].dtype))

    if branches and random.random() < 0.15:
        both = statement(random, sizes, False), statement(random, sizes, False)

        def branch(s: list, v: list, i: Any) -> tuple[list, list]:
            taken, other = ((lambda state, one=one: one(*state, i)) for one in both)
            return lax.cond(jnp.asarray(i) % 2 == 0, taken, other, (s, v))

        return branch
    act = random.choice([read, save, save_changed, save_twice, accumulate, move, whole, swap, count])

    def on_copies(s: list, v: list, i: Any) -> tuple[list, list]:
        s, v = list(s), list(v)
        act(s, v, i)
        return s, v

    return on_copies


@dataclass(frozen=True)
class Loop:
    """Turns of a body, by one of the ways to write a loop, or the gradients of their results."""

    kind: str
    turns: int
    first: int
    step: int
    body: tuple[Body, ...]
    has_gradients: bool

    def turn(self, s: list, v: list, i: Any) -> tuple[list, list]:
        for one in self.body:
            s, v = one(s, v, i)
        return s, v

    def run(self, s: list, v: list) -> tuple:
        """Stacks and values after the loop and, of a scan, a value of each turn."""
        end = self.first + self.turns * self.step
        if self.kind == "fori":
            return lax.fori_loop(self.first, self.first + self.turns, lambda i, a: self.turn(*a, i), (s, v))
        if self.kind == "while":
            going = lambda a: a[2] < end  # noqa: E731
            last = lax.while_loop(
                going, lambda a: (*self.turn(*a), a[2] + self.step), (s, v, jnp.int32(self.first))
            )
            return last[:2]

        def scanned(carry: tuple, row: jax.Array) -> tuple:
            (s, v), i = carry
            saved = v[0]
            s, v = self.turn(s, v, i)
            return ((s, [mixed(v[0], row), *v[1:]]), i + self.step), saved

        carry = (s, v), jnp.int32(self.first)
        (state, _), saved = lax.scan(scanned, carry, s[0], reverse=self.kind == "reversed")
        return *state, saved

    def __call__(self, s: list, v: list) -> Any:
        if not self.has_gradients:
            return self.run(s, v)

        def loss(s: list, v: list) -> jax.Array:
            return sum(jnp.sum(x.astype(jnp.float32) ** 2) for x in jax.tree.leaves(self.run(s, v)))

        return jax.grad(loss, (0, 1))(s, v)


def drawn(random: Random) -> tuple[Loop, tuple[list, list]]:
    """A loop and its arguments."""
    dtype, row = random.choice(TYPES), random.choice(ROWS)
    sizes = Sizes(random.choice((1, 2, 2, 3)), random.choice((1, 2)), random.choice((1, 2, 3, 4, 6)))
    kind = random.choice(("fori", "scan", "scan", "reversed", "while"))
    is_float = "float" in dtype
    turns = random.choice((sizes.rows, sizes.rows, sizes.rows, 1, 0, sizes.rows + 2))
    loop = Loop(
        kind,
        turns,
        random.choice((0, 0, 0, 1, -2)),
        random.choice((1, 1, 2)),
        tuple(statement(random, sizes) for _ in range(random.randint(1, 5))),
        is_float and kind in ("scan", "reversed") and random.random() < 0.5,
    )
    numbers = np.random.default_rng(random.randrange(2**32))

    def argument(*shape: int) -> np.ndarray:
        return np.asarray(jnp.asarray(numbers.standard_normal(shape) * 2).astype(dtype))

    stacks = [argument(sizes.rows, *row) for _ in range(sizes.stacks)]
    return loop, (stacks, [argument(*row) for _ in range(sizes.values)])
