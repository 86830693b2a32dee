"""Control flow, calls, random bits, and pieces of models with their gradients."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

RNG = np.random.default_rng(3)
NARROW = ("program", "raised")


def floats(*shape):
    return RNG.normal(size=shape).astype(np.float32)


def ints(*shape, low=0, high=9):
    return RNG.integers(low, high, size=shape).astype(np.int32)


def control(case):
    x = floats(4, 3)
    case("cond", lambda p, v: lax.cond(p, jnp.sin, lambda u: u * 2, v), np.array(True), x)
    case(
        "cond_false", lambda p, v: lax.cond(p, lambda u: (u, 1), lambda u: (u + 1, 2), v), np.array(False), x
    )
    for index in (-3, 0, 1, 2, 7):
        branches = [lambda v: v + 1, lambda v: v * 2, lambda v: -v]
        case(f"switch{index}", lambda i, v: lax.switch(i, branches, v), np.int32(index), x)
    case(
        "while",
        lambda v: lax.while_loop(
            lambda s: s[0].sum() < 100, lambda s: (s[0] * 1.5 + 1, s[1] + 1), (abs(v), 0)
        ),
        x,
        tol=1e-5,
    )
    case("while_never", lambda v: lax.while_loop(lambda s: s[0, 0] > 1e9, lambda s: s * 2, v), x)
    case("fori", lambda v: lax.fori_loop(0, 7, lambda i, s: s.at[i % 4].add(i), v), x)
    case("fori_dynamic", lambda n, v: lax.fori_loop(0, n, lambda i, s: s * 0.5 + i, v), np.int32(5), x)
    case("scan", lambda v: lax.scan(lambda c, r: (c * 0.9 + r, (c.sum(), r * 2)), v[0], v), x, tol=5e-6)
    case("scan_reverse", lambda v: lax.scan(lambda c, r: (c + r, c), v[0], v, reverse=True), x)
    case(
        "scan_nested",
        lambda v: lax.scan(
            lambda c, r: lax.scan(lambda d, e: (d + e, d * e), c, r), jnp.float32(0).astype(v.dtype), v
        ),
        x,
        tol=5e-6,
    )
    case(
        "scan_grad",
        jax.grad(lambda v: lax.scan(lambda c, r: (jnp.tanh(c + r), c), v[0], v)[0].sum()),
        x,
        tol=5e-6,
    )
    case("map", lambda v: lax.map(lambda r: jnp.sort(r) * 2, v), x)
    case(
        "captures", lambda v, w: lax.fori_loop(0, 3, lambda i, s: s + w * v.sum(), v), x, floats(3), tol=2e-5
    )
    case(
        "while_scalar_bool",
        lambda n: lax.while_loop(lambda s: s[1], lambda s: (s[0] // 2, s[0] > 4), (n, n > 0)),
        np.int32(1000),
    )
    case("jit_inside", lambda v: jax.jit(lambda u: jax.jit(jnp.cos)(u) + u)(v), x)
    case("checkpoint", jax.grad(lambda v: jax.checkpoint(lambda u: jnp.sin(jnp.sin(u)))(v).sum()), x)
    case("barrier", lambda v: lax.optimization_barrier((v, v + 1)), x)
    case("custom_jvp", jax.grad(lambda v: jax.nn.relu(v).sum() + jax.nn.silu(v).sum()), x, tol=5e-6)
    case(
        "newton",
        lambda v: lax.while_loop(
            lambda s: jnp.any(abs(s * s - abs(v)) > 1e-3), lambda s: 0.5 * (s + abs(v) / s), jnp.ones_like(v)
        ),
        x,
        tol=5e-6,
    )
    case("unused", lambda v, w: v + 1, x, x)
    case("constant", lambda: (jnp.arange(5) * 3, jnp.full((2, 3), 7.5)))
    case("same_result", lambda v: (v, v, v + 0), x)


def random_bits(case):
    key = np.array([1, 2], np.uint32)
    both = ("program", "raised")
    case("threefry_bits", lambda k: jax.random.bits(k, (5, 3)), key)
    case("uniform", lambda k: jax.random.uniform(k, (33,)), key, modes=both)
    case("normal", lambda k: jax.random.normal(k, (33,)), key, modes=both, tol=2e-5)
    case(
        "dropout",
        lambda k, v: jnp.where(jax.random.bernoulli(k, 0.7, v.shape), v / 0.7, 0),
        key,
        floats(5, 7),
        modes=both,
    )
    case("split_fold", lambda k: (jax.random.split(k, 3), jax.random.fold_in(k, 7)), key)
    case(
        "permutation",
        lambda k: (jax.random.permutation(k, 17), jax.random.randint(k, (9,), 0, 99)),
        key,
        modes=both,
    )
    case("categorical", lambda k, v: jax.random.categorical(k, v), key, floats(6, 9), modes=both)
    state = np.array([1, 2, 3, 4], np.uint32)
    for shape in ((), (7,), (4, 3), (3, 5), (3, 4)):
        for dtype in (np.uint32, np.uint64):
            modes = ("x64",) if dtype == np.uint64 else (*both, "x64")
            case(
                f"rng_bits{shape}{dtype.__name__}",
                lambda s, n=shape, d=dtype: lax.rng_bit_generator(
                    s, n, d, algorithm=lax.RandomAlgorithm.RNG_THREE_FRY
                ),
                state,
                modes=modes,
            )


def rms_norm(x, g):
    return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5) * g


def rope(x):
    position = jnp.arange(x.shape[1])[:, None]
    angle = position / 10000 ** (jnp.arange(0, x.shape[-1], 2) / x.shape[-1])
    pairs = lax.complex(*jnp.split(x, 2, -1)) * lax.complex(jnp.cos(angle), jnp.sin(angle))[:, None]
    return jnp.concatenate([pairs.real, pairs.imag], -1)


def block(x, p):
    h = rms_norm(x, p["g"])
    q, k, v = (jnp.einsum("btd,dnh->btnh", h, p[n]) for n in "qkv")
    k, v = (jnp.repeat(t, q.shape[2] // t.shape[2], 2) for t in (k, v))
    s = jnp.einsum("btnh,bsnh->bnts", rope(q), rope(k)) / q.shape[-1] ** 0.5
    s = jnp.where(jnp.tril(jnp.ones(s.shape[-2:], bool)), s, -jnp.inf)
    o = jnp.einsum("bnts,bsnh->btnh", jax.nn.softmax(s), v)
    x = x + jnp.einsum("btnh,nhd->btd", o, p["o"])
    return x + (jax.nn.silu(x @ p["w1"]) * (x @ p["w3"])) @ p["w2"]


def models(case):
    d, n, kv, h = 12, 4, 2, 6
    names = {
        "g": (d,),
        "q": (d, n, h),
        "k": (d, kv, h),
        "v": (d, kv, h),
        "o": (n, h, d),
        "w1": (d, 20),
        "w3": (d, 20),
        "w2": (20, d),
    }
    weights = [floats(*s) / max(1, s[0]) ** 0.5 for s in names.values()]
    table, ids = floats(9, d), ints(2, 7)

    def loss(tokens, embed, *flat):
        x = block(block(embed[tokens], dict(zip(names, flat))), dict(zip(names, flat)))
        logits = jax.nn.log_softmax(x @ embed.T)
        return -jnp.take_along_axis(logits[:, :-1], tokens[:, 1:, None], 2).mean(), logits

    case("decoder", loss, ids, table, *weights, tol=2e-5, modes=NARROW)
    case("decoder_wide", loss, ids, table, *weights, tol=1e-11, modes=("x64",))
    gradient = jax.grad(lambda *a: loss(ids, *a)[0], argnums=tuple(range(len(weights) + 1)))
    case("decoder_grad", gradient, table, *weights, tol=2e-4, modes=NARROW)
    case("decoder_grad_wide", gradient, table, *weights, tol=1e-11, modes=("x64",))
    stacked = [np.stack([w, w * 0.5, w * 2]) for w in weights]
    case(
        "scan_layers",
        lambda x, *ws: lax.scan(lambda c, w: (block(c, dict(zip(names, w))), None), x, ws)[0],
        floats(2, 7, d),
        *stacked,
        tol=1e-4,
        modes=NARROW,
    )
    q, k, v = floats(2, 7, 4, 6), floats(2, 7, 2, 6), floats(2, 7, 2, 6)
    for name, options in (
        ("plain", {}),
        ("causal", {"is_causal": True}),
        ("window", {"local_window_size": (2, 1)}),
        ("lengths", {"query_seq_lengths": np.array([5, 7]), "key_value_seq_lengths": np.array([3, 6])}),
    ):
        case(
            f"attention_{name}",
            lambda a, b, c, o=options: jax.nn.dot_product_attention(a, b, c, **o),
            q,
            k,
            v,
            tol=2e-5,
            modes=NARROW,
        )
    case(
        "attention_bf16",
        lambda a, b, c: jax.nn.dot_product_attention(
            *(t.astype(jnp.bfloat16) for t in (a, b, c)), is_causal=True
        ),
        q,
        k,
        v,
        tol=3e-2,
        modes=NARROW,
    )
    case(
        "cross_entropy_grad",
        jax.grad(lambda x, y: -jnp.take_along_axis(jax.nn.log_softmax(x), y[:, None], 1).mean()),
        floats(9, 11),
        ints(9),
        tol=5e-6,
    )
    case("layer_norm", lambda x: jax.nn.standardize(x, -1), floats(5, 8), tol=1e-5)
    case(
        "adam",
        lambda p, g, m, u: (p - 0.1 * (0.9 * m + 0.1 * g) / (jnp.sqrt(0.99 * u**2 + 0.01 * g**2) + 1e-8)),
        floats(9),
        floats(9),
        floats(9),
        floats(9),
        tol=1e-5,
        modes=NARROW,
    )
    case(
        "experts",
        lambda x, w, r: jnp.einsum(
            "te,teh->th",
            jax.nn.softmax(jnp.where(x @ r >= lax.top_k(x @ r, 2)[0][:, 1:], x @ r, -1e9)),
            jnp.einsum("td,edh->teh", x, w),
        ),
        floats(7, 5),
        floats(4, 5, 6),
        floats(5, 4),
        tol=1e-5,
    )


def cases(case):
    control(case)
    random_bits(case)
    models(case)
