"""Contractions, reductions, windows and convolutions."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax

RNG = np.random.default_rng(2)
BF16 = ml_dtypes.bfloat16
NARROW = ("program", "raised")


def floats(*shape):
    return RNG.normal(size=shape).astype(np.float32)


def ints(*shape, low=-9, high=9):
    return RNG.integers(low, high, size=shape).astype(np.int32)


def dots(case):
    for spec, a, b in (
        ("ij,jk->ik", (5, 9), (9, 7)),
        ("ij,kj->ki", (5, 9), (7, 9)),
        ("i,i->", (9,), (9,)),
        ("i,j->ij", (9,), (4,)),
        ("ij,j->i", (5, 9), (9,)),
        ("bij,bjk->bik", (3, 5, 9), (3, 9, 2)),
        ("btnh,bsnh->bnts", (2, 6, 3, 4), (2, 5, 3, 4)),
        ("bnts,bsnh->btnh", (2, 3, 6, 5), (2, 5, 3, 4)),
        ("btkgh,bskh->bkgts", (2, 6, 2, 3, 4), (2, 5, 2, 4)),
        ("ijk,kjl->il", (3, 4, 5), (5, 4, 6)),
        ("ijk,ijk->", (3, 4, 5), (3, 4, 5)),
        ("abc,dbc->adb", (3, 4, 5), (2, 4, 5)),
        ("ab,cd->abcd", (3, 2), (4, 5)),
        ("ab,ab->ab", (3, 2), (3, 2)),
        ("xij,j->ix", (1, 4, 5), (5,)),
    ):
        case(spec, lambda x, y, s=spec: jnp.einsum(s, x, y), floats(*a), floats(*b), tol=None)
    case(
        "dot_sizes",
        lambda x, y: [
            x[:n, :k] @ y[:k, :m]
            for n, k, m in ((1, 1, 1), (4, 8, 8), (5, 300, 9), (67, 257, 17), (3, 600, 1))
        ],
        floats(67, 600),
        floats(600, 17),
        tol=None,
    )
    case("dot_long", lambda x, y: x @ y, floats(70, 700), floats(700, 33), tol=5e-6, modes=NARROW)
    case("dot_empty", lambda x, y: (x @ y, x[:0] @ y), floats(3, 0), floats(0, 4))
    case("dot_int", lambda x, y: (x @ y, lax.dot(x * 2**28, y)), ints(5, 6), ints(6, 7))
    case(
        "dot_int8",
        lambda x, y: lax.dot(x, y, preferred_element_type=jnp.int32),
        ints(5, 6).astype(np.int8),
        ints(6, 7).astype(np.int8),
    )
    case("dot_unsigned", lambda x, y: x @ y, ints(5, 6).astype(np.uint32), ints(6, 7).astype(np.uint32))
    case("dot_complex", lambda x, y: x @ (y + 1j * y[::-1]), floats(5, 6), floats(6, 7), tol=None)
    case(
        "dot_bf16",
        lambda x, y: (x @ y, lax.dot(x, y, preferred_element_type=jnp.float32)),
        floats(9, 33).astype(BF16),
        floats(33, 8).astype(BF16),
        modes=NARROW,
    )
    case(
        "dot_f16",
        lambda x, y: x @ y,
        floats(9, 33).astype(np.float16),
        floats(33, 8).astype(np.float16),
        modes=NARROW,
    )
    # XLA's CPU multiplies unrounded f32 where bf16 operands are asked for.
    case(
        "dot_algorithm",
        lambda x, y: lax.dot(x, y, precision=lax.DotAlgorithmPreset.BF16_BF16_F32),
        floats(9, 33),
        floats(33, 8),
        modes=("program",),
        tol=1e-2,
    )
    case(
        "multi_dot",
        lambda x, y, z: jnp.linalg.multi_dot([x, y, z]),
        floats(3, 9),
        floats(9, 4),
        floats(4, 6),
        tol=5e-6,
        modes=NARROW,
    )


def reductions(case):
    x, small = floats(5, 7, 6), ints(5, 7, 6)
    for name in ("sum", "prod", "max", "min", "mean", "argmax", "argmin"):
        fn = getattr(jnp, name)
        case(name, lambda v, f=fn: (f(v), f(v, 0), f(v, 1), f(v, 2)), x, tol=5e-6)
        if name != "mean":
            case(name + "_int", lambda v, f=fn: (f(v), f(v, 0), f(v, -1)), small)
    for name in ("sum", "max", "prod"):
        fn = getattr(jnp, name)
        case(name + "_axes", lambda v, f=fn: (f(v, (0, 1)), f(v, (0, 2)), f(v, (1, 2))), x, tol=5e-6)
    case("any_all", lambda v: ((v > 1).any(), (v > -2).all(1), (v > 0).any(0)), x)
    case(
        "bitwise",
        lambda v: (
            jnp.bitwise_and.reduce(v),
            jnp.bitwise_or.reduce(v, axis=1),
            jnp.bitwise_xor.reduce(v, axis=2),
        ),
        small,
    )
    special = np.array([[1, np.nan, 3], [np.inf, -np.inf, 2], [-0.0, 0.0, -1], [np.inf, 1, 2]], np.float32)
    case(
        "special",
        lambda v: [
            f(v, 1) for f in (jnp.max, jnp.min, jnp.sum, jnp.argmax, jnp.argmin, jnp.nanmax, jnp.nansum)
        ],
        special,
    )
    case("empty", lambda v: (v.sum(1), v.sum(0), v.prod(1), v.max(0, initial=-1)), floats(4, 0))
    case("argmax_ties", lambda v: (v.argmax(1), v.argmin(0)), ints(6, 40, low=0, high=3))
    case("argmax_long", lambda v: (v.argmax(), v.argmin(1)), floats(3, 1001))
    case("sum_bf16", lambda v: v.sum(1), floats(4, 50).astype(BF16), modes=NARROW)
    case("max_bf16", lambda v: v.max(1), floats(4, 50).astype(BF16), modes=NARROW)
    case("var_std", lambda v: (v.var(1), v.std(0, ddof=1)), x, tol=1e-5)
    case("logsumexp", lambda v: (jax.nn.logsumexp(v, 1), jax.nn.logsumexp(v)), x * 9, tol=5e-6)
    case("softmax", lambda v: (jax.nn.softmax(v), jax.nn.log_softmax(v, 0)), x * 9, tol=5e-6)
    case("norm", lambda v: (jnp.linalg.norm(v), jnp.linalg.norm(v, axis=1)), x, tol=5e-6)
    body = lambda a, b: (a[0] * b[0], a[0] * b[1] + a[1])  # noqa: E731
    case(
        "reduce_pair",
        lambda v, w: lax.reduce((v, w), (np.float32(1), np.float32(0)), body, (1,)),
        floats(3, 9) / 2 + 1,
        floats(3, 9),
        tol=2e-5,
        modes=("program",),
    )
    case(
        "reduce_other",
        lambda v: lax.reduce(v, np.float32(9), lambda a, b: jnp.where(a < b, a, b), (0, 2)),
        x,
        modes=("program",),
    )
    case("reduce_init", lambda v: lax.reduce(v, np.int32(5), lax.add, (0,)), small)
    case("reduce_and_precision", lambda v: lax.reduce_precision(v.sum(0), 5, 10), x, tol=1e-3)


def windows(case):
    x = floats(4, 9, 5)
    for name in ("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"):
        fn = getattr(lax, name)
        case(name, lambda v, f=fn: (f(v, 1), f(v, 0, reverse=True), f(v, 2)), x, tol=2e-5)
    case("cumsum_int", lambda v: (jnp.cumsum(v, 0), jnp.cumsum(v > 0)), ints(7, 3))
    case("associative_scan", lambda v: lax.associative_scan(jnp.multiply, v, axis=1), x, tol=2e-5)
    for window, strides, padding, base, dilation in (
        ((1, 3, 2), (1, 1, 1), "VALID", None, None),
        ((2, 3, 1), (2, 2, 1), "SAME", None, None),
        ((1, 3, 1), (1, 1, 1), ((0, 0), (2, 0), (0, 0)), None, None),
        ((1, 2, 2), (1, 1, 2), ((1, 0), (0, 3), (2, 1)), (1, 2, 1), (1, 3, 1)),
        ((1, 9, 1), (1, 1, 1), ((0, 0), (4, 4), (0, 0)), None, None),
        ((4, 1, 1), (1, 1, 1), ((-1, 2), (0, 0), (0, 0)), None, None),
    ):
        args = dict(
            window_dimensions=window,
            window_strides=strides,
            padding=padding,
            base_dilation=base,
            window_dilation=dilation,
        )
        case(
            f"window_sum{window}{strides}{padding}",
            lambda v, a=args: lax.reduce_window(v, np.zeros((), v.dtype)[()], lax.add, **a),
            x,
            tol=5e-6,
        )
        case(
            f"window_max{window}{strides}{padding}",
            lambda v, a=args: lax.reduce_window(v, -np.inf, lax.max, **a),
            x,
        )
    case(
        "avg_pool",
        lambda v: lax.reduce_window(v, 0.0, lax.add, (1, 2, 2), (1, 2, 2), "VALID") / 4,
        x,
        tol=5e-6,
    )


def convolutions(case):
    x, w = floats(2, 8, 9, 4), floats(3, 2, 4, 6)
    numbers = ("NHWC", "HWIO", "NHWC")
    for options in (
        {},
        {"padding": "VALID"},
        {"window_strides": (2, 3)},
        {"padding": ((1, 2), (0, 3))},
        {"padding": ((-1, 0), (0, -2))},
        {"rhs_dilation": (2, 1)},
        {"lhs_dilation": (1, 2), "padding": ((0, 0), (1, 1))},
    ):
        config = {"window_strides": (1, 1), "padding": "SAME", "dimension_numbers": numbers} | options
        case(f"conv{options}", lambda a, b, c=config: lax.conv_general_dilated(a, b, **c), x, w, tol=5e-6)
    case(
        "conv_nchw",
        lambda a, b: lax.conv(a, b, (1, 1), "SAME"),
        floats(2, 4, 6, 5),
        floats(3, 4, 3, 3),
        tol=5e-6,
    )
    case("conv_1d", lambda a, b: jnp.convolve(a, b), floats(11), floats(4), tol=5e-6)
    case(
        "conv_groups",
        lambda a, b: lax.conv_general_dilated(
            a, b, (1, 1), "SAME", dimension_numbers=numbers, feature_group_count=2
        ),
        x,
        floats(3, 2, 2, 6),
        tol=5e-6,
    )
    case(
        "conv_depthwise",
        lambda a, b: lax.conv_general_dilated(
            a, b, (1, 1), "SAME", dimension_numbers=numbers, feature_group_count=4
        ),
        x,
        floats(3, 2, 1, 8),
        tol=5e-6,
    )
    case(
        "conv_batch_groups",
        lambda a, b: lax.conv_general_dilated(
            a, b, (1, 1), "SAME", dimension_numbers=numbers, batch_group_count=2
        ),
        x,
        w,
        tol=5e-6,
    )
    case(
        "conv_transpose",
        lambda a, b: lax.conv_transpose(a, b, (2, 2), "SAME", dimension_numbers=numbers),
        x,
        w,
        tol=5e-6,
    )
    case(
        "conv_grad",
        jax.grad(
            lambda b, a: (
                lax.conv_general_dilated(a, b, (2, 1), "SAME", dimension_numbers=numbers) ** 2
            ).sum()
        ),
        w,
        x,
        tol=5e-6,
    )
    case(
        "patches",
        lambda a, b: lax.conv_general_dilated(a, b, (4, 3), "VALID", dimension_numbers=numbers),
        floats(2, 8, 9, 4),
        floats(4, 3, 4, 5),
        tol=5e-6,
    )


def cases(case):
    dots(case)
    reductions(case)
    windows(case)
    convolutions(case)
