"""--explain says what there is of a deep model on one screen."""

import json
import subprocess
from itertools import takewhile
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import spmlir
from spmlir.locations import find_tool

LAYERS, TOKENS, WIDTH, WINDOW = 24, 64, 32, 16


def attention(x, window):
    q = k = v = x.reshape(1, TOKENS, 4, -1)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k)
    distance = jnp.arange(TOKENS)[:, None] - jnp.arange(TOKENS)[None]
    scores = jnp.where((distance >= 0) & (distance < window), scores, -jnp.inf)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v).reshape(x.shape)


def step(weights, x):
    """Of six layers five have a window."""

    def loss(weights):
        y = x * jnp.mean(weights[0][0])
        for number, (up, down) in enumerate(weights):
            y = y + attention(y, TOKENS if number % 6 == 5 else WINDOW)
            y = y + jax.nn.silu(y @ up) @ down
        return jnp.mean(y**2)

    value, slopes = jax.value_and_grad(loss)(weights)
    return value, jax.tree.map(lambda w, slope: w - slope, weights, slopes)


def explained(*options, folder, model=None):
    if model is None:
        layer = np.zeros((WIDTH, 2 * WIDTH), np.float32), np.zeros((2 * WIDTH, WIDTH), np.float32)
        model = jax.jit(step, donate_argnums=0), [layer] * LAYERS
    fn, weights = model
    spmlir.export(fn, weights, np.zeros((1, TOKENS, WIDTH), np.float32)).save(folder)
    command = [
        find_tool("sp-compile"),
        folder / "model.mlir",
        "-o",
        folder / "model.spx",
        "--explain",
        *options,
    ]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def keys_of(report):
    """Of an object, and of the first of each list of objects in it."""
    for key, value in report.items():
        yield key
        first = value[0] if isinstance(value, list) and value else value
        if isinstance(first, dict) and key not in ("mesh", "values"):
            yield from keys_of(first)


def place(lines, names):
    """Of what is said of attentions, at a line of this file."""
    (found,) = (number for number, line in enumerate(lines) if line.startswith(f"  {names}, {__file__}:"))
    return found


def test_layers_that_are_alike(tmp_path):
    lines = explained("--mesh=sp=4", "--strategy=ring", "--layout=contiguous", folder=tmp_path)
    assert len(lines) < 50
    assert lines[0] == "24 attentions and gradients of 24 on 4 ranks"
    windows = place(lines, "layer0, layer1, layer2, layer3, … (20)")
    shape = f"{TOKENS} queries x {TOKENS} keys, 4 heads of 8, 4 kv heads"
    assert lines[windows + 1].strip() == f"causal window of {WINDOW} keys, {shape}"
    assert lines[windows + 2].strip() == "ring over 4 ranks, contiguous, as asked for"
    full = place(lines, "layer5, layer11, layer17, layer23 (4)")
    assert lines[full + 1].strip() == f"causal, {shape}"
    assert all(
        "a rank sends" in line for line in (*lines[windows + 3 : windows + 5], *lines[full + 3 : full + 5])
    )
    sent = lines.index("sent by a rank beside attention")
    assert f"48 sums of dot_general, {__file__}:" in lines[sent + 1]


def test_strategies_that_were_counted(tmp_path):
    lines = explained("--mesh=sp=4", folder=tmp_path)
    assert len(lines) < 50
    counted = [line.strip() for line in lines if line.strip().startswith("counted: ")]
    assert counted and all("ring" in line and "ulysses" in line and "allgather" in line for line in counted)


def products(weight, image, x):
    """Attention, a product that a loop makes three times, and a convolution, which no rank shares."""
    y = jax.lax.fori_loop(0, 3, lambda _, y: jnp.tanh(y @ weight), attention(x, TOKENS))
    spots = jax.lax.conv_general_dilated(
        image, image[:, :, :3, :3], (1, 1), "VALID", dimension_numbers=("NCHW", "OIHW", "NCHW")
    )
    return y + jnp.sum(spots)


