"""What the README tells a user to type, in its order: Python and commands, in a folder like a checkout."""

import itertools
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import spmlir
from spmlir.locations import find_tool

CHECKOUT = Path(spmlir.__file__).resolve().parents[2]
README = (CHECKOUT / "README.md").read_text()
# Set-up, and what needs a launcher that is not on every machine.
ELSEWHERE = ("git ", "tools/", "torchrun ", "mpirun ", "exported.save")


def python_blocks():
    return re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def commands():
    outside = re.sub(r"^```.*?^```", "", README, flags=re.MULTILINE | re.DOTALL)
    indented = re.findall(r"^    (\S.*)$", outside, re.MULTILINE)
    return [line.partition("  #")[0] for line in indented if not line.startswith(ELSEWHERE)]


def test_tools_are_built_before_they_are_used():
    (quickstart,) = re.findall(
        r"^tools/setup (.*)$", (CHECKOUT / "tools/quickstart").read_text(), re.MULTILINE
    )
    built = set(quickstart.split())
    for line in re.findall(r"^    (\S.*)$", README, re.MULTILINE):
        command = line.partition("  #")[0]
        if command.startswith("tools/setup "):
            built.update(command.split()[1:])
        used = set(re.findall(r"build/bin/([\w-]+)", command))
        assert used <= built, command


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The README's names of what it does not define, and where its paths lead."""
    for name in ("python", "test"):
        (tmp_path / name).symlink_to(CHECKOUT / name)
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "bin").symlink_to(find_tool("sp-compile").parent)
    (tmp_path / "build" / "venv").symlink_to(CHECKOUT / "build" / "venv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_all_of_it(folder):
    of_model, of_training = python_blocks()
    names: dict = {}
    exec(of_model, names)
    expected = names["attention"](names["q"], names["k"], names["v"])
    np.testing.assert_allclose(names["result"], expected, atol=1e-5)
    names["exported"].save("my")

    def loss_of(weights, tokens):
        return jnp.mean((names["attention"](tokens * weights, tokens, tokens) - tokens) ** 2)

    tokens = names["q"][:, :64]
    weights = np.ones((4, 64), np.float32)
    training = {"jax": jax, "spmlir": spmlir, "loss_of": loss_of, "weights": weights}
    training |= {"tokens": tokens, "batches": [(tokens,)] * 3}
    exec(of_training, training)
    assert len(training["losses"]) == 3
    training["trainer"].exported.save("train")
    shutil.copy("my/model.mlir", "model.mlir")

    ran = commands()
    assert len(ran) >= 10
    cuda = Path(os.environ.get("CUDA_HOME", "/usr/local/cuda"))
    has_compiler = shutil.which("nvcc") or (cuda / "bin" / "nvcc").exists()
    for command in ran:
        if not has_compiler and ("--target=cuda" in command or "--device=" in command):
            continue
        done = subprocess.run(shlex.split(command), check=False, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        assert "warning" not in done.stderr, f"{command}\n{done.stderr}"
    out, reference = (np.load(f"my/{name}.npz") for name in ("out", "reference"))
    for one, other in itertools.zip_longest(out.values(), reference.values()):
        np.testing.assert_allclose(one, other, atol=1e-5)
    assert (folder / "batch.svg").stat().st_size > 1000
    check_ignored(folder)


def check_ignored(folder):
    """Nothing that was written is seen by git in a clone."""
    shutil.copy(CHECKOUT / ".gitignore", folder)
    subprocess.run(["git", "init", "--quiet", folder], check=True)
    status = ["git", "status", "--porcelain", "--untracked-files=all"]
    seen = subprocess.run(status, check=True, capture_output=True, text=True, cwd=folder).stdout
    assert sorted(seen.split()[1::2]) == [".gitignore", "model.mlir", "python", "test"]
