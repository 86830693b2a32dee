"""Steps of training with far memory: bit for bit the numbers of those without, in less of the arena.

In memory and in a file, what lies there and what is copied is what the compiler promised.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import jax
import jax.numpy as jnp

import harness
import llama
from spmlir.exported import lower

STRATEGIES = ("ring", "ulysses", "allgather", "double-ring", "2d", "split-kv")
# A model in which values, not weights, take memory, and the arena's part that is left.
LONG = llama.Config(
    layers=4, tokens=1024, vocabulary=64, width=64, hidden=128, heads=4, kv_heads=1, head_size=16
)
SAVED = 0.8
# Of all models so many have something there, at least.
SOME = 0.4


@dataclass(frozen=True)
class Model:
    """A decoder, the type of its weights, and whether its layers are scanned, and checkpoints then.

    clips: whether gradients are divided by their norm, for which updates wait.
    """

    config: llama.Config
    dtype: str = "float32"
    is_scanned: bool = False
    has_checkpoints: bool = False
    clips: bool = False

    def decoder(self, config: llama.Config, weights: dict, ids: jax.Array) -> jax.Array:
        """As llama.decoder."""
        if not self.is_scanned:
            return llama.decoder(config, weights, ids)

        def layer(x: jax.Array, each: dict) -> tuple[jax.Array, None]:
            return llama.layer(config, each, x), None

        layer = jax.checkpoint(layer) if self.has_checkpoints else layer
        x = jax.lax.scan(layer, weights["embedding"][ids], weights["layers"])[0]
        return llama.rms_norm(x, weights["norm"]) @ weights["logits"]

    def step(self, weights: dict, momentum: dict, ids: jax.Array) -> tuple:
        """Of its training: weights and momentum, which feed the next one, and the loss."""

        def loss(weights: dict) -> jax.Array:
            logs = jax.nn.log_softmax(self.decoder(self.config, weights, ids)[:, :-1].astype("float32"))
            return -jnp.mean(jnp.take_along_axis(logs, ids[:, 1:, None], axis=-1))

        value, slopes = jax.value_and_grad(loss)(weights)
        if self.clips:
            norm = jnp.sqrt(sum(jnp.sum(each.astype("float32") ** 2) for each in jax.tree.leaves(slopes)))
            slopes = jax.tree.map(lambda each: each / jnp.maximum(1, norm), slopes)
        momentum = jax.tree.map(lambda each, slope: 0.9 * each + slope, momentum, slopes)
        weights = jax.tree.map(lambda each, slope: (each - 0.1 * slope).astype(each.dtype), weights, momentum)
        return weights, momentum, value

    def save(self, folder: Path) -> None:
        """The step, with inputs."""
        weights = jax.tree.map(lambda each: jnp.asarray(each, self.dtype), llama.parameters(self.config))
        if self.is_scanned:
            weights["layers"] = jax.tree.map(lambda *each: jnp.stack(each), *weights["layers"])
        momentum = jax.tree.map(lambda each: jnp.full(each.shape, 0.01, "float32"), weights)
        step = jax.jit(self.step, donate_argnums=(0, 1), keep_unused=True)
        lower(step, (weights, momentum, llama.tokens(self.config)), {}).save(folder)


# One whose state comes for one update while the one before runs.
CLIPPED = Model(replace(LONG, vocabulary=2048), clips=True)


def drawn(random: Random) -> tuple[Model, tuple[str, ...]]:
    """A model, and how it is compiled: ranks, blocks of rows, of which lengths are no multiple."""
    config = llama.Config(
        layers=random.choice((2, 3, 4)),
        tokens=random.choice((61, 128, 257, 400, 509)),
        vocabulary=64,
        width=64,
        hidden=128,
        heads=4,
        kv_heads=random.choice((1, 2, 4)),
        head_size=16,
    )
    ranks, strategy = random.randint(1, 8), random.choice(STRATEGIES)
    mesh = f"--mesh=sp={ranks},tp={random.randint(1, max(1, 8 // ranks))}"
    options = (mesh, f"--strategy={strategy}", f"--row-blocks={random.choice((1, 1, 2, 3))}")
    dtype = random.choice(("float32", "float32", "bfloat16"))
    model = Model(config, dtype, *(random.random() < 0.5 for _ in range(3)))
    # In loops only attention can be left out.
    checkpoint = random.choice(("none", "attention-out", "as-written" if model.is_scanned else "full"))
    return model, (*options, f"--checkpoint={checkpoint}")


def problems(
    tools: harness.Tools, folder: Path, model: Model, options: tuple[str, ...]
) -> tuple[list[str], bool]:
    """What is wrong with a model whose step is compiled so, and whether it used far memory."""
    model.save(folder)
    wrong, peaks, results = [], {}, {}
    for name, more in (("near", ()), ("far", ("--offload=host",)), ("state", ("--offload=host+state",))):
        artifact, promise = folder / f"{name}.spx", folder / f"{name}.json"
        tools.run("sp-compile", folder / "model.mlir", "-o", artifact, *options, *more, f"--report={promise}")
        promised = harness.read_report(promise)
        peaks[name] = max(promised["peakBytesPerRank"])
        # Where memory is short while nothing waits, nothing goes.
        is_far = harness.FAR[0] in promised
        for where in ((), (f"--far={folder}",)) if is_far else ((),):
            outputs, report = folder / "out.npz", folder / "r.json"
            run = (
                f"--inputs={folder / 'inputs.npz'}",
                f"--outputs={outputs}",
                f"--report={report}",
                "--steps=2",
            )
            tools.run("sp-run", artifact, *run, "--timeout=60", *where)
            wrong += harness.broken(promised, harness.read_report(report))
            results[name, where] = [array.tobytes() for array in harness.load_results(outputs)]
    first = next(iter(results.values()))
    wrong += [f"results of {how} differ" for how in results if results[how] != first]
    saves = model in (Model(LONG), CLIPPED)
    if saves and not peaks["state"] < peaks["far"] < SAVED * peaks["near"]:
        wrong.append(f"far memory saves too little: {peaks}")
    if max(peaks["state"], peaks["far"]) > peaks["near"]:
        wrong.append(f"far memory makes peaks larger: {peaks}")
    return wrong, len(results) > 3


def main() -> int:
    """Draw models and plans, fewer with --quick."""
    parser = harness.arguments(__doc__)
    parser.add_argument("--count", type=int, default=24, help="models (24)")
    args = parser.parse_args()
    tools = harness.Tools(args.build, args.work)
    held = failed = far = 0
    for number in range(max(3, args.count // 6) if args.quick else args.count):
        model, options = drawn(Random(f"{args.seed} {number}"))
        if number < 2:
            plan = ("--mesh=sp=2", "--strategy=ring", "--checkpoint=none")
            model, blocks = ((Model(LONG), 1), (CLIPPED, 8))[number]
            options = (*plan, f"--row-blocks={blocks}")
        wrong, is_far = problems(tools, args.work / "far", model, options)
        held, failed, far = held + (not wrong), failed + bool(wrong), far + is_far
        for problem in wrong:
            print(f"{args.seed} {number}: {model} {' '.join(options)}: {problem}", file=sys.stderr)
    print(f"{held} of {held + failed} models hold, {far} of them with something in far memory")
    return 1 if failed or far < SOME * (held + failed) else 0


if __name__ == "__main__":
    raise SystemExit(main())
