"""Movement of data, slices at computed places, gather, scatter and sort."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

RNG = np.random.default_rng(1)


def floats(*shape):
    return RNG.normal(size=shape).astype(np.float32)


def ints(*shape, low=-20, high=20):
    return RNG.integers(low, high, size=shape).astype(np.int32)


X = floats(3, 5, 7)
EMPTY = floats(3, 0, 7)


def movement(case):
    case("broadcast", lambda x: (jnp.broadcast_to(x, (4, 3, 5, 7)), x[:, None] * 1.0), X)
    case("broadcast_one", lambda x: jnp.broadcast_to(x, (3, 5, 7)), floats(1, 5, 1))
    case("broadcast_in_dim", lambda x: lax.broadcast_in_dim(x, (2, 3, 4, 5), (1, 3)), floats(3, 5))
    case("broadcast_swapped", lambda x: lax.broadcast_in_dim(x, (5, 3), (1, 0)), floats(3, 5))
    case("reshape", lambda x: (x.reshape(15, 7), x.reshape(-1), x.reshape(5, 1, 21)), X)
    for order in ((0, 2, 1), (2, 1, 0), (1, 0, 2), (2, 0, 1)):
        case(f"transpose{order}", lambda x, o=order: jnp.transpose(x, o), X)
    case("transpose_bool", lambda x: (x > 0).T, X)
    case("transpose_one", lambda x: jnp.transpose(x, (1, 0, 3, 2)), floats(1, 4, 1, 5))
    case("reverse", lambda x: (lax.rev(x, (0,)), lax.rev(x, (1, 2)), x[:, ::-1]), X)
    case("slice", lambda x: (x[1:, 2:4, :5], x[::2, 1::3], x[..., 6:7], x[3:]), X)
    case(
        "concatenate", lambda x, y: (jnp.concatenate([x, y, x], 1), jnp.stack([x, x], -1)), X, floats(3, 2, 7)
    )
    case("concatenate_empty", lambda x, y: jnp.concatenate([x, y], 1), X, EMPTY)
    for config in (
        ((1, 2, 0), (0, 0, 0), (3, 1, 0)),
        ((0, 0, 2), (1, 1, 1), (2, 0, 0)),
        ((-1, 1, 0), (0, -2, 0), (-2, -1, 0)),
        ((-2, 0, 1), (1, -4, 0), (2, -3, 2)),
    ):
        case(f"pad{config}", lambda x, c=config: lax.pad(x, x[0, 0, 0], c), X)
    case("pad_empty", lambda x: jnp.pad(x, ((0, 0), (2, 1), (0, 0)), constant_values=5), EMPTY)
    case(
        "iota",
        lambda: (
            jnp.arange(7),
            lax.broadcasted_iota(jnp.int32, (3, 4, 2), 1),
            lax.broadcasted_iota(jnp.float32, (4, 3), 0),
        ),
    )
    case("iota_narrow", lambda: (lax.iota(jnp.uint8, 300), lax.iota(jnp.int8, 200)))
    case("iota_bf16", lambda: lax.iota(jnp.bfloat16, 300), modes=("program",))
    case("tril", lambda x: (jnp.tril(x), jnp.triu(x, 1), jnp.eye(4)), floats(6, 6))
    case("roll", lambda x: (jnp.roll(x, 2, 1), jnp.flip(x), jnp.rot90(x)), X)
    case("tile_repeat", lambda x: (jnp.tile(x, (1, 2, 1)), jnp.repeat(x, 3, axis=1)), X)
    case("einops", lambda x: jnp.moveaxis(x, 0, 2).swapaxes(0, 1), X)


def dynamic(case):
    starts = np.array([[0, 0, 0], [1, 3, 2], [9, -4, 6], [-1, 4, 100]], np.int32)
    case("dynamic_slice", lambda x, s: [lax.dynamic_slice(x, list(i), (2, 3, 4)) for i in s], X, starts)
    case(
        "dynamic_update_slice",
        lambda x, u, s: [lax.dynamic_update_slice(x, u, list(i)) for i in s],
        X,
        floats(2, 3, 4),
        starts,
    )
    case("dynamic_index", lambda x, i: (x[i], x[:, i], lax.dynamic_index_in_dim(x, i, 2)), X, np.int32(2))
    case("dynamic_unsigned", lambda x, i: lax.dynamic_slice(x, (i, i), (2, 2)), floats(5, 5), np.uint32(3))
    case("update_in_place", lambda x: (lax.dynamic_update_slice(x, x[:1] * 2, (1, 0, 0)), x), X)


def gathers(case):
    table, ids = floats(11, 6), ints(4, 5, low=0, high=11)
    wild = ints(4, 5, low=-30, high=30)
    for mode in ("fill", "clip", "wrap"):
        case(f"take_{mode}", lambda t, i, m=mode: jnp.take(t, i, axis=0, mode=m), table, wild)
    case("take_inside", lambda t, i: t.at[i].get(mode="promise_in_bounds"), table, ids)
    case("take_axis1", lambda t, i: jnp.take(t, i, axis=1), table, ids % 6)
    case("embedding", lambda t, i: t[i], table, ids)
    case("index_pair", lambda t, i, j: t[i, j], table, ids, ids[::-1] % 6)
    case("index_mixed", lambda x, i: (x[:, i], x[i[:3], :, i[:3]], x[i][:, 1:3]), X, ints(6, low=0, high=3))
    case("negative", lambda x: (x[-1], x[:, -2], x[jnp.array([-1, 0, -2])]), X)
    case("boolean_static", lambda x: x[np.array([True, False, True])], X)
    case(
        "take_along_axis",
        lambda x, i: (jnp.take_along_axis(x, i, 1), jnp.take_along_axis(x, i[:, :1] % 7, 2)),
        X,
        ints(3, 4, 7, low=0, high=5),
    )
    case(
        "label_pick",
        lambda x, i: jnp.take_along_axis(x, i[:, None], 1)[:, 0],
        floats(9, 11),
        ints(9, low=0, high=11),
    )
    case(
        "gather_window",
        lambda x, i: jax.vmap(lambda s: lax.dynamic_slice(x, (s, s), (2, 3)))(i),
        floats(6, 8),
        ints(5, low=-2, high=9),
    )
    case(
        "gather_vmap_both",
        jax.vmap(lambda x, i: lax.dynamic_slice(x, (i, jnp.int32(1)), (2, 2))),
        floats(4, 5, 4),
        ints(4, low=-2, high=9),
    )
    case(
        "gather_vmap2",
        jax.vmap(jax.vmap(lambda x, i: x[i])),
        floats(2, 3, 5, 4),
        ints(2, 3, 6, low=0, high=5),
    )
    numbers = lax.GatherDimensionNumbers((0, 2), (1,), (1, 2))
    case(
        "gather_offset_first",
        lambda x, i: lax.gather(x, i, numbers, (2, 1, 3), mode="clip"),
        X,
        ints(4, 2, low=0, high=9),
    )
    case("gather_bool", lambda x, i: (x > 0)[i], table, ids)
    case("gather_empty", lambda x, i: x[i], table, ints(0, 3))
    case("one_hot", lambda i: jax.nn.one_hot(i, 11), ids)


def scatters(case):
    base, rows = floats(8, 5), ints(6, low=-8, high=8)
    wild = ints(6, low=-20, high=20)
    updates = floats(6, 5)
    for name in ("add", "multiply", "min", "max", "set"):
        index = np.array([0, 3, 7, 1, 5, 6], np.int32) if name == "set" else rows
        case(
            f"scatter_{name}", lambda x, i, u, n=name: getattr(x.at[i], n)(u), base, index, updates, tol=3e-6
        )
        case(
            f"scatter_{name}_outside",
            lambda x, i, u, n=name: getattr(x.at[i], n)(u, mode="drop"),
            base,
            np.unique(wild),
            updates[: len(np.unique(wild))],
            tol=3e-6,
        )
    case("scatter_int", lambda x, i: x.at[i].add(7), ints(8), rows)
    case("scatter_bool", lambda x, i: x.at[i].set(True), np.zeros(8, bool), rows)
    case("scatter_two_columns", lambda x, i, j: x.at[i, j].add(1.5), base, rows, rows % 5)
    case("scatter_apply", lambda x, i: x.at[i].apply(jnp.sin), base, rows[:3] % 8, tol=3e-6)
    case(
        "scatter_window",
        lambda x, u, i: jax.vmap(lambda y, v, s: lax.dynamic_update_slice(y, v, (s, jnp.int32(1))))(x, u, i),
        floats(4, 6, 5),
        floats(4, 2, 3),
        ints(4, low=-2, high=9),
    )
    case(
        "scatter_vmap",
        jax.vmap(lambda x, i, u: x.at[i].add(u)),
        floats(3, 8),
        ints(3, 4, low=0, high=8),
        floats(3, 4),
    )
    case(
        "scatter_slice",
        lambda x, u: (x.at[2:5, 1].set(u), x.at[::3].mul(2.0), x.at[1].set(0)),
        base,
        floats(3),
    )
    numbers = lax.ScatterDimensionNumbers((0, 1), (), (0, 1))
    partial = np.array([[6, 3], [-1, 0], [2, 2]], np.int32)
    case(
        "scatter_partly_outside",
        lambda x, u, i: [lax.scatter_add(x, i[k], u, numbers, mode="drop") for k in range(3)],
        base,
        floats(3, 4),
        partial,
    )
    case("embedding_grad", jax.grad(lambda t, i: (t[i] ** 2).sum()), base, rows, tol=3e-6)
    case("segment_sum", lambda x, i: jax.ops.segment_sum(x, i, 8), updates, rows % 8, tol=3e-6)
    case("bincount", lambda i: jnp.bincount(i, length=8), rows % 8)
    case("nonzero", lambda x: jnp.nonzero(x > 0, size=20, fill_value=-1), base)


def sorts(case):
    ties = ints(5, 13, low=0, high=4)
    special = np.array([3, np.nan, -0.0, 0.0, -np.inf, np.inf, -1, np.nan, 2, 0], np.float32)
    case("sort", lambda x: (jnp.sort(x, axis=0), jnp.sort(x), jnp.sort(x, axis=1)), X)
    case("sort_special", lambda x: (jnp.sort(x), jnp.argsort(x), 1 / jnp.sort(x)), special)
    case("sort_down", lambda x: (jnp.sort(x, descending=True), jnp.argsort(x, descending=True)), X)
    case("argsort_stable", lambda x: (jnp.argsort(x, axis=1), jnp.argsort(-x, axis=0)), ties)
    case("sort_int", lambda x: jnp.sort(x, axis=1), ties)
    case("sort_unsigned", jnp.sort, ties.astype(np.uint32) - 2)
    case("sort_bool", lambda x: jnp.sort(x > 1), ties)
    case("sort_bf16", lambda x: jnp.sort(x.astype(jnp.bfloat16)), X, modes=("program",))
    case("sort_pairs", lambda k, v: lax.sort((k, v), dimension=1, num_keys=1), ties, floats(5, 13))
    case("sort_two_keys", lambda k, v: lax.sort((k, v, -v), dimension=1, num_keys=2), ties, floats(5, 13))
    case("sort_complex", lambda x, y: jnp.sort(lax.complex(x, y)), floats(9), floats(9))
    case("sort_one", lambda x: jnp.sort(x, axis=0), floats(1, 4))
    case("median", lambda x: (jnp.median(x, axis=1), jnp.quantile(x, 0.3)), X, tol=1e-5)
    case("searchsorted", jnp.searchsorted, np.sort(floats(20)), floats(9))
    case("unique", lambda x: jnp.unique(x, size=9, fill_value=0), ties)
    case("top_k", lambda x: lax.top_k(x, 3), X)
    case("top_k_ties", lambda x: lax.top_k(x, 6), ties)
    case("top_k_special", lambda x: lax.top_k(x, 10), special)
    case("top_k_all", lambda x: lax.top_k(x, 7), X)
    case("approx_top", lambda x: lax.top_k(x.astype(jnp.bfloat16), 4), X, modes=("program",))


def cases(case):
    movement(case)
    dynamic(case)
    gathers(case)
    scatters(case)
    sorts(case)
