"""spmlir.export, Exported.save and Exported.load."""

import functools

import numpy as np
import pytest

import spmlir

jax = pytest.importorskip("jax")


def scaled_sum(tree, factor):
    return factor * (tree["a"] + tree["b"].sum())


TREE = {"b": np.arange(6.0, dtype=np.float32).reshape(2, 3), "a": np.ones(4, np.float32)}


def test_leaves_become_arguments_in_tree_order():
    exported = spmlir.export(scaled_sum, TREE, 2)
    assert [array.shape for array in exported.inputs] == [(4,), (2, 3), ()]
    assert "%arg0: tensor<4xf32>" in exported.text
    assert "%arg2: tensor<i32>" in exported.text


def test_unused_arguments_stay():
    exported = spmlir.export(lambda x, unused: x + 1, np.float32(1), np.zeros(3, np.float32))
    assert "%arg1: tensor<3xf32>" in exported.text
    assert len(exported.inputs) == 2


def test_what_a_function_donates_stays_donated():
    step = jax.jit(lambda a, b, *, c: ({"x": a["x"] + b}, c * 2, b), donate_argnums=0, donate_argnames="c")
    ones = np.ones((4, 4), np.float32)
    text = spmlir.export(step, {"x": ones}, ones, c=ones).text
    (main,) = (line for line in text.splitlines() if "@main" in line)
    arguments = main.partition(") ->")[0].split("%arg")[1:]
    assert ["tf.aliasing_output" in one for one in arguments] == [True, False, True]


def test_shapes_alone_give_no_inputs():
    exported = spmlir.export(lambda x: x + 1, jax.ShapeDtypeStruct((4,), "float32"))
    assert exported.inputs is None
    assert "%arg0: tensor<4xf32>" in exported.text


def test_locations_name_the_source():
    assert "test_export.py" in spmlir.export(scaled_sum, TREE, 2).text


def test_save_writes_what_the_tools_read(tmp_path):
    exported = spmlir.export(functools.partial(scaled_sum, factor=3), TREE)
    folder = exported.save(tmp_path / "new", results=[np.zeros(4)])
    assert (folder / "model.mlir").read_text() == exported.text
    with np.load(folder / "inputs.npz") as file:
        assert sorted(file.files) == ["arg0", "arg1"]
        np.testing.assert_array_equal(file["arg1"], TREE["b"])
    with np.load(folder / "results.npz") as file:
        assert file.files == ["result0"]


def test_serialized_jax_export_is_read():
    serialized = jax.export.export(jax.jit(jax.numpy.sin))(np.ones(3, np.float32)).serialize()
    assert "stablehlo.sine" in spmlir.Exported.load(bytes(serialized)).text


def test_portable_artifact_is_read(tmp_path):
    path = tmp_path / "model.bin"
    path.write_bytes(jax.export.export(jax.jit(jax.numpy.sin))(np.ones(3, np.float32)).mlir_module_serialized)
    assert "stablehlo.sine" in spmlir.Exported.load(path).text


def test_text_is_read_as_it_is(tmp_path):
    path = tmp_path / "model.mlir"
    path.write_text("module {\n}\n")
    assert spmlir.Exported.load(path).text == "module {\n}\n"


def test_anything_else_is_refused(tmp_path):
    path = tmp_path / "model.bin"
    path.write_bytes(b"\0\1\2")
    with pytest.raises(ValueError, match=r"model\.bin is neither StableHLO text"):
        spmlir.Exported.load(path)
    with pytest.raises(ValueError, match="not a StableHLO artifact that this jaxlib reads"):
        spmlir.Exported.load(b"ML\xefR nothing else")


def test_typed_keys_are_taken_as_their_words():
    def dropped(key, x):
        return jax.random.split(key)[1], jax.random.bernoulli(key, 0.5, x.shape) * x

    key, x = jax.random.key(3), np.arange(12, dtype=np.float32)
    exported = spmlir.export(dropped, key, x)
    words = np.asarray(jax.random.key_data(key))
    np.testing.assert_array_equal(exported.inputs[0], words)
    program = spmlir.compile(exported, mesh={"sp": 1})
    next_key, expected = dropped(key, x)
    for given in (key, words):
        got_key, got = program(given, x)
        np.testing.assert_array_equal(got_key, np.asarray(jax.random.key_data(next_key)))
        np.testing.assert_array_equal(got, np.asarray(expected))


def test_a_batch_of_keys_of_another_kind_is_its_words():
    keys = jax.random.split(jax.random.key(3, impl="rbg"), 2)
    exported = spmlir.export(lambda keys: jax.random.key_data(keys), keys)
    assert "%arg0: tensor<2x4xui32>" in exported.text
    np.testing.assert_array_equal(exported.inputs[0], np.asarray(jax.random.key_data(keys)))
