"""Training with --zero beside itself without, and beside JAX and torch with sharded weights (FSDP).

A Llama (--layers, --width) in f32 with Adam on 8 ranks, a step each of this package with --zero=0, 1 and 3,
of JAX on as many host devices with NamedSharding of weights and state (GSPMD), and with --torch of FSDP2 over
gloo, one process a rank. Each runs by itself, one after another. Memory: of this package the rank that needs
most, measured; of JAX arguments and temporaries of a device, by its compiler; of torch the growth of a
process's resident memory by the step.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path += [str(REPOSITORY / folder) for folder in ("python", "python/examples")]

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

import llama  # noqa: E402
import spmlir  # noqa: E402
from cpu_attention import processor  # noqa: E402

MIB = 2**20


def config_of(args: argparse.Namespace) -> llama.Config:
    """Of so many layers of a width."""
    width = args.width
    return llama.Config(
        layers=args.layers,
        width=width,
        heads=width // 128,
        kv_heads=max(1, width // 256),
        head_size=128,
        hidden=-(-width * 8 // 3 // 64) * 64,
        vocabulary=4096,
        tokens=args.tokens,
        batch=args.batch,
    )


def loss(
    config: llama.Config, weights: dict, words: jax.Array, labels: jax.Array, decode: Callable = llama.decoder
) -> jax.Array:
    """Mean over all tokens, each of which has a label."""
    logs = jax.nn.log_softmax(decode(config, weights, words))
    return -jnp.mean(jnp.take_along_axis(logs, labels[..., None], axis=-1))


def recomputed(config: llama.Config, weights: dict, words: jax.Array) -> jax.Array:
    """The decoder, of whose layers nothing but what goes in is kept for the gradients."""
    x = weights["embedding"][words]
    for each in weights["layers"]:
        x = jax.checkpoint(partial(llama.layer, config))(each, x)
    return llama.rms_norm(x, weights["norm"]) @ weights["logits"]


def step_of(args: argparse.Namespace) -> Callable:
    """(state, words, labels) -> (loss, state)."""
    return partial(step, config_of(args), decode=recomputed if args.remat else llama.decoder)


def step(
    config: llama.Config, state: tuple, words: jax.Array, labels: jax.Array, decode: Callable = llama.decoder
) -> tuple:
    """Adam."""
    weights, first, second = state
    value, slopes = jax.value_and_grad(partial(loss, config, decode=decode))(weights, words, labels)
    first = jax.tree.map(lambda m, slope: 0.9 * m + 0.1 * slope, first, slopes)
    second = jax.tree.map(lambda v, slope: 0.99 * v + 0.01 * slope**2, second, slopes)
    weights = jax.tree.map(lambda w, m, v: w - 1e-3 * m / (jnp.sqrt(v) + 1e-8), weights, first, second)
    return value, (weights, first, second)


def problem(config: llama.Config) -> tuple:
    """State and a batch."""
    weights = llama.parameters(config)
    state = (weights, *(jax.tree.map(np.zeros_like, weights) for _ in range(2)))
    words = np.random.default_rng(1).integers(0, config.vocabulary, (config.batch, config.tokens), np.int32)
    return state, words, np.roll(words, -1, axis=1)


def timed(run: object, steps: int) -> tuple[float, list[float]]:
    """Seconds of the fastest of some steps behind the first, and the losses."""
    seconds, values = [], []
    for _ in range(steps + 1):
        began = time.perf_counter()
        values.append(float(run()))
        seconds.append(time.perf_counter() - began)
    return min(seconds[1:]), values


def ours(args: argparse.Namespace, zero: int) -> dict:
    """A step of this package."""
    config = config_of(args)
    state, *batch = problem(config)
    trainer = spmlir.train_step(
        step_of(args), state, *batch, mesh={"sp": args.ranks}, strategy=args.strategy, zero=zero
    )
    seconds, values = timed(lambda: trainer.step(*batch), args.steps)
    report = trainer.last_run
    return {
        "seconds": seconds,
        "MiB": max(report["peakBytesPerRank"]) / MIB,
        "sent": max(report["bytesSentPerRank"]) / MIB,
        "losses": values,
    }


def gspmd(args: argparse.Namespace) -> dict:
    """A step of JAX, weights and state dealt along their first dimension, the tokens along theirs."""
    from jax.sharding import AxisType, NamedSharding, PartitionSpec

    config = config_of(args)
    state, *batch = problem(config)
    mesh = jax.make_mesh((args.ranks,), ("ranks",), axis_types=(AxisType.Auto,))

    def dealt(array: np.ndarray) -> jax.Array:
        even = array.ndim > 1 and array.shape[0] % args.ranks == 0
        return jax.device_put(array, NamedSharding(mesh, PartitionSpec("ranks" if even else None)))

    tokens = NamedSharding(mesh, PartitionSpec(None, "ranks"))
    state = jax.tree.map(dealt, state)
    batch = [jax.device_put(array, tokens) for array in batch]
    shardings = jax.tree.map(lambda array: array.sharding, state)
    compiled = (
        jax.jit(step_of(args), donate_argnums=0, out_shardings=(None, shardings))
        .lower(state, *batch)
        .compile()
    )
    memory = compiled.memory_analysis()

    def run() -> float:
        nonlocal state
        value, state = compiled(state, *batch)
        return float(value)

    seconds, values = timed(run, args.steps)
    bytes_used = memory.argument_size_in_bytes + memory.temp_size_in_bytes
    return {"seconds": seconds, "MiB": bytes_used / MIB, "losses": values}


def main() -> None:
    """Print a row for each; with --only one of them as JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--tokens", type=int, default=1024, help="of a sequence (1 024)")
    parser.add_argument("--batch", type=int, default=1, help="sequences (1)")
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument(
        "--steps", type=int, default=3, help="of which the fastest counts, behind one more (3)"
    )
    parser.add_argument("--strategy", default="ulysses")
    parser.add_argument("--remat", action="store_true", help="make layers again for the gradients")
    parser.add_argument(
        "--kinds",
        default="0,1,3,jax",
        help="what to run, the first of which is what others are beside; jax-remat is jax with --remat alone",
    )
    parser.add_argument("--torch", help="the Python of a torch, to run FSDP2 beside")
    parser.add_argument("--only", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.only:
        args.remat |= args.only == "jax-remat"
        found = gspmd(args) if args.only.startswith("jax") else ours(args, int(args.only))
        print(json.dumps(found))
        return
    print(f"`test/Benchmarks/zero.py {' '.join(sys.argv[1:])}`\n")
    print(
        f"{datetime.date.today()}, {processor()}: {args.ranks} ranks, {args.layers} layers of width", end=" "
    )
    print(f"{args.width}, {args.batch} x {args.tokens} tokens, f32, Adam\n")
    print("| | seconds a step | beside the first | MiB a rank | beside the first | MiB sent | last loss |")
    print("|---|---|---|---|---|---|---|")
    base: dict = {}
    names = {
        "jax": "JAX GSPMD, FSDP",
        "jax-remat": "JAX GSPMD, FSDP, layers made again",
        "torch": "torch FSDP2, gloo",
    }
    for kind in [*args.kinds.split(","), *(["torch"] if args.torch else [])]:
        name = names.get(kind, f"--zero={kind}")
        environment = dict(os.environ)
        if kind.startswith("jax"):
            environment["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={args.ranks}"
        command = [sys.executable, *sys.argv, f"--only={kind}"]
        if kind == "torch":
            sizes = ("layers", "width", "tokens", "batch", "ranks", "steps")
            more = [f"--{name}={getattr(args, name)}" for name in sizes]
            command = [args.torch, str(Path(__file__).with_name("zero_torch.py")), *more]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        if done.returncode == -signal.SIGKILL:
            print(f"| {name} | killed, as where memory runs out | | | | | |", flush=True)
            continue
        if done.returncode:
            raise SystemExit(f"{name}: {done.stderr[-2000:]}")
        found = json.loads(done.stdout.splitlines()[-1])
        base = base or found
        beside = [f"{found[key] / base[key]:.2f}" for key in ("seconds", "MiB")]
        sent = f"{found['sent']:.0f}" if "sent" in found else ""
        print(
            f"| `{name}` | {found['seconds']:.2f} | {beside[0]} | {found['MiB']:.0f} | {beside[1]} | {sent}",
            end="",
        )
        print(f" | {found['losses'][-1]:.5f} |", flush=True)


if __name__ == "__main__":
    main()
