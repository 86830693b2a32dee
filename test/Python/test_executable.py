"""spmlir.compile and Executable, in one process."""

import dataclasses
import os
import subprocess
import sys

import numpy as np
import pytest

import spmlir

jax = pytest.importorskip("jax")
jnp = jax.numpy


def attention(q, k, v):
    scores = jax.numpy.einsum("bqhd,bkhd->bhqk", q, k) / 4
    return jax.numpy.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v), q.sum()


def arrays(dtype="float32"):
    rng = np.random.default_rng(0)
    return [rng.standard_normal((1, 13, 2, 16)).astype(dtype) for _ in range(3)]


@pytest.fixture(scope="module")
def program():
    return spmlir.compile(spmlir.export(attention, *arrays()), mesh={"sp": 3}, strategy="ring")


def expected():
    return [np.asarray(result) for result in attention(*arrays())]


def close(results, references):
    for result, reference in zip(results, references, strict=True):
        np.testing.assert_allclose(result, reference, rtol=2e-5, atol=2e-5)


def test_numpy_in_numpy_out(program):
    close(program(*arrays()), expected())


def test_interface_is_described(program):
    assert (program.ranks, program.mesh) == (3, "sp=3")
    assert [(p.dtype, p.shape) for p in program.inputs] == [(np.float32, (1, 13, 2, 16))] * 3
    assert [p.shape for p in program.results] == [(1, 13, 2, 16), ()]
    assert "mesh='sp=3'" in repr(program)


def test_promise_is_kept(program):
    program(*arrays())
    assert program.last_run["bytesSentPerRank"] == program.report["bytesSentPerRank"]


def test_jax_arrays_and_strides_are_taken(program):
    q, k, v = arrays()
    close(program(jax.numpy.asarray(q), np.asfortranarray(k), v[:, ::-1][:, ::-1]), expected())


def test_runs_do_not_disturb_each_other(program):
    first = program(*arrays())
    kept = [result.copy() for result in first]
    program(*[array + 1 for array in arrays()])
    close(first, kept)


def test_wrong_count_names_both_numbers(program):
    q, k, v = arrays()
    way_out = (
        r"call the program as its function was .*, or with an array for each of \(q: float32\[1, 13, 2, 16\]"
    )
    with pytest.raises(TypeError, match="expected 3 arrays but got 1, in 1 arguments; " + way_out):
        program(q)
    with pytest.raises(TypeError, match="expected 3 arrays but got 4, in 2 arguments; " + way_out):
        program({"q": q, "k": k}, [v, None, v])
    with pytest.raises(TypeError, match="expected 3 arrays but got 4, in 3 arguments; "):
        program({"q": q, "k": k}, k, v)


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Layer:
    """A node that JAX knows."""

    value: np.ndarray
    query: np.ndarray


def test_arguments_are_taken_as_the_function_takes_them():
    def of_tree(weights, x, *_):
        layer, (keys, *_) = weights["layers"]
        return attention(layer.query, keys, layer.value)[0] * weights["factor"] + x

    q, k, v = arrays()
    weights = {"layers": [Layer(v, q), (k, None)], "factor": 2}
    arguments = weights, jnp.asarray(q), None
    program = spmlir.compile(spmlir.export(of_tree, *arguments), mesh="sp=3")
    close(program(*arguments), [of_tree(*arguments)])
    close(program(*jax.tree.leaves(arguments)), [of_tree(*arguments)])
    # A list is an array, where that is what there has to be.
    flip = spmlir.compile(spmlir.export(jnp.invert, np.array([True, False])), mesh="sp=1", strategy="none")
    assert flip([True, False])[0].tolist() == [False, True]


def test_trees_are_taken_without_jax(tmp_path):
    q, k, v = arrays()
    exported = spmlir.export(lambda tree: attention(*tree["b"], tree["a"][0]), {"b": (q, k), "a": [v, None]})
    spmlir.compile(exported, mesh="sp=3", output=tmp_path / "model.spx")
    np.savez(tmp_path / "in.npz", q=q, k=k, v=v)
    script = """
import collections, sys, numpy as np, spmlir
given, program = np.load("in.npz"), spmlir.Executable("model.spx")
made = program({"b": (given["q"], given["k"]), "a": [given["v"], None]})
ordered = collections.OrderedDict(z=given["v"], b=given["q"], a=given["k"])
for one, other in zip(made, program(ordered)):
    np.testing.assert_array_equal(one, other)
np.save("out.npy", made[0])
assert "jax" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True, cwd=tmp_path)
    close([np.load(tmp_path / "out.npy")], expected()[:1])


def test_wrong_shape_and_type_are_refused_and_the_program_lives_on(program):
    q, k, v = arrays()
    with pytest.raises(spmlir.RunError, match="q"):
        program(q[:, :5], k, v)
    with pytest.raises(spmlir.RunError, match="f64"):
        program(q.astype(np.float64), k, v)
    with pytest.raises(TypeError, match="expected an array on the CPU but got"):
        program(q, k, object())
    close(program(q, k, v), expected())


def test_compile_error_carries_the_diagnostic():
    with pytest.raises(spmlir.CompileError) as error:
        spmlir.compile("module {\n  nonsense\n}\n", mesh="sp=2")
    assert "model.mlir:2:3: error:" in error.value.diagnostic


def test_missing_model_is_named():
    with pytest.raises(FileNotFoundError, match=r"nowhere\.mlir"):
        spmlir.compile("nowhere.mlir", mesh="sp=2")


def test_functions_are_no_models(tmp_path):
    exported = "; give spmlir.compile what spmlir.export(attention, *arguments) returns"
    for takes, expected in [
        (
            lambda given: spmlir.compile(given, mesh="sp=2"),
            "what spmlir.export returned, StableHLO text or the path",
        ),
        (spmlir.Executable, "the path of an artifact"),
        (spmlir.Exported.load, "the bytes or the path of an artifact"),
    ]:
        with pytest.raises(TypeError, match=f"expected {expected}.* but got attention, a function") as error:
            takes(attention)
        assert str(error.value).endswith(exported)
        with pytest.raises(TypeError, match=f"expected {expected}.* but got int, a int"):
            takes(3)
    with pytest.raises(
        TypeError, match=r"expected a JAX function .* but got Exported; spmlir\.compile takes"
    ):
        spmlir.train_step(spmlir.export(attention, *arrays()), *arrays())


@pytest.mark.parametrize("end", ["del program, trainer, kept", "pass", "spmlir.compile('{', mesh='sp=2')"])
def test_temporary_folders_go_without_a_warning(tmp_path, end):
    script = f"""
