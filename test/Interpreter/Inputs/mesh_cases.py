"""Manual computations on a mesh of six devices, with every exchange, and shardings to ignore."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

RNG = np.random.default_rng(4)
MESH = jax.make_mesh((3, 2), ("sp", "tp"), axis_types=(jax.sharding.AxisType.Auto,) * 2)


def floats(*shape):
    return RNG.normal(size=shape).astype(np.float32)


def manual(fn, ins, outs, **options):
    return jax.shard_map(fn, mesh=MESH, in_specs=ins, out_specs=outs, check_vma=False, **options)


def ring_attention(q, k, v):
    def step(i, state):
        o, m, s, k, v = state
        scores = q @ k.T
        top = jnp.maximum(m, scores.max(1))
        p = jnp.exp(scores - top[:, None])
        o = o * jnp.exp(m - top)[:, None] + p @ v
        s = s * jnp.exp(m - top) + p.sum(1)
        k, v = (lax.ppermute(t, "sp", [(j, (j + 1) % 3) for j in range(3)]) for t in (k, v))
        return o, top, s, k, v

    zero = jnp.zeros_like(q[:, 0])
    o, _, s, _, _ = lax.fori_loop(0, 3, step, (jnp.zeros_like(q), zero - 1e9, zero, k, v))
    return o / s[:, None]


def cases(case):
    x = floats(12, 6)
    case("shards", manual(lambda v: v * 2 + lax.axis_index("sp"), P("sp", "tp"), P("sp", "tp")), x)
    case("both_axes", manual(lambda v: v + lax.axis_index("tp"), P(("tp", "sp")), P(("tp", "sp"))), x)
    case("psum", manual(lambda v: lax.psum(v, "sp"), P("sp", "tp"), P(None, "tp")), x, tol=5e-6)
    case("psum_both", manual(lambda v: lax.psum(v, ("sp", "tp")), P("sp", "tp"), P()), x, tol=5e-6)
    case(
        "pmax",
        manual(lambda v: (lax.pmax(v, "tp"), lax.pmin(v, "sp")), P("sp", "tp"), (P("sp"), P(None, "tp"))),
        x,
    )
    case("pmean", manual(lambda v: lax.pmean(v, "tp"), P("sp", "tp"), P("sp")), x, tol=5e-6)
    case(
        "all_gather",
        manual(lambda v: lax.all_gather(v, "sp", axis=0, tiled=True), P("sp", "tp"), P(None, "tp")),
        x,
    )
    case("all_gather_new", manual(lambda v: lax.all_gather(v, "tp"), P("sp", "tp"), P(None, "sp")), x)
    case(
        "all_to_all",
        manual(lambda v: lax.all_to_all(v, "tp", 0, 1, tiled=True), P("sp", "tp"), P(("sp", "tp"), None)),
        x,
    )
    case(
        "psum_scatter",
        manual(
            lambda v: lax.psum_scatter(v, "tp", scatter_dimension=0, tiled=True),
            P("sp", None),
            P(("sp", "tp")),
        ),
        x,
        tol=5e-6,
    )
    case("ppermute", manual(lambda v: lax.ppermute(v, "sp", [(0, 1), (1, 2)]), P("sp"), P("sp")), x)
    case(
        "ring", manual(ring_attention, (P("sp"),) * 3, P("sp")), *(floats(12, 4) for _ in range(3)), tol=2e-5
    )
    case(
        "loop",
        manual(
            lambda v: lax.scan(lambda c, r: (c + lax.psum(r, "tp"), c), 0 * v[0], v),
            P(None, "tp"),
            (P(), P(None, None)),
        ),
        x,
        tol=5e-6,
    )
    case(
        "condition",
        manual(
            lambda v: lax.cond(
                lax.psum(v.sum(), ("sp", "tp")) > 1e9, lambda u: lax.psum(u, "sp"), lambda u: u * 3, v
            ),
            P("sp", "tp"),
            P("sp", "tp"),
        ),
        x,
    )
    case(
        "called",
        manual(
            jax.jit(lambda v: jax.jit(functools.partial(lax.psum, axis_name="tp"))(v)), P("sp", "tp"), P("sp")
        ),
        x,
        tol=5e-6,
    )
    case("partly_manual", manual(lambda v: v * lax.axis_index("sp"), P("sp"), P("sp"), axis_names={"sp"}), x)
    sharding = NamedSharding(MESH, P("sp", None))
    case("constraint", lambda v: lax.with_sharding_constraint(v * 2, sharding) + 1, x)
