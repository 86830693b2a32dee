"""Checkpoints of a training: read on another mesh, refused for another model."""

import json
import signal
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from shell import sp_run

import spmlir

WIDTH, TOKENS = 128, 16


def state_of(width: int = WIDTH) -> dict:
    """Weights, a moment each, and a key."""
    draw = np.random.default_rng(1).standard_normal
    weights = {name: (draw((width, width)) / 12).astype(np.float32) for name in ("qkv", "out")}
    weights["narrow"] = jnp.asarray(draw((width, 8)), jnp.bfloat16)
    return {
        "weights": weights,
        "moments": [np.zeros_like(weights["qkv"]), np.zeros_like(weights["out"])],
        "key": jax.random.key(3),
        "count": np.float32(0),
    }


def step(state: dict, x: jax.Array) -> tuple:
    """Gradient descent with momentum."""

    def loss(weights: dict) -> jax.Array:
        h = (x @ weights["qkv"]).reshape(*x.shape[:2], 4, -1)
        scores = jnp.einsum("bqhd,bkhd->bhqk", h, h) / 8
        row = jnp.arange(TOKENS)
        scores = jnp.where(row[:, None] >= row, scores, -jnp.inf)
        h = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), h).reshape(x.shape) @ weights["out"]
        return jnp.mean((h - x) ** 2) + jnp.mean((x @ weights["narrow"].astype(jnp.float32)) ** 2)

    value, slopes = jax.value_and_grad(loss)(state["weights"])
    moments = [0.9 * m + slopes[name] for m, name in zip(state["moments"], ("qkv", "out"), strict=True)]
    weights = {
        name: state["weights"][name] - 0.1 * m for m, name in zip(moments, ("qkv", "out"), strict=True)
    }
    weights["narrow"] = state["weights"]["narrow"] - slopes["narrow"].astype(jnp.bfloat16)
    return value, {
        "weights": weights,
        "moments": moments,
        "key": jax.random.split(state["key"])[0],
        "count": state["count"] + 1,
    }


@pytest.fixture
def batch() -> np.ndarray:
    """Two sequences."""
    return np.random.default_rng(2).standard_normal((2, TOKENS, WIDTH), np.float32)


def trainer(x: np.ndarray, mesh: dict, **options: object) -> spmlir.TrainStep:
    """One from the start."""
    return spmlir.train_step(step, state_of(x.shape[-1]), x, mesh=mesh, **options)


def bits(state: dict) -> list[bytes]:
    """Of every array, keys by their data."""
    leaves = jax.tree.leaves(state)
    return [
        np.asarray(
            jax.random.key_data(each) if jnp.issubdtype(each.dtype, jax.dtypes.prng_key) else each
        ).tobytes()
        for each in leaves
    ]


def paused(state: dict, x: jax.Array, goes: jax.Array) -> tuple:
    """A step, or none that the state tells: what was loaded has been on the ranks."""
    value, stepped = step(state, x)
    return value, jax.tree.map(lambda old, new: jnp.where(goes, new, old), state, stepped)


def test_goes_on_under_another_mesh(tmp_path, batch):
    plans = ({"mesh": {"sp": 4}, "zero": 1}, {"mesh": {"dp": 2, "sp": 2}, "zero": 3, "strategy": "ulysses"})
    first, other = (spmlir.train_step(paused, state_of(), batch, np.int32(0), **plan) for plan in plans)
    losses = [first.step(batch, 1) for _ in range(2)]
    first.save(tmp_path / "two", step=2)
    saved = bits(first.state)
    rest = [first.step(batch, 1) for _ in range(2)]
    assert bits(first.state) != saved
    assert other.load(tmp_path / "two") == {"step": "2"}
    assert other.step(batch, 0) == pytest.approx(rest[0], rel=1e-5)
    assert bits(other.state) == saved
    assert [other.step(batch, 1) for _ in range(2)] == pytest.approx(rest, rel=1e-5)
    # Back where it came from it goes on with the same bits.
    first.load(tmp_path / "two")
    assert first.step(batch, 0) == rest[0]
    assert bits(first.state) == saved
    assert [first.step(batch, 1) for _ in range(2)] == rest
    assert losses[0] > losses[1] > rest[0]


