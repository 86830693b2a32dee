"""steps.py FOLDER: arrays for Inputs/regression.mlir, and what five steps of it give.

batches.npz has a batch for each step, one.npz the same one for all; their references are
batches-expected.npz and one-expected.npz. wrong.npz has four batches, state.npz five of the state.
steps.py FOLDER PROGRAM: that sp-run gives the same when every step is a run of its own.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np

STEPS = 5


def step(w, x, y):
    difference = x @ w - y
    return np.mean(difference**2), w - 0.05 * difference @ x


def train(w, x, y):
    losses = []
    for number in range(STEPS):
        loss, w = step(w, x[number], y[number])
        losses.append(loss)
    return np.float32(losses), np.float32(w)


def write(folder):
    rng = np.random.default_rng(0)
    w, x = rng.standard_normal(4).astype("f4"), rng.standard_normal((STEPS, 7, 4)).astype("f4")
    y = (x @ np.arange(4, dtype="f4") + 1).astype("f4")
    same = np.repeat(x[:1], STEPS, 0), np.repeat(y[:1], STEPS, 0)
    np.savez(folder / "batches.npz", arg0=w, arg1=x, arg2=y)
    np.savez(folder / "one.npz", arg0=w, arg1=x[0], arg2=y[0])
    np.savez(folder / "wrong.npz", arg0=w, arg1=x[:4], arg2=y)
    np.savez(folder / "state.npz", arg0=np.stack([w] * STEPS), arg1=x, arg2=y)
    for name, batches in (("batches", (x, y)), ("one", same)):
        losses, new = train(w, *batches)
        np.savez(folder / f"{name}-expected.npz", result0=losses[-1], result1=new)
        (folder / f"{name}-losses.txt").write_text(
            "".join(f"step {i + 1}: {v}\n" for i, v in enumerate(losses))
        )
    assert train(w, *same)[0][-1] < 0.5 * train(w, *same)[0][0], "the loss falls"


def run_apart(folder, program):
    arrays = dict(np.load(folder / "batches.npz"))
    w, losses = arrays["arg0"], []
    for number in range(STEPS):
        np.savez(folder / "step.npz", arg0=w, arg1=arrays["arg1"][number], arg2=arrays["arg2"][number])
        run(program, folder / "step.npz", folder / "stepped.npz")
        results = np.load(folder / "stepped.npz")
        w = results["result1"]
        losses.append(results["result0"])
    printed = run(program, folder / "batches.npz", folder / "together.npz", f"--steps={STEPS}")
    together = np.load(folder / "together.npz")
    np.testing.assert_array_equal(together["result1"], w)
    np.testing.assert_array_equal(together["result0"], losses[-1])
    lines = [line.partition("   ")[0] for line in printed.splitlines() if line.startswith("step ")]
    assert lines == [f"step {i + 1}: {float(loss):.8g}" for i, loss in enumerate(losses)], printed


def run(program, inputs, outputs, *options):
    command = ["sp-run", str(program), f"--inputs={inputs}", f"--outputs={outputs}", *options]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    if len(sys.argv) == 2:
        write(Path(sys.argv[1]))
    else:
        run_apart(Path(sys.argv[1]), sys.argv[2])
