"""spmlir.compile and Executable, in one process."""

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
    with pytest.raises(TypeError, match="expected 3 arrays but got 1"):
        program(arrays()[0])


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