def test_index_says_where_arrays_are(tmp_path, batch):
    trainer(batch, {"sp": 2}).save(tmp_path / "start")
    index = json.loads((tmp_path / "start" / "model.safetensors.index.json").read_text())
    assert set(index["weight_map"]) == {
        "count",
        "key",
        "moments.0",
        "moments.1",
        "weights.narrow",
        "weights.out",
        "weights.qkv",
    }
    assert sorted(path.name for path in (tmp_path / "start").iterdir()) == [
        "model-00001-00001-of-00001.safetensors",
        "model.safetensors.index.json",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["start"]


def test_refuses_the_state_of_another_model(tmp_path, batch):
    one = trainer(batch, {"sp": 2})
    one.save(tmp_path / "one")
    narrow = trainer(batch[..., :64].copy(), {"sp": 2})
    before = bits(narrow.state)
    with pytest.raises(
        spmlir.CheckpointError, match=r"weights\.out is float32\[128, 128\] where the model has"
    ):
        narrow.load(tmp_path / "one")
    assert bits(narrow.state) == before
    index = tmp_path / "one" / "model.safetensors.index.json"
    spmlir.checkpoints.save(tmp_path / "other", {"weights.qkv": np.zeros((2, 2)), "more": np.zeros(1)}, {})
    with pytest.raises(spmlir.CheckpointError, match=r"is missing, .* more is none of the model's"):
        one.load(tmp_path / "other")
    with pytest.raises(spmlir.CheckpointError, match="there is no"):
        one.load(tmp_path / "nowhere")
    whole = json.loads(index.read_text())
    false = whole["weight_map"] | {"more": next(iter(whole["weight_map"].values()))}
    for damaged, said in (
        ({}, "cannot be read: it has no weight_map"),
        ([], "cannot be read: it has no weight_map"),
        ({"weight_map": {"more": 3}}, "cannot be read: it has no weight_map"),
        ({"weight_map": {"more": "gone.safetensors"}}, r"there is no .*gone\.safetensors"),
        ({"weight_map": false}, "cannot be read: .* differ in more"),
    ):
        index.write_text(json.dumps(damaged))
        with pytest.raises(spmlir.CheckpointError, match=said):
            one.load(tmp_path / "one")


def test_keeps_the_old_one_until_the_new_one_is_whole(tmp_path, batch, monkeypatch):
    one = trainer(batch, {"sp": 2})
    one.save(tmp_path / "state", step=0)
    one.step(batch)

    def fails(*_):
        raise OSError("no space left")

    with monkeypatch.context() as patched:
        patched.setattr("spmlir.checkpoints._keep", fails)
        with pytest.raises(OSError, match="no space"):
            one.save(tmp_path / "state", step=1)
    assert len(list((tmp_path / "state").iterdir())) == 2
    assert one.load(tmp_path / "state") == {"step": "0"}


def raw(arrays: list) -> list[bytes]:
    """Bits of all but the loss."""
    return [np.asarray(each).tobytes() for each in arrays][:-1]


def test_sp_run_reads_and_writes_the_same(tmp_path, batch, monkeypatch):
    first = trainer(batch, {"dp": 2, "sp": 2}, zero=3)
    other = trainer(batch, {"sp": 3}, zero=1)
    made = sp_run(first, "--mesh=dp=2,sp=2 --zero=3", tmp_path, "--steps=2", f"--save={tmp_path}/two")
    assert other.load(tmp_path / "two") == {"step": "2"}
    names = [f"result{number}" for number in range(len(made))]
    assert bits(other.state) == raw([made[name] for name in names])
    # Each goes on from there as the other does.
    made = sp_run(
        other,
        "--mesh=sp=3 --zero=1",
        tmp_path,
        "--steps=1",
        f"--load={tmp_path}/two",
        f"--save={tmp_path}/three",
    )
    other.step(batch)
    assert bits(other.state) == raw([made[name] for name in names])
    # In several files, as arrays of many GiB are.
    monkeypatch.setattr(spmlir.checkpoints, "_MOST_BYTES", WIDTH * WIDTH * 5)
    other.save(tmp_path / "again", step=3)
    assert len(list((tmp_path / "again").iterdir())) == 5
    assert first.load(tmp_path / "again") == first.load(tmp_path / "three") == {"step": "3"}
    assert bits(first.state) == bits(other.state)
    made = sp_run(first, "--mesh=dp=2,sp=2 --zero=3", tmp_path, "--steps=1", f"--load={tmp_path}/again")
    first.step(batch)
    assert bits(first.state) == raw([made[name] for name in names])


KILLED = """
import os, signal, sys
import numpy as np
import spmlir.checkpoints as checkpoints
if sys.argv[2] == "0":  # a file of more than a block ends it
    import resource
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
calls = 0
def killed(*_):
    global calls
    calls += 1
    if calls == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
checkpoints._keep = killed
checkpoints.save(sys.argv[1], {"w": np.full(4096, 2.0)}, {})
"""


@pytest.mark.parametrize("when", [0, 1, 2, 3, 4])
def test_whoever_is_killed_leaves_a_checkpoint(tmp_path, when):
    folder = tmp_path / "state"
    wanted = {"w": ((4096,), np.dtype(float))}
    spmlir.checkpoints.save(folder, {"w": np.full(4096, 1.0)}, {})
    killed = subprocess.run([sys.executable, "-c", KILLED, folder, str(when)])
    assert killed.returncode == -(signal.SIGKILL if when else signal.SIGXFSZ)
    # After the fourth time the index is the new one.
    assert spmlir.checkpoints.load(folder, wanted)[0][0][0] == (2.0 if when == 4 else 1.0)
    spmlir.checkpoints.save(folder, {"w": np.full(4096, 3.0)}, {})
    assert spmlir.checkpoints.load(folder, wanted)[0][0][0] == 3.0
    assert len(list(folder.iterdir())) == 2
