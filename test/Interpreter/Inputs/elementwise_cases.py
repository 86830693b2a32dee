"""Element-wise operations on every kind of element, special values included."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax

RNG = np.random.default_rng(0)
SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.5, np.inf, -np.inf, np.nan], np.float32)
FLOATS = np.concatenate([SPECIAL, RNG.normal(size=22).astype(np.float32) * 3])
SMALL = np.concatenate([RNG.normal(size=16), RNG.normal(size=16) * 1e-4]).astype(np.float32)
POSITIVE = np.exp(RNG.normal(size=32)).astype(np.float32)
UNIT = RNG.uniform(-0.999, 0.999, size=32).astype(np.float32)
COMPLEX = (RNG.normal(size=16) + 1j * RNG.normal(size=16)).astype(np.complex64)
INTS = np.array([0, 1, -1, 7, -7, 100, -100, 2**31 - 1, -(2**31), 12345, 3, -3], np.int32)
INTS_B = np.array([3, 0, -1, -2, 5, 7, -13, 2, -1, 0, 31, 40], np.int32)
UINTS = np.array([0, 1, 7, 255, 2**32 - 1, 2**31, 12345, 3], np.uint32)
UINTS_B = np.array([1, 0, 3, 16, 5, 2**31, 40, 31], np.uint32)
BOOLS = np.array([False, False, True, True])
BOOLS_B = np.array([False, True, False, True])


def pairs(values):
    """All pairs as two flat arrays."""
    a, b = np.meshgrid(values, values)
    return a.ravel(), b.ravel()


def unary(case):
    everywhere = (
        "abs neg sign floor ceil exp expm1 sin cos tan tanh logistic erf erfc is_finite "
        "round sqrt rsqrt cbrt log log1p square real imag"
    ).split()
    for name in everywhere:
        fn = getattr(lax, name)
        values = FLOATS
        if name in ("sin", "cos", "tan"):
            values = FLOATS[np.isfinite(FLOATS)]
        if name in ("real", "imag"):
            case(name, fn, COMPLEX)
            continue
        case(name, fn, values, tol=None if name != "tan" else 1e-5)
    case("round_even", lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN), FLOATS)
    case("expm1_small", lax.expm1, SMALL)
    case("log1p_small", lax.log1p, SMALL)
    for name in ("asin", "acos", "erf_inv"):
        case(name, getattr(lax, name), UNIT, tol=3e-6, modes=("program", "raised"))
        case(name + "_wide", getattr(lax, name), UNIT, tol=1e-12, modes=("x64",))
    for name in ("atan", "sinh", "cosh"):
        case(name, getattr(lax, name), UNIT * 3)
    for name in (
        "abs neg sign exp expm1 log log1p sqrt rsqrt tanh logistic sin cos square real imag conj"
    ).split():
        case(name + "_complex", getattr(lax, name), COMPLEX, tol=None)
    for name in ("abs", "neg", "sign", "population_count", "clz", "bitwise_not", "square"):
        case(name + "_int", getattr(lax, name), INTS)
    for name in ("population_count", "clz", "bitwise_not"):
        case(name + "_uint", getattr(lax, name), UINTS)
        case(name + "_int8", getattr(lax, name), INTS.astype(np.int8))
    case("not_bool", jnp.logical_not, BOOLS)


def binary(case):
    a, b = pairs(FLOATS[:20])
    for name in ("add", "sub", "mul", "div", "max", "min", "rem", "atan2"):
        case(name, getattr(lax, name), a, b, tol=None)
    case(
        "pow_narrow",
        lax.pow,
        POSITIVE,
        RNG.normal(size=32).astype(np.float32),
        tol=1e-5,
        modes=("program", "raised"),
    )
    case("pow", lax.pow, POSITIVE, RNG.normal(size=32).astype(np.float32), tol=1e-12, modes=("x64",))
    case("pow_special", lax.pow, *pairs(SPECIAL))
    case("integer_pow", lambda x: (x**2, x**3, x**-1, x**7), POSITIVE, tol=1e-5)
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        case(name, getattr(lax, name), a, b)
        case(name + "_int", getattr(lax, name), *pairs(INTS))
        case(name + "_uint", getattr(lax, name), *pairs(UINTS))
        case(name + "_bool", getattr(lax, name), BOOLS, BOOLS_B)
    case("eq_complex", lax.eq, COMPLEX, np.flip(COMPLEX))
    case("ne_complex", lax.ne, COMPLEX, COMPLEX)
    for name in ("add", "sub", "mul", "div", "pow"):
        case(name + "_complex", getattr(lax, name), COMPLEX, np.flip(COMPLEX), tol=None)
    case("complex", lax.complex, FLOATS[10:], SMALL[:22])
    ints, others = pairs(INTS)
    for name in (
        "add",
        "sub",
        "mul",
        "div",
        "max",
        "min",
        "rem",
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
        "shift_left",
        "shift_right_logical",
        "shift_right_arithmetic",
    ):
        case(name + "_int", getattr(lax, name), ints, others)
        case(name + "_uint", getattr(lax, name), *pairs(UINTS))
        case(name + "_int8", getattr(lax, name), ints.astype(np.int8), others.astype(np.int8))
        case(name + "_uint16", getattr(lax, name), *pairs(UINTS.astype(np.uint16)))
    case("shift_mixed", lambda x, y: (x << y, x >> y), INTS, INTS_B)
    case("shift_unsigned", lambda x, y: (x << y, x >> y), UINTS, UINTS_B)
    case("floor_divide", lambda x, y: (x // y, x % y), INTS[1:], INTS[1:][::-1])
    case("floor_divide_float", lambda x, y: (x // y, x % y), FLOATS[10:], POSITIVE[:22], tol=1e-5)
    case("power_int", lambda x: (x**3, x**0), INTS)
    for name in ("logical_and", "logical_or", "logical_xor"):
        case(name, getattr(jnp, name), BOOLS, BOOLS_B)
    case("max_bool", lambda x, y: (lax.max(x, y), lax.min(x, y)), BOOLS, BOOLS_B)


def other(case):
    case("select", lambda p, x, y: jnp.where(p, x, y), BOOLS, FLOATS[:4], FLOATS[4:8])
    case("select_scalar", lambda p, x, y: lax.select(p, x, y), np.array(True), FLOATS[:4], FLOATS[4:8])
    case("select_int", lambda p, x, y: jnp.where(p, x, y), BOOLS, INTS[:4], INTS[4:8])
    case("clamp", lambda x: lax.clamp(-1.0, x, 2.0), FLOATS)
    case("clamp_tensor", lax.clamp, UNIT - 1, FLOATS, UNIT + 1)
    case("clamp_int", lambda x: lax.clamp(jnp.int32(-5), x, jnp.int32(99)), INTS)
    case("isnan", lambda x: (jnp.isnan(x), jnp.isinf(x), jnp.signbit(x)), FLOATS)
    case("gelu", lambda x: (jax.nn.gelu(x), jax.nn.gelu(x, approximate=False)), UNIT * 4, tol=1e-5)
    case("silu_softplus", lambda x: (jax.nn.silu(x), jax.nn.softplus(x)), UNIT * 4, tol=1e-5)


def low_precision(case):
    for dtype in (ml_dtypes.bfloat16, np.float16):
        name, modes = np.dtype(dtype).name, ("program", "raised")
        x, y = (RNG.normal(size=64).astype(dtype) for _ in range(2))
        special = np.array([*SPECIAL, 1e-7, 6e-8, 65504.0, 1e-4]).astype(dtype)
        for op in ("add", "sub", "mul", "div", "max", "min"):
            case(f"{op}_{name}", getattr(lax, op), x, y, modes=modes)
            case(f"{op}_special_{name}", getattr(lax, op), *pairs(special), modes=("program",))
        for op in ("exp", "log", "tanh", "rsqrt", "sqrt", "logistic", "sin", "cos", "erf"):
            case(f"{op}_{name}", getattr(lax, op), np.abs(x), modes=modes)
        case(f"abs_neg_{name}", lambda v: (abs(v), -v, jnp.sign(v)), special, modes=modes)
        case(f"compare_{name}", lambda a, b: (a < b, a == b), *pairs(special), modes=modes)


def conversions(case):
    both = ("program", "raised")
    whole = np.array([0.0, -0.7, 1.5, -1.5, 2.5, 300.25, -129.0, 1e6, 3e9, -3e9], np.float32)
    for to in (jnp.int8, jnp.int16, jnp.int32, jnp.uint8, jnp.uint32, jnp.bool_):
        case(f"to_{jnp.dtype(to).name}", lambda x, to=to: lax.convert_element_type(x, to), whole[:5])
    case("int_saturates", lambda x: x.astype(jnp.int32), whole, modes=both)
    for to in (jnp.bfloat16, jnp.float16, jnp.float32):
        case(f"to_{jnp.dtype(to).name}", lambda x, to=to: x.astype(to), FLOATS, modes=both)
        case(f"int_to_{jnp.dtype(to).name}", lambda x, to=to: x.astype(to), INTS, modes=("program",))
    case("int_narrow", lambda x: (x.astype(jnp.int8), x.astype(jnp.uint16)), INTS)
    case("bool_to", lambda x: (x.astype(jnp.int32), x.astype(jnp.float32)), BOOLS)
    case("uint_to_float", lambda x: x.astype(jnp.float32), UINTS)
    case("to_complex", lambda x: x.astype(jnp.complex64), FLOATS[:8], modes=both)
    case("from_complex", lambda x: x.real.astype(jnp.int32), COMPLEX)
    for dtype in (jnp.float8_e4m3fn, jnp.float8_e5m2):
        case(
            f"to_{jnp.dtype(dtype).name}",
            lambda x, d=dtype: x.astype(d).astype(jnp.float32),
            UNIT * 100,
            modes=("program",),
        )
    for e, m in ((8, 7), (5, 10), (4, 3), (8, 23), (3, 0)):
        case(
            f"reduce_precision_{e}_{m}",
            lambda x, e=e, m=m: lax.reduce_precision(x, e, m),
            np.concatenate([FLOATS, SMALL * 1e-3, POSITIVE * 7e4]),
            modes=both,
        )
    case("bitcast", lambda x: lax.bitcast_convert_type(x, jnp.uint32), FLOATS[:9], modes=both)
    case("bitcast_back", lambda x: lax.bitcast_convert_type(x, jnp.float32), UINTS >> 2, modes=both)
    case("bitcast_narrow", lambda x: lax.bitcast_convert_type(x, jnp.uint8), INTS)
    case(
        "bitcast_widen", lambda x: lax.bitcast_convert_type(x, jnp.int32), INTS.view(np.uint16).reshape(-1, 2)
    )


def cases(case):
    unary(case)
    binary(case)
    other(case)
    low_precision(case)
    conversions(case)
