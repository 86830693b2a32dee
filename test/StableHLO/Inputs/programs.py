"""Prints JAX programs as StableHLO text and checks that a reader prints it back unchanged.

    programs.py DIRECTORY [COMMAND...]

writes NAME.mlir (`lower().as_text()`), NAME.loc.mlir (the same with locations) and
NAME.export.mlir (`jax.export`) for each program. COMMAND, for example `sp-opt`, is then run
on each file; the exit status is 1 if what it prints differs from the file.
"""

import os
import pathlib
import subprocess
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import AxisType, NamedSharding, PartitionSpec

P = PartitionSpec


def spec(*shape, dtype=jnp.float32, sharding=None):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=sharding)


def attention(q, k, v):
    return jax.nn.dot_product_attention(q, k, v, is_causal=True)


def masked(q, k, v):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1])
    mask = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    weights = jax.nn.softmax(jnp.where(mask, scores, -1e9))
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


def masked_gradient(q, k, v):
    return jax.grad(lambda *operands: masked(*operands).sum(), argnums=(0, 1, 2))(q, k, v)


def scan(x, weights):
    def body(carry, weight):
        return jnp.tanh(carry @ weight), carry.sum()

    return lax.scan(body, x, weights)


def scan_gradient(x, weights):
    return jax.grad(lambda x, weights: scan(x, weights)[0].sum(), argnums=(0, 1))(x, weights)


def remat(x, weight):
    layer = jax.checkpoint(lambda x: jnp.sin(jnp.sin(x @ weight)))
    return jax.grad(lambda x: layer(x).sum())(x)


def embedding(table, ids):
    return table[ids], jnp.take(table, ids, axis=0)


def embedding_gradient(table, ids):
    return jax.grad(lambda table: table[ids].sum())(table)


def take_along_axis(x, ids):
    return jnp.take_along_axis(x, ids, axis=-1)


def cache_update(cache, row, position):
    return cache.at[:, position].set(row), lax.dynamic_update_slice(cache, row[:, None], (0, position, 0))


def order(x):
    return jnp.sort(x), jnp.argsort(x), lax.top_k(x, 3), jnp.argmax(x, -1)


def cumulative(x):
    return jnp.cumsum(x, 1), lax.cummax(x, axis=1)