@pytest.mark.parametrize("dtype", [jnp.float16, jnp.bfloat16, jnp.float32])
def test_products_are_counted_in_every_type(dtype):
    """By a library or in a kernel, alike."""
    arguments = [jnp.zeros(shape, dtype) for shape in ((WIDTH, WIDTH), (1, 2, 9, 9), (1, TOKENS, WIDTH))]
    program = spmlir.compile(
        spmlir.export(products, *arguments), mesh="sp=4", strategy="ring", layout="striped"
    )
    shared = 3 * 2 * TOKENS // 4 * WIDTH * WIDTH + 2 * 7 * 7 * 2 * 3 * 3
    pairs = [sum(range(rank + 1, TOKENS + 1, 4)) for rank in range(4)]
    assert program.report["flopsPerRank"] == [shared + 4 * WIDTH * each for each in pairs]


UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20}


def running(weight, x):
    """Needs all tokens one after the other, and twice more."""
    state, rows = jax.lax.scan(
        lambda state, row: (jnp.tanh(state @ weight + row),) * 2,
        x[:, 0],
        jnp.swapaxes(attention(x, TOKENS), 0, 1),
    )
    return jnp.sort(jnp.swapaxes(rows, 0, 1), axis=1) + attention(x @ weight, TOKENS), state


def test_what_is_sent_adds_up(tmp_path):
    """A line a kind, with what loops that every rank runs are given."""
    file = tmp_path / "report.json"
    options = "--mesh=sp=4", "--strategy=ring", f"--report={file}"
    lines = explained(*options, folder=tmp_path, model=(running, np.zeros((WIDTH, WIDTH), np.float32)))
    report = json.loads(file.read_text())
    first = lines.index("sent by a rank beside attention") + 1
    listed = [line.split() for line in takewhile(lambda line: line.startswith("  "), lines[first:])]
    assert any("loops that all ranks run" in " ".join(words) for words in listed)
    total = sum(float(number) * UNITS[unit] for number, unit, *_ in listed)
    total += sum(max(each["bytesSentPerRank"]) for each in report["attentions"])
    assert abs(total - max(report["bytesSentPerRank"])) < 0.01 * total


def test_memory_at_the_peak_adds_up(tmp_path):
    """A line a kind, with what is no value: constants, and what kernels compute in."""
    file = tmp_path / "report.json"
    lines = explained("--mesh=sp=4", f"--report={file}", folder=tmp_path)
    report = json.loads(file.read_text())
    at_peak = report["atPeak"]
    kinds = {each["kind"] for each in at_peak}
    assert {"scratch memory of kernels", "inputs and results"} <= kinds
    everything = sum(each["bytes"] for each in at_peak)
    # Beside it lies what is unused between values.
    assert 0.9 * max(report["peakBytesPerRank"]) <= everything <= max(report["peakBytesPerRank"])
    first = next(n for n, line in enumerate(lines) if line.startswith("memory in use at the peak, "))
    listed = [line.split() for line in lines[first + 1 : first + 1 + len(kinds)]]
    total = sum(float(number) * UNITS[unit] for number, unit, *_ in listed)
    assert len(listed) == len(kinds)
    assert abs(total - everything) < 0.01 * everything
    number, unit = lines[first].split()[-2:]
    assert abs(float(number) * UNITS[unit] - everything) < 0.01 * everything


def test_fields_of_reports_are_documented(tmp_path):
    explained(
        "--mesh=sp=4",
        "--strategy=ring",
        "--offload=host",
        f"--report={tmp_path}/report.json",
        folder=tmp_path,
    )
    run = [find_tool("sp-run"), tmp_path / "model.spx", f"--inputs={tmp_path}/inputs.npz", "--steps=2"]
    subprocess.run([*run, f"--report={tmp_path}/run.json"], check=True, capture_output=True)
    text = (Path(spmlir.__file__).parents[2] / "tools" / "README.md").read_text()
    for name in ("report", "run"):
        keys = set(keys_of(json.loads((tmp_path / f"{name}.json").read_text())))
        assert len(keys) > 15
        assert not {key for key in keys if f"`{key}`" not in text}
