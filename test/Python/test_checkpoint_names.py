"""Names of a checkpoint's arrays: the same from Python and from sp-run, and no two alike."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from shell import sp_run

import spmlir

INDEX = "model.safetensors.index.json"


def doubled(state: dict, x: jax.Array) -> tuple:
    """A step after which every array has other numbers."""
    return jnp.mean(x), jax.tree.map(lambda each: each * 2, state)


def numbered(*sizes: int) -> list[np.ndarray]:
    """Arrays of these sizes."""
    return [np.arange(size, dtype=np.float32) for size in sizes]


def names_in(folder) -> list[str]:
    """Of the arrays of a checkpoint."""
    return list(json.loads((folder / INDEX).read_text())["weight_map"])


@pytest.mark.parametrize("donate", [(0, 1), 0, (1, 2)])
def test_sp_run_names_what_python_names(tmp_path, donate):
    tree = {
        "it's": np.ones(3, np.float32),
        "a.b": np.ones(2, np.float32),
        "a": {"b": np.ones(4, np.float32)},
        "größe": np.ones(9, np.float32),
        "pair": (np.ones(5, np.float32), [np.ones(6, np.float32)]),
    }
    args = [tree, np.ones(7, np.float32), np.ones(8, np.float32)]

    def move(parameters, argument2, *rest):
        given = (parameters, argument2, *rest)
        kept = [jax.tree.map(lambda x: x * 2, given[n]) for n in np.atleast_1d(donate)]
        return sum(jnp.sum(leaf) for leaf in jax.tree.leaves(given)), *kept

    one = spmlir.train_step(move, *args, mesh="sp=2", donate=donate)
    one.save(tmp_path / "python")
    sp_run(one, "--mesh=sp=2", tmp_path, "--steps=1", f"--load={tmp_path}/python", f"--save={tmp_path}/tool")
    indices = [
        json.loads((tmp_path / each / "model.safetensors.index.json").read_text())["weight_map"]
        for each in ("python", "tool")
    ]
    assert list(indices[0]) == list(indices[1])
    prefix = {(0, 1): "parameters.", 0: "", (1, 2): None}[donate]
    expected = (
        {"argument2", "argument2_"}
        if prefix is None
        else {
            f"{prefix}it's",
            "parameters['a.b']",
            "parameters['a']['b']",
            f"{prefix}größe",
            f"{prefix}pair.0",
            f"{prefix}pair.1.0",
        }
    )
    assert set(indices[0]) == expected | ({"argument2"} if donate == (0, 1) else set())


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (((1, 2), (1, 3)), ["(1, 2)", "(1, 3)"]),
        ((1.5, 2.5), ["1.5", "2.5"]),
        ((-1, 0, 10), ["-1", "0", "10"]),
        (("", "w"), ["state", "w"]),
        (("__metadata__", "w"), ["state['__metadata__']", "w"]),
        (("\x07", "\u200b", "a\nb", "\\"), ["\x07", "\\", "a\nb", "\u200b"]),
        (("x.y", "state['x.y']", ("x", "y")), None),
    ],
)
def test_keys_of_every_kind_go_both_ways(tmp_path, keys, expected):
    state = dict(zip(keys, numbered(*range(2, 2 + len(keys))), strict=True))
    if not expected:
        # Of which two would be spelled as a third.
        state["x"] = {"y": state.pop(("x", "y"))}
        expected = ["state[\"state['x.y']\"]", "state['x']['y']", "state['x.y']"]
    trainer = spmlir.train_step(doubled, state, np.ones(4, np.float32), mesh="sp=2")
    trainer.save(tmp_path / "python")
    assert names_in(tmp_path / "python") == expected
    options = f"--load={tmp_path}/python", f"--save={tmp_path}/tool"
    sp_run(trainer, "--mesh=sp=3", tmp_path, "--steps=1", *options)
    assert names_in(tmp_path / "tool") == expected
    trainer.load(tmp_path / "tool")
    for got, before in zip(jax.tree.leaves(trainer.state), jax.tree.leaves(state), strict=True):
        np.testing.assert_array_equal(got, 2 * before)