import os, jax.numpy as jnp, numpy as np, spmlir
w = np.ones((4, 4), np.float32)
program = spmlir.compile(spmlir.export(jnp.sin, w), mesh="sp=1", strategy="none")
trainer = spmlir.train_step(lambda w, x: (jnp.sum(x @ w), w), w, w, mesh="sp=1", strategy="none")
program(w), trainer.step(w)
kept = spmlir.compile(spmlir.export(jnp.sin, w), mesh="sp=1", strategy="none", output="kept.spx")
assert len(os.listdir("temporary")) == 3
try:
    {end}
    assert not os.listdir("temporary") or "trainer" in globals()
except spmlir.CompileError:
    pass
"""
    (tmp_path / "temporary").mkdir()
    done = subprocess.run(
        [sys.executable, "-W", "error::ResourceWarning", "-c", script],
        check=True,
        cwd=tmp_path,
        env=os.environ | {"TMPDIR": str(tmp_path / "temporary")},
        capture_output=True,
        text=True,
    )
    assert done.stderr == ""
    assert not list((tmp_path / "temporary").iterdir())


def test_artifact_is_kept_and_loaded_again(tmp_path):
    path = tmp_path / "model.spx"
    spmlir.compile(spmlir.export(attention, *arrays()), mesh="sp=2", strategy="ulysses", output=path)
    close(spmlir.Executable(path)(*arrays()), expected())


def test_artifact_compiled_in_place_of_another_is_the_new_one(tmp_path):
    x, path = np.arange(6, dtype=np.float32), tmp_path / "model.spx"
    programs = [
        spmlir.compile(spmlir.export(lambda x, factor=factor: x * factor, x), mesh={"sp": 2}, output=path)
        for factor in (2.0, 3.0, 5.0)
    ]
    for program, factor in zip(programs, (2.0, 3.0, 5.0), strict=True):
        np.testing.assert_array_equal(program(x)[0], x * factor)


def test_damaged_artifact_is_refused(tmp_path):
    path = tmp_path / "model.spx"
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(spmlir.RunError, match=r"model\.spx"):
        spmlir.Executable(path)


def test_trace_is_written(tmp_path):
    exported = spmlir.export(attention, *arrays())
    spmlir.compile(exported, mesh="sp=2", output=tmp_path / "model.spx")
    program = spmlir.Executable(tmp_path / "model.spx", trace=True)
    with pytest.raises(ValueError, match="has run"):
        program.write_trace(tmp_path / "trace.json")
    program(*exported.inputs)
    program.write_trace(tmp_path / "trace.json")
    assert "traceEvents" in (tmp_path / "trace.json").read_text()


def test_bf16_goes_in_and_out():
    import ml_dtypes

    inputs = arrays(ml_dtypes.bfloat16)
    results = spmlir.compile(spmlir.export(attention, *inputs), mesh="sp=2", strategy="ring")(*inputs)
    assert results[0].dtype == ml_dtypes.bfloat16
    np.testing.assert_allclose(results[0].astype(np.float32), expected()[0], atol=0.02)


def test_infinity_does_not_pass_a_reset():
    """A state that begins again on one rank, behind infinity on another one."""

    def attend(x):
        weights = jax.nn.softmax(jnp.einsum("bqd,bkd->bqk", x, x))
        return jnp.einsum("bqk,bkd->bqd", weights, x)

    def scanned(x, y, resets):
        def trip(state, row):
            state = jnp.where(row[1], row[0], state + row[0])
            return state, state

        rows = jax.lax.scan(trip, jnp.zeros_like(y[:, 0]), (jnp.moveaxis(y, 1, 0), resets))[1]
        return attend(x) + jnp.moveaxis(rows, 0, 1)

    x = np.random.default_rng(0).standard_normal((1, 32, 8)).astype(np.float32)
    y, resets = x[:, ::-1].copy(), np.arange(32) == 10
    y[0, 3, :3] = np.inf
    program = spmlir.compile(
        spmlir.export(scanned, x, y, resets), mesh="sp=4", strategy="ring", layout="contiguous"
    )
    assert any("trips of a loop are dealt" in one["text"] for one in program.report["decisions"])
    np.testing.assert_allclose(program(x, y, resets)[0], jax.jit(scanned)(x, y, resets), atol=1e-5)


def test_numpy_is_the_only_requirement():
    script = "import sys, spmlir; assert 'jax' not in sys.modules and 'ml_dtypes' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True)