def patches(x, kernel):
    return lax.conv_general_dilated(x, kernel, (4, 4), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def complex_rope(x):
    angles = jnp.arange(x.shape[1], dtype=jnp.float32)[:, None] * jnp.arange(1, x.shape[2] + 1)
    rotated = lax.complex(x[..., 0], x[..., 1]) * jnp.exp(1j * angles)
    return jnp.stack([jnp.real(rotated), jnp.imag(rotated)], -1)


def branches(pred, index, x):
    return lax.cond(pred, jnp.sin, jnp.cos, x), lax.switch(index, [jnp.sin, jnp.cos, jnp.tanh], x)


def loops(x):
    counted = lax.fori_loop(0, 10, lambda i, carry: carry * 2 + i, x)
    return counted, lax.while_loop(lambda c: c[0] < 10, lambda c: (c[0] + 1, c[1] * 2), (0, x))


def unary(x):
    functions = [
        jnp.abs,
        jnp.ceil,
        jnp.floor,
        jnp.sign,
        jnp.log,
        jnp.log1p,
        jnp.exp,
        jnp.expm1,
        jnp.sqrt,
        lax.rsqrt,
    ]
    functions += [
        jnp.tanh,
        jax.nn.sigmoid,
        jnp.sin,
        jnp.cos,
        jnp.tan,
        jnp.isfinite,
        jnp.cbrt,
        jnp.round,
        lax.erf,
    ]
    functions += [
        lax.erfc,
        lax.erf_inv,
        jnp.square,
        jax.nn.gelu,
        jax.nn.silu,
        jax.nn.softplus,
        jnp.isnan,
        jnp.isinf,
    ]
    return [function(x) for function in functions]


def binary(x, y):
    functions = [
        jnp.add,
        jnp.power,
        jnp.arctan2,
        jnp.fmod,
        jnp.maximum,
        jnp.minimum,
        jnp.logaddexp,
        jnp.floor_divide,
    ]
    return [function(x, y) for function in functions]


def integers(x, y):
    functions = [jnp.bitwise_and, jnp.bitwise_or, jnp.bitwise_xor, jnp.left_shift, jnp.right_shift]
    functions += [lax.shift_right_logical, jnp.floor_divide, jnp.remainder]
    others = [~x, lax.population_count(x), lax.clz(x), lax.bitcast_convert_type(x, jnp.float32), x**2]
    return [function(x, y) for function in functions] + others


def movement(x):
    rows = [x[::-1], jnp.pad(x, ((1, 2), (0, 0))), jnp.concatenate([x, x], 1), jnp.clip(x, 0, 1), jnp.tril(x)]
    rows += [lax.reduce_precision(x, 8, 7), x.var(0), jnp.roll(x, 1, 0), x[1:3, ::2], jnp.repeat(x, 2, 0)]
    return rows + [x.astype(jnp.bfloat16), jnp.where(x > 0, x, 0.0), jnp.prod(x), jnp.any(x > 0), jnp.eye(3)]


def random(key):
    return jax.random.normal(key, (4,)), jax.random.bernoulli(key, 0.1, (4,))


def constants(x):
    return x + np.arange(64, dtype=np.float32).reshape(8, 8) + np.float32("nan")


def doubles(x, ids):
    return jnp.cumsum(x), x[ids], jnp.arange(4)


def single_device():
    """The programs without a mesh: name, function, arguments."""
    heads = (spec(2, 16, 4, 8), spec(2, 16, 2, 8), spec(2, 16, 2, 8))
    square = (spec(2, 16, 4, 8),) * 3
    bf16 = tuple(spec(*operand.shape, dtype=jnp.bfloat16) for operand in heads)
    i32 = jnp.int32
    yield "attention", attention, heads
    yield "attention-bf16", attention, bf16
    yield "masked", masked, square
    yield "masked-gradient", masked_gradient, square
    yield "scan", scan, (spec(4, 8), spec(3, 8, 8))
    yield "scan-gradient", scan_gradient, (spec(4, 8), spec(3, 8, 8))
    yield "remat", remat, (spec(4, 8), spec(8, 8))
    yield "embedding", embedding, (spec(32, 8), spec(6, dtype=i32))
    yield "embedding-gradient", embedding_gradient, (spec(32, 8), spec(6, dtype=i32))
    yield "take-along-axis", take_along_axis, (spec(2, 5, 32), spec(2, 5, 3, dtype=i32))
    yield "batched-gather", jax.vmap(lambda table, ids: table[ids]), (spec(2, 32, 8), spec(2, 5, dtype=i32))
    yield "cache-update", cache_update, (spec(2, 8, 4), spec(2, 4), spec(dtype=i32))
    yield "order", order, (spec(4, 8),)
    yield "cumulative", cumulative, (spec(4, 8),)
    yield "patches", patches, (spec(1, 16, 16, 3), spec(4, 4, 3, 8))
    yield "complex-rope", complex_rope, (spec(2, 8, 4, 2),)
    yield "branches", branches, (spec(dtype=bool), spec(dtype=i32), spec(4))
    yield "loops", loops, (spec(4),)
    yield "unary", unary, (spec(4, 8),)
    yield "binary", binary, (spec(4, 8), spec(4, 8))
    yield "integers", integers, (spec(4, 8, dtype=i32), spec(4, 8, dtype=i32))
    yield "movement", movement, (spec(8, 8),)
    yield "random", random, (spec(2, dtype=jnp.uint32),)
    yield "constants", constants, (spec(8, 8),)


def exchanges(mesh):
    """A shard_map with every collective."""

    def body(q, k):
        k = lax.ppermute(k, "sp", [(i, (i + 1) % 4) for i in range(4)])
        gathered = lax.all_gather(k, "sp", axis=1, tiled=True)
        exchanged = lax.all_to_all(q, "sp", 2, 1, tiled=True)
        scattered = lax.psum_scatter(gathered, "sp", scatter_dimension=1, tiled=True)
        return lax.psum(q, "sp") + exchanged.sum() + scattered.sum() + lax.axis_index("sp")

    specs = P("data", "sp", None, None)
    return jax.shard_map(body, mesh=mesh, in_specs=(specs, specs), out_specs=specs, check_vma=False)


def sharded():
    """The programs on a mesh of 2 x 4 devices: name, jitted function, arguments."""
    mesh = jax.make_mesh((2, 4), ("data", "sp"), axis_types=(AxisType.Auto,) * 2)
    whole = NamedSharding(mesh, P("data", "sp", None, None))
    open_ended = NamedSharding(mesh, P(("data", "sp"), P.UNCONSTRAINED))

    def constrained(q, k, v):
        return lax.with_sharding_constraint(attention(q, k, v), whole)

    jitted = jax.jit(constrained, in_shardings=(whole,) * 3, out_shardings=whole)
    yield "sharded", jitted, (spec(2, 16, 4, 8),) * 3
    yield "open", jax.jit(lambda x: lax.with_sharding_constraint(x * 2, open_ended)), (spec(8, 16),)
    yield "shard-map", jax.jit(exchanges(mesh)), (spec(2, 16, 4, 8),) * 2
    yield "donated", jax.jit(lambda x: x + 1, donate_argnums=0), (spec(4),)
    explicit = jax.make_mesh((2, 4), ("data", "sp"), axis_types=(AxisType.Explicit,) * 2)
    with jax.set_mesh(explicit):
        sharding = NamedSharding(explicit, P("data", "sp", None))
        yield "explicit", jax.jit(lambda x: jnp.sin(x) * 2 + x), (spec(2, 16, 4, sharding=sharding),)


def write(directory, name, jitted, arguments):
    lowered = jitted.lower(*arguments)
    texts = {
        name: lowered.as_text(),
        name + ".loc": lowered.as_text(debug_info=True),
        name + ".export": jax.export.export(jitted)(*arguments).mlir_module(),
    }
    for file, text in texts.items():
        (directory / (file + ".mlir")).write_text(text)


def check(file, command):
    flags = [] if file.suffixes == [".mlir"] else ["--mlir-print-debuginfo"]
    result = subprocess.run([*command, *flags, str(file)], capture_output=True, text=True)
    if result.returncode == 0 and result.stdout.strip() == file.read_text().strip():
        return True
    print(f"{file.name}: {result.stderr or 'printed otherwise'}", file=sys.stderr)
    return False


def main():
    directory = pathlib.Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    for name, function, arguments in single_device():
        write(directory, name, jax.jit(function), arguments)
    for name, jitted, arguments in sharded():
        write(directory, name, jitted, arguments)
    with jax.enable_x64(True):
        write(directory, "doubles", jax.jit(doubles), (spec(4, dtype=jnp.float64), spec(3, dtype=jnp.int64)))
    if len(sys.argv) > 2:
        results = [check(file, sys.argv[2:]) for file in sorted(directory.glob("*.mlir"))]
        sys.exit(not all(results))


if __name__ == "__main__":
    main()
